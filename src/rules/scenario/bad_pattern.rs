//! CTX606: a pattern that is no regular expression.

use super::cx::ScenarioCx;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// A pattern that cannot be read finds nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(606),
        name: "bad-pattern",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "a pattern that is no regular expression",
        page: "\
Patterns are regular expressions of the Rust crate `regex`: unanchored, case-sensitive, in time linear in the text. It has no look-around and no
back-references. What it unfolds into is bounded, about a mebibyte: `\\w{60}` and `(a{1000}){1000}` are refused. `(?i)` makes a pattern blind to case, `\\(` means the sign itself. In YAML a pattern is best written in single quotes, which leave
backslashes alone.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - contains: ['order (\\d+']
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - contains: ['order (\\d+)']
" }],
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BadPattern { reason, at, part } = &fault.kind else { return None };
    let part = if part.is_empty() || part.len() > 40 { String::new() } else { format!(", `{part}`") };
    let finding = cx.finding(&RULE.meta, fault, format!("the pattern is no regular expression: {reason}"));
    let finding = finding.note(format!("at character {at} of the pattern{part}"));
    Some(finding.help("a sign that is meant as itself takes a backslash: `\\(`"))
}
