//! CTX611: an expectation on a segment that no context has.

use super::cx::CaseCx;
use super::walk;
use super::words::{TASK, list};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::suggest::nearest;
use crate::rules::rule::{Check, Rule};
use crate::scenario::keys::KINDS;

/// A slip in an id makes `absent` hold for ever.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(611),
        name: "unknown-segment",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::Suggested,
        summary: "an expectation on a segment that no context has",
        page: "\
The id of a segment is its kind, alone or with what it holds: `system`, `input:ticket`, `file:src/a.rs`. An id that begins with no kind names
nothing, so that `absent` holds for ever and everything else never. `ctxc manifest TASK` shows the ids of a task's context; a path goes under
`source`.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"inptu:ticket\", state: kept}
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"input:ticket\", state: kept}
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut ids = Vec::new();
    walk::context(&cx.case.expect_context, &mut |expectation| walk::ids(&expectation.value, &mut ids));
    for id in ids {
        let written = id.value.as_str();
        let (kind, rest) = written.split_once(':').map_or((written, ""), |(kind, rest)| (kind, rest));
        // A second segment of a kind is numbered: `file#2`.
        let word = kind.split(['#', '/', '@']).next().unwrap_or(kind);
        // An agent role is told its objective in a segment of that name.
        if KINDS.contains(&word) || word == "objective" {
            continue;
        }
        let finding = cx.finding(&RULE.meta, id.span, format!("no context has a segment `{written}`: an id begins with a kind"));
        let near = nearest(word, KINDS.iter().copied());
        let whole = near.map(|near| format!("{near}{}", written.get(word.len()..).unwrap_or("")));
        let finding = match near {
            None if rest.is_empty() && written.contains(['/', '.']) => {
                finding.help("a path goes under `source`: `{source: PATH}`")
            }
            _ => finding.note(format!("the kinds are {}", list(KINDS))),
        };
        out.push(cx.meant(finding, id.span, whole.as_deref()));
    }
}
