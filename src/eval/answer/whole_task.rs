//! Runs the trials of a case, of one agent or, by the runner, of a whole task, with answers from
//! the source of the evaluation. Runs no command: the output of a script is a scripted answer of
//! the case.

use super::model_calls::{ReplayedCalls, case_wire};
use super::single_answer::{CalledModel, ObtainedAnswer, SCRIPT};
use super::trial_answer::{RunStage, TrialAnswer, WholeRun};
use super::{AnswerJudging, NO_MODEL, NoAnswerReason, estimate_cost, single_answer};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::eval::answer_source::{
    AnswersFrom, CallPurpose, ModelCall, ModelCaller, SufficientTrials,
};
use crate::eval::case_result::{AnswerOrigin, CaseResult};
use crate::eval::judge::ExpectedAnswers;
use crate::eval::prepared_case::{CaseInput, PreparedCase};
use crate::eval::scripted::{AnswerScript, ScriptedCommands};
use crate::eval::trials::{self, AnswerCounts, PlannedStages, StageTrials, TrialDecision};
use crate::kernel::agent_node::stage_node;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::Usage;
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::RequestComparison;
use crate::record::recording::{AnsweredBy, Recording, TrialNumber, TrialStage};
use crate::record::redact::Redactor;
use crate::run::answers::{
    AgentRequest, AnswerBackend, NOT_RECORDED, NoAnswer, SourcedAnswer, recorded_response,
};
use crate::run::flow::TaskFlow;
use crate::run::plan::{PlanKind, PlanNode};
use crate::run::runner::{
    NoSubtasks, RunLimits, RunOutcome, Runner, RunnerParts, SubtaskCompiler, TaskFrame,
};
use crate::run::trace::{RunJournal, TraceEvent, TraceWriter};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Judges the available answers for a context or, without one, for a whole run; `Open` if there are
/// none.
pub(in crate::eval) fn run_trials(
    prepared: &PreparedCase<'_>,
    assembly: Option<&Assembly>,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let (judge, case) = (&prepared.judge, prepared.input.case);
    match assembly {
        Some(assembly) => judge.set_request(assembly.messages.iter().map(Message::as_str)),
        None => judge.set_request(prepared.read.objective().into_iter()),
    }
    let decision = run_available_trials(prepared, assembly, done);
    if judge.is_incomplete() {
        let trials = (1, u64::from(trials::max_trials(&case.rule)));
        let tokens = done.trials.first().map_or(0, |trial| trial.tokens.1);
        done.new_answer_cost = judge.estimate(ExpectedAnswers {
            trials,
            tokens: (tokens, tokens),
        });
    }
    // The recording of the answers is complete by now, that of the judgements is not.
    if decision.is_ok() {
        judge.finish_recording()?;
    }
    decision
}

fn run_available_trials(
    prepared: &PreparedCase<'_>,
    assembly: Option<&Assembly>,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let case = prepared.input.case;
    let from = prepared.run.answers.from;
    let recorded = match prepared.input.answers.recorded {
        _ if from.ignores_recordings() => &[],
        recorded => recorded.map_err(str::to_owned)?,
    };
    if recorded.iter().any(Recording::is_answered) {
        let replayed = match assembly {
            Some(assembly) => single_answer::replay_trials(prepared, assembly, recorded, done),
            None => run_replayed(prepared, recorded, done),
        };
        let requires_all = prepared.run.answers.sufficient == SufficientTrials::AsRequired;
        let is_cut = done.recorded.is_some_and(|recorded| {
            recorded.is_cut && assembly.is_some() || recorded.trials < recorded.of && requires_all
        });
        match replayed {
            Err(NoAnswerReason::Stale(_)) if from.calls_models() => done.clear_trials(),
            Ok(_) if from.calls_models() && is_cut => done.clear_trials(),
            replayed => return replayed,
        }
    }
    match (from, assembly) {
        (AnswersFrom::Record | AnswersFrom::ReplayOrRecord | AnswersFrom::Live, Some(assembly)) => {
            single_answer::run_live_trials(prepared, assembly, done)
        }
        (AnswersFrom::Record | AnswersFrom::ReplayOrRecord | AnswersFrom::Live, None) => {
            run_live(prepared, done)
        }
        (AnswersFrom::Known | AnswersFrom::Scripted, _) if !case.answers.is_empty() => {
            // A script gives the same answer every time.
            let answer = match assembly {
                Some(assembly) => single_answer::scripted_answer(prepared, assembly, done)?,
                None => run_scripted(prepared)?,
            };
            let first = StageTrials {
                rows: prepared.run.rows,
                ..StageTrials::unbounded(TrialStage::First, case.rule)
            };
            single_answer::run_stage(
                &AnswerJudging::for_agent(prepared),
                first,
                done,
                &mut |_| {
                    Ok(ObtainedAnswer {
                        answer: answer.clone(),
                        origin: AnswerOrigin::Scripted,
                        by: SCRIPT,
                    })
                },
            )
        }
        (AnswersFrom::Kept, _) => {
            single_answer::rescore_trials(&AnswerJudging::for_agent(prepared), done)
        }
        (AnswersFrom::Known | AnswersFrom::Scripted | AnswersFrom::Replay, _) => {
            Ok(TrialDecision::Open)
        }
    }
}

/// Runs the task with the scripted answers of the case.
fn run_scripted(prepared: &PreparedCase<'_>) -> Result<TrialAnswer, NoAnswerReason> {
    let answers = &prepared.input.case.answers;
    let script = AnswerScript::new(answers.iter().map(|one| one.value.clone()))?;
    run_once(
        prepared,
        &RunAnswerSource::Script {
            script,
            counts: answers.iter().any(|one| one.value.usage.is_some()),
        },
    )
}

/// Runs the task with recorded answers.
fn run_replayed(
    prepared: &PreparedCase<'_>,
    recorded: &[Recording],
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let none = RequestComparison::default();
    let comparison = prepared.run.answers.comparison.unwrap_or(&none);
    let rule = prepared.input.case.rule;
    let round = |of: TrialStage, rule| {
        let calls = recorded.iter().filter(|call| call.is_answered());
        let trials = calls.map(|call| {
            call.trial.map_or((TrialStage::First, 1, 1), |trial| {
                (trial.stage, trial.number, trial.of)
            })
        });
        let of_stage: BTreeMap<u32, u32> = trials
            .filter(|one| one.0 == of)
            .map(|(_, number, of)| (number, of))
            .collect();
        let planned = of_stage.values().copied().max().unwrap_or(0);
        let answers = AnswerCounts {
            available: of_stage.len(),
            planned,
        };
        StageTrials::with_answers(of, rule, answers, prepared.run.rows)
    };
    let second = trials::confirm_rule(&rule)
        .map(|rule| round(TrialStage::Confirm, rule))
        .filter(|second| second.available > 0);
    let replay = ReplayedCalls::new(recorded, comparison);
    let decision = single_answer::run_stages(
        &AnswerJudging::for_agent(prepared),
        PlannedStages {
            first: round(TrialStage::First, rule),
            second,
        },
        done,
        &mut |trial| {
            let source = RunAnswerSource::Replay {
                replay: &replay,
                stage: trial.stage,
            };
            Ok(ObtainedAnswer {
                answer: run_once(prepared, &source)?,
                origin: AnswerOrigin::Replayed,
                by: "recording",
            })
        },
    );
    if matches!(decision, Err(NoAnswerReason::Stale(_))) {
        estimate_answers(prepared, done);
    }
    decision
}

/// Estimates the cost of new answers, if there is a model to call.
fn estimate_answers(prepared: &PreparedCase<'_>, done: &mut CaseResult) {
    if let Some(wire) = case_wire(prepared).ok().filter(|wire| wire.model.is_some()) {
        done.new_answer_cost = Some(estimate_cost(
            prepared,
            &wire,
            done.tokens.map_or(0, |(all, _)| all),
        ));
    }
}

/// Runs the task with models.
fn run_live(
    prepared: &PreparedCase<'_>,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let CaseInput { path, case, .. } = *prepared.input;
    if prepared.run.answers.estimates_only {
        estimate_answers(prepared, done);
        return Ok(TrialDecision::Open);
    }
    let model = prepared.routed.choice.as_ref().map(|choice| choice.model);
    let (Some(model), Some(ask)) = (model, prepared.run.answers.ask) else {
        return Err(NO_MODEL.to_owned().into());
    };
    let called = CalledModel {
        caller: ask,
        config: model,
    };
    single_answer::record_trials(prepared, called, done, &mut |trial| {
        run_once(
            prepared,
            &RunAnswerSource::Models {
                ask,
                path,
                case: &case.name.value,
                trial,
            },
        )
    })
}

/// The source of the answers of a run.
#[derive(Debug)]
enum RunAnswerSource<'s> {
    /// Scripted answers of the case.
    Script {
        script: AnswerScript,
        /// True if the script contains token counts.
        counts: bool,
    },
    /// Recorded answers.
    Replay {
        replay: &'s ReplayedCalls<'s>,
        stage: TrialStage,
    },
    /// Answers of models.
    Models {
        ask: &'s dyn ModelCaller,
        path: &'s str,
        case: &'s str,
        trial: TrialNumber,
    },
}

impl RunAnswerSource<'_> {
    fn answer(
        &self,
        request: &AgentRequest<'_>,
        stale: &Mutex<Vec<String>>,
    ) -> Result<SourcedAnswer, NoAnswer> {
        match self {
            Self::Script { script, counts } => {
                let mut answer = AnswerBackend::answer(script, request)?;
                if !counts {
                    answer.response.answer.usage = Usage::default();
                }
                Ok(answer)
            }
            Self::Replay { replay, stage } => {
                let Some(call) = replay.next_call(*stage, request.sent) else {
                    if let NoAnswerReason::Stale(moved) = replay.stale_reason(*stage, request.sent)
                    {
                        let of =
                            |line| format!("{}: {line}", request.name.unwrap_or(request.stage));
                        *stale.lock().unwrap_or_else(PoisonError::into_inner) =
                            moved.into_iter().map(of).collect();
                    }
                    return Err(NoAnswer::NotRecorded(format!(
                        "no answer is recorded for this request of {}",
                        request.stage
                    )));
                };
                let response = recorded_response(call).map_err(NoAnswer::Provider)?;
                Ok(SourcedAnswer {
                    response,
                    by: AnsweredBy::Replay,
                })
            }
            Self::Models {
                ask,
                path,
                case,
                trial,
            } => {
                let no_model = || {
                    NoAnswer::NotRecorded(format!(
                        "no model of `[models]` in ctxc.toml is known for {}",
                        request.stage
                    ))
                };
                let model = request.model.ok_or_else(no_model)?;
                let call = ModelCall {
                    path,
                    case,
                    purpose: CallPurpose::Answer,
                    trial: *trial,
                    model,
                    sent: request.sent,
                    context: None,
                };
                let response = ask.call_model(&call).map_err(NoAnswer::Provider)?;
                Ok(SourcedAnswer {
                    response,
                    by: AnsweredBy::Upstream,
                })
            }
        }
    }
}

/// Passes on the answers of a run and collects them by stage.
#[derive(Debug)]
struct CollectingAnswers<'s, 'r> {
    source: &'s RunAnswerSource<'r>,
    counter: &'s dyn TokenCounter,
    answers: Mutex<BTreeMap<String, Vec<TrialAnswer>>>,
    stale: Mutex<Vec<String>>,
}

impl AnswerBackend for CollectingAnswers<'_, '_> {
    fn answer(&self, request: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        let sourced = self.source.answer(request, &self.stale)?;
        let context = request
            .messages
            .iter()
            .map(|message| self.counter.count(message.text.text()) as u64)
            .sum();
        let prices = request.model.and_then(|model| model.prices.as_ref());
        let mut answer =
            TrialAnswer::from_model(&sourced.response.answer, context, self.counter, prices);
        answer.took.is_live = sourced.by == AnsweredBy::Upstream;
        answer.took.latency_ms = Some(sourced.response.latency)
            .filter(|took| !took.is_zero())
            .and_then(|took| took.as_millis().try_into().ok());
        // The cost of a subtask belongs to the agent that requested it.
        let stage = request
            .stage
            .split('~')
            .next()
            .unwrap_or_default()
            .to_owned();
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(stage)
            .or_default()
            .push(answer);
        Ok(sourced)
    }
}

/// Runs the task once.
fn run_once(
    prepared: &PreparedCase<'_>,
    source: &RunAnswerSource<'_>,
) -> Result<TrialAnswer, NoAnswerReason> {
    let case = prepared.input.case;
    let files = prepared.read.overlay_files(prepared.run.live);
    let situation = prepared
        .read
        .as_run_situation(prepared.receiver, &files, prepared.run.session);
    let options = prepared.run.assembly_options();
    let flow =
        TaskFlow::new(prepared.forest, situation, &options).map_err(|fault| fault.to_string())?;
    let counter = prepared.routed.options.counter;
    let answers = CollectingAnswers {
        source,
        counter,
        answers: Mutex::default(),
        stale: Mutex::default(),
    };
    let script = AnswerScript::new(case.answers.iter().map(|one| one.value.clone()))?;
    let commands = ScriptedCommands {
        script: &script,
        then: None,
    };
    let trace = TraceWriter::new(
        String::new(),
        None,
        Redactor::new([0; 32], []),
        RunJournal::default(),
    )
    .with_kept_events();
    let config = prepared
        .run
        .answers
        .config
        .map(|config| config as &dyn SubtaskCompiler);
    let runner = Runner::new(RunnerParts {
        options,
        providers: prepared.run.answers.providers,
        answers: &answers,
        tools: prepared.input.answers.tools,
        commands: &commands,
        subtasks: config.unwrap_or(&NoSubtasks),
        trace: &trace,
        limits: RunLimits {
            jobs: 1,
            ..RunLimits::default()
        },
        clock: || None,
    });
    let outcome = runner.run(&TaskFrame::new(prepared.forest, situation, &flow));
    if let Some(obstacle) = &outcome.obstacle {
        let is_unknown =
            matches!(&obstacle.kind, ObstacleKind::Other(word) if word == NOT_RECORDED);
        if is_unknown && matches!(source, RunAnswerSource::Replay { .. }) {
            return Err(NoAnswerReason::Stale(
                answers
                    .stale
                    .into_inner()
                    .unwrap_or_else(PoisonError::into_inner),
            ));
        }
        if is_unknown || obstacle.kind == ObstacleKind::Provider {
            return Err(obstacle.note.clone().into());
        }
    }
    let results = answers
        .answers
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(run_answer(
        &outcome,
        collect_stages(trace.events(), flow.plan(), results),
    ))
}

/// The executed agents and scripts, in order.
fn collect_stages(
    events: Vec<TraceEvent>,
    plan: &PlanNode,
    mut given: BTreeMap<String, Vec<TrialAnswer>>,
) -> Vec<RunStage> {
    let name = |node: &str| {
        plan.all_nodes()
            .into_iter()
            .find(|one| one.path == node && one.name.is_some())?
            .name
            .clone()
    };
    let is_agent = |node: &str| {
        plan.all_nodes()
            .into_iter()
            .any(|one| one.path == node && one.kind == PlanKind::Agent)
    };
    let mut stages: Vec<RunStage> = Vec::new();
    let mut begun = |stage: String| {
        // A stage within a subtask belongs to the agent that requested it.
        if stage.contains('~') {
            return None;
        }
        let at = stages.iter().position(|one: &RunStage| one.stage == stage);
        let at = at.unwrap_or_else(|| {
            let node = stage_node(&stage);
            let answer = given
                .remove(&stage)
                .and_then(TrialAnswer::combine)
                .unwrap_or_else(|| TrialAnswer::without_tokens(String::new()));
            stages.push(RunStage {
                name: name(&node),
                is_agent: is_agent(&node),
                node,
                stage,
                answer,
                output: None,
            });
            stages.len() - 1
        });
        Some(at)
    };
    let mut outputs = Vec::new();
    for event in events {
        if let TraceEvent::Result { stage, output, .. } = event {
            outputs.extend(begun(stage).map(|at| (at, output)));
        } else if let TraceEvent::Stage { stage, .. }
        | TraceEvent::Command { stage, .. }
        | TraceEvent::Failed { stage, .. } = event
        {
            let _ = begun(stage);
        }
    }
    for (at, output) in outputs {
        if let Some(stage) = stages.get_mut(at) {
            if !stage.is_agent {
                stage.answer = TrialAnswer::without_tokens(output.text().into_owned());
            }
            stage.output = Some(output);
        }
    }
    stages
}

/// The result of a run as an answer, with the calls and tokens of all stages.
fn run_answer(outcome: &RunOutcome, stages: Vec<RunStage>) -> TrialAnswer {
    let text = |content: &serde_json::Value| {
        content
            .as_str()
            .map_or_else(|| content.to_string(), str::to_owned)
    };
    let answer = outcome
        .result
        .as_ref()
        .map_or_else(String::new, |result| text(&result.content));
    let last = TrialAnswer::without_tokens(answer);
    let all = stages
        .iter()
        .map(|stage| stage.answer.clone())
        .chain([last.clone()])
        .collect();
    let TrialAnswer {
        tool_calls,
        tokens,
        took,
        miscounted,
        ..
    } = TrialAnswer::combine(all).unwrap_or_else(|| last.clone());
    let obstacle = outcome.obstacle.as_ref().map(Obstacle::to_string);
    let run = WholeRun {
        ends: outcome.status.word().to_owned(),
        obstacle,
        stages,
    };
    TrialAnswer {
        tool_calls,
        tokens,
        took,
        miscounted,
        run: Some(Box::new(run)),
        ..last
    }
}
