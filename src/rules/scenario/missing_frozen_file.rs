//! CTX619: a frozen file that is not there.

use super::cx::CaseCx;
use super::walk;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::paths::beside;

/// The case cannot be run.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(619),
        name: "missing-frozen-file",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "a frozen file that is not there",
        page: "\
Files that a case takes its content from lie beside the scenario and inside the project: `@PATH`, `{file: PATH}` and `!file PATH` are relative to the
scenario's folder. Their content is part of the case, so a file that went away takes the case with it. A text that begins with `@` is written `@@`.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: \"@files/ticket.txt\"}
expect_context:
  - nothing_cut: true
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: !file ../../ticket.txt}
expect_context:
  - nothing_cut: true
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: \"@files/ticket.txt\"}
expect_context:
  - nothing_cut: true
# file: scenarios/files/ticket.txt
it came late
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    walk::files(cx.case, &mut |path, span| {
        let message = match beside(cx.file.path, path) {
            None => format!("`{path}` lies outside the project"),
            Some(inside) if (cx.file.world.exists)(&inside) => return,
            Some(inside) => format!("there is no file `{inside}`"),
        };
        let finding = cx.finding(&RULE.meta, span, message).note("paths are relative to the folder of the scenario");
        let is_short = span.slice(cx.file.text).trim_start_matches(['"', '\'']).starts_with('@');
        out.push(if is_short { finding.help("a text that begins with `@` is written with two: `@@`") } else { finding });
    });
}
