//! `examples/python_agent`: its recording and its scenario hold, and a change of the agent is
//! noticed. No Python is needed.

use crate::cli::project::Project;
use ctxc::internals::record::proxy::vendor::VENDORS;
use pretty_assertions::assert_eq;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/python_agent");
const RECORDING: &str = "recordings/order.jsonl";
const FILES: [&str; 4] = [
    "ctxc.toml",
    RECORDING,
    "scenarios/parcel.yaml",
    "scenarios/snapshots/parcel.json",
];

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()
}

/// A copy of the folder, as far as ctxc reads it.
fn copy() -> Project {
    FILES.iter().fold(Project::new(), |project, name| {
        project.with_file(name, read(name))
    })
}

#[test]
fn the_python_agent_passes_its_check_and_its_test() {
    let project = copy();
    project
        .run(&["check", "recordings"])
        .exits_with(0)
        .stdout_contains("checked 3 requests: nothing found");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("parcel  context 8/8")
        .stdout_contains("PASS");
    // No scripted answer is taken for one of a model.
    assert!(
        read(RECORDING)
            .lines()
            .all(|line| line.contains("\"answered_by\":\"script\""))
    );
    project
        .run(&["manifest", "recordings"])
        .exits_with(0)
        .output_lacks("the provider counted");
}

#[test]
fn the_python_agent_fails_its_test_when_a_description_is_edited() {
    let project = copy();
    let description = "Look an order up by its number";
    assert!(
        read("agent.py").contains(description),
        "the recording is of another agent"
    );
    project.write_file(
        RECORDING,
        read(RECORDING).replace(description, "Find orders"),
    );
    let run = project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("context 7/8");
    run.stdout_contains("tool 1 (find_order), description: “Find orders” in place of “Look an order up by its number”");
    project.run(&["eval", "--accept"]).exits_with(0);
    project.run(&["eval"]).exits_with(0);
}

#[test]
fn the_workflow_of_the_python_agent_runs_what_its_page_states() {
    let (workflow, page) = (read(".github/workflows/ctxc.yml"), read("README.md"));
    for command in [
        "ctxc record --script script.yaml --into recordings --name order -- python agent.py",
        "ctxc check recordings",
        "ctxc eval",
    ] {
        assert!(
            workflow.contains(&format!("run: {command}")) && page.contains(command),
            "{command}"
        );
    }
}

#[test]
fn the_page_on_agents_lists_the_variables_that_are_set() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/AGENTS.md")).unwrap();
    let listed: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let set: Vec<&str> = VENDORS
        .iter()
        .flat_map(|vendor| vendor.variables)
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(listed, set);
}
