//! CTX603: a value that its key cannot take.

use super::cx::ScenarioCx;
use super::words::{SOUND, TASK, short};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// A value that is not understood is left out, and with it what it would have tested.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(603),
        name: "wrong-scenario-value",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a value that its key cannot take",
        page: "\
Each key of a scenario takes values of one kind, and some take only certain words. The finding says what stands there and what may. Mind
that YAML reads `no` as a text, `1.10` as a number and `~` as nothing; what is meant as a text can always stand in quotes.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {kind: input, state: keept}
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: 5
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
reviewed: 2026-02-30
" }],
        good: SOUND,
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if let FaultKind::BadValue { key, found, expected, near } = &fault.kind {
        let finding = cx.finding(&RULE.meta, fault, format!("`{key}` is `{}`; expected {expected}", short(found)));
        return Some(cx.meant(finding, fault, near.as_deref()));
    }
    let FaultKind::WrongType { key, expected, found } = &fault.kind else { return None };
    if key.is_empty() && fault.row.is_some() {
        return Some(cx.finding(
            &RULE.meta,
            fault,
            format!("the line holds {found}; expected an object with the keys of a case"),
        ));
    }
    if key.is_empty() {
        let finding = cx.finding(
            &RULE.meta,
            fault,
            format!("the file holds {found}; expected a mapping with the keys of a scenario or suite"),
        );
        return Some(finding.help("a scenario begins with `name:`, a suite with `id:`"));
    }
    Some(cx.finding(&RULE.meta, fault, format!("`{key}` is {found}; expected {expected}")))
}
