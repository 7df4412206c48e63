//! Runs the trials of a case: answers from the configured source, judged until they decide, with a
//! second stage if there is one.

use super::trial_answer::{AnswerCost, AnswerFlaw, TrialAnswer};
use super::{
    NO_MODEL, NoAnswerReason, ReplayedCalls, case_wire, estimate_cost, find_parts,
    judge_expectation, run_conversation,
};
use crate::base::span::{Span, Spanned};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::eval::answer_source::{AnswersFrom, CallPurpose, ModelCall, ModelCaller, TrialUnderWay};
use crate::eval::case_result::{AnswerOrigin, CaseResult, JudgedTrial, RecordedTrials};
use crate::eval::prepared_case::{AnswerJudging, CaseInput, PreparedCase};
use crate::eval::score::TrialScore;
use crate::eval::scripted::is_script_for;
use crate::eval::trials::{
    self, AnswerCounts, PlannedStages, StageTrials, TrialDecision, TrialOutcome, TrialPolicy,
};
use crate::eval::verdict::{ExpectationOutcome, ExpectationVerdict, Reason};
use crate::kernel::provider;
use crate::kernel::tokens::TokenCounter;
use crate::project::models::ModelConfig;
use crate::record::comparison::RequestComparison;
use crate::record::recording::{AnsweredBy, Recording, TrialNumber, TrialStage};
use crate::run::answers::recorded_response;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::{AnswerExpectation, AnswerTest, ScriptedAnswer, TrialRule};
use std::sync::Arc;

/// The scripted answer to a conversation: the first whose patterns match.
pub(in crate::eval) fn find_script<'c>(
    case: &PreparedCase<'c>,
    messages: &[Message],
) -> Result<Option<&'c ScriptedAnswer>, String> {
    let named = case
        .input
        .case
        .node
        .as_ref()
        .map(|node| node.value.as_str());
    for script in &case.input.case.answers {
        if script
            .value
            .node
            .as_ref()
            .is_some_and(|node| node.value != case.node && Some(node.value.as_str()) != named)
        {
            continue;
        }
        let texts = || messages.iter().map(Message::as_str);
        if is_script_for(case.run.patterns, &script.value, texts)? {
            return Ok(Some(&script.value));
        }
    }
    Ok(None)
}

/// Judges the answers of an earlier run again, independent of the request at that time.
pub(in crate::eval) fn rescore_trials(
    case: &AnswerJudging<'_>,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let kept = case.input.answers.kept;
    let of = |stage| kept.iter().filter(move |one| one.stage == stage);
    // The rule applies as written, whatever trials led to the earlier verdict. Another program
    // gives one answer.
    let planned = |rule: &TrialRule| case.prepared.map_or(0, |_| trials::max_trials(rule));
    let round = |stage, rule| {
        let answers = AnswerCounts {
            available: of(stage).count(),
            planned: planned(&rule),
        };
        StageTrials::with_answers(stage, rule, answers, case.run.rows)
    };
    let rule = case.input.case.rule;
    let second = trials::confirm_rule(&rule).filter(|_| of(TrialStage::Confirm).next().is_some());
    let stages = PlannedStages {
        first: round(TrialStage::First, rule),
        second: second.map(|rule| round(TrialStage::Confirm, rule)),
    };
    if kept.is_empty() {
        return Ok(TrialDecision::Open);
    }
    run_stages(case, stages, done, &mut |trial| {
        let one = of(trial.stage).nth(trial.number.saturating_sub(1) as usize);
        let one = one.ok_or_else(|| "no answer of this trial is kept".to_owned())?;
        let origin = if one.by == SCRIPT {
            AnswerOrigin::Scripted
        } else {
            AnswerOrigin::Replayed
        };
        Ok(ObtainedAnswer {
            answer: one.restore(),
            origin,
            by: one.by.as_str(),
        })
    })
}

/// The source name of scripted answers.
pub(in crate::eval) const SCRIPT: &str = "script";

/// Produces the scripted answer.
pub(super) fn scripted_answer(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    done: &CaseResult,
) -> Result<TrialAnswer, NoAnswerReason> {
    let case = prepared.input.case;
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    run_conversation(assembly, prepared.input.answers.tools, |messages| {
        let script = find_script(prepared, messages)?.ok_or_else(|| {
            let count = case.answers.len();
            format!("none of the {count} scripted answers is for this request: no `when` holds")
        })?;
        let answer = TrialAnswer::from_script(
            script,
            context + added_tokens(assembly, messages, counter),
            counter,
        );
        let turn = answer.to_turn();
        Ok((answer, turn))
    })
}

/// Calls a model. Skipped if an expectation on the context failed or none on the answer exists,
/// since that answer would be paid for without use.
pub(super) fn run_live_trials(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let CaseInput { path, case, .. } = *prepared.input;
    if case.expectations.is_empty() || done.context.iter().any(ExpectationVerdict::is_failure) {
        return Ok(TrialDecision::Open);
    }
    let wire = case_wire(prepared)?;
    if prepared.run.answers.estimates_only && wire.model.is_some() {
        done.new_answer_cost = Some(estimate_cost(
            prepared,
            &wire,
            done.tokens.map_or(0, |(all, _)| all),
        ));
        return Ok(TrialDecision::Open);
    }
    let (Some(model), Some(ask)) = (wire.model, prepared.run.answers.ask) else {
        return Err(NO_MODEL.to_owned().into());
    };
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    let called = CalledModel {
        caller: ask,
        config: model,
    };
    record_trials(prepared, called, done, &mut |trial| {
        run_conversation(assembly, prepared.input.answers.tools, |messages| {
            let sent = wire.build_request(messages)?;
            let context = context + added_tokens(assembly, messages, counter);
            let response = ask.call_model(&ModelCall {
                path,
                case: &case.name.value,
                purpose: CallPurpose::Answer,
                trial,
                model,
                sent: &sent,
                context: Some(context),
            })?;
            let (received, took) = (response.answer, response.latency.as_millis());
            let mut answer =
                TrialAnswer::from_model(&received, context, counter, model.prices.as_ref());
            answer.took = AnswerCost {
                latency_ms: u64::try_from(took).ok(),
                is_live: true,
                ..answer.took
            };
            Ok((answer, received.turn))
        })
    })
}

/// A model that is called for trials.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalledModel<'m> {
    pub(super) caller: &'m dyn ModelCaller,
    pub(super) config: &'m ModelConfig,
}

/// Runs trials with a model's answers, and records the case once every trial is answered.
pub(super) fn record_trials(
    prepared: &PreparedCase<'_>,
    model: CalledModel<'_>,
    done: &mut CaseResult,
    once: &mut dyn FnMut(TrialNumber) -> Result<TrialAnswer, NoAnswerReason>,
) -> Result<TrialDecision, NoAnswerReason> {
    let CaseInput { path, case, .. } = *prepared.input;
    // A recording must contain the trials for every rule.
    let rows = if prepared.run.answers.from == AnswersFrom::Live {
        prepared.run.rows
    } else {
        TrialPolicy::RunAll
    };
    let name = case.name.value.as_str();
    let round = |stage, rule| StageTrials {
        rows,
        ..StageTrials::unbounded(stage, rule)
    };
    let stages = PlannedStages {
        first: round(TrialStage::First, case.rule),
        second: trials::confirm_rule(&case.rule)
            .filter(|_| prepared.run.answers.confirms)
            .map(|rule| round(TrialStage::Confirm, rule)),
    };
    let (keep, keys) = (prepared.run.answers.trials, done.keys);
    let by = model.config.provider.value.as_str();
    let decision = run_stages(
        &AnswerJudging::for_agent(prepared),
        stages,
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
            let origin = AnswerOrigin::Asked;
            if let Some(answer) = kept.and_then(|(keep, trial)| keep.earlier_answer(&trial)) {
                return Ok(ObtainedAnswer { answer, origin, by });
            }
            let answer = once(trial)?;
            if let Some((keep, trial)) = kept {
                keep.record_answer(&trial, &answer, by);
            }
            Ok(ObtainedAnswer { answer, origin, by })
        },
    );
    let caller = model.caller;
    done.failed_calls = caller.failed_calls(path, name);
    match decision {
        Ok(decision) => caller
            .finish_recording(path, name)
            .map(|()| decision)
            .map_err(NoAnswerReason::Trouble),
        Err(NoAnswerReason::Trouble(why)) => {
            let kept = caller
                .abandon_recording(path, name)
                .map_or_else(String::new, |kept| format!("; {kept}"));
            Err(NoAnswerReason::Trouble(why + &kept))
        }
        Err(NoAnswerReason::Stale(moved)) => {
            caller.abandon_recording(path, name);
            Err(NoAnswerReason::Stale(moved))
        }
    }
}

/// Runs trials with recorded answers.
pub(super) fn replay_trials(
    prepared: &PreparedCase<'_>,
    assembly: &Assembly,
    recorded: &[Recording],
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let wire = case_wire(prepared)?;
    let none = RequestComparison::default();
    let replay = ReplayedCalls::new(recorded, prepared.run.answers.comparison.unwrap_or(&none));
    let first = wire.build_request(&assembly.messages)?;
    let round = |stage, rule| replay.plan_stage(stage, &first, rule, prepared.run.rows);
    let rule = prepared.input.case.rule;
    let second = trials::confirm_rule(&rule).map(|rule| round(TrialStage::Confirm, rule));
    let stages = PlannedStages {
        first: round(TrialStage::First, rule),
        second: second.filter(|_| replay.has_stage(TrialStage::Confirm)),
    };
    let (counter, context) = (
        prepared.routed.options.counter,
        done.tokens.map_or(0, |(all, _)| all),
    );
    let decision = run_stages(
        &AnswerJudging::for_agent(prepared),
        stages,
        done,
        &mut |trial| {
            let (mut origin, mut by) = (AnswerOrigin::Replayed, "recording");
            let answer = run_conversation(assembly, prepared.input.answers.tools, |messages| {
                let sent = wire.build_request(messages)?;
                let call = replay
                    .next_call(trial.stage, &sent)
                    .ok_or_else(|| replay.stale_reason(trial.stage, &sent))?;
                if call.answered_by == AnsweredBy::Script {
                    (origin, by) = (AnswerOrigin::Scripted, SCRIPT);
                }
                let recorded = recorded_answer(call)?;
                let prices = wire.model.and_then(|model| model.prices.as_ref());
                let mut answer = TrialAnswer::from_model(
                    &recorded,
                    context + added_tokens(assembly, messages, counter),
                    counter,
                    prices,
                );
                answer.took.latency_ms = call.latency_ms;
                Ok((answer, recorded.turn))
            })?;
            Ok(ObtainedAnswer { answer, origin, by })
        },
    );
    if matches!(decision, Err(NoAnswerReason::Stale(_))) && wire.model.is_some() {
        done.new_answer_cost = Some(estimate_cost(prepared, &wire, context));
    }
    decision
}

/// Judges a single answer that exists already, as the only trial of the first stage.
pub(in crate::eval) fn run_single_answer(
    case: &AnswerJudging<'_>,
    answer: &ObtainedAnswer<'_>,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let answers = AnswerCounts {
        available: 1,
        planned: 0,
    };
    let (stage, rule) = (TrialStage::First, case.input.case.rule);
    let trials = StageTrials::with_answers(stage, rule, answers, case.run.rows);
    run_stage(case, trials, done, &mut |_| Ok(answer.clone()))
}

/// The answer of a recorded call.
pub(in crate::eval) fn recorded_answer(
    call: &Recording,
) -> Result<provider::Answer, NoAnswerReason> {
    Ok(recorded_response(call)?.answer)
}

/// The tokens of a conversation beyond the context.
fn added_tokens(assembly: &Assembly, messages: &[Message], counter: &dyn TokenCounter) -> u64 {
    let more = messages.get(assembly.messages.len()..).unwrap_or_default();
    more.iter()
        .map(|message| counter.count(message.text.text()) as u64)
        .sum()
}

/// The answer of a trial with its source.
#[derive(Clone, Debug)]
pub(in crate::eval) struct ObtainedAnswer<'b> {
    pub(in crate::eval) answer: TrialAnswer,
    pub(in crate::eval) origin: AnswerOrigin,
    /// The name of the source.
    pub(in crate::eval) by: &'b str,
}

/// Returns the answer of a trial.
type NextAnswer<'n, 'b> =
    &'n mut dyn FnMut(TrialNumber) -> Result<ObtainedAnswer<'b>, NoAnswerReason>;

/// Runs the first stage and, if that fails, the second one if there is one.
pub(super) fn run_stages(
    case: &AnswerJudging<'_>,
    stages: PlannedStages,
    done: &mut CaseResult,
    next: NextAnswer<'_, '_>,
) -> Result<TrialDecision, NoAnswerReason> {
    match (run_stage(case, stages.first, done, next)?, stages.second) {
        (TrialDecision::Fail, Some(second)) => run_stage(case, second, done, next),
        (decision, _) => Ok(decision),
    }
}

/// Runs trials of one stage until they decide.
pub(super) fn run_stage(
    case: &AnswerJudging<'_>,
    StageTrials {
        stage,
        rule,
        required: asked_for,
        available: there,
        rows,
    }: StageTrials,
    done: &mut CaseResult,
    next: NextAnswer<'_, '_>,
) -> Result<TrialDecision, NoAnswerReason> {
    let of = trials::max_trials(&rule);
    // A mean of scores over trials that ended early would be biased.
    let is_full = rows == TrialPolicy::RunAll || case.input.case.is_scored;
    let is_full = is_full && rule.sequential.is_none();
    let mut row = Vec::new();
    let mut decision = TrialDecision::Open;
    let mut last: Option<JudgedTrial> = None;
    let (mut is_open, mut is_judged) = (false, false);
    (done.rule, done.stage) = (Some(rule), stage);
    let recorded = RecordedTrials {
        trials: there,
        of: asked_for,
        is_cut: there < of,
    };
    // Unlimited answers have no number of recorded trials.
    let is_known = there > 0 && there < u32::MAX;
    done.recorded = (is_known && there != asked_for).then_some(recorded);
    // A missing first answer is detected by requesting it.
    for number in 1..=of.min(there.max(1)) {
        let ObtainedAnswer { answer, origin, by } = next(TrialNumber { stage, number, of })?;
        let trial = match last.take() {
            Some(trial) if *trial.answer == answer && trial.answered_by == by => trial,
            _ => {
                case.judge.begin_trial(TrialNumber { stage, number, of });
                judge_trial(case, answer, by, stage)?
            }
        };
        done.trials.push(trial.clone());
        let is_skipped = trial.is_skipped();
        if is_skipped && trial.scores.is_empty() {
            return Ok(decide_unjudged(done, trial.is_undecided()));
        }
        is_judged |= !is_skipped;
        // A scripted answer is not counted as a model's.
        if done.answered != AnswerOrigin::Scripted {
            done.answered = origin;
        }
        is_open |= trial.is_undecided();
        row.push(trial.outcome);
        last = Some(trial);
        if decision == TrialDecision::Open {
            decision = trials::decide_trials(&rule, &row);
        }
        let stops = rows == TrialPolicy::StopWhenDecided && !is_full;
        if decision != TrialDecision::Open && stops {
            break;
        }
    }
    if stage == TrialStage::First {
        done.has_full_row = is_full && row.len() == of as usize;
    }
    done.stopped_early = row.len() < of.min(there) as usize;
    if !is_judged {
        // The scores of the judge only inform.
        return Ok(decide_unjudged(done, is_open));
    }
    // Trials can fail despite skipped expectations, but not pass.
    Ok(
        if decision == TrialDecision::Open || decision == TrialDecision::Pass && is_open {
            TrialDecision::Inconclusive
        } else {
            decision
        },
    )
}

/// The decision of a stage whose answers were not judged.
const fn decide_unjudged(done: &mut CaseResult, is_open: bool) -> TrialDecision {
    done.answered = AnswerOrigin::NotJudged;
    if is_open {
        TrialDecision::Inconclusive
    } else {
        TrialDecision::Open
    }
}

fn judge_trial(
    case: &AnswerJudging<'_>,
    answer: TrialAnswer,
    by: &str,
    stage: TrialStage,
) -> Result<JudgedTrial, NoAnswerReason> {
    let expectations = &case.input.case.expectations;
    let needs = |one: &&Spanned<AnswerExpectation>| one.value.test.needs_whole_answer();
    // An expected refusal is an answer.
    let is_expected = |flaw: &&AnswerFlaw| {
        **flaw == AnswerFlaw::Withheld
            && expectations
                .iter()
                .any(|one| one.value.gate && one.value.test == AnswerTest::Refuses(true))
    };
    let flaw = answer
        .flaw
        .as_ref()
        .filter(|flaw| !is_expected(flaw))
        .and_then(|flaw| {
            let is_endless = matches!(flaw, AnswerFlaw::Endless(_));
            let gate = is_endless || expectations.iter().filter(needs).any(|one| one.value.gate);
            let first = expectations.iter().find(|one| is_endless || needs(one))?;
            Some(ExpectationVerdict {
                gate,
                ..flaw_verdict(flaw, first.span)
            })
        });
    let unfinished = unfinished_verdict(&answer, expectations);
    let ahead = usize::from(flaw.is_some()) + usize::from(unfinished.is_some());
    let is_judged = |one: &&_| flaw.is_none() || !needs(one);
    let judged = expectations
        .iter()
        .filter(is_judged)
        .map(|one| judge_expectation(case, &answer, one));
    let mut verdicts: Vec<ExpectationVerdict> = flaw
        .clone()
        .into_iter()
        .chain(unfinished)
        .map(Ok)
        .chain(judged)
        .collect::<Result<_, NoAnswerReason>>()?;
    let case_score = case.input.case.is_scored.then(|| {
        let weight = case.input.case.score_weight();
        TrialScore::new(&verdicts, weight)
    });
    let min = case.input.case.rule.min_score;
    let decides = |one: &ExpectationVerdict| min.is_none() || one.part.is_none();
    if let Some((score, min)) = case_score.zip(min) {
        for part in verdicts.iter_mut().filter(|one| one.part.is_some()) {
            part.reason.is_undecided = false;
        }
        let judged = score.judge(min);
        let what = judged.1.expected.clone();
        let verdict = ExpectationVerdict::new(what, judged, case.input.case.span);
        verdicts.insert(ahead, verdict);
    }
    let tried = if verdicts.iter().any(|one| one.is_failure() && decides(one)) {
        TrialOutcome::Failed
    } else {
        TrialOutcome::Passed
    };
    let decomposes = find_parts(case, &answer).ok().map(|(is_split, _)| is_split);
    let (tokens, took) = (answer.tokens, answer.took);
    Ok(JudgedTrial {
        outcome: tried,
        stage,
        verdicts,
        answered_by: by.to_owned(),
        tokens,
        cost: took,
        scores: case.judge.take_scores(),
        score: case_score.map(|score| score.value),
        decomposes,
        answer: Arc::new(answer),
    })
}

/// The failure of an incomplete run, unless an expectation defines its end.
fn unfinished_verdict(
    answer: &TrialAnswer,
    expectations: &[Spanned<AnswerExpectation>],
) -> Option<ExpectationVerdict> {
    let run = answer.run.as_deref().filter(|run| run.ends != "complete")?;
    let is_about_call = |one: &Spanned<AnswerExpectation>| {
        all_tests(std::slice::from_ref(one)).any(|(test, _)| matches!(test, AnswerTest::Ends(_)))
    };
    if expectations.iter().any(is_about_call) {
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
        .with_advice("`ends: blocked` or `ends: failed` expects that");
    let judged = (ExpectationOutcome::Fail, reason);
    Some(ExpectationVerdict::new(what, judged, span))
}

/// The verdict in place of the expectations on an answer that cannot be judged.
fn flaw_verdict(flaw: &AnswerFlaw, span: Span) -> ExpectationVerdict {
    let what = "a whole answer".to_owned();
    let (found, advice) = flaw.describe();
    let reason = Reason::new(what.clone(), found).with_advice(advice);
    ExpectationVerdict::new(what, (ExpectationOutcome::Fail, reason), span)
}
