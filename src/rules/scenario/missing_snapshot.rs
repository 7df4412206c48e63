//! CTX620: a snapshot that was never taken.

use super::cx::CaseCx;
use super::walk;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::model::ContextExpectation;
use crate::scenario::paths::snapshot;

/// There is nothing to hold the request against.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(620),
        name: "missing-snapshot",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::None,
        summary: "a snapshot that was never taken",
        page: "\
`snapshot: true` holds the rendered request against a stored file, `snapshots/NAME.txt` beside the scenario. Until that file is there the
expectation cannot hold. Take it with the switch `--accept` of the run, and read it before you commit it, since from then on it is what is right.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - snapshot: true
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - snapshot: true
# file: scenarios/snapshots/refund.txt
sort the ticket
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut wants = None;
    walk::context(&cx.case.expect_context, &mut |expectation| {
        if expectation.value == ContextExpectation::Snapshot {
            wants.get_or_insert(expectation.span);
        }
    });
    let Some(span) = wants else { return };
    let path = snapshot(cx.file.path, &cx.case.name.value);
    if (cx.file.world.exists)(&path) {
        return;
    }
    let finding = cx.finding(&RULE.meta, span, format!("no request of this case is stored: there is no `{path}`"));
    out.push(finding.help("take it with `--accept`, and read it before you commit it"));
}
