//! Runs one case: assembles and judges its context, judges its answers, recorded or scripted. An answer that was not recorded, or
//! for another request, is reported, and never counted as passed.

use super::answer::{self, Unanswered};
use super::context;
use super::context_hash::keys;
use super::finished::{Answered, CaseVerdict, Finished};
use super::prepared::{self, CaseInput, PreparedCase, RunContext, Seen};
use super::receiver::Receiver;
use super::trials::Decision;
use super::verdict::{Outcome, Reason, Verdict};
use crate::context::TaskGraph;
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::scenario::model::Case;

/// Runs one case.
pub(super) fn run(context: &RunContext<'_>, input: &CaseInput<'_>, forest: &TaskGraph<'_>, receiver: Receiver<'_>) -> Finished {
    let case = match prepared::prepare(context, input, forest, receiver) {
        Ok(case) => case,
        Err(trouble) => return not_prepared(*trouble, input.case),
    };
    // The project's name for it may mean another one tomorrow.
    let id = case.routed.choice.as_ref().map(|choice| choice.model.id.as_str());
    let model = id.or_else(|| case.model()).map(str::to_owned);
    let tokenizer = case.routed.options.counter.name().to_owned();
    let empty = Finished::trouble(&case.node, "");
    let assembled = case.assemble(&|_| {});
    let provider = case.routed.choice.as_ref().map(|choice| choice.model.provider.value.clone());
    let mut done = Finished { keys: Some(keys(&case, &assembled)), provider, model, tokenizer, trouble: None, ..empty };
    match assembled {
        Err(faults) => {
            // What keeps an agent from its context is as much a change of what it receives as a text that moved.
            done.verdict = CaseVerdict::Fail;
            done.faults = faults;
            done.context = unseen(input.case);
        }
        Ok(assembly) => judged(&case, &assembly, &mut done),
    }
    done
}

/// A case without a context has a verdict on each expectation all the same.
fn not_prepared(trouble: Finished, case: &Case) -> Finished {
    if trouble.faults.is_empty() { trouble } else { Finished { context: unseen(case), ..trouble } }
}

/// Verdicts on a context that cannot be read.
fn unseen(case: &Case) -> Vec<Verdict> {
    let skipped = |one: &crate::base::span::Spanned<crate::scenario::model::ContextExpectation>| {
        let what = one.value.words();
        let reason = Reason::new(what.clone(), "no context");
        Verdict { what, outcome: Outcome::Skipped, gate: true, reason, span: one.span }
    };
    case.expect_context.iter().map(skipped).collect()
}

/// The context of a case, for whoever writes expectations on it.
///
/// # Errors
/// Why the case cannot be tried; inside, why there is no context.
pub fn context<T>(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
    then: impl FnOnce(&Seen<'_>) -> T,
) -> Result<Result<T, Vec<Fault>>, String> {
    let case = match prepared::prepare(context, input, forest, receiver) {
        Ok(case) => case,
        Err(done) => return done.trouble.map_or(Ok(Err(done.faults)), Err),
    };
    let assembly = case.assemble(&|_| {});
    Ok(assembly.map(|assembly| then(&Seen { case: &case, assembly: &assembly })))
}

/// One verdict for each expectation on the context.
pub(super) fn look(case: &PreparedCase<'_>, assembly: &Assembly) -> Vec<Verdict> {
    let seen = Seen { case, assembly };
    case.input.case.expect_context.iter().map(|one| context::judge(&seen, one)).collect()
}

fn judged(case: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) {
    done.context = look(case, assembly);
    done.tokens = assembly.report.tokens.zip(assembly.report.prefix_tokens).map(|(all, prefix)| (all as u64, prefix as u64));
    if case.input.case.wants_snapshot() {
        done.snapshot = Some(context::stored_request(&Seen { case, assembly }));
    }
    let answered = answer::answered(case, assembly, done);
    decide(answered, done);
    if case.run.answers.shows && done.verdict != CaseVerdict::Pass {
        done.said = assembly.messages.iter().map(|message| (message.speaker, message.text.text().to_owned())).collect();
    }
}

/// The verdict of a case whose context was judged, by what became of its answers.
pub(super) fn decide(answered: Result<Decision, Unanswered>, done: &mut Finished) {
    let holds = !done.context.iter().any(Verdict::is_failure);
    done.verdict = match answered {
        Err(Unanswered::Trouble(why)) => {
            done.trouble = Some(why);
            CaseVerdict::Error
        }
        Err(Unanswered::Stale(moved)) => {
            done.forget_trials();
            done.answered = Answered::Stale;
            done.moved = moved;
            if holds { CaseVerdict::Stale } else { CaseVerdict::Fail }
        }
        Ok(_) if !holds => CaseVerdict::Fail,
        // Nobody looked at anything: that is no success.
        Ok(Decision::Open) if !done.context.iter().any(|verdict| verdict.outcome != Outcome::Skipped) => {
            CaseVerdict::Inconclusive
        }
        Ok(Decision::Pass | Decision::Open) => CaseVerdict::Pass,
        Ok(Decision::Fail) => CaseVerdict::Fail,
        Ok(Decision::Inconclusive) => CaseVerdict::Inconclusive,
    };
}
