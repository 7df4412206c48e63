//! Sessions that tests of other parts of the program read.

use super::report::steps;
use super::writers::{Agent, Step, write_session};
use crate::cli::project::Project;

/// A session of Claude Code with one compaction.
pub(crate) fn short_session() -> String {
    let steps = [
        Step::User("Never edit the generated clients by hand.".into()),
        Step::Assistant("I will not.".into()),
        Step::Compact("The checkout is fixed.".into()),
    ];
    write_session(Agent::Claude, &steps)
}

/// A session of Claude Code with the tokens that were billed.
pub(crate) fn billed_session() -> String {
    super::calls::billed_session()
}

/// A session of Claude Code that loses an instruction, a file, an error and a version.
pub(crate) fn losing_session() -> String {
    let mut steps = steps();
    steps.insert(
        0,
        Step::Assistant("The lock file has react 18.2.0 today.".into()),
    );
    for step in &mut steps {
        if let Step::Compact(summary) = step {
            summary.push_str(" It uses react 19.0.1.");
        }
    }
    steps.push(Step::Compact("Nothing.".into()));
    let text = write_session(Agent::Claude, &steps);
    format!("{text}not a row\n{{\"type\": \"hologram\"}}\n")
}

/// A project with a scenario that expects nothing of the facts in a summary.
pub(crate) fn loose_scenario() -> Project {
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &steps()));
    project
        .run(&["new", "scenario", "--from", "s.jsonl", "--name", "loose"])
        .exits_with(0);
    let scenario = project.read_file("scenarios/loose.yaml");
    let (head, _) = scenario.split_once("survives: ").unwrap();
    project.write_file(
        "scenarios/loose.yaml",
        format!("{head}survives: {{needed_again: 9}}\n"),
    );
    project
}
