//! Subtasks that agents request while they run: checked, compiled to a task of their own, run like
//! any other.
//!
//! Their settings resolve through the layers of every template, with the subtype `subtask`; the
//! settings of the request are the last layer. A request has exactly the trust of everything that
//! its agent received before. Its description and inputs are bound with that trust, so that fences,
//! system texts and shells treat them like any other value. Files that it names are always
//! untrusted. Bounded by depth, by the run budget, and by ancestry: a request equal to one of its
//! ancestors would recurse without end.

use super::flow::TaskFlow;
use super::requested_files::RequestedFiles;
use super::runner::{Runner, TaskFrame};
use super::situation::RunSituation;
use super::trace::TraceEvent;
use crate::context::TaskGraph;
use crate::context::request::{Files, StepResult};
use crate::kernel::context::{Segment, Trust};
use crate::kernel::pipeline::agent::{AgentOutput, Status, SubtaskRequest};
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The name of the compiled task.
const SUBTASK_NAME: &str = "subtask";

/// The agent that requests a subtask.
pub(super) struct SubtaskCaller<'a> {
    /// Its stage in the whole run.
    pub(super) stage: String,
    /// The prefix of the subtask's stages.
    pub(super) scope: String,
    /// The context of the agent, which becomes the parent context of the subtask.
    pub(super) context: &'a [Segment],
    /// The combined trust of everything that the agent received before its request, and so the
    /// trust of the request.
    pub(super) trust: Trust,
}

/// Runs the subtask of an agent. Its result has the trust of the request, or is untrusted if
/// untrusted text reached it besides.
pub(super) fn run_request(
    runner: &Runner<'_>,
    frame: &TaskFrame<'_>,
    asking: &SubtaskCaller<'_>,
    request: &SubtaskRequest,
) -> Result<AgentOutput, Obstacle> {
    let depth = frame.depth + 1;
    let event = |refused: Option<String>| TraceEvent::Subtask {
        stage: asking.stage.clone(),
        depth,
        request: request.clone(),
        refused,
        trust: asking.trust,
    };
    let refuse = |why: String| {
        runner.trace_event(event(Some(why.clone())))?;
        Err(Obstacle::new(
            ObstacleKind::Subtask,
            format!("the subtask of {} is refused: {why}", asking.stage),
        ))
    };
    let most = request.max_depth.map_or(runner.parts.limits.depth, |own| {
        runner.parts.limits.depth.min(frame.depth + own)
    });
    if depth > most {
        return refuse(format!("it would be {depth} deep; the limit is {most}"));
    }
    let identity = serde_json::to_string(request).unwrap_or_default();
    if frame.ancestry.contains(&identity) {
        return refuse("the same request is among its ancestors, so it would never end".to_owned());
    }
    let hinted = request
        .template_hints
        .iter()
        .find(|hint| frame.graph.registry.find(hint).is_some());
    if hinted.is_some() && !request.context_management.is_empty() {
        return refuse(
            "a registered task has settings of its own: leave out `context_management` or `template_hints`".to_owned(),
        );
    }
    // A registered task has files of its own.
    let paths = request.file_paths.iter().filter(|_| hinted.is_none());
    let roles = runner
        .parts
        .options
        .models
        .into_iter()
        .flat_map(|models| models.roles.values());
    let requested =
        match RequestedFiles::read(paths, frame.project_files, frame.situation.role, &roles) {
            Ok(requested) => requested,
            Err(why) => return refuse(why),
        };
    let made = match hinted {
        Some(_) => None,
        None => match build_template(request, asking.trust)
            .and_then(|template| runner.parts.subtasks.compile(&template))
        {
            Ok(registry) => Some(registry),
            Err(why) => return refuse(why),
        },
    };
    let (registry, task) = match (&made, hinted) {
        (Some(registry), _) => (registry, SUBTASK_NAME),
        (None, hinted) => (
            frame.graph.registry,
            hinted.map_or(SUBTASK_NAME, String::as_str),
        ),
    };
    let graph = match TaskGraph::load(registry, task) {
        Ok(Some(graph)) => graph,
        Ok(None) => return refuse(format!("there is no task `{task}`")),
        Err(fault) => return refuse(fault.to_string()),
    };
    runner.trace_event(event(None))?;
    let RunSituation {
        source,
        session,
        role,
        ..
    } = frame.situation;
    let files: &(dyn Files + Sync) = if hinted.is_some() {
        frame.project_files
    } else {
        &requested
    };
    let (parent, inputs_trust) = (asking.context, asking.trust);
    let bundled = if hinted.is_none() {
        bundle_inputs(request, asking.trust)
    } else {
        None
    };
    let inputs = bundled.as_ref().unwrap_or(&request.inputs);
    let own = RunSituation {
        inputs_trust,
        parent,
        source,
        files,
        role,
        session,
        ..RunSituation::new(task, inputs)
    };
    let flow = match TaskFlow::new(&graph, own, &runner.parts.options) {
        Ok(flow) => flow,
        Err(fault) => return refuse(fault.to_string()),
    };
    let ancestry = frame.ancestry.iter().cloned().chain([identity]).collect();
    let inner = TaskFrame::new(&graph, own, &flow).nested_in(frame, asking.scope.clone(), ancestry);
    let outcome = (runner.drive)(runner, &inner);
    match (outcome.status, outcome.result, outcome.obstacle) {
        (
            PipelineStatus::Complete,
            Some(StepResult {
                content,
                notes,
                trust,
            }),
            _,
        ) => Ok(AgentOutput {
            content,
            notes,
            trust: trust.max(asking.trust),
            ..AgentOutput::default()
        }),
        // Failures that the agent can handle are reported to it.
        (PipelineStatus::Failed, _, Some(obstacle)) if obstacle.kind == ObstacleKind::Reported => {
            let trust = inner.trust().max(asking.trust);
            Ok(AgentOutput {
                status: Status::Failed,
                trust,
                ..AgentOutput::complete(obstacle.note)
            })
        }
        (_, _, obstacle) => Err(obstacle
            .unwrap_or_else(|| Obstacle::new(ObstacleKind::Subtask, "the subtask has no result"))),
    }
}

/// Builds the template of a request.
///
/// # Errors
/// The part of the request that no template can express.
fn build_template(request: &SubtaskRequest, trust: Trust) -> Result<String, String> {
    if request.description.trim().is_empty() {
        return Err("it has no description".to_owned());
    }
    if !request.kind.is_empty() && request.kind != "atomic" {
        return Err(format!(
            "its type is `{}`; a subtask made while a task runs is `atomic`",
            request.kind
        ));
    }
    let subtype = request.subtype.as_deref().unwrap_or(SUBTASK_NAME);
    let mut out = format!(
        "<task type=\"atomic\" subtype=\"{}\" name=\"{SUBTASK_NAME}\">\n",
        escape_xml(subtype)
    );
    let attribute = if trust == Trust::Untrusted {
        " trust=\"untrusted\""
    } else {
        ""
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<description verbatim=\"true\"{attribute}>{}</description>",
        escape_xml(&request.description)
    );
    match bundle_inputs(request, trust) {
        Some(bundled) => write_inputs(&bundled, attribute, &mut out),
        None => write_inputs(&request.inputs, attribute, &mut out),
    }
    if !request.context_management.is_empty() {
        out.push_str("<context_management>\n");
        for (name, value) in &request.context_management {
            if !name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                return Err(format!("`{name}` is no setting"));
            }
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(out, "<{name}>{}</{name}>", escape_xml(&value));
        }
        out.push_str("</context_management>\n");
    }
    if !request.file_paths.is_empty() {
        out.push_str("<file_paths source=\"literal\">\n");
        for path in &request.file_paths {
            let _ = writeln!(out, "<path>{}</path>", escape_xml(path));
        }
        out.push_str("</file_paths>\n");
    }
    out.push_str("</task>\n");
    Ok(out)
}

/// Combines the inputs of an untrusted request into one, so that their names never appear in
/// headings.
fn bundle_inputs(request: &SubtaskRequest, trust: Trust) -> Option<BTreeMap<String, Value>> {
    let is_bundled = trust == Trust::Untrusted && !request.inputs.is_empty();
    is_bundled.then(|| {
        BTreeMap::from([(
            "inputs".to_owned(),
            request.inputs.clone().into_iter().collect(),
        )])
    })
}

/// Writes the inputs of a subtask.
fn write_inputs(inputs: &BTreeMap<String, Value>, trust: &str, out: &mut String) {
    if inputs.is_empty() {
        return;
    }
    let (mut declared, mut given) = (String::new(), String::new());
    for name in inputs.keys() {
        let name = escape_xml(name);
        let _ = writeln!(declared, "<parameter name=\"{name}\"{trust}/>");
        let _ = writeln!(given, "<input name=\"{name}\" from=\"{name}\"/>");
    }
    let _ = write!(
        out,
        "<parameters>\n{declared}</parameters>\n<inputs>\n{given}</inputs>\n"
    );
}

/// Escapes a text for XML content and quoted attributes.
fn escape_xml(text: &str) -> String {
    // Characters that XML forbids are left out.
    let text: String = text
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
