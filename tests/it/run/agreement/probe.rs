//! One project held to what it promises: it is in the manifest, each of its agents can be shown, it runs to its end, and the run sends what
//! `render` shows.

use super::super::sameness::{Echo, fitting_text};
use super::generator::Drawn;
use crate::project::reading::read;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::assemble::{assemble_in, preview};
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::manifest::{ManifestOptions, of_rest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::message::Message;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::conversation::Part;
use ctxc::internals::kernel::pipeline::agent::AgentOutput;
use ctxc::internals::kernel::pipeline::outcome::ObstacleKind;
use ctxc::internals::kernel::provider::{Answer, Response, Stop, Usage};
use ctxc::internals::record::recording::AnsweredBy;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::registry::{Parameter, Registry};
use ctxc::internals::run::answers::{Answers, AskedCall, Given, NoAnswer};
use ctxc::internals::run::flow::{Position, TaskFlow};
use ctxc::internals::run::plan::PlanKind;
use ctxc::internals::run::runner::{Frame, Limits, Parts, Runner};
use ctxc::internals::run::situation::{Results, Situation};
use ctxc::internals::run::subtask_compiler::NoSubtasks;
use ctxc::internals::run::tools::NoTools;
use ctxc::internals::run::trace::{Journal, Trace, TraceEvent};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// What became of a project.
#[derive(Debug)]
pub(super) enum Verdict {
    /// `check` finds errors.
    Refused(Vec<String>),
    /// It does what it promises; so many requests were compared.
    Sound(usize),
    /// It does not: how.
    Broken(String),
}

/// A request that was sent.
#[derive(Debug)]
struct SentRequest {
    stage: String,
    dialect: &'static str,
    messages: Vec<Message>,
}

/// Answers in the form that is asked for; loops end in their second round.
#[derive(Debug, Default)]
struct Responder(Mutex<Vec<SentRequest>>);

impl Answers for Responder {
    fn answer(&self, asked: &AskedCall<'_>) -> Result<Given, NoAnswer> {
        let request =
            SentRequest { stage: asked.stage.to_owned(), dialect: asked.sent.dialect, messages: asked.messages.to_vec() };
        let text = fitting_text(&asked.sent.body, asked.stage);
        self.0.lock().unwrap().push(request);
        let answer = Answer::new(vec![Part::Text(text)], Stop::End, Usage::default(), None);
        let response = Response { answer, body: "{}".to_owned(), status: 200, latency: Duration::ZERO };
        Ok(Given { response, by: AnsweredBy::Script })
    }
}

/// A value of a parameter's type.
fn value(parameter: &Parameter) -> Value {
    match parameter.kind.as_deref() {
        Some("number" | "integer") => json!(3),
        Some("boolean") => json!(true),
        Some("string[]" | "array") => json!(["one", "two"]),
        Some("object") => json!({"v": "word", "k": 2}),
        _ => json!(format!("the words of {}", parameter.name)),
    }
}

/// Holds a project to what it promises.
pub(super) fn probe(drawn: &Drawn) -> Verdict {
    let config = read("edition = \"2026\"\n");
    let files = drawn.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let built = ctxc::compile_sources(&config, files.chain([("t.xml", drawn.templates.as_str())]));
    let Some(registry) = built.registry else {
        let errors = built.diagnostics.iter().filter(|one| one.severity == ctxc::Severity::Error);
        return Verdict::Refused(errors.map(|one| format!("{}: {}", one.rule.name, one.message)).collect());
    };
    match shown(&registry, drawn).and_then(|()| run(&registry, drawn)) {
        Ok(compared) => Verdict::Sound(compared),
        Err(broken) => Verdict::Broken(broken),
    }
}

/// Each agent of each task is in the manifest, and can be shown before any run.
pub(super) fn shown(registry: &Registry, drawn: &Drawn) -> Result<(), String> {
    let options = Options::default();
    let (manifest, faults) =
        of_rest(registry, &ManifestOptions { options, files: &drawn.files }, Some(std::num::NonZeroUsize::MIN));
    if let Some(fault) = faults.first() {
        return Err(format!("manifest: {fault}"));
    }
    let listed: BTreeSet<(&str, &str)> =
        manifest.entries.iter().map(|entry| (entry.task.as_str(), entry.node.as_str())).collect();
    let graph = TaskGraph::load(registry, "t").unwrap().unwrap();
    let inputs = BTreeMap::new();
    let flow = TaskFlow::new(&graph, Situation::new("t", &inputs), &options).map_err(|fault| format!("plan: {fault}"))?;
    for agent in flow.plan().all().into_iter().filter(|node| node.kind == PlanKind::Agent) {
        if !listed.contains(&("t", agent.path.as_str())) {
            return Err(format!("manifest: the agent {} is missing", agent.path));
        }
        let request = Request { node: &agent.path, files: &drawn.files, ..Request::new("t") };
        preview(registry, &request, &options).map_err(|fault| format!("preview: {fault}"))?;
    }
    Ok(())
}

/// The task runs to its end, and sends what `render` shows.
fn run(registry: &Registry, drawn: &Drawn) -> Result<usize, String> {
    let graph = TaskGraph::load(registry, "t").unwrap().unwrap();
    let declared = registry.find("t").unwrap().parameters().unwrap();
    let inputs: BTreeMap<String, Value> =
        declared.iter().filter(|own| own.default.is_none()).map(|own| (own.name.clone(), value(own))).collect();
    let options = Options::default();
    let found = Fixtures(Vec::new());
    let situation = Situation { files: &drawn.files, source: &found, ..Situation::new("t", &inputs) };
    let flow = TaskFlow::new(&graph, situation, &options).map_err(|fault| format!("plan: {fault}"))?;
    let responder = Responder::default();
    let trace = Trace::new("r".to_owned(), None, Redactor::new([0; 32], []), Journal::default()).kept();
    let parts = Parts {
        options,
        providers: None,
        answers: &responder,
        tools: &NoTools,
        commands: &Echo,
        subtasks: &NoSubtasks,
        trace: &trace,
        limits: Limits { jobs: 1, ..Limits::default() },
        clock: || None,
    };
    let outcome = Runner::new(parts).run(&Frame::new(&graph, situation, &flow));
    if let Some(obstacle) = outcome.obstacle.filter(|obstacle| obstacle.kind != ObstacleKind::LoopLimit) {
        return Err(format!("run: {}", obstacle.note));
    }
    let sent = responder.0.into_inner().unwrap();
    let mut outputs: BTreeMap<String, AgentOutput> = BTreeMap::new();
    let mut compared = 0;
    for event in trace.events() {
        if let TraceEvent::Result { stage, output, .. } = event {
            outputs.insert(stage, output);
        } else if let TraceEvent::Stage { stage, .. } = event {
            let (Position::Running(ready), _) = flow.position(&outputs) else {
                return Err("flow: the stage is not ready".to_owned());
            };
            let ready = ready.into_iter().find(|ready| ready.stage == stage).ok_or("flow: the stage is not ready")?;
            let request = sent.iter().find(|request| request.stage == stage).ok_or("flow: nothing was sent")?;
            compare(&graph, &situation, request, (&ready.node, &ready.results))?;
            compared += 1;
        }
    }
    Ok(compared)
}

/// The words of a request, by who says them.
fn words(messages: &[Message]) -> String {
    messages.iter().map(|message| ["[", message.speaker.word(), "]\n", message.as_str(), "\n"].concat()).collect()
}

/// The request of a run is what `render` gives with the same results; with those of agents, commands and steps alone where it is of a first
/// round; and with none wherever `render` takes that to be enough.
fn compare(
    graph: &TaskGraph<'_>,
    situation: &Situation<'_>,
    sent: &SentRequest,
    (node, results): (&str, &Results),
) -> Result<(), String> {
    let target = TARGETS.iter().copied().find(|target| target.name == sent.dialect);
    let options = Options { target, ..Options::default() };
    let render = |results: &Results| -> Result<String, String> {
        let rendered = assemble_in(graph, &situation.at(node, results), &options);
        rendered.map(|assembly| words(&assembly.messages)).map_err(|fault| fault.to_string())
    };
    let own = words(&sent.messages);
    let differs = |how: &str, shown: &str| {
        Err(format!("render {how}: another request than the run's\n--- {node} shown\n{shown}--- sent\n{own}"))
    };
    let whole = render(results).map_err(|fault| format!("render: {fault}"))?;
    if whole != own {
        return differs("by all results", &whole);
    }
    let is_first = sent.stage.split('@').skip(1).all(|round| round == "1" || round.starts_with("1/"));
    if !is_first {
        return Ok(());
    }
    let is_variable = |path: &str| {
        ["current_input", "accumulator", "evaluation_feedback", "current_iteration"].iter().any(|name| path.ends_with(name))
    };
    let left: Results =
        results.iter().filter(|(path, _)| !is_variable(path)).map(|(path, left)| (path.clone(), left.clone())).collect();
    let shown = render(&left).map_err(|fault| format!("render by results of nodes: {fault}"))?;
    if shown != own {
        return differs("by results of nodes", &shown);
    }
    match render(&Results::new()) {
        Ok(shown) if shown != own => differs("without results", &shown),
        _ => Ok(()),
    }
}
