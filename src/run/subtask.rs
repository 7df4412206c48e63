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
use super::runner::{Runner, TaskFrame};
use super::situation::RunSituation;
use super::trace::TraceEvent;
use crate::base::contained_path;
use crate::base::secrets::key_files::{holds_key, is_key_file};
use crate::context::TaskGraph;
use crate::context::request::{Files, RequestedFile, StepResult};
use crate::kernel::context::{Segment, Trust};
use crate::kernel::pipeline::agent::{AgentOutput, Status, SubtaskRequest};
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::project::roles::Role;
use crate::project::suppressions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

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
    let own_registry = match hinted {
        Some(_) => None,
        None => match build_template(request, asking.trust)
            .and_then(|template| runner.parts.subtasks.compile(&template))
        {
            Ok(registry) => Some(registry),
            Err(why) => return refuse(why),
        },
    };
    let (registry, task) = match (&own_registry, hinted) {
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

/// The project file.
const PROJECT_FILE: &str = "ctxc.toml";

/// The texts of requested files, by the paths as requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestedFiles(BTreeMap<String, String>);

impl RequestedFiles {
    /// Reads the files of a project that an agent requests, unless its role protects one of them.
    /// Without a role, every one of `roles` counts that does not protect all files.
    ///
    /// # Errors
    /// The first file that agents may not read, or that cannot be read, with the reason.
    pub(super) fn read<'p, 'r>(
        paths: impl IntoIterator<Item = &'p String>,
        files: &dyn Files,
        role: Option<&'r Role>,
        roles: &(impl Iterator<Item = &'r Role> + Clone),
    ) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for path in paths {
            let refuse = |why: String| format!("agents may not ask for the file `{path}`: {why}");
            let plain = contained_path::normalize_path(Path::new(path))
                .map(|plain| contained_path::slash_path(&plain));
            let plain =
                plain.ok_or_else(|| refuse("it lies outside the project's folder".to_owned()))?;
            check_access(&plain, role, roles.clone()).map_err(refuse)?;
            let RequestedFile { path: real, text } = files.requested(&plain).map_err(refuse)?;
            // The target of a link has a name of its own.
            check_access(&real, role, roles.clone()).map_err(refuse)?;
            if holds_key(&text) {
                return Err(refuse("it holds a key or credentials".to_owned()));
            }
            texts.insert(path.clone(), text);
        }
        Ok(Self(texts))
    }
}

impl Files for RequestedFiles {
    fn text(&self, path: &str) -> Result<String, String> {
        self.0.text(path)
    }

    fn trust(&self) -> Trust {
        Trust::Untrusted
    }
}

/// Checks access to a path, relative to the project, by its name.
fn check_access<'r>(
    path: &str,
    role: Option<&'r Role>,
    mut roles: impl Iterator<Item = &'r Role>,
) -> Result<(), String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.split('/').any(|part| part.starts_with('.')) {
        return Err("it is hidden".to_owned());
    }
    if [PROJECT_FILE, suppressions::SUPPRESSIONS_FILE]
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own))
    {
        return Err("it sets up the project".to_owned());
    }
    if is_key_file(path) {
        return Err("its name is that of a key, a credential or an environment file".to_owned());
    }
    let protects = |role: &&Role| role.protected.matches(path);
    let any = || roles.find(|role| protects(role) && !role.protected.matches_everything());
    match role.map_or_else(any, |own| Some(own).filter(protects)) {
        Some(role) => Err(format!("role `{}` protects it", role.name.value)),
        None => Ok(()),
    }
}
