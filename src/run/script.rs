//! The script of a task: fills its command with the values in scope, and converts its end to a
//! result.

use super::commands::{CommandOutput, CommandSpec, InheritedEnvironment, append_last_line};
use super::flow::ReadyStage;
use super::runner::{Runner, TaskFrame};
use super::trace::TraceEvent;
use crate::context::CommandText;
use crate::context::command_values::{FilledCommand, NoCommand};
use crate::context::node_values::{NodeValues, with_node_values};
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use serde_json::Value;
use std::time::Duration;

/// Runs the script of a stage.
///
/// # Errors
/// The obstacle, if the script has no result.
pub(super) fn run_command(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    ready: &ReadyStage,
) -> Result<AgentOutput, Obstacle> {
    let stage = frame.full_stage(&ready.stage);
    let request = frame.situation.request_at(&ready.node, &ready.results);
    let context = |why: String| Obstacle::new(ObstacleKind::Context, why);
    let (command, is_judged, wants_json) = with_node_values(frame.graph, &request, |values| {
        let node = values.node();
        let wants_json = node
            .body
            .output_format
            .as_ref()
            .is_some_and(|format| format.kind.as_deref() == Some("json"));
        (
            build_command(values, frame, ready),
            node.slot() == "script_execution",
            wants_json,
        )
    })
    .map_err(|refused| context(refused.to_string()))?;
    let command = command.map_err(|why| context(why.to_string()))?;
    let texts = command
        .argv
        .iter()
        .chain(command.variables.iter().map(|(_, value)| value));
    let trust = texts.map(CommandText::trust).max().unwrap_or_default();
    // The output of an earlier part of the run is reused, once the command is approved.
    if let Some(output) = runner.parts.trace.earlier_run().commands.get(&stage) {
        return Ok(AgentOutput {
            trust,
            ..output.clone()
        });
    }
    let failed = |why: String| Obstacle::new(COMMAND_OBSTACLE, format!("{stage}: {why}"));
    let end = runner.parts.commands.run(&command).map_err(failed)?;
    let output = AgentOutput {
        trust,
        ..command_result(&end, is_judged, wants_json).map_err(failed)?
    };
    let argv = command.argv_strings();
    runner.trace_event(TraceEvent::Command {
        stage: stage.clone(),
        argv,
        output: output.clone(),
    })?;
    Ok(output)
}

/// The kind of the obstacle for a failed command.
pub const COMMAND_OBSTACLE: &str = "command";

/// Converts the end of a command to a result. In a loop, the evaluator judges any end; elsewhere a
/// failure ends the task.
fn command_result(
    end: &CommandOutput,
    is_judged: bool,
    wants_json: bool,
) -> Result<AgentOutput, String> {
    let out = end.stdout.trim_end_matches('\n');
    if end.code == 0 {
        let json: Option<Value> = if wants_json {
            serde_json::from_str(out).ok()
        } else {
            None
        };
        return match json {
            None if wants_json => Err(format!(
                "expected JSON from the command, found {} bytes of other text",
                out.len()
            )),
            json => Ok(AgentOutput::complete(json.unwrap_or_else(|| out.into()))),
        };
    }
    let stderr = end.stderr.trim_end();
    if !is_judged {
        return Err(append_last_line(
            format!("the command ended with exit code {}", end.code),
            stderr,
        ));
    }
    let parts = [out, stderr].into_iter().filter(|part| !part.is_empty());
    let mut text = parts.collect::<Vec<_>>().join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Ok(AgentOutput::complete(format!(
        "{text}[exit code {}]",
        end.code
    )))
}

/// Builds the command of a node with its values filled in.
fn build_command(
    values: &NodeValues<'_>,
    frame: &TaskFrame<'_>,
    ready: &ReadyStage,
) -> Result<CommandSpec, NoCommand> {
    let body = &values.node().body;
    let FilledCommand { argv, variables } = values.fill_command()?;
    let inherits = match body.env.as_ref().map(|env| &*env.inherit) {
        None => InheritedEnvironment::Usual,
        Some("all") => InheritedEnvironment::All,
        Some(_) => InheritedEnvironment::Nothing,
    };
    let timeout = body.timeout_ms.map(Duration::from_millis);
    let folder = body.cwd.as_deref().map(str::to_owned);
    let (stage, node, name) = (
        frame.full_stage(&ready.stage),
        ready.node.clone(),
        frame.result_name(&ready.node),
    );
    Ok(CommandSpec {
        stage,
        node,
        name,
        argv,
        inherits,
        variables,
        folder,
        timeout,
    })
}
