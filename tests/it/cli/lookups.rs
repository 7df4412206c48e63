//! `lookup` in scenarios: passages from the current files of the project.

use super::eval::commit;
use super::project::{ProgramRun, Project};

const ANSWER: &str = "<task name=\"answer\"><description>Say how zebras are fed.</description><context_management>\
    <inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>\n";
const SILENT: &str = "<task name=\"silent\"><description>Say nothing.</description></task>\n";

/// The output of `ctxc eval` for one expectation.
fn eval(project: &Project, task: &str, expectation: &str) -> ProgramRun {
    let text = format!(
        "name: a\ntask: {task}\ncontext: {{objective: say it}}\nexpect_context:\n  - lookup: {expectation}\n"
    );
    project.write_file("scenarios/a.yaml", text);
    project.run(&["eval"])
}

fn project() -> Project {
    Project::new()
        .with_file("templates/answer.xml", ANSWER)
        .with_file("templates/silent.xml", SILENT)
        .with_file(
            "docs/feed.md",
            "Zebras are fed with hay.\nZebras, fed twice.\n",
        )
        .with_file("docs/night.md", "At night the zebras sleep.\n")
        .with_file("docs/lions.md", "Lions roar.\n")
}

#[test]
fn what_is_found_is_held() {
    let project = project();
    eval(
        &project,
        "answer",
        "{finds: [docs/feed.md], within: 1, lacks: [docs/lions.md]}",
    )
    .exits_with(0)
    .stdout_contains("context 1/1");
    eval(
        &project,
        "answer",
        "{query: lions, finds: [docs/lions.md], lacks: [docs/feed.md]}",
    )
    .exits_with(0);
    let run = eval(&project, "answer", "{finds: [docs/night.md], within: 1}").exits_with(1);
    run.stdout_contains("expected `docs/night.md` among the best 1 matches, found others")
        .stdout_contains("found, best first: `docs/feed.md`");
    eval(&project, "answer", "{lacks: [docs/feed.md]}")
        .exits_with(1)
        .stdout_contains("expected no `docs/feed.md`, found it as number 1");
    eval(
        &project,
        "answer",
        "{query: giraffes, finds: [docs/feed.md]}",
    )
    .exits_with(1)
    .stdout_contains("nothing is found");
    eval(&project, "answer", "{finds: [docs/fed.md]}")
        .exits_with(1)
        .stdout_contains("the project has no such file");
    for lacks in ["docs/fed.md", "docs", "./docs/feed.md"] {
        eval(&project, "answer", &format!("{{lacks: [\"{lacks}\"]}}")).exits_with(1);
    }
    eval(&project, "silent", "{finds: [docs/feed.md]}")
        .exits_with(1)
        .stdout_contains("this agent looks nothing up: give a `query`");
    eval(&project, "silent", "{query: fed, finds: [docs/feed.md]}").exits_with(0);
    eval(&project, "answer", "{within: 3}")
        .exits_with(1)
        .stdout_contains("nothing of this file is run: ")
        .stdout_contains("scenarios/a.yaml:5:13: ");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("needs `finds` or `lacks`");
}

#[test]
fn against_a_revision_a_lookup_is_affected_by_the_files_that_it_finds() {
    let project = project();
    let ignored = "scratch/\n";
    project.write_file(".gitignore", ignored);
    eval(&project, "answer", "{finds: [docs/feed.md], within: 2}").exits_with(0);
    commit(&project);
    let unchanged = || {
        project
            .run(&["eval", "--affected"])
            .exits_with(0)
            .stdout_contains("1 carried")
    };
    unchanged();
    project.write_file("docs/lions.md", "Lions roar and sleep.\n");
    project.write_file("scratch/feed.md", "Zebras are fed with hay.\n");
    unchanged();
    // An uncommitted file is found.
    project.write_file(
        "docs/hay.md",
        "Zebras are fed with hay: zebras, fed with hay.\n",
    );
    project
        .run(&["eval", "--affected"])
        .stdout_contains("0 carried");
    std::fs::remove_file(project.path("docs/hay.md")).unwrap();
    unchanged();
    project.write_file("docs/feed.md", "Moved.\n");
    project
        .run(&["eval", "--affected"])
        .exits_with(1)
        .stdout_contains("expected `docs/feed.md` among the best 2 matches");
}

#[test]
fn a_file_that_is_found_in_place_of_another_is_a_change_of_the_scenario() {
    let project = project();
    eval(&project, "answer", "{finds: [docs/feed.md], within: 2}").exits_with(0);
    project.run(&["eval", "--out", "before.json"]).exits_with(0);
    let affected = ["eval", "--affected", "--since", "before.json"];
    project.write_file("docs/lions.md", "Lions roar and sleep.\n");
    project
        .run(&affected)
        .exits_with(0)
        .stdout_contains("1 carried");
    project.write_file("docs/feed.md", "Moved.\n");
    project
        .run(&affected)
        .exits_with(1)
        .stdout_contains("expected `docs/feed.md` among the best 2 matches");
}
