//! Runs the trials of a case: answers from the configured source, judged until they decide, with a
//! second stage if there is one.

use super::given::{Answer, Flaw, Took};
use super::judging::Judging;
use super::{NO_MODEL, Replay, Unanswered, converse, estimate, judge, parts, wire};
use crate::base::span::{Span, Spanned};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::eval::asked::{AnswersFrom, Ask, Asked, TrialUnderWay};
use crate::eval::finished::{Answered, Finished, Recorded, Trial};
use crate::eval::prepared::{CaseInput, PreparedCase};
use crate::eval::trials::{self, Decision, Rows, TrialOutcome, Tries};
use crate::eval::verdict::{Outcome, Reason, Verdict};
use crate::kernel::provider;
use crate::kernel::tokens::TokenCounter;
use crate::project::models::Model;
use crate::record::comparison::Comparison;
use crate::record::recording::{AnsweredBy, Recording, Stage, TrialOf};
use crate::run::answers::response_of;
use crate::scenario::expect::answer::each;
use crate::scenario::model::{AnswerTest, Expectation, Rule, Scripted};
use std::sync::Arc;

/// The scripted answer to a conversation: the first whose patterns match.
pub(in crate::eval) fn script<'c>(
    case: &PreparedCase<'c>,
    messages: &[Message],
) -> Result<Option<&'c Scripted>, String> {
    let occurs = |pattern: &str| {
        messages.iter().try_fold(false, |found, message| {
            Ok::<bool, String>(
                found
                    || case
                        .run
                        .patterns
                        .find(pattern, message.text.text())?
                        .is_some(),
            )
        })
    };
    let named = case
        .input
        .case
        .node
        .as_ref()
        .map(|node| node.value.as_str());
    'next: for script in &case.input.case.answers {
        if script
            .value
            .node
            .as_ref()
            .is_some_and(|node| node.value != case.node && Some(node.value.as_str()) != named)
        {
            continue;
        }
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

/// Judges the answers of an earlier run again, independent of the request at that time.
pub(in crate::eval) fn rejudged(
    case: &Judging<'_>,
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let kept = case.input.answers.kept;
    let of = |stage| kept.iter().filter(move |one| one.stage == stage);
    // The rule applies as written, whatever trials led to the earlier verdict. Another program
    // gives one answer.
    let planned = |rule: &Rule| case.prepared.map_or(0, |_| trials::most(rule));
    let round = |stage, rule| {
        Tries::known(
            stage,
            rule,
            (of(stage).count(), planned(&rule)),
            case.run.rows,
        )
    };
    let rule = case.input.case.rule;
    let second = trials::confirming(&rule).filter(|_| of(Stage::Confirm).next().is_some());
    let stages_of = (
        round(Stage::First, rule),
        second.map(|rule| round(Stage::Confirm, rule)),
    );
    if kept.is_empty() {
        return Ok(Decision::Open);
    }
    stages(case, stages_of, done, &mut |trial| {
        let one = of(trial.stage).nth(trial.number.saturating_sub(1) as usize);
        let one = one.ok_or_else(|| "no answer of this trial is kept".to_owned())?;
        let answered = if one.by == SCRIPT {
            Answered::Scripted
        } else {
            Answered::Replayed
        };
        Ok((one.whole(), answered, one.by.as_str()))
    })
}

/// The source name of scripted answers.
pub(in crate::eval) const SCRIPT: &str = "script";

/// Produces the scripted answer.
pub(super) fn scripted(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    done: &Finished,
) -> Result<Answer, Unanswered> {
    let case = prepared.input.case;
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    converse(assembly, prepared.input.answers.tools, |messages| {
        let script = script(prepared, messages)?.ok_or_else(|| {
            let count = case.answers.len();
            format!("none of the {count} scripted answers is for this request: no `when` holds")
        })?;
        let answer = Answer::scripted(
            script,
            context + added(assembly, messages, counter),
            counter,
        );
        let turn = answer.turn();
        Ok((answer, turn))
    })
}

/// Calls a model. Skipped if an expectation on the context failed or none on the answer exists,
/// since that answer would be paid for without use.
pub(super) fn asked(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let CaseInput { path, case, .. } = *prepared.input;
    if case.expectations.is_empty() || done.context.iter().any(Verdict::is_failure) {
        return Ok(Decision::Open);
    }
    let wire = wire(prepared)?;
    if prepared.run.answers.plans && wire.model.is_some() {
        done.anew = Some(estimate(
            prepared,
            &wire,
            done.tokens.map_or(0, |(all, _)| all),
        ));
        return Ok(Decision::Open);
    }
    let (Some(model), Some(ask)) = (wire.model, prepared.run.answers.ask) else {
        return Err(NO_MODEL.to_owned().into());
    };
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    trials_asked(prepared, (ask, model), done, &mut |trial| {
        converse(assembly, prepared.input.answers.tools, |messages| {
            let sent = wire.sent(messages)?;
            let context = context + added(assembly, messages, counter);
            let response = ask.ask(&Asked {
                path,
                case: &case.name.value,
                trial,
                model,
                sent: &sent,
                context: Some(context),
            })?;
            let (given, took) = (response.answer, response.latency.as_millis());
            let mut answer = Answer::given(&given, context, counter, model.prices.as_ref());
            answer.took = Took {
                latency_ms: u64::try_from(took).ok(),
                is_live: true,
                ..answer.took
            };
            Ok((answer, given.turn))
        })
    })
}

/// Runs trials with a model's answers, and records the case once every trial is answered.
pub(super) fn trials_asked(
    prepared: &PreparedCase<'_>,
    (ask, model): (&dyn Ask, &Model),
    done: &mut Finished,
    once: &mut dyn FnMut(TrialOf) -> Result<Answer, Unanswered>,
) -> Result<Decision, Unanswered> {
    let CaseInput { path, case, .. } = *prepared.input;
    // A recording must contain the trials for every rule.
    let rows = if prepared.run.answers.from == AnswersFrom::Live {
        prepared.run.rows
    } else {
        Rows::Full
    };
    let name = case.name.value.as_str();
    let round = |stage, rule| Tries {
        rows,
        ..Tries::unbounded(stage, rule)
    };
    let first = round(Stage::First, case.rule);
    let second = trials::confirming(&case.rule)
        .filter(|_| prepared.run.answers.confirms)
        .map(|rule| round(Stage::Confirm, rule));
    let (keep, keys) = (prepared.run.answers.trials, done.keys);
    let by = model.provider.value.as_str();
    let decision = stages(
        &Judging::of(prepared),
        (first, second),
        done,
        &mut |trial| {
            let kept = keep.zip(keys).map(|(keep, keys)| {
                (
                    keep,
                    TrialUnderWay {
                        path,
                        case: name,
                        keys,
                        trial,
                    },
                )
            });
            if let Some(answer) = kept.and_then(|(keep, trial)| keep.earlier(&trial)) {
                return Ok((answer, Answered::Asked, by));
            }
            let answer = once(trial)?;
            if let Some((keep, trial)) = kept {
                keep.tried(&trial, &answer, by);
            }
            Ok((answer, Answered::Asked, by))
        },
    );
    done.failed_calls = ask.failed(path, name);
    match decision {
        Ok(decision) => ask
            .finish(path, name)
            .map(|()| decision)
            .map_err(Unanswered::Trouble),
        Err(Unanswered::Trouble(why)) => {
            let kept = ask
                .abandon(path, name)
                .map_or_else(String::new, |kept| format!("; {kept}"));
            Err(Unanswered::Trouble(why + &kept))
        }
        Err(Unanswered::Stale(moved)) => {
            ask.abandon(path, name);
            Err(Unanswered::Stale(moved))
        }
    }
}

/// Runs trials with recorded answers.
pub(super) fn replayed(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    recorded: &[Recording],
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let wire = wire(prepared)?;
    let none = Comparison::default();
    let replay = Replay::new(recorded, prepared.run.answers.comparison.unwrap_or(&none));
    let first = wire.sent(&assembly.messages)?;
    let round = |stage, rule| replay.tries(stage, &first, rule, prepared.run.rows);
    let rule = prepared.input.case.rule;
    let second = trials::confirming(&rule).map(|rule| round(Stage::Confirm, rule));
    let stages_of = (
        round(Stage::First, rule),
        second.filter(|_| replay.has(Stage::Confirm)),
    );
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    let decision = stages(&Judging::of(prepared), stages_of, done, &mut |trial| {
        let mut by = (Answered::Replayed, "recording");
        let answer = converse(assembly, prepared.input.answers.tools, |messages| {
            let sent = wire.sent(messages)?;
            let call = replay
                .next(trial.stage, &sent)
                .ok_or_else(|| replay.stale(trial.stage, &sent))?;
            if call.answered_by == AnsweredBy::Script {
                by = (Answered::Scripted, SCRIPT);
            }
            let given = answer_of(call)?;
            let prices = wire.model.and_then(|model| model.prices.as_ref());
            let mut answer = Answer::given(
                &given,
                context + added(assembly, messages, counter),
                counter,
                prices,
            );
            answer.took.latency_ms = call.latency_ms;
            Ok((answer, given.turn))
        })?;
        Ok((answer, by.0, by.1))
    });
    if matches!(decision, Err(Unanswered::Stale(_))) && wire.model.is_some() {
        done.anew = Some(estimate(prepared, &wire, context));
    }
    decision
}

/// Runs trials with a single given answer.
pub(in crate::eval) fn one(
    case: &Judging<'_>,
    answer: &Answer,
    (answered, by): (Answered, &str),
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let tries = Tries::known(Stage::First, case.input.case.rule, (1, 0), case.run.rows);
    self::tries(case, tries, done, &mut |_| {
        Ok((answer.clone(), answered, by))
    })
}

/// The answer of a recorded call.
pub(in crate::eval) fn answer_of(call: &Recording) -> Result<provider::Answer, Unanswered> {
    Ok(response_of(call)?.answer)
}

/// The tokens of a conversation beyond the context.
fn added(assembly: &Assembly, messages: &[Message], counter: &dyn TokenCounter) -> u64 {
    let more = messages.get(assembly.messages.len()..).unwrap_or_default();
    more.iter()
        .map(|message| counter.count(message.text.text()) as u64)
        .sum()
}

/// Returns the answer of a trial, its origin, and the name of its source.
type Next<'n, 'b> = &'n mut dyn FnMut(TrialOf) -> Result<(Answer, Answered, &'b str), Unanswered>;

/// Runs the first stage and, if that fails, the second one if there is one.
pub(super) fn stages(
    case: &Judging<'_>,
    (first, second): (Tries, Option<Tries>),
    done: &mut Finished,
    next: Next<'_, '_>,
) -> Result<Decision, Unanswered> {
    match (tries(case, first, done, next)?, second) {
        (Decision::Fail, Some(second)) => tries(case, second, done, next),
        (decision, _) => Ok(decision),
    }
}

/// Runs trials of one stage until they decide.
pub(super) fn tries(
    case: &Judging<'_>,
    Tries {
        stage,
        rule,
        of: asked_for,
        there,
        rows,
    }: Tries,
    done: &mut Finished,
    next: Next<'_, '_>,
) -> Result<Decision, Unanswered> {
    let of = trials::most(&rule);
    let mut row = Vec::new();
    let mut decision = Decision::Open;
    let mut last: Option<Trial> = None;
    let mut is_open = false;
    (done.rule, done.stage) = (Some(rule), stage);
    let recorded = Recorded {
        trials: there,
        of: asked_for,
        is_cut: there < of,
    };
    // Unlimited answers have no number of recorded trials.
    let is_known = there > 0 && there < u32::MAX;
    done.recorded = (is_known && there != asked_for).then_some(recorded);
    // A missing first answer is detected by requesting it.
    for number in 1..=of.min(there.max(1)) {
        let (answer, answered, by) = next(TrialOf { stage, number, of })?;
        let trial = match last.take() {
            Some(trial) if *trial.answer == answer && trial.by == by => trial,
            _ => trial(case, answer, by, stage)?,
        };
        done.trials.push(trial.clone());
        if trial
            .verdicts
            .iter()
            .all(|verdict| verdict.outcome == Outcome::Skipped)
        {
            done.answered = Answered::NotJudged;
            return Ok(if trial.is_open() {
                Decision::Inconclusive
            } else {
                Decision::Open
            });
        }
        // A scripted answer is not counted as a model's.
        if done.answered != Answered::Scripted {
            done.answered = answered;
        }
        is_open |= trial.is_open();
        row.push(trial.tried);
        last = Some(trial);
        if decision == Decision::Open {
            decision = trials::decide(&rule, &row);
        }
        if decision != Decision::Open && rows == Rows::Curtailed {
            break;
        }
    }
    done.stopped_early = row.len() < of.min(there) as usize;
    // Trials can fail despite skipped expectations, but not pass.
    Ok(
        if decision == Decision::Open || decision == Decision::Pass && is_open {
            Decision::Inconclusive
        } else {
            decision
        },
    )
}

fn trial(case: &Judging<'_>, answer: Answer, by: &str, stage: Stage) -> Result<Trial, String> {
    let expectations = &case.input.case.expectations;
    let needs = |one: &&Spanned<Expectation>| one.value.test.needs_whole_answer();
    // An expected refusal is an answer.
    let is_expected = |flaw: &&Flaw| {
        **flaw == Flaw::Withheld
            && expectations
                .iter()
                .any(|one| one.value.gate && one.value.test == AnswerTest::Refuses(true))
    };
    let flaw = answer
        .flaw
        .as_ref()
        .filter(|flaw| !is_expected(flaw))
        .and_then(|flaw| {
            let is_endless = matches!(flaw, Flaw::Endless(_));
            let gate = is_endless || expectations.iter().filter(needs).any(|one| one.value.gate);
            let first = expectations.iter().find(|one| is_endless || needs(one))?;
            Some(unjudged(flaw, gate, first.span))
        });
    let unfinished = unfinished(&answer, expectations);
    let is_judged = |one: &&_| flaw.is_none() || !needs(one);
    let judged = expectations
        .iter()
        .filter(is_judged)
        .map(|one| judge(case, &answer, one));
    let verdicts: Vec<Verdict> = flaw
        .clone()
        .into_iter()
        .chain(unfinished)
        .map(Ok)
        .chain(judged)
        .collect::<Result<_, String>>()?;
    let tried = if verdicts.iter().any(Verdict::is_failure) {
        TrialOutcome::Failed
    } else {
        TrialOutcome::Passed
    };
    let decomposes = parts(case, &answer).ok().map(|(is_split, _)| is_split);
    let (tokens, took) = (answer.tokens, answer.took);
    Ok(Trial {
        tried,
        stage,
        verdicts,
        by: by.to_owned(),
        tokens,
        took,
        decomposes,
        answer: Arc::new(answer),
    })
}

/// The failure of an incomplete run, unless an expectation defines its end.
fn unfinished(answer: &Answer, expectations: &[Spanned<Expectation>]) -> Option<Verdict> {
    let run = answer.run.as_deref().filter(|run| run.ends != "complete")?;
    let says = |one: &Spanned<Expectation>| {
        each(std::slice::from_ref(one)).any(|(test, _)| matches!(test, AnswerTest::Ends(_)))
    };
    if expectations.iter().any(says) {
        return None;
    }
    let what = "the run is complete".to_owned();
    let found = run
        .obstacle
        .as_ref()
        .map_or_else(|| run.ends.clone(), |why| format!("{}: {why}", run.ends));
    let span = expectations
        .first()
        .map_or_else(Span::default, |one| one.span);
    let reason = Reason::new("a run that is complete", found)
        .hint("`ends: blocked` or `ends: failed` expects that");
    Some(Verdict {
        reason,
        what,
        outcome: Outcome::Fail,
        gate: true,
        span,
    })
}

/// The verdict in place of the expectations on an answer that cannot be judged.
fn unjudged(flaw: &Flaw, gate: bool, span: Span) -> Verdict {
    let what = "a whole answer".to_owned();
    let (found, advice) = flaw.words();
    Verdict {
        reason: Reason::new(what.clone(), found).hint(advice),
        what,
        outcome: Outcome::Fail,
        gate,
        span,
    }
}
