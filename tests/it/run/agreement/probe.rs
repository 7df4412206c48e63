//! Tests one project: it is in the manifest, each of its agents can be rendered, it runs to its
//! end, and the run sends the rendered requests.

use super::super::sameness::{Echo, fitting_text};
use super::generator::DrawnProject;
use crate::project::reading::read;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::assemble::{assemble_loaded, preview_context};
use ctxc::internals::context::manifest::{Manifest, ManifestOptions, partial_manifest};
use ctxc::internals::context::options::{ModelSettings, Options};
use ctxc::internals::context::render::message::Message;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::{CallerGoals, Request};
use ctxc::internals::kernel::budget::Counting;
use ctxc::internals::kernel::context::Trust;
use ctxc::internals::kernel::conversation::{Part, ToolCall};
use ctxc::internals::kernel::pipeline::agent::AgentOutput;
use ctxc::internals::kernel::pipeline::outcome::ObstacleKind;
use ctxc::internals::kernel::provider::{Answer, Response, Stop, Usage};
use ctxc::internals::project::config::Config;
use ctxc::internals::record::recording::AnsweredBy;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::registry::{Registry, RegistryParameter};
use ctxc::internals::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use ctxc::internals::run::flow::{RunPosition, TaskFlow};
use ctxc::internals::run::plan::PlanKind;
use ctxc::internals::run::runner::{RunLimits, Runner, RunnerParts, TaskFrame};
use ctxc::internals::run::situation::{NodeResults, RunSituation};
use ctxc::internals::run::trace::{RunJournal, TraceEvent, TraceWriter};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// The result of a test of a project.
#[derive(Debug)]
pub(super) enum ProjectVerdict {
    /// `check` finds errors.
    Refused(Vec<String>),
    /// The project behaves as promised; the number of compared requests.
    Sound(usize),
    /// The project breaks a promise: a description.
    Broken(String),
}

/// A request sent by the run.
#[derive(Debug)]
struct RecordedRequest {
    stage: String,
    dialect: &'static str,
    messages: Vec<Message>,
}

/// Answers each request in its required form, some after a detour; loops end in their second round.
#[derive(Debug)]
struct ScriptedResponder {
    sent: Mutex<Vec<RecordedRequest>>,
    /// Every nth agent takes a detour first; zero for none.
    detours: usize,
    /// True if agents may request subtasks, whose results cannot be passed to an agent without
    /// fences.
    has_fences: bool,
}

/// Returns a subtask that an agent may request.
fn subtask_answer(at: usize) -> Value {
    let request = match at % 4 {
        0 => json!({"type": "atomic", "description": "Look {{a}} up & <down>."}),
        1 => {
            json!({"type": "atomic", "description": "Look.", "inputs": {"where": "there", "many": 2}})
        }
        2 => json!({"type": "atomic", "description": "Look.", "template_hints": ["q2"]}),
        _ => json!({"type": "atomic", "description": "Look.", "file_paths": ["guide.md"],
            "context_management": {"inherit_context": "full", "fresh_context": "disabled"}}),
    };
    json!({"status": "CONTINUATION", "subtask_request": request})
}

impl ScriptedResponder {
    /// Returns the first answer of an agent that takes a detour.
    fn detour_answer(&self, asked: &AgentRequest<'_>) -> Option<(Part, Stop)> {
        let number = asked.stage.bytes().map(usize::from).sum::<usize>();
        if asked.number > 1
            || asked.stage.contains('~')
            || self.detours == 0
            || number % self.detours != 0
        {
            return None;
        }
        if asked.sent.body.contains("\"Looks.\"") && number % 3 > 0 {
            let (id, name) = ("call_1".to_owned(), "look".to_owned());
            return Some((
                Part::Call(ToolCall {
                    id,
                    name,
                    arguments: json!({"at": "it"}),
                }),
                Stop::Tool,
            ));
        }
        if number % 3 == 1 || !self.has_fences {
            let text = fitting_text(&asked.sent.body, asked.stage);
            let content = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let envelope =
                json!({"status": "complete", "content": content, "notes": "as it was asked for"});
            return Some((Part::Text(envelope.to_string()), Stop::End));
        }
        Some((
            Part::Text(subtask_answer(number / 3).to_string()),
            Stop::End,
        ))
    }
}

impl AnswerBackend for ScriptedResponder {
    fn answer(&self, asked: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        let request = RecordedRequest {
            stage: asked.stage.to_owned(),
            dialect: asked.sent.dialect,
            messages: asked.messages.to_vec(),
        };
        self.sent.lock().unwrap().push(request);
        let plain = || {
            (
                Part::Text(fitting_text(&asked.sent.body, asked.stage)),
                Stop::End,
            )
        };
        let (part, stop) = self.detour_answer(asked).unwrap_or_else(plain);
        let answer = Answer::new(vec![part], stop, Usage::default(), None);
        let response = Response {
            answer,
            body: "{}".to_owned(),
            status: 200,
            latency: Duration::ZERO,
        };
        Ok(SourcedAnswer {
            response,
            by: AnsweredBy::Script,
        })
    }
}

/// Returns a value of a parameter's type.
fn example_value(parameter: &RegistryParameter) -> Value {
    match parameter.kind.as_deref() {
        Some("number" | "integer") => json!(3),
        Some("boolean") => json!(true),
        Some("string[]" | "array") => json!(["one", "two"]),
        Some("object") => json!({"v": "word", "k": 2}),
        _ => json!(format!("the words of {}", parameter.name)),
    }
}

/// Tests a project.
pub(super) fn probe_project(drawn: &DrawnProject) -> ProjectVerdict {
    let config = read(&["edition = \"2026\"\n", &drawn.around.project].concat());
    let files = drawn
        .files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()));
    let built = ctxc::compile_sources(&config, files.chain([("t.xml", drawn.templates.as_str())]));
    let Some(registry) = built.registry else {
        let errors = built
            .diagnostics
            .iter()
            .filter(|one| one.severity == ctxc::Severity::Error);
        return ProjectVerdict::Refused(
            errors
                .map(|one| format!("{}: {}", one.rule.name, one.message))
                .collect(),
        );
    };
    let project = CheckedProject {
        registry: &registry,
        config: &config,
        drawn,
    };
    match project
        .check_manifest()
        .and_then(|manifest| project.check_run(&manifest))
    {
        Ok(compared) => ProjectVerdict::Sound(compared),
        Err(broken) => ProjectVerdict::Broken(broken),
    }
}

/// A project that passes `check`.
#[derive(Clone, Copy)]
struct CheckedProject<'a> {
    registry: &'a Registry,
    config: &'a Config,
    drawn: &'a DrawnProject,
}

impl<'a> CheckedProject<'a> {
    fn options(&self) -> Options<'a> {
        Options {
            counting: Counting::Always,
            models: Some(ModelSettings::from_config(self.config, &())),
            ..Options::default()
        }
    }

    /// Returns the situation of the task's run.
    fn situation(&self, inputs: &'a BTreeMap<String, Value>) -> RunSituation<'a> {
        let DrawnProject { files, around, .. } = self.drawn;
        let goals = CallerGoals {
            objective: around.objective.as_deref(),
            ..CallerGoals::default()
        };
        RunSituation {
            files,
            source: &around.matches,
            parent: &around.parent,
            history: &around.history,
            previous: around.previous.as_ref(),
            attempts: &around.attempts,
            goals,
            role: self.config.roles.get("r"),
            ..RunSituation::new("t", inputs)
        }
    }

    /// Builds the manifest; checks that it contains each agent of each task, and that each can be
    /// previewed before a run.
    fn check_manifest(&self) -> Result<Manifest, String> {
        let options = self.options();
        let how = ManifestOptions {
            options,
            files: &self.drawn.files,
        };
        let (manifest, faults) =
            partial_manifest(self.registry, &how, Some(std::num::NonZeroUsize::MIN));
        if let Some(fault) = faults.first() {
            return Err(format!("manifest: {fault}"));
        }
        let listed: BTreeSet<(&str, &str)> = manifest
            .entries
            .iter()
            .map(|entry| (entry.task.as_str(), entry.node.as_str()))
            .collect();
        let graph = TaskGraph::load(self.registry, "t").unwrap().unwrap();
        let inputs = BTreeMap::new();
        let flow = TaskFlow::new(&graph, RunSituation::new("t", &inputs), &options)
            .map_err(|fault| format!("plan: {fault}"))?;
        let role = self.config.roles.get("r");
        for agent in flow
            .plan()
            .all_nodes()
            .into_iter()
            .filter(|node| node.kind == PlanKind::Agent)
        {
            if !listed.contains(&("t", agent.path.as_str())) {
                return Err(format!("manifest: the agent {} is missing", agent.path));
            }
            let request = Request {
                node: &agent.path,
                files: &self.drawn.files,
                role,
                ..Request::new("t")
            };
            preview_context(self.registry, &request, &options)
                .map_err(|fault| format!("preview: {fault}"))?;
        }
        Ok(manifest)
    }

    /// Runs the task to its end; checks that it sends the rendered requests, within the bounds of
    /// the manifest.
    fn check_run(&self, manifest: &Manifest) -> Result<usize, String> {
        let graph = TaskGraph::load(self.registry, "t").unwrap().unwrap();
        let declared = self.registry.find("t").unwrap().parameters().unwrap();
        let inputs: BTreeMap<String, Value> = declared
            .iter()
            .filter(|own| own.default.is_none())
            .map(|own| (own.name.clone(), example_value(own)))
            .collect();
        let options = self.options();
        let situation = self.situation(&inputs);
        let flow =
            TaskFlow::new(&graph, situation, &options).map_err(|fault| format!("plan: {fault}"))?;
        let has_fences = !self.drawn.templates.contains("\"bare\"");
        let responder = ScriptedResponder {
            sent: Mutex::default(),
            detours: self.drawn.around.detours,
            has_fences,
        };
        let trace = TraceWriter::new(
            "r".to_owned(),
            None,
            Redactor::new([0; 32], []),
            RunJournal::default(),
        )
        .with_kept_events();
        let found = BTreeMap::from([("look".to_owned(), json!("what was found: {{a0}} <b>"))]);
        let parts = RunnerParts {
            options,
            providers: Some(&self.config.providers),
            answers: &responder,
            tools: &found,
            commands: &Echo,
            subtasks: self.config,
            trace: &trace,
            limits: RunLimits {
                jobs: 1,
                ..RunLimits::default()
            },
            clock: || None,
        };
        let outcome = Runner::new(parts).run(&TaskFrame::new(&graph, situation, &flow));
        if let Some(obstacle) = outcome
            .obstacle
            .filter(|obstacle| obstacle.kind != ObstacleKind::LoopLimit)
        {
            // The compiler cannot know the inputs of a parent, a pipeline or a subtask; a run keeps
            // them out of system texts and shells.
            let is_refusal = obstacle.note.contains("is untrusted, and")
                || obstacle.note.contains("is untrusted and");
            let is_refusal = is_refusal && self.drawn.around.brings_untrusted();
            return if is_refusal {
                Ok(0)
            } else {
                Err(format!("run: {}", obstacle.note))
            };
        }
        let sent = responder.sent.into_inner().unwrap();
        let mut outputs: BTreeMap<String, AgentOutput> = BTreeMap::new();
        let mut compared = 0;
        let shown = RunComparison {
            graph: &graph,
            situation: &situation,
            options,
            manifest,
        };
        for event in trace.events() {
            if let TraceEvent::Result { stage, output, .. } = event {
                outputs.insert(stage, output);
            } else if let TraceEvent::Stage { stage, .. } = event
                && !stage.contains('~')
            {
                let (RunPosition::Running(ready), _) = flow.position(&outputs) else {
                    return Err("flow: the stage is not ready".to_owned());
                };
                let ready = ready
                    .into_iter()
                    .find(|ready| ready.stage == stage)
                    .ok_or("flow: the stage is not ready")?;
                let request = sent
                    .iter()
                    .find(|request| request.stage == stage)
                    .ok_or("flow: nothing was sent")?;
                shown.compare_request(request, &ready.node, &ready.results)?;
                compared += 1;
            }
        }
        Ok(compared)
    }
}

/// Returns the messages of a request as text, with their speakers.
fn messages_text(messages: &[Message]) -> String {
    messages
        .iter()
        .map(|message| ["[", message.speaker.word(), "]\n", message.as_str(), "\n"].concat())
        .collect()
}

/// The rendered state of a task before and after its run.
struct RunComparison<'a> {
    graph: &'a TaskGraph<'a>,
    situation: &'a RunSituation<'a>,
    options: Options<'a>,
    manifest: &'a Manifest,
}

impl RunComparison<'_> {
    /// Checks that a run's request equals the output of `render` with the same results; in a first
    /// round also with only the results of agents, commands and steps, and with none if `render`
    /// accepts that. Checks that its tokens are within the bounds of the manifest.
    fn compare_request(
        &self,
        sent: &RecordedRequest,
        node: &str,
        results: &NodeResults,
    ) -> Result<(), String> {
        let target = TARGETS
            .iter()
            .copied()
            .find(|target| target.name == sent.dialect);
        let options = Options {
            target,
            ..self.options
        };
        let render = |results: &NodeResults| {
            assemble_loaded(
                self.graph,
                &self.situation.request_at(node, results),
                &options,
            )
        };
        let own = messages_text(&sent.messages);
        let differs = |how: &str, shown: &str| {
            Err(format!(
                "render {how}: another request than the run's\n--- {node} shown\n{shown}--- sent\n{own}"
            ))
        };
        let assembly = render(results).map_err(|fault| format!("render: {fault}"))?;
        let whole = messages_text(&assembly.messages);
        if whole != own {
            return differs("by all results", &whole);
        }
        self.check_bounds(node, assembly.report.tokens.unwrap_or_default())?;
        let is_first = sent
            .stage
            .split('@')
            .skip(1)
            .all(|round| round == "1" || round.starts_with("1/"));
        if !is_first {
            return Ok(());
        }
        let is_variable = |path: &str| {
            [
                "current_input",
                "accumulator",
                "evaluation_feedback",
                "current_iteration",
            ]
            .iter()
            .any(|name| path.ends_with(name))
        };
        let left: NodeResults = results
            .iter()
            .filter(|(path, _)| !is_variable(path))
            .map(|(path, left)| (path.clone(), left.clone()))
            .collect();
        let shown =
            render(&left).map_err(|fault| format!("render by results of nodes: {fault}"))?;
        let shown = messages_text(&shown.messages);
        if shown != own {
            return differs("by results of nodes", &shown);
        }
        // The trust of a result is known only from the result itself.
        if results
            .values()
            .any(|result| result.trust == Trust::Untrusted)
        {
            return Ok(());
        }
        match render(&NodeResults::new()) {
            Ok(shown) if messages_text(&shown.messages) != own => {
                differs("without results", &messages_text(&shown.messages))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a context has no more tokens than its agent's bound in the manifest. Additions
    /// by a pipeline or a parent are not part of a manifest.
    fn check_bounds(&self, node: &str, tokens: usize) -> Result<(), String> {
        let RunSituation {
            parent,
            previous,
            attempts,
            goals,
            ..
        } = *self.situation;
        let is_alone = parent.is_empty()
            && previous.is_none()
            && attempts.is_empty()
            && goals.objective.is_none();
        let entry = self
            .manifest
            .entries
            .iter()
            .find(|entry| entry.task == "t" && entry.node == node);
        let total = &entry.ok_or("manifest: the agent is missing")?.total;
        if !is_alone || total.bound.is_none_or(|bound| tokens <= bound) {
            return Ok(());
        }
        Err(format!(
            "bounds: {node} has {tokens} tokens, the manifest has {total:?}"
        ))
    }
}
