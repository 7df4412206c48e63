//! CTX602: a key that nothing reads.

use super::cx::ScenarioCx;
use super::words::{SOUND, TASK, list};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// A misspelt expectation expects nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(602),
        name: "unknown-scenario-key",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a key that scenarios do not have",
        page: "\
A key that nothing reads is nearly always a slip of the pen, and its author believes that something is tested which is not. The finding
lists the keys that may stand in that mapping; `ctxc schema scenario` says what they mean, and makes editors complete them.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cutt: true
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
constraints: [be brief]
" }],
        good: SOUND,
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownKey { table, key, near, valid, elsewhere } = &fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("{table} has no key `{key}`"));
    let are = if valid.len() == 1 { "its only key is" } else { "the keys are" };
    let finding = finding.note(format!("nothing reads it, so it tests nothing; {are} {}", list(valid)));
    if let Some(place) = elsewhere {
        return Some(finding.help(format!("`{key}` goes under `{place}`")));
    }
    Some(cx.meant(finding, fault, *near))
}
