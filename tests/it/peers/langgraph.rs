//! Agents at once in `LangGraph` and in asyncio: recorded once, then run again as often as
//! `CTXC_RUNS` says.

use crate::cli::project::Project;
use crate::cli::rerun_requests::{run, state};

const PROGRAM: &str = include_str!("clients/parallel_agents.py");

/// Each agent has an answer of its own, which later calls repeat.
const SCRIPT: &str = "answers:
  - {when: {has: [Write a joke]}, reply: A joke.}
  - {when: {has: [Write a story]}, reply: A story.}
  - {when: {has: [about lions]}, reply: A joke of lions.}
  - {when: {has: [about penguins]}, reply: A joke of penguins.}
  - {when: {has: [Where is 3]}, reply: In Oslo.}
  - reply: Some words.
";

/// A form of the program, and a change of one of its agents.
struct Form {
    name: &'static str,
    calls: usize,
    /// A text of one agent, and the text that it has later.
    change: [&'static str; 2],
    /// The calls of the other agents, and those before all agents.
    other_calls: usize,
}

const FORMS: [Form; 3] = [
    Form {
        name: "branches",
        calls: 4,
        change: [
            "f\"Write a {kind}\"",
            "f\"Write a {kind}\".replace(\"poem\", \"saga\")",
        ],
        other_calls: 2,
    },
    Form {
        name: "sends",
        calls: 5,
        change: ["\"elephants\"", "\"mice\""],
        other_calls: 3,
    },
    Form {
        name: "gather",
        calls: 6,
        change: ["\"Where is 3?\"", "\"Where is 4?\""],
        other_calls: 4,
    },
];

#[test]
#[ignore = "needs langgraph: LangGraph and the library of OpenAI"]
fn agents_at_once_pass_in_every_run() {
    let runs = std::env::var("CTXC_RUNS").map_or(5, |runs| runs.parse().unwrap());
    for form in &FORMS {
        let ctxc = |project: &Project, args: &[&str]| run(project, args, &[]);
        let project = Project::new()
            .with_file("script.yaml", SCRIPT)
            .with_file("agents.py", PROGRAM);
        let record = [
            "record",
            "--script",
            "script.yaml",
            "--into",
            "calls",
            "--name",
            "a",
            "--",
            "python3",
            "agents.py",
            form.name,
        ];
        ctxc(&project, &record).exits_with(0);
        ctxc(&project, &["new", "scenario", "--from", "calls", "--all"]).exits_with(0);
        ctxc(&project, &["trust", "--yes"]).exits_with(0);
        let passed = format!("{} scenarios: {} passed", form.calls, form.calls);
        for _ in 0..runs {
            ctxc(&project, &["eval"])
                .exits_with(0)
                .stdout_contains(&passed);
        }
        assert!(PROGRAM.contains(form.change[0]), "{:?}", form.change);
        project.write_file("agents.py", PROGRAM.replace(form.change[0], form.change[1]));
        let report = ctxc(&project, &["eval", "--format", "json"])
            .exits_with(1)
            .json();
        // The changed agent's answer may go into a later call, which then differs as well.
        let passed = report["summary"]["passed"].as_u64().unwrap() as usize;
        assert!(
            (form.other_calls..form.calls).contains(&passed),
            "{}: {passed} passed",
            form.name
        );
        std::fs::remove_dir_all(state(&project)).unwrap();
    }
}
