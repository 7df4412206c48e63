//! Runs one case: assembles and judges its context, judges its scripted answers. An answer that was not recorded is
//! reported, and never counted as passed.

use super::answer::{self, Answer};
use super::context;
use super::context_hash::keys;
use super::finished::{Answered, CaseVerdict, Finished, Trial};
use super::prepared::{self, CaseInput, PreparedCase, RunContext, Seen};
use super::receiver::Receiver;
use super::trials::{self, Decision, Rows, TrialOutcome};
use super::verdict::{Outcome, Reason, Verdict};
use crate::base::hash::Hash;
use crate::context::TaskGraph;
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::scenario::model::{Case, Scripted};

/// Runs one case.
pub(super) fn run(context: &RunContext<'_>, input: &CaseInput<'_>, forest: &TaskGraph<'_>, receiver: Receiver<'_>) -> Finished {
    let case = match prepared::prepare(context, input, forest, receiver) {
        Ok(case) => case,
        Err(trouble) => return not_prepared(*trouble, input.case),
    };
    let model = case.model().map(str::to_owned);
    let tokenizer = case.routed.options.counter.name().to_owned();
    let empty = Finished::trouble(&case.node, "");
    let assembled = case.assemble(&|_| {});
    let mut done = Finished { keys: Some(keys(&case, &assembled)), model, tokenizer, trouble: None, ..empty };
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

/// Verdicts on a context that cannot be had.
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

/// The scripted answer to a request: the first whose patterns hold.
pub(super) fn script<'c>(case: &PreparedCase<'c>, assembly: &Assembly) -> Result<Option<&'c Scripted>, String> {
    let occurs = |pattern: &str| {
        let mut messages = assembly.messages.iter();
        messages.try_fold(false, |found, message| {
            Ok::<bool, String>(found || case.run.patterns.find(pattern, message.text.text())?.is_some())
        })
    };
    'next: for script in &case.input.case.answers {
        for (patterns, wanted) in [(&script.value.has, true), (&script.value.lacks, false)] {
            for pattern in patterns {
                if occurs(&pattern.value)? != wanted {
                    continue 'next;
                }
            }
        }
        return Ok(Some(&script.value));
    }
    Ok(None)
}

fn judged(case: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) {
    done.context = look(case, assembly);
    done.tokens = assembly.report.tokens.zip(assembly.report.prefix_tokens).map(|(all, prefix)| (all as u64, prefix as u64));
    if case.input.case.wants_snapshot() {
        done.snapshot = Some(context::stored_request(&Seen { case, assembly }));
    }
    let holds = !done.context.iter().any(Verdict::is_failure);
    let answered = answered(case, assembly, done);
    done.verdict = match answered {
        Err(why) => {
            done.trouble = Some(why);
            CaseVerdict::Error
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

/// Tries the scripted answers; `Open` where there is nothing to try.
fn answered(prepared: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) -> Result<Decision, String> {
    let case = prepared.input.case;
    if case.answers.is_empty() {
        return Ok(Decision::Open);
    }
    let script = script(prepared, assembly)?.ok_or_else(|| {
        let count = case.answers.len();
        format!("none of the {count} scripted answers is for this request: no `when` holds")
    })?;
    let tokens = done.tokens.map_or(0, |(all, _)| all);
    let answer = Answer::scripted(script, tokens, prepared.routed.options.counter);
    let verdicts: Vec<Verdict> = case.expectations.iter().map(|one| answer::judge(prepared, &answer, one)).collect();
    let is_judged = verdicts.iter().any(|verdict| verdict.outcome != Outcome::Skipped);
    done.answered = if is_judged { Answered::Scripted } else { Answered::NotJudged };
    let tried = if verdicts.iter().any(Verdict::is_failure) { TrialOutcome::Failed } else { TrialOutcome::Passed };
    // What hangs on a judge that nobody asked is decided by no trial.
    let is_open = tried == TrialOutcome::Passed && verdicts.iter().any(|verdict| verdict.gate && verdict.reason.is_open);
    let trial = Trial { tried, verdicts, tokens: answer.tokens, output: Hash::of(answer.text.as_bytes()) };
    if !is_judged || is_open {
        done.trials.push(trial);
        return Ok(if is_open { Decision::Inconclusive } else { Decision::Open });
    }
    let most = trials::most(&case.rule);
    let mut row = Vec::new();
    let mut decision = Decision::Open;
    while (row.len() as u64) < u64::from(most) {
        // A script gives the same answer every time.
        row.push(tried);
        done.trials.push(trial.clone());
        if decision == Decision::Open {
            decision = trials::decide(&case.rule, &row);
        }
        if decision != Decision::Open && prepared.run.rows == Rows::Curtailed {
            break;
        }
    }
    done.stopped_early = (row.len() as u64) < u64::from(most);
    Ok(if decision == Decision::Open { Decision::Inconclusive } else { decision })
}
