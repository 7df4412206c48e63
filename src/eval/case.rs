//! Runs one case: assembles and judges its context, judges its answers, recorded or scripted. An answer that was not recorded, or
//! for another request, is reported, and never counted as passed.

use super::answer::{self, Answer, Replay, Took, Unanswered, Wire, converse, moved};
use super::asked::{AnswersFrom, Asked};
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
use crate::context::render::message::Message;
use crate::kernel::provider;
use crate::kernel::tokens::TokenCounter;
use crate::provider::read;
use crate::record::recording::Recording;
use crate::scenario::model::{Case, Rule, Scripted, Sequential};

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

/// The scripted answer to some messages: the first whose patterns hold.
pub(super) fn script<'c>(case: &PreparedCase<'c>, messages: &[Message]) -> Result<Option<&'c Scripted>, String> {
    let occurs = |pattern: &str| {
        messages.iter().try_fold(false, |found, message| {
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
        Err(Unanswered::Trouble(why)) => {
            done.trouble = Some(why);
            CaseVerdict::Error
        }
        Err(Unanswered::Stale(moved)) => {
            done.answered = Answered::Stale;
            done.moved = moved;
            done.rule = None;
            done.trials.clear();
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

/// Tries the answers that there are; `Open` where there is nothing to try.
fn answered(prepared: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) -> Result<Decision, Unanswered> {
    let case = prepared.input.case;
    let from = prepared.run.answers.from;
    let recorded = match prepared.input.answers.recorded {
        // What is recorded anew was not looked at.
        _ if matches!(from, AnswersFrom::Record | AnswersFrom::Live | AnswersFrom::Scripted) => &[],
        recorded => recorded.map_err(str::to_owned)?,
    };
    if recorded.iter().any(Recording::is_answered) {
        match replayed(prepared, assembly, recorded, done) {
            Err(Unanswered::Stale(_)) if from.asks() => {
                done.rule = None;
                done.trials.clear();
            }
            replayed => return replayed,
        }
    }
    match from {
        AnswersFrom::Record | AnswersFrom::ReplayOrRecord | AnswersFrom::Live => asked(prepared, assembly, done),
        AnswersFrom::Known | AnswersFrom::Scripted if !case.answers.is_empty() => scripted(prepared, assembly, done),
        AnswersFrom::Known | AnswersFrom::Scripted | AnswersFrom::Replay => Ok(Decision::Open),
    }
}

/// Tries the scripted answer.
fn scripted(prepared: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) -> Result<Decision, Unanswered> {
    let case = prepared.input.case;
    let (counter, context) = (prepared.routed.options.counter, done.tokens.map_or(0, |(all, _)| all));
    // A script gives the same answer every time.
    let answer = converse(assembly, prepared.input.answers.tools, |messages| {
        let script = script(prepared, messages)?.ok_or_else(|| {
            let count = case.answers.len();
            format!("none of the {count} scripted answers is for this request: no `when` holds")
        })?;
        let answer = Answer::scripted(script, context + added(assembly, messages, counter), counter);
        let turn = answer.turn();
        Ok((answer, turn))
    })?;
    tries(prepared, case.rule, (Answered::Scripted, "script"), done, || Ok(answer.clone()))
}

/// Asks a model. Nobody pays for the answer to a context that is not what it has to be, or to an answer that nothing is expected of.
fn asked(prepared: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) -> Result<Decision, Unanswered> {
    let CaseInput { path, case, .. } = *prepared.input;
    if case.expectations.is_empty() || done.context.iter().any(Verdict::is_failure) {
        return Ok(Decision::Open);
    }
    let wire = Wire::of(prepared)?;
    let nobody = "no model of `[models]` in ctxc.toml is known for it, so nobody can be asked";
    let (Some(model), Some(ask)) = (wire.model, prepared.run.answers.ask) else { return Err(nobody.to_owned().into()) };
    let (counter, context) = (prepared.routed.options.counter, done.tokens.map_or(0, |(all, _)| all));
    tries(prepared, case.rule, (Answered::Asked, &model.provider.value), done, || {
        converse(assembly, prepared.input.answers.tools, |messages| {
            let sent = wire.sent(messages)?;
            let response = ask.ask(&Asked { path, case: &case.name.value, model, sent: &sent })?;
            let (given, took) = (response.answer, response.latency.as_millis());
            let mut answer = Answer::given(&given, context + added(assembly, messages, counter), counter, model.prices.as_ref());
            answer.took = Took { latency_ms: u64::try_from(took).ok(), is_live: true, ..answer.took };
            Ok((answer, given.turn))
        })
    })
}

/// Tries the recorded answers.
fn replayed(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    recorded: &[Recording],
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let wire = Wire::of(prepared)?;
    let mut replay = Replay::new(recorded);
    let first = wire.sent(&assembly.messages)?;
    let rule = recorded_rule(prepared.input.case.rule, replay.count(&first.key));
    let (counter, context) = (prepared.routed.options.counter, done.tokens.map_or(0, |(all, _)| all));
    done.rule = Some(rule);
    tries(prepared, rule, (Answered::Replayed, "recording"), done, || {
        converse(assembly, prepared.input.answers.tools, |messages| {
            let sent = wire.sent(messages)?;
            let call = replay.next(&sent.key).ok_or_else(|| stale(recorded, &sent.body))?;
            let given = answer_of(call)?;
            let prices = wire.model.and_then(|model| model.prices.as_ref());
            let mut answer = Answer::given(&given, context + added(assembly, messages, counter), counter, prices);
            answer.took.latency_ms = call.latency_ms;
            Ok((answer, given.turn))
        })
    })
}

/// What a call was answered with.
fn answer_of(call: &Recording) -> Result<provider::Answer, Unanswered> {
    let unknown = || format!("the recorded call {} has a form that is not known: `{}`", call.id, call.dialect);
    let dialect = read::dialect(&call.dialect).ok_or_else(unknown)?;
    let body = call.response_text().unwrap_or_default();
    read::answer(dialect, &body)
        .map_err(|why| Unanswered::Trouble(format!("the recorded call {} cannot be read: {why}", call.id)))
}

/// Nothing was recorded for a request: how it differs from the recorded one that is most like it.
fn stale(recorded: &[Recording], now: &str) -> Unanswered {
    let likeness = |call: &&Recording| call.request.get().len().abs_diff(now.len());
    let nearest = recorded.iter().filter(|call| call.is_answered()).min_by_key(likeness);
    Unanswered::Stale(nearest.map_or_else(Vec::new, |call| moved(call.request.get(), now)))
}

/// The rule for as many answers as there are.
fn recorded_rule(rule: Rule, answers: usize) -> Rule {
    let most = u32::try_from(answers).unwrap_or(u32::MAX).max(1);
    let runs = rule.runs.min(most);
    let sequential = rule.sequential.map(|test| Sequential { max: test.max.min(most), ..test });
    Rule { runs, pass: rule.pass.min(runs), sequential, ..rule }
}

/// Tokens of what a conversation has beyond the context.
fn added(assembly: &Assembly, messages: &[Message], counter: &dyn TokenCounter) -> u64 {
    let more = messages.get(assembly.messages.len()..).unwrap_or_default();
    more.iter().map(|message| counter.count(message.text.text()) as u64).sum()
}

/// Tries answers until they decide.
fn tries(
    prepared: &PreparedCase<'_>,
    rule: Rule,
    (answered, by): (Answered, &str),
    done: &mut Finished,
    mut next: impl FnMut() -> Result<Answer, Unanswered>,
) -> Result<Decision, Unanswered> {
    let most = trials::most(&rule);
    let mut row = Vec::new();
    let mut decision = Decision::Open;
    let mut last: Option<(Answer, Trial)> = None;
    while (row.len() as u64) < u64::from(most) {
        let answer = next()?;
        let trial = match last.take() {
            Some((before, trial)) if before == answer => trial,
            _ => trial(prepared, &answer, by),
        };
        done.trials.push(trial.clone());
        if trial.verdicts.iter().all(|verdict| verdict.outcome == Outcome::Skipped) {
            done.answered = Answered::NotJudged;
            return Ok(if trial.is_open() { Decision::Inconclusive } else { Decision::Open });
        }
        done.answered = answered;
        // What hangs on a judge that nobody asked is decided by no trial.
        if trial.is_open() {
            return Ok(Decision::Inconclusive);
        }
        row.push(trial.tried);
        last = Some((answer, trial));
        if decision == Decision::Open {
            decision = trials::decide(&rule, &row);
        }
        if decision != Decision::Open && prepared.run.rows == Rows::Curtailed {
            break;
        }
    }
    done.stopped_early = (row.len() as u64) < u64::from(most);
    Ok(if decision == Decision::Open { Decision::Inconclusive } else { decision })
}

fn trial(prepared: &PreparedCase<'_>, answer: &Answer, by: &str) -> Trial {
    let verdicts: Vec<Verdict> =
        prepared.input.case.expectations.iter().map(|one| answer::judge(prepared, answer, one)).collect();
    let tried = if verdicts.iter().any(Verdict::is_failure) { TrialOutcome::Failed } else { TrialOutcome::Passed };
    let decomposes = answer::parts(prepared, answer).ok().map(|(is_split, _)| is_split);
    let (tokens, took) = (answer.tokens, answer.took);
    Trial { tried, verdicts, by: by.to_owned(), tokens, took, decomposes, output: Hash::of(answer.text.as_bytes()) }
}
