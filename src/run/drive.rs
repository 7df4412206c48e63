//! Runs a task: the kernel's pipeline over its stage graph, each stage by its agent or command.
//! Independent stages run in parallel, on threads.

use super::flow::{ReadyStage, RunPosition, step_result};
use super::plan::PlanKind;
use super::runner::{RunOutcome, Runner, RunnerParts, TaskFrame};
use super::trace::{Moment, Partial, TraceEvent};
use super::{agent, script};
use crate::base::parallel::spawn_deep;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::machine::{Effect, Event, Pipeline, PipelineState, PipelineStatus};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::pipeline::stage_graph::Visit;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc;

impl<'a> Runner<'a> {
    /// Creates a runner.
    pub fn new(parts: RunnerParts<'a>) -> Self {
        Self::with_drive(&parts, run_task)
    }

    /// Runs a task to its end.
    pub fn run(&self, frame: &TaskFrame<'_>) -> RunOutcome {
        run_task(self, frame)
    }
}

/// Runs a task to its end.
pub(super) fn run_task(runner: &Runner<'_>, frame: &TaskFrame<'_>) -> RunOutcome {
    let pipeline = Pipeline::new(frame.flow);
    let (mut state, effects) = pipeline.begin();
    let mut traced = 0;
    let traced_all = trace_decisions(runner, frame, &state, &mut traced);
    if let Err(obstacle) = traced_all {
        pipeline.step(&mut state, Event::Stopped { obstacle });
        return run_outcome(frame, &state);
    }
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let mut waiting = effects;
        let mut under_way = 0_usize;
        let mut queue: Vec<Visit> = Vec::new();
        loop {
            queue.extend(waiting.drain(..).filter_map(|effect| {
                if let Effect::Run(visit) = effect {
                    Some(visit)
                } else {
                    None
                }
            }));
            if state.status() != PipelineStatus::Running {
                break;
            }
            let ready = ready_stages(frame, &state);
            let event = if under_way == 0
                && (queue.len() == 1 || runner.parts.limits.jobs <= 1)
                && !queue.is_empty()
            {
                let visit = queue.remove(0);
                run_stage(runner, frame, ready.get(&visit.stage), visit)
            } else {
                while under_way < runner.parts.limits.jobs.max(1) && !queue.is_empty() {
                    let visit = queue.remove(0);
                    let one = ready.get(&visit.stage).cloned();
                    let send = send.clone();
                    under_way += 1;
                    spawn_deep(scope, move || {
                        // If the run ended meanwhile, the receiver is gone.
                        let _ = send.send(run_stage(runner, frame, one.as_ref(), visit));
                    });
                }
                let Ok(event) = receive.recv() else { break };
                under_way -= 1;
                event
            };
            waiting = pipeline.step(&mut state, event);
            if let Err(obstacle) = trace_decisions(runner, frame, &state, &mut traced) {
                waiting = pipeline.step(&mut state, Event::Stopped { obstacle });
            }
        }
    });
    run_outcome(frame, &state)
}

/// Returns the stages that can run now, by their names.
fn ready_stages(frame: &TaskFrame<'_>, state: &PipelineState) -> BTreeMap<String, ReadyStage> {
    frame
        .flow
        .ready_stages(state.results())
        .into_iter()
        .map(|ready| (ready.stage.clone(), ready))
        .collect()
}

/// Writes new decisions to the trace.
fn trace_decisions(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    state: &PipelineState,
    traced: &mut usize,
) -> Result<(), Obstacle> {
    if !runner.parts.trace.wants_events() || !frame.flow.has_decisions() {
        return Ok(());
    }
    let (_, decisions) = frame.flow.position(state.results());
    for mut decision in decisions.into_iter().skip(*traced) {
        *traced += 1;
        if let TraceEvent::Case { stage, .. } | TraceEvent::Round { stage, .. } = &mut decision {
            *stage = frame.full_stage(stage);
        }
        runner.trace_event(decision)?;
    }
    Ok(())
}

/// Runs one stage.
fn run_stage(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    ready: Option<&ReadyStage>,
    visit: Visit,
) -> Event {
    let lost = || {
        Obstacle::new(
            ObstacleKind::Stalled,
            format!("{} cannot run now", visit.stage),
        )
    };
    let played = ready.ok_or_else(lost).and_then(|ready| {
        let leaf = frame.leaves.get(ready.node.as_str());
        let is_script = leaf.is_some_and(|leaf| leaf.kind == PlanKind::Script);
        runner.parts.trace.record_moment(|| Moment::Stage {
            stage: frame.full_stage(&ready.stage),
            name: frame
                .result_name(&ready.node)
                .unwrap_or_else(|| ready.node.clone()),
            is_script,
        });
        let output = if is_script {
            script::run_command(runner, frame, ready)
        } else {
            agent::run_loop(runner, frame, ready)
        }?;
        let stage = frame.full_stage(&ready.stage);
        let notes_cut = output.notes.is_none();
        runner.trace_event(TraceEvent::Result {
            stage,
            trust: output.trust,
            output: output.clone(),
            notes_cut,
        })?;
        Ok(output)
    });
    match played {
        Ok(output) => Event::Finished { visit, output },
        Err(obstacle) => {
            // If the trace cannot be written, that is the obstacle itself.
            let _ = runner.trace_event(TraceEvent::Failed {
                stage: frame.full_stage(&visit.stage),
                obstacle: obstacle.clone(),
            });
            let stops = matches!(
                obstacle.kind,
                ObstacleKind::Budget | ObstacleKind::Cancelled | ObstacleKind::LoopLimit
            );
            if stops {
                Event::Stopped { obstacle }
            } else {
                Event::Failed { visit, obstacle }
            }
        }
    }
}

fn run_outcome(frame: &TaskFrame<'_>, state: &PipelineState) -> RunOutcome {
    let (position, _) = frame.flow.position(state.results());
    let is_complete = state.status() == PipelineStatus::Complete;
    let result = if let RunPosition::Done(result) = position {
        Some(result).filter(|_| is_complete)
    } else {
        None
    };
    let partial = if is_complete {
        Vec::new()
    } else {
        partial_results(frame, state)
    };
    RunOutcome {
        status: state.status(),
        obstacle: state.obstacle().cloned(),
        result,
        partial,
    }
}

/// Returns the results of finished stages of an unfinished run: their notes, and their content if
/// the task accumulates it.
fn partial_results(frame: &TaskFrame<'_>, state: &PipelineState) -> Vec<Partial> {
    const NOTES: usize = 800;
    let keeps_output = frame.flow.plan().keeps_output;
    let one = |(stage, output): (&String, &AgentOutput)| {
        let text = output.text();
        let head = || {
            text.get(..text.floor_char_boundary(NOTES))
                .unwrap_or_default()
                .to_owned()
        };
        let notes = output.notes.clone().unwrap_or_else(head);
        let content = if keeps_output {
            step_result(output).content
        } else {
            Value::Null
        };
        Partial {
            stage: frame.full_stage(stage),
            notes,
            content,
        }
    };
    let done = state
        .path()
        .iter()
        .filter_map(|step| state.results().get_key_value(&step.visit.stage));
    done.map(one).collect()
}
