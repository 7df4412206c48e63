//! Mutation testing for a case about a compaction: drops one fact of the summary at a time.

use super::session_point::SessionPoint;
use super::survival::{class_name, judge_survival};
use crate::eval::case_result::{CaseResult, CaseVerdict};
use crate::eval::change::Mutation;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::verdict::ExpectationOutcome;
use crate::scenario::expect::answer::AnswerTest;
use crate::session::analysis::JudgedFact;
use crate::session::verdict::FactVerdict;
use std::collections::BTreeMap;

/// Returns each fact that the summary alone keeps, and true if the scenario notices its loss;
/// `None` if the scenario does not pass without a change.
pub(in crate::eval) fn mutate_summary(
    run: &RunContext<'_>,
    input: &CaseInput<'_>,
    done: &CaseResult,
) -> Option<Vec<(Mutation, bool)>> {
    if done.verdict != CaseVerdict::Pass {
        return None;
    }
    let point = SessionPoint::read_case(run, input).ok()??;
    let mut facts = point.facts_after(&done.trials.first()?.answer.text);
    let identity = |one: &JudgedFact| (one.fact.class, one.fact.key.clone());
    let places: BTreeMap<_, _> = facts.iter().map(identity).zip(0..).collect();
    let mut tried = Vec::new();
    for lost in point.facts_after("") {
        let at = places.get(&identity(&lost)).copied().unwrap_or(usize::MAX);
        let Some(own) = facts.get_mut(at) else {
            continue;
        };
        if own.verdict != FactVerdict::Kept || !lost.verdict.is_dropped() {
            continue;
        }
        let change = Mutation::Fact(format!("{} “{}”", class_name(&lost.fact), lost.fact.text));
        let before = std::mem::replace(own, lost);
        let is_noticed = input.case.expectations.iter().any(|one| {
            let AnswerTest::Survives(test) = &one.value.test else {
                return false;
            };
            one.value.gate && judge_survival(&facts, test).0 == ExpectationOutcome::Fail
        });
        if let Some(own) = facts.get_mut(at) {
            *own = before;
        }
        tried.push((change, is_noticed));
    }
    Some(tried)
}
