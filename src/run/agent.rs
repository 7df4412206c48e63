//! One agent of a run: assembles its context, requests an answer, calls its tools, validates its
//! answer, runs its subtasks, until it has a result.
//!
//! The context equals that of `ctxc render`, from the same function. Later messages of the
//! conversation follow it.

use super::answers::{
    AgentRequest, MAX_REQUESTS, NoAnswer, SourcedAnswer, recorded_response, run_until_answered,
};
use super::flow::ReadyStage;
use super::output;
use super::runner::{Runner, TaskFrame};
use super::subtask::SubtaskCaller;
use super::tools::{self, ToolAnswer};
use super::trace::{Moment, SegmentLine, ToolLine, TraceEvent};
use super::wire::{OutgoingRequest, WireFormat};
use crate::context::assemble::{Assembly, assemble_loaded};
use crate::context::door;
use crate::context::fault::FaultKind;
use crate::context::options::Options;
use crate::context::render::message::Message;
use crate::context::role::{self, ModelRoute};
use crate::kernel::budget::Disposition;
use crate::kernel::context::Trust;
use crate::kernel::conversation::{Part, Speaker, ToolCall, ToolResult, Turn};
use crate::kernel::pipeline::agent::{AgentOutput, Status};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{self, Stop};
use crate::kernel::tokens::TokenCounter;
use crate::record::recording::{AnsweredBy, Recording};
use crate::registry::body::OutputFormat;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};

/// The loop of one agent.
struct AgentLoop<'v, 'a> {
    runner: &'v Runner<'a>,
    frame: &'v TaskFrame<'a>,
    ready: &'v ReadyStage,
    name: Option<String>,
    assembly: Assembly,
    wire: WireFormat<'a>,
    routed: ModelRoute<'a>,
    format: Option<OutputFormat<'static>>,
    /// Requests so far.
    requests: Cell<u32>,
    /// Tool calls so far.
    tools: Cell<u32>,
    /// Subtasks so far.
    subtasks: Cell<u32>,
    is_repaired: Cell<bool>,
    /// The combined trust of everything that the agent has received so far.
    trust: Cell<Trust>,
    /// The result, once an answer is one.
    result: RefCell<Option<AgentOutput>>,
}

/// Runs the agent of a stage.
///
/// # Errors
/// The obstacle, if the agent has no result.
pub(super) fn run_loop(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    ready: &ReadyStage,
) -> Result<AgentOutput, Obstacle> {
    let request = frame.situation.request_at(&ready.node, &ready.results);
    let context = |why: String| Obstacle::new(ObstacleKind::Context, why);
    let routed = role::route_model(frame.graph, &request, &runner.parts.options)
        .map_err(|fault| context(fault.to_string()))?;
    let wire = WireFormat::for_choice(frame.graph, &request, &routed, runner.parts.providers)
        .map_err(|fault| context(fault.to_string()))?;
    let assembly = assemble_context(runner, frame, ready, &wire)?;
    let node = frame.graph.find_node(request.task, &ready.node);
    let format = node.and_then(|node| node.body.output_format.clone());
    let name = frame.result_name(&ready.node);
    let trust = Cell::new(assembly.trust());
    let agent_loop = AgentLoop {
        runner,
        frame,
        ready,
        name,
        assembly,
        wire,
        routed,
        format,
        requests: Cell::new(0),
        tools: Cell::new(0),
        subtasks: Cell::new(0),
        is_repaired: Cell::new(false),
        trust,
        result: RefCell::new(None),
    };
    agent_loop.trace_segments()?;
    let conversation = run_until_answered(
        &agent_loop.assembly.messages,
        |messages| agent_loop.request_answer(messages),
        |answer, turn| agent_loop.follow_answer(answer, turn),
    );
    frame.note_trust(agent_loop.trust.get());
    let conversation = conversation?;
    if !conversation.is_ended {
        let words = format!(
            "{} still asked for more after {MAX_REQUESTS} requests: no answer ended the conversation",
            agent_loop.full_stage()
        );
        return Err(Obstacle::new(ObstacleKind::LoopLimit, words));
    }
    agent_loop
        .result
        .into_inner()
        .ok_or_else(|| Obstacle::new(ObstacleKind::Answer, "there is no answer"))
}

/// Assembles the context of a stage for its request body. Settings with a field of their own in the
/// body are left out of the text.
fn assemble_context(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    ready: &ReadyStage,
    wire: &WireFormat<'_>,
) -> Result<Assembly, Obstacle> {
    let request = frame.situation.request_at(&ready.node, &ready.results);
    let options = Options {
        target: Some(wire.target),
        ..runner.parts.options
    };
    assemble_loaded(frame.graph, &request, &options)
        .map_err(|refused| Obstacle::new(ObstacleKind::Context, refused.to_string()))
}

impl AgentLoop<'_, '_> {
    /// The name of the stage in the whole run.
    fn full_stage(&self) -> String {
        self.frame.full_stage(&self.ready.stage)
    }

    fn trace_event(&self, event: TraceEvent) -> Result<(), Obstacle> {
        self.runner.trace_event(event)
    }

    fn trace_segments(&self) -> Result<(), Obstacle> {
        let line = |account: &crate::kernel::assembler::SegmentReport| SegmentLine {
            id: account.segment.id.clone(),
            state: match account.disposition {
                Disposition::Kept => "kept",
                Disposition::Cut { .. } | Disposition::Shortened { .. } => "cut",
                Disposition::Dropped => "dropped",
            }
            .to_owned(),
            tokens: account.kept_tokens,
        };
        if !self.runner.parts.trace.wants_events() {
            return Ok(());
        }
        let segments = self.assembly.report.segments.iter().map(line).collect();
        let model = self.routed.model().map(str::to_owned);
        self.trace_event(TraceEvent::Stage {
            stage: self.full_stage(),
            node: self.ready.node.clone(),
            model,
            segments,
        })
    }

    /// Returns the answer to some messages: from an earlier part of the run, otherwise from the
    /// answer source. If a provider fails, falls back to the next model.
    fn request_answer(&self, messages: &[Message]) -> Result<(provider::Answer, Turn), Obstacle> {
        self.requests.set(self.requests.get() + 1);
        self.check_window(messages)?;
        let id = format!("{}#{}", self.full_stage(), self.requests.get());
        let sent = self
            .wire
            .build_request(messages)
            .map_err(|why| Obstacle::new(ObstacleKind::Context, why))?;
        let trace = &self.runner.parts.trace;
        let before = trace
            .earlier_run()
            .calls
            .get(&id)
            .filter(|call| call.is_answered());
        if let Some(call) = before.filter(|call| trace.comparison().is_same(call, &sent.to_live()))
        {
            let response = recorded_response(call)
                .map_err(|why| Obstacle::new(ObstacleKind::Provider, why))?;
            self.runner.count_usage(&response.answer, self.wire.model);
            return Ok(pair_with_turn(response.answer));
        }
        self.runner.check_budget()?;
        let number = self.requests.get();
        let stage = self.full_stage();
        let call = |wire: &WireFormat<'_>, sent: &OutgoingRequest, messages: &[Message]| {
            let name = self.name.as_deref();
            let request = AgentRequest {
                stage: &stage,
                node: &self.ready.node,
                name,
                number,
                model: wire.model,
                sent,
                messages,
            };
            let answered = self.runner.parts.answers.answer(&request);
            if let Err(NoAnswer::Failed(error)) = &answered {
                let id = format!("{id} {}", sent.model);
                trace.record_moment(|| {
                    Moment::FailedCall(
                        Box::new(self.build_recording(id, None, sent)),
                        error.clone(),
                    )
                });
            }
            answered
        };
        let mut answered =
            call(&self.wire, &sent, messages).map(|answer| (answer, sent, self.wire.model));
        let fallback = self
            .routed
            .choice
            .iter()
            .flat_map(|choice| choice.fallback.iter().copied());
        for model in fallback {
            let Err(NoAnswer::Provider(_) | NoAnswer::Failed(_)) = &answered else {
                break;
            };
            let wire = self.wire.for_model(model, self.runner.parts.providers);
            let messages = &*self.messages_for(&wire, messages)?;
            let sent = wire
                .build_request(messages)
                .map_err(|why| Obstacle::new(ObstacleKind::Context, why))?;
            answered = call(&wire, &sent, messages).map(|answer| (answer, sent, Some(model)));
        }
        let (answer, sent, model) = answered.map_err(|none| {
            let obstacle = Obstacle::from(none);
            // A provider's error may repeat parts of the request, even a key.
            let masked = || format!("{stage}: {}", trace.redactor().mask_text(&obstacle.note).0);
            if obstacle.kind == ObstacleKind::Provider {
                Obstacle::new(ObstacleKind::Provider, masked())
            } else {
                obstacle
            }
        })?;
        self.record_call(id, &answer, &sent)?;
        self.runner.count_usage(&answer.response.answer, model);
        Ok(pair_with_turn(answer.response.answer))
    }

    /// Converts the messages to the form that another model's request body needs.
    fn messages_for<'m>(
        &self,
        wire: &WireFormat<'_>,
        messages: &'m [Message],
    ) -> Result<Cow<'m, [Message]>, Obstacle> {
        if wire.target.name == self.wire.target.name {
            return Ok(Cow::Borrowed(messages));
        }
        let turns = messages
            .get(self.assembly.messages.len()..)
            .unwrap_or_default();
        let context = assemble_context(self.runner, self.frame, self.ready, wire)?;
        Ok(context.messages.iter().chain(turns).cloned().collect())
    }

    /// Writes a call to the trace before its answer is used.
    fn record_call(
        &self,
        id: String,
        answer: &SourcedAnswer,
        sent: &OutgoingRequest,
    ) -> Result<(), Obstacle> {
        let trace = &self.runner.parts.trace;
        if !trace.wants_calls() {
            return Ok(());
        }
        let written = trace.write_call(&self.build_recording(id, Some(answer), sent));
        let is_paid = answer.by == AnsweredBy::Upstream;
        let written = if is_paid {
            written.and_then(|()| trace.sync())
        } else {
            written
        };
        written.map_err(|why| Obstacle::new("trace", why))
    }

    /// Converts a call to a trace line, without an answer if the provider failed.
    fn build_recording(
        &self,
        id: String,
        answer: Option<&SourcedAnswer>,
        sent: &OutgoingRequest,
    ) -> Recording {
        let trace = &self.runner.parts.trace;
        let (by, response) = (
            answer.map_or(AnsweredBy::Upstream, |answer| answer.by),
            answer.map(|answer| &answer.response),
        );
        Recording {
            id,
            at: self.runner.timestamp(),
            agent: Some(self.ready.node.clone()),
            conversation: Some(self.full_stage()),
            run: Some(trace.run.clone()),
            ..sent.to_recording(response, by, trace.redactor())
        }
    }

    /// Checks that the conversation still fits the budget. Nothing in it can be cut.
    fn check_window(&self, messages: &[Message]) -> Result<(), Obstacle> {
        let more = messages
            .get(self.assembly.messages.len()..)
            .unwrap_or_default();
        let Some(budget) = self.routed.options.budget.filter(|_| !more.is_empty()) else {
            return Ok(());
        };
        let counter: &dyn TokenCounter = self.routed.options.counter;
        let count = |messages: &[Message]| {
            messages
                .iter()
                .map(|message| counter.count(message.as_str()))
                .sum::<usize>()
        };
        let tokens = count(messages);
        if tokens <= budget {
            return Ok(());
        }
        let note = format!(
            "the conversation of {} has grown to {tokens} tokens, {} of them by its turns, and the budget is {budget}",
            self.full_stage(),
            count(more)
        );
        Err(Obstacle::new("context_window", note))
    }

    /// Returns the messages that follow an answer; `None` if the answer is the result.
    fn follow_answer(
        &self,
        answer: &provider::Answer,
        turn: &Turn,
    ) -> Result<Option<Vec<Turn>>, Obstacle> {
        if turn.calls().next().is_some() && !matches!(answer.stop, Stop::Length | Stop::Filter) {
            let results: Result<Vec<Turn>, Obstacle> =
                turn.calls().map(|call| self.call_tool(call)).collect();
            return results.map(Some);
        }
        let format = self.format.as_ref();
        let unread = |why: String| {
            Obstacle::new(
                ObstacleKind::Answer,
                format!("{}: {why}", self.full_stage()),
            )
        };
        let mut output =
            output::parse_answer(answer, format, &self.wire.call.answer).map_err(unread)?;
        if output.status == Status::Continuation {
            return self.run_subtask(output).map(|turn| Some(vec![turn]));
        }
        if output.status == Status::Complete
            && let Err(why) = output::check_format(&mut output, format, &self.wire.call.answer)
        {
            if self.is_repaired.replace(true) {
                return Err(unread(format!(
                    "the answer does not have the form that was asked for, nor did its repair: {why}"
                )));
            }
            let words = if self.trust.get().is_trusted() {
                output::repair_message(&why)
            } else {
                // In a profile without fences, the reason is left out.
                output::fenced_repair_message(self.fence_user_text("answer", &why).ok().as_deref())
            };
            return Ok(Some(vec![Turn::new(Speaker::User, words)]));
        }
        output.trust = self.trust.get();
        self.result.replace(Some(output));
        Ok(None)
    }

    /// Prepares text for a user message, fenced if the agent has received untrusted text.
    fn fence_user_text(&self, name: &str, words: &str) -> Result<String, FaultKind> {
        let request = self
            .frame
            .situation
            .request_at(&self.ready.node, &self.ready.results);
        door::fence_message(
            &request,
            self.routed.options.profile,
            name,
            words,
            self.trust.get(),
        )
    }

    /// Calls a tool. A rejected or failed call is reported to the agent.
    fn call_tool(&self, call: &ToolCall) -> Result<Turn, Obstacle> {
        // Tool results are always untrusted.
        self.trust.set(Trust::Untrusted);
        self.tools.set(self.tools.get() + 1);
        let (stage, number) = (self.full_stage(), self.tools.get());
        let before = self
            .runner
            .parts
            .trace
            .earlier_run()
            .tools
            .get(&(stage.clone(), number))
            .filter(|line| line.name == call.name);
        let line = if let Some(line) = before {
            line.clone()
        } else {
            let role = self.frame.situation.role;
            let answer = match tools::approve_call(call, role) {
                Ok(action) => self.runner.parts.tools.call(&action, role),
                Err(refusal) => ToolAnswer::failure(refusal.note),
            };
            let line = ToolLine {
                stage,
                number,
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                result: answer.text,
                is_error: answer.is_error,
            };
            self.trace_event(TraceEvent::Tool(line.clone()))?;
            line
        };
        let result = ToolResult {
            call: call.id.clone(),
            parts: vec![Part::Text(line.result)],
            is_error: line.is_error,
        };
        Ok(Turn {
            speaker: Speaker::Tool,
            parts: vec![Part::Result(result)],
        })
    }

    /// Runs the subtask that an answer requests, and returns its result as the next message to the
    /// agent.
    fn run_subtask(&self, output: AgentOutput) -> Result<Turn, Obstacle> {
        self.subtasks.set(self.subtasks.get() + 1);
        let missing = || {
            Obstacle::new(
                ObstacleKind::Subtask,
                format!(
                    "{} says CONTINUATION and has no `subtask_request`",
                    self.full_stage()
                ),
            )
        };
        let request = output.subtask_request.ok_or_else(missing)?;
        let scope = format!("{}~{}", self.full_stage(), self.subtasks.get());
        let context = self.assembly.segments();
        let asking = SubtaskCaller {
            stage: self.full_stage(),
            scope,
            context: &context,
            trust: self.trust.get(),
        };
        let result = super::subtask::run_request(self.runner, self.frame, &asking, &request)?;
        self.trust.set(self.trust.get().max(result.trust));
        let words = serde_json::to_string_pretty(&result.content).unwrap_or_default();
        let value = result.content.as_str().map_or(words, str::to_owned);
        let (head, words) = match (result.status, &result.notes) {
            (Status::Failed, _) => ("The subtask failed:", value),
            (_, Some(notes)) => (
                "The result of the subtask:",
                format!("{value}\n\nNotes: {notes}"),
            ),
            (_, None) => ("The result of the subtask:", value),
        };
        let fenced = self.fence_user_text("subtask", &words).map_err(|refused| {
            Obstacle::new(
                ObstacleKind::Context,
                format!(
                    "the result of the subtask of {}: {refused}",
                    self.full_stage()
                ),
            )
        })?;
        let between = if result.status == Status::Failed && result.trust.is_trusted() {
            " "
        } else {
            "\n\n"
        };
        Ok(Turn::new(Speaker::User, [head, between, &fenced].concat()))
    }
}

fn pair_with_turn(answer: provider::Answer) -> (provider::Answer, Turn) {
    let turn = answer.turn.clone();
    (answer, turn)
}
