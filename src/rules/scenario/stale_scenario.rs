//! CTX616: a scenario that nobody has read for long.

use super::cx::CaseCx;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::date;

/// What nobody reads drifts away from what is meant.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(616),
        name: "stale-scenario",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::None,
        summary: "a scenario that nobody has read for long",
        page: "\
`reviewed` says when somebody last read the case and found it still right. After `[eval] stale_after_days` of `ctxc.toml` (90 where it says
nothing) the case is told: read it, and write the day. The clock is that of the machine, or `SOURCE_DATE_EPOCH` where it is set. A case without
`reviewed` is not asked for.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
reviewed: 2020-01-31
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
reviewed: 9999-12-31
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(reviewed), Some(today)) = (cx.case.reviewed, cx.file.world.today) else { return };
    let age = today - date::number(reviewed.value);
    let limit = i64::from(cx.file.world.config.eval.stale_after_days);
    if age > limit {
        let finding = cx.finding(
            &RULE.meta,
            reviewed.span,
            format!("the case was last reviewed {age} days ago; after {limit} it is stale"),
        );
        out.push(finding.help("read it again, and write the day"));
    }
}
