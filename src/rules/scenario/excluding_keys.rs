//! CTX608: keys that exclude each other.

use super::cx::ScenarioCx;
use super::words::{SOUND, TASK};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// Of two things that cannot hold together one would not be looked at.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(608),
        name: "excluding-keys",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "keys that exclude each other",
        page: "\
A case has one receiver, `role` or `task`; an expectation asks one thing; trials are said by `rule`, or by `runs` and `pass_threshold`, which are
short for it. Two things that are asked stand in two entries of the list.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
role: planner
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
    tokens: {max: 900}
" }],
        good: SOUND,
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Together { table, first: (first, place), second } = &fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("{table} has `{second}` beside `{first}`; they exclude each other"));
    let finding = if fault.row.is_none() { finding.label(*place, "the other one") } else { finding };
    Some(finding.help("remove one of the two, or make two entries of them"))
}
