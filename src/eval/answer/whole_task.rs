//! Runs the trials of a case, of one agent or, by the runner, of a whole task, with answers from
//! the source of the evaluation. Runs no command: the output of a script is a scripted answer of
//! the case.

use super::given::{Answer, RunStage, WholeRun};
use super::trying::{self, SCRIPT};
use super::wire::{Replay, wire};
use super::{Judging, NO_MODEL, Unanswered, estimate};
use crate::context::assemble::Assembly;
use crate::eval::asked::{AnswersFrom, Ask, Asked};
use crate::eval::finished::{Answered, Finished};
use crate::eval::prepared::{CaseInput, PreparedCase};
use crate::eval::scripted::{Script, ScriptedCommands};
use crate::eval::trials::{self, Decision, Tries};
use crate::kernel::agent_node::node_of;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::Usage;
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::Comparison;
use crate::record::recording::{AnsweredBy, Recording, Stage, TrialOf};
use crate::record::redact::Redactor;
use crate::run::answers::{Answers, AskedCall, Given, NOT_RECORDED, NoAnswer, response_of};
use crate::run::flow::TaskFlow;
use crate::run::plan::{PlanKind, PlanNode};
use crate::run::runner::{Frame, Limits, Outcome, Parts, Runner};
use crate::run::subtask_compiler::{CompileSubtask, NoSubtasks};
use crate::run::trace::{Journal, Trace, TraceEvent};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Judges the available answers for a context or, without one, for a whole run; `Open` if there are
/// none.
pub(in crate::eval) fn answered(
    prepared: &PreparedCase<'_>,
    assembly: Option<&Assembly>,
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let case = prepared.input.case;
    let from = prepared.run.answers.from;
    let recorded = match prepared.input.answers.recorded {
        // A recording that is to be replaced is not read.
        _ if matches!(
            from,
            AnswersFrom::Record | AnswersFrom::Live | AnswersFrom::Scripted | AnswersFrom::Kept
        ) =>
        {
            &[]
        }
        recorded => recorded.map_err(str::to_owned)?,
    };
    if recorded.iter().any(Recording::is_answered) {
        let replayed = match assembly {
            Some(assembly) => trying::replayed(prepared, assembly, recorded, done),
            None => replayed(prepared, recorded, done),
        };
        let is_cut = assembly.is_some() && done.recorded.is_some_and(|recorded| recorded.is_cut);
        match replayed {
            Err(Unanswered::Stale(_)) if from.asks() => done.forget_trials(),
            Ok(_) if from.asks() && is_cut => done.forget_trials(),
            replayed => return replayed,
        }
    }
    match (from, assembly) {
        (AnswersFrom::Record | AnswersFrom::ReplayOrRecord | AnswersFrom::Live, Some(assembly)) => {
            trying::asked(prepared, assembly, done)
        }
        (AnswersFrom::Record | AnswersFrom::ReplayOrRecord | AnswersFrom::Live, None) => {
            asked(prepared, done)
        }
        (AnswersFrom::Known | AnswersFrom::Scripted, _) if !case.answers.is_empty() => {
            // A script gives the same answer every time.
            let answer = match assembly {
                Some(assembly) => trying::scripted(prepared, assembly, done)?,
                None => scripted(prepared)?,
            };
            let first = Tries {
                rows: prepared.run.rows,
                ..Tries::unbounded(Stage::First, case.rule)
            };
            trying::tries(&Judging::of(prepared), first, done, &mut |_| {
                Ok((answer.clone(), Answered::Scripted, SCRIPT))
            })
        }
        (AnswersFrom::Kept, _) => trying::rejudged(&Judging::of(prepared), done),
        (AnswersFrom::Known | AnswersFrom::Scripted | AnswersFrom::Replay, _) => Ok(Decision::Open),
    }
}

/// Runs the task with the scripted answers of the case.
fn scripted(prepared: &PreparedCase<'_>) -> Result<Answer, Unanswered> {
    let answers = &prepared.input.case.answers;
    let script = Script::new(answers.iter().map(|one| one.value.clone()))?;
    one(
        prepared,
        &Source::Script {
            script,
            counts: answers.iter().any(|one| one.value.usage.is_some()),
        },
    )
}

/// Runs the task with recorded answers.
fn replayed(
    prepared: &PreparedCase<'_>,
    recorded: &[Recording],
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let none = Comparison::default();
    let comparison = prepared.run.answers.comparison.unwrap_or(&none);
    let rule = prepared.input.case.rule;
    let round = |of: Stage, rule| {
        let calls = recorded.iter().filter(|call| call.is_answered());
        let trials = calls.map(|call| {
            call.trial.map_or((Stage::First, 1, 1), |trial| {
                (trial.stage, trial.number, trial.of)
            })
        });
        let of_stage: BTreeMap<u32, u32> = trials
            .filter(|one| one.0 == of)
            .map(|(_, number, of)| (number, of))
            .collect();
        let planned = of_stage.values().copied().max().unwrap_or(0);
        Tries::known(of, rule, (of_stage.len(), planned), prepared.run.rows)
    };
    let second = trials::confirming(&rule)
        .map(|rule| round(Stage::Confirm, rule))
        .filter(|second| second.there > 0);
    let replay = Replay::new(recorded, comparison);
    let decision = trying::stages(
        &Judging::of(prepared),
        (round(Stage::First, rule), second),
        done,
        &mut |trial| {
            let source = Source::Replay {
                replay: &replay,
                stage: trial.stage,
            };
            Ok((one(prepared, &source)?, Answered::Replayed, "recording"))
        },
    );
    if matches!(decision, Err(Unanswered::Stale(_))) {
        plan(prepared, done);
    }
    decision
}

/// Estimates the cost of new answers, if there is a model to call.
fn plan(prepared: &PreparedCase<'_>, done: &mut Finished) {
    if let Some(wire) = wire(prepared).ok().filter(|wire| wire.model.is_some()) {
        done.anew = Some(estimate(
            prepared,
            &wire,
            done.tokens.map_or(0, |(all, _)| all),
        ));
    }
}

/// Runs the task with models.
fn asked(prepared: &PreparedCase<'_>, done: &mut Finished) -> Result<Decision, Unanswered> {
    let CaseInput { path, case, .. } = *prepared.input;
    if prepared.run.answers.plans {
        plan(prepared, done);
        return Ok(Decision::Open);
    }
    let model = prepared.routed.choice.as_ref().map(|choice| choice.model);
    let (Some(model), Some(ask)) = (model, prepared.run.answers.ask) else {
        return Err(NO_MODEL.to_owned().into());
    };
    trying::trials_asked(prepared, (ask, model), done, &mut |trial| {
        one(
            prepared,
            &Source::Models {
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
enum Source<'s> {
    /// Scripted answers of the case.
    Script {
        script: Script,
        /// True if the script contains token counts.
        counts: bool,
    },
    /// Recorded answers.
    Replay {
        replay: &'s Replay<'s>,
        stage: Stage,
    },
    /// Answers of models.
    Models {
        ask: &'s dyn Ask,
        path: &'s str,
        case: &'s str,
        trial: TrialOf,
    },
}

impl Source<'_> {
    fn answer(&self, asked: &AskedCall<'_>, stale: &Mutex<Vec<String>>) -> Result<Given, NoAnswer> {
        match self {
            Self::Script { script, counts } => {
                let mut given = Answers::answer(script, asked)?;
                if !counts {
                    given.response.answer.usage = Usage::default();
                }
                Ok(given)
            }
            Self::Replay { replay, stage } => {
                let Some(call) = replay.next(*stage, asked.sent) else {
                    if let Unanswered::Stale(moved) = replay.stale(*stage, asked.sent) {
                        let of = |line| format!("{}: {line}", asked.name.unwrap_or(asked.stage));
                        *stale.lock().unwrap_or_else(PoisonError::into_inner) =
                            moved.into_iter().map(of).collect();
                    }
                    return Err(NoAnswer::Unknown(format!(
                        "no answer is recorded for this request of {}",
                        asked.stage
                    )));
                };
                let response = response_of(call).map_err(NoAnswer::Provider)?;
                Ok(Given {
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
                let nobody = || {
                    NoAnswer::Unknown(format!(
                        "no model of `[models]` in ctxc.toml is known for {}",
                        asked.stage
                    ))
                };
                let model = asked.model.ok_or_else(nobody)?;
                let asked = Asked {
                    path,
                    case,
                    trial: *trial,
                    model,
                    sent: asked.sent,
                    context: None,
                };
                let response = ask.ask(&asked).map_err(NoAnswer::Provider)?;
                Ok(Given {
                    response,
                    by: AnsweredBy::Upstream,
                })
            }
        }
    }
}

/// Passes on the answers of a run and collects them by stage.
#[derive(Debug)]
struct Collected<'s, 'r> {
    source: &'s Source<'r>,
    counter: &'s dyn TokenCounter,
    answers: Mutex<BTreeMap<String, Vec<Answer>>>,
    stale: Mutex<Vec<String>>,
}

impl Answers for Collected<'_, '_> {
    fn answer(&self, asked: &AskedCall<'_>) -> Result<Given, NoAnswer> {
        let given = self.source.answer(asked, &self.stale)?;
        let context = asked
            .messages
            .iter()
            .map(|message| self.counter.count(message.text.text()) as u64)
            .sum();
        let prices = asked.model.and_then(|model| model.prices.as_ref());
        let mut answer = Answer::given(&given.response.answer, context, self.counter, prices);
        answer.took.is_live = given.by == AnsweredBy::Upstream;
        answer.took.latency_ms = Some(given.response.latency)
            .filter(|took| !took.is_zero())
            .and_then(|took| took.as_millis().try_into().ok());
        // The cost of a subtask belongs to the agent that requested it.
        let stage = asked.stage.split('~').next().unwrap_or_default().to_owned();
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(stage)
            .or_default()
            .push(answer);
        Ok(given)
    }
}

/// Runs the task once.
fn one(prepared: &PreparedCase<'_>, source: &Source<'_>) -> Result<Answer, Unanswered> {
    let case = prepared.input.case;
    let files = prepared.read.over(prepared.run.live);
    let situation = prepared
        .read
        .whole(prepared.receiver, (&files, prepared.run.session));
    let options = prepared.run.options();
    let flow =
        TaskFlow::new(prepared.forest, situation, &options).map_err(|fault| fault.to_string())?;
    let counter = prepared.routed.options.counter;
    let answers = Collected {
        source,
        counter,
        answers: Mutex::default(),
        stale: Mutex::default(),
    };
    let script = Script::new(case.answers.iter().map(|one| one.value.clone()))?;
    let commands = ScriptedCommands {
        script: &script,
        then: None,
    };
    let trace = Trace::new(
        String::new(),
        None,
        Redactor::new([0; 32], []),
        Journal::default(),
    )
    .kept();
    let config = prepared
        .run
        .answers
        .config
        .map(|config| config as &dyn CompileSubtask);
    let runner = Runner::new(Parts {
        options,
        providers: prepared.run.answers.providers,
        answers: &answers,
        tools: prepared.input.answers.tools,
        commands: &commands,
        subtasks: config.unwrap_or(&NoSubtasks),
        trace: &trace,
        limits: Limits {
            jobs: 1,
            ..Limits::default()
        },
        clock: || None,
    });
    let outcome = runner.run(&Frame::new(prepared.forest, situation, &flow));
    if let Some(obstacle) = &outcome.obstacle {
        let is_unknown =
            matches!(&obstacle.kind, ObstacleKind::Other(word) if word == NOT_RECORDED);
        if is_unknown && matches!(source, Source::Replay { .. }) {
            return Err(Unanswered::Stale(
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
    let given = answers
        .answers
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(whole(&outcome, stages(trace.events(), flow.plan(), given)))
}

/// The executed agents and scripts, in order.
fn stages(
    events: Vec<TraceEvent>,
    plan: &PlanNode,
    mut given: BTreeMap<String, Vec<Answer>>,
) -> Vec<RunStage> {
    let name = |node: &str| {
        plan.all()
            .into_iter()
            .find(|one| one.path == node && one.name.is_some())?
            .name
            .clone()
    };
    let is_agent = |node: &str| {
        plan.all()
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
            let node = node_of(&stage);
            let answer = given
                .remove(&stage)
                .and_then(Answer::of_all)
                .unwrap_or_else(|| Answer::uncounted(String::new()));
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
                stage.answer = Answer::uncounted(output.text().into_owned());
            }
            stage.output = Some(output);
        }
    }
    stages
}

/// The result of a run as an answer, with the calls and tokens of all stages.
fn whole(outcome: &Outcome, stages: Vec<RunStage>) -> Answer {
    let text = |content: &serde_json::Value| {
        content
            .as_str()
            .map_or_else(|| content.to_string(), str::to_owned)
    };
    let said = outcome
        .result
        .as_ref()
        .map_or_else(String::new, |result| text(&result.content));
    let last = Answer::uncounted(said);
    let all = stages
        .iter()
        .map(|stage| stage.answer.clone())
        .chain([last.clone()])
        .collect();
    let Answer {
        tool_calls,
        tokens,
        took,
        miscounted,
        ..
    } = Answer::of_all(all).unwrap_or_else(|| last.clone());
    let obstacle = outcome.obstacle.as_ref().map(Obstacle::to_string);
    let run = WholeRun {
        ends: outcome.status.word().to_owned(),
        obstacle,
        stages,
    };
    Answer {
        tool_calls,
        tokens,
        took,
        miscounted,
        run: Some(Box::new(run)),
        ..last
    }
}
