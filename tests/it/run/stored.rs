//! The stored settings of the registry decide everything: a runner never looks up the defaults of
//! an operator.

use crate::assembly::shipped::Here;
use ctxc::Registry;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::options::Options;
use ctxc::internals::eval::scripted::AnswerScript;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use ctxc::internals::run::commands::{CommandOutput, CommandRunner, CommandSpec};
use ctxc::internals::run::flow::TaskFlow;
use ctxc::internals::run::runner::{
    NoSubtasks, RunLimits, RunOutcome, Runner, RunnerParts, TaskFrame,
};
use ctxc::internals::run::situation::RunSituation;
use ctxc::internals::run::tools::NoTools;
use ctxc::internals::run::trace::{RunJournal, TraceWriter};
use ctxc::internals::scenario::read_script;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Runs nothing.
#[derive(Debug)]
struct NoCommands;

impl CommandRunner for NoCommands {
    fn run(&self, _: &CommandSpec) -> Result<CommandOutput, String> {
        Err("nothing is run".to_owned())
    }
}

/// Answers by a script, and keeps the requests.
#[derive(Debug)]
struct Kept(AnswerScript, Mutex<Vec<String>>);

impl AnswerBackend for Kept {
    fn answer(&self, asked: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        self.1
            .lock()
            .unwrap()
            .push(format!("{}: {}", asked.stage, asked.sent.body));
        AnswerBackend::answer(&self.0, asked)
    }
}

fn run(registry: &[u8], answers: &str) -> (RunOutcome, Vec<String>) {
    let registry = Registry::read(registry).unwrap();
    let graph = TaskGraph::load(&registry, "t").unwrap().unwrap();
    let inputs = BTreeMap::new();
    let options = Options::default();
    let situation = RunSituation {
        files: &Here,
        ..RunSituation::new("t", &inputs)
    };
    let flow = TaskFlow::new(&graph, situation, &options).unwrap();
    let kept = Kept(
        AnswerScript::new(read_script(answers).0).unwrap(),
        Mutex::default(),
    );
    let trace = TraceWriter::new(
        String::new(),
        None,
        Redactor::new([0; 32], []),
        RunJournal::default(),
    );
    let limits = RunLimits {
        jobs: 1,
        ..RunLimits::default()
    };
    let parts = RunnerParts {
        options,
        providers: None,
        answers: &kept,
        tools: &NoTools,
        commands: &NoCommands,
        subtasks: &NoSubtasks,
        trace: &trace,
        limits,
        clock: || None,
    };
    let outcome = Runner::new(parts).run(&TaskFrame::new(&graph, situation, &flow));
    (outcome, kept.1.into_inner().unwrap())
}

/// A registry with one value changed, at any depth.
fn changed(built: &[u8], change: &dyn Fn(&mut Value)) -> Vec<u8> {
    fn walk(value: &mut Value, change: &dyn Fn(&mut Value)) {
        change(value);
        match value {
            Value::Object(fields) => fields.values_mut().for_each(|inner| walk(inner, change)),
            Value::Array(items) => items.iter_mut().for_each(|inner| walk(inner, change)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut registry: Value = serde_json::from_slice(built).unwrap();
    walk(&mut registry, change);
    serde_json::to_vec(&registry).unwrap()
}

#[test]
fn a_registry_whose_stored_settings_were_changed_runs_by_those() {
    let task = "<task type=\"sequential\" name=\"t\"><description>The whole.</description><steps>\
        <task as=\"a\"><description>First.</description></task><task><description>Second.</description></task></steps></task>";
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task)])
        .registry
        .unwrap();
    let answers = "answers:\n- {when: {node: a}, reply: left by the first}\n- {reply: done}\n";
    let (_, asked) = run(built.as_bytes(), answers);
    assert!(
        asked[1].contains("The whole.") && asked[1].contains("left by the first"),
        "{asked:?}"
    );
    // The stored settings inherit nothing and carry nothing along, with any defaults of the
    // operators.
    let quiet = changed(built.as_bytes(), &|value| {
        if let Some(setting) = value
            .get_mut("inherit_context")
            .filter(|setting| setting.is_object())
        {
            setting["value"] = json!("none");
        }
        if let Some(setting) = value
            .get_mut("accumulate_data")
            .filter(|setting| setting["applies"] == json!(true))
        {
            setting["value"] = json!(false);
        }
    });
    let (_, asked) = run(&quiet, answers);
    assert!(
        !asked[1].contains("The whole.") && !asked[1].contains("left by the first"),
        "{asked:?}"
    );
}

#[test]
fn the_stored_number_of_rounds_is_the_bound() {
    let task = "<task type=\"director_evaluator_loop\" name=\"t\"><description>Polish.</description>\
        <director><description>Write.</description></director><evaluator><description>Read {{director_result}}.</description></evaluator>\
        <termination_condition><condition>evaluation == 'fine'</condition></termination_condition></task>";
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task)])
        .registry
        .unwrap();
    let answers = "answers:\n- {reply: more}\n";
    let (_, asked) = run(built.as_bytes(), answers);
    assert_eq!(
        asked.len(),
        10,
        "five rounds, as the registry stores where the template says nothing"
    );
    let two = changed(built.as_bytes(), &|value| {
        if let Some(rounds) = value.get_mut("max_iterations") {
            *rounds = json!(2);
        }
    });
    let (outcome, asked) = run(&two, answers);
    assert_eq!(asked.len(), 4);
    assert!(outcome.obstacle.unwrap().note.contains("after 2 rounds"));
    // Without a stored number the run does not start: none is made up.
    let none = changed(built.as_bytes(), &|value| {
        if let Some(fields) = value.as_object_mut() {
            fields.shift_remove("max_iterations");
        }
    });
    let registry = Registry::read(none).unwrap();
    let graph = TaskGraph::load(&registry, "t").unwrap().unwrap();
    assert!(
        TaskFlow::new(
            &graph,
            RunSituation::new("t", &BTreeMap::new()),
            &Options::default()
        )
        .is_err()
    );
}
