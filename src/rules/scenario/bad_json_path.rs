//! CTX607: a path into an answer that is no `JSONPath`.

use super::cx::ScenarioCx;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// A path that cannot be read selects nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(607),
        name: "bad-json-path",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "a path into an answer that is no JSONPath",
        page: "\
`field_matches` selects parts of an answer by a JSONPath of RFC 9535: `$` is the whole answer, `$.risk_level` a field of it, `$.steps[0]` the first
of a list, `$.steps[*].name` a field of each. A path has 1,000 bytes at most and 12 brackets inside each other; `match` and `search` are
not there, `pattern` is. An answer in which it could lead to more than 2,000,000 nodes is not looked at, and the expectation fails with that reason.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
expectations:
  - field_matches: {path: team, pattern: billing}
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
expectations:
  - field_matches: {path: $.team, pattern: billing}
" }],
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BadPath { at } = &fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("this is no JSONPath: it stops being one at character {at}"));
    Some(finding.help("a path begins with `$`: `$.risk_level`, `$.steps[0].name`"))
}
