//! The script of a task: fills its command with the values in scope, and converts its end to a
//! result.

use super::commands::{CommandEnd, CommandSpec, Inherits, with_last_line};
use super::flow::Ready;
use super::runner::{Frame, Runner};
use super::trace::TraceEvent;
use crate::context::CommandText;
use crate::context::command_values::{FilledCommand, NoCommand};
use crate::context::node_values::{NodeValues, at_node};
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use serde_json::Value;
use std::time::Duration;

/// Runs the script of a stage.
///
/// # Errors
/// The obstacle, if the script has no result.
pub(super) fn run(
    runner: &Runner<'_>,
    frame: &Frame<'_>,
    ready: &Ready,
) -> Result<AgentOutput, Obstacle> {
    let stage = frame.stage(&ready.stage);
    let request = frame.situation.at(&ready.node, &ready.results);
    let context = |why: String| Obstacle::new(ObstacleKind::Context, why);
    let (command, is_judged, wants_json) = at_node(frame.graph, &request, |values| {
        let node = values.node();
        let wants_json = node
            .body
            .output_format
            .as_ref()
            .is_some_and(|format| format.kind.as_deref() == Some("json"));
        (
            spec(values, frame, ready),
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
    if let Some(output) = runner.parts.trace.before().commands.get(&stage) {
        return Ok(AgentOutput {
            trust,
            ..output.clone()
        });
    }
    let failed = |why: String| Obstacle::new(COMMAND, format!("{stage}: {why}"));
    let end = runner.parts.commands.run(&command).map_err(failed)?;
    let output = AgentOutput {
        trust,
        ..output(&end, is_judged, wants_json).map_err(failed)?
    };
    let argv = command.words();
    runner.event(TraceEvent::Command {
        stage: stage.clone(),
        argv,
        output: output.clone(),
    })?;
    Ok(output)
}

/// The kind of the obstacle for a failed command.
pub const COMMAND: &str = "command";

/// Converts the end of a command to a result. In a loop, the evaluator judges any end; elsewhere a
/// failure ends the task.
fn output(end: &CommandEnd, is_judged: bool, wants_json: bool) -> Result<AgentOutput, String> {
    let out = end.out.trim_end_matches('\n');
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
    let said = end.said.trim_end();
    if !is_judged {
        return Err(with_last_line(
            format!("the command ended with exit code {}", end.code),
            said,
        ));
    }
    let parts = [out, said].into_iter().filter(|part| !part.is_empty());
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
fn spec(
    values: &NodeValues<'_>,
    frame: &Frame<'_>,
    ready: &Ready,
) -> Result<CommandSpec, NoCommand> {
    let body = &values.node().body;
    let FilledCommand { argv, variables } = values.command()?;
    let inherits = match body.env.as_ref().map(|env| &*env.inherit) {
        None => Inherits::Usual,
        Some("all") => Inherits::All,
        Some(_) => Inherits::Nothing,
    };
    let timeout = body.timeout_ms.map(Duration::from_millis);
    let folder = body.cwd.as_deref().map(str::to_owned);
    let (stage, node, name) = (
        frame.stage(&ready.stage),
        ready.node.clone(),
        frame.flow_name(&ready.node),
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
