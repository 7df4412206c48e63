//! CTX619: a frozen file that is not there.

use super::cx::CaseCx;
use super::walk;
use super::words::files;
use crate::rules::prelude::*;
use crate::scenario::paths::beside;

/// The case cannot be run.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(619, "missing-frozen-file", "a frozen file that is not there", PAGE).examples(BAD, GOOD),
    check: Check::Case(check),
};

const PAGE: &str = "\
Files that a case takes its content from lie beside the scenario and inside the project: `@PATH`, `{file: PATH}` and `!file PATH` are relative to the
scenario's folder. Their content is part of the case, so a file that went away takes the case with it. A text that begins with `@` is written `@@`.";

const BAD: &[Example] = &[
    files(
        "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: \"@files/ticket.txt\"}
expect_context:
  - nothing_cut: true
",
    ),
    files(
        "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: !file ../../ticket.txt}
expect_context:
  - nothing_cut: true
",
    ),
];

const GOOD: &[Example] = &[files(
    "\
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
",
)];

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
