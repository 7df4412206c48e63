//! 10,000 runs of a task of three steps in one process, with scripted answers and nothing written:
//! the cost of the runner itself. And four inputs of 200 ms each, which are computed concurrently.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::options::Options;
use ctxc::internals::eval::scripted::AnswerScript;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use ctxc::internals::run::commands::{CommandOutput, CommandRunner, CommandSpec};
use ctxc::internals::run::flow::TaskFlow;
use ctxc::internals::run::runner::{NoSubtasks, RunLimits, Runner, RunnerParts, TaskFrame};
use ctxc::internals::run::situation::RunSituation;
use ctxc::internals::run::tools::NoTools;
use ctxc::internals::run::trace::{RunJournal, TraceWriter};
use ctxc::internals::scenario::read_script;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Runs nothing.
#[derive(Debug)]
struct NoCommands;

impl CommandRunner for NoCommands {
    fn run(&self, _: &CommandSpec) -> Result<CommandOutput, String> {
        Err("nothing is run".to_owned())
    }
}

const TASK: &str = "<task type=\"sequential\" name=\"t\"><description>Handle {{ticket}}.</description>\
    <parameters><parameter name=\"ticket\" type=\"string\" required=\"true\"/></parameters><steps>\
    <task as=\"plan\"><description>Plan {{ticket}}.</description></task><task as=\"work\"><description>Do {{plan}}.</description></task>\
    <task><description>Report on {{work}}.</description></task></steps></task>";
const ANSWERS: &str = "answers:\n- {when: {node: plan}, reply: in two parts}\n- {when: {node: work}, reply: both done}\n- {reply: all is well}\n";

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn ten_thousand_runs_of_three_steps(bencher: divan::Bencher<'_, '_>) {
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", TASK)])
        .registry
        .unwrap();
    let graph = TaskGraph::load(&built, "t").unwrap().unwrap();
    let script = AnswerScript::new(read_script(ANSWERS).0).unwrap();
    let trace = TraceWriter::new(
        String::new(),
        None,
        Redactor::new([0; 32], []),
        RunJournal::default(),
    );
    let options = Options::default();
    let limits = RunLimits {
        jobs: 1,
        ..RunLimits::default()
    };
    bencher.bench(|| {
        for number in 0..10_000 {
            let inputs = BTreeMap::from([("ticket".to_owned(), json!(format!("ticket {number}")))]);
            let situation = RunSituation::new("t", &inputs);
            let flow = TaskFlow::new(&graph, situation, &options).unwrap();
            let parts = RunnerParts {
                options,
                providers: None,
                answers: &script,
                tools: &NoTools,
                commands: &NoCommands,
                subtasks: &NoSubtasks,
                trace: &trace,
                limits,
                clock: || None,
            };
            let outcome = Runner::new(parts).run(&TaskFrame::new(&graph, situation, &flow));
            assert!(outcome.result.is_some());
        }
    });
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
            println!("{line}");
        }
    }
}

/// Takes 200 ms for each input, and no time for the task that reads them.
#[derive(Debug)]
struct SlowInputs(AnswerScript);

impl AnswerBackend for SlowInputs {
    fn answer(&self, asked: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        if asked.stage.contains("inputs") {
            std::thread::sleep(Duration::from_millis(200));
        }
        AnswerBackend::answer(&self.0, asked)
    }
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn four_inputs_of_200_ms(bencher: divan::Bencher<'_, '_>) {
    let made = |name: &str| {
        format!(
            "<input name=\"{name}\"><task><description>Find out {name}.</description></task></input>"
        )
    };
    let made: String = ["a", "b", "c", "d"].into_iter().map(made).collect();
    let task = format!(
        "<task name=\"t\"><description>Compare {{{{a}}}}, {{{{b}}}}, {{{{c}}}}, {{{{d}}}}.</description><inputs>{made}</inputs></task>"
    );
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", &*task)])
        .registry
        .unwrap();
    let graph = TaskGraph::load(&built, "t").unwrap().unwrap();
    let slow = SlowInputs(AnswerScript::new(read_script(ANSWERS).0).unwrap());
    let trace = TraceWriter::new(
        String::new(),
        None,
        Redactor::new([0; 32], []),
        RunJournal::default(),
    );
    let options = Options::default();
    let inputs = BTreeMap::new();
    bencher.bench(|| {
        let situation = RunSituation::new("t", &inputs);
        let flow = TaskFlow::new(&graph, situation, &options).unwrap();
        let parts = RunnerParts {
            options,
            providers: None,
            answers: &slow,
            tools: &NoTools,
            commands: &NoCommands,
            subtasks: &NoSubtasks,
            trace: &trace,
            limits: RunLimits::default(),
            clock: || None,
        };
        assert!(
            Runner::new(parts)
                .run(&TaskFrame::new(&graph, situation, &flow))
                .result
                .is_some()
        );
    });
}
