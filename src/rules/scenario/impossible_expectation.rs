//! CTX614: expectations that cannot hold, or cannot fail.

use super::clash::{self, Clash};
use super::cx::CaseCx;
use super::words::{SOUND, TASK};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::model::{ContextExpectation, Subject};

/// A case that can only fail, or a guard that guards nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(614),
        name: "impossible-expectation",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "expectations that cannot hold, or cannot fail",
        page: "\
A case passes only when all of its expectations hold, so two that contradict each other make it fail for ever: one segment kept and absent, nothing
cut and a segment dropped, a ceiling below its floor, a pattern that has to occur and may not. A pattern that matches no text at all never occurs:
as something to be found it fails for ever, as a guard it guards nothing. One that every text matches, and a ceiling of tokens at or above the role's budget, expect
nothing (both are warnings). What stands under `not` and `any_of` is not held against the rest.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: system, state: kept}
  - segment: {id: system, state: absent}
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
  - segment: {kind: file, state: dropped}
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - tokens: {max: 10, min: 20}
" }, Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - contains: ['late$ed']
" }],
        good: SOUND,
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    clash::context(&cx.case.expect_context, &mut |clash| out.push(word(cx, &clash)));
    over_budget(cx, out);
    clash::answer(&cx.case.expectations, &mut |clash| out.push(word(cx, &clash)));
}

/// A ceiling that the role's budget keeps a context under anyway.
fn over_budget(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Subject::Role(role) = &cx.case.subject.value else { return };
    let Some(budget) = cx.file.world.config.roles.get(role).and_then(|role| role.budget.tokens) else { return };
    for one in &cx.case.expect_context {
        if let ContextExpectation::Tokens { max: Some(max), min: None, .. } = &one.value
            && max.value >= budget.value
        {
            let most = budget.value;
            let finding =
                cx.finding(&RULE.meta, max.span, format!("the budget of role `{role}` is {most}: no context has more tokens"));
            out.push(finding.severity(Severity::Warning).help("expect less than the budget, or that `nothing_cut` is true"));
        }
    }
}

fn word(cx: &CaseCx<'_>, clash: &Clash) -> Diagnostic {
    let finding = cx.finding(&RULE.meta, clash.at, clash.what.clone());
    let finding = if clash.guard { finding.severity(Severity::Warning) } else { finding };
    match clash.against {
        Some(other) if !cx.is_row() => finding.label(other, "against this"),
        Some(_) | None => finding,
    }
}
