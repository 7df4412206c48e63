//! `lookup` in scenarios: what is found in the files of the project as they are now.

use super::eval::commit;
use super::project::{Project, Run};

const ANSWER: &str = "<task name=\"answer\"><description>Say how zebras are fed.</description><context_management>\
    <inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>\n";
const SILENT: &str = "<task name=\"silent\"><description>Say nothing.</description></task>\n";

/// What `ctxc eval` says of one expectation.
fn eval(project: &Project, task: &str, expectation: &str) -> Run {
    let text = format!(
        "name: a\ntask: {task}\ncontext: {{objective: say it}}\nexpect_context:\n  - lookup: {expectation}\n"
    );
    project.write("scenarios/a.yaml", text);
    project.run(&["eval"])
}

fn project() -> Project {
    Project::new()
        .file("templates/answer.xml", ANSWER)
        .file("templates/silent.xml", SILENT)
        .file(
            "docs/feed.md",
            "Zebras are fed with hay.\nZebras, fed twice.\n",
        )
        .file("docs/night.md", "At night the zebras sleep.\n")
        .file("docs/lions.md", "Lions roar.\n")
}

#[test]
fn what_is_found_is_held() {
    let project = project();
    eval(
        &project,
        "answer",
        "{finds: [docs/feed.md], within: 1, lacks: [docs/lions.md]}",
    )
    .code(0)
    .says("context 1/1");
    eval(
        &project,
        "answer",
        "{query: lions, finds: [docs/lions.md], lacks: [docs/feed.md]}",
    )
    .code(0);
    let run = eval(&project, "answer", "{finds: [docs/night.md], within: 1}").code(1);
    run.says("expected `docs/night.md` among the best 1 matches, found others")
        .says("found, best first: `docs/feed.md`");
    eval(&project, "answer", "{lacks: [docs/feed.md]}")
        .code(1)
        .says("expected no `docs/feed.md`, found it as number 1");
    eval(
        &project,
        "answer",
        "{query: giraffes, finds: [docs/feed.md]}",
    )
    .code(1)
    .says("nothing is found");
    eval(&project, "answer", "{finds: [docs/fed.md]}")
        .code(1)
        .says("the project has no such file");
    for lacks in ["docs/fed.md", "docs", "./docs/feed.md"] {
        eval(&project, "answer", &format!("{{lacks: [\"{lacks}\"]}}")).code(1);
    }
    eval(&project, "silent", "{finds: [docs/feed.md]}")
        .code(1)
        .says("this agent looks nothing up: give a `query`");
    eval(&project, "silent", "{query: fed, finds: [docs/feed.md]}").code(0);
    eval(&project, "answer", "{within: 3}")
        .code(1)
        .says("nothing of this file is run: ")
        .says("scenarios/a.yaml:5:13: ");
    project
        .run(&["check"])
        .code(1)
        .says("needs `finds` or `lacks`");
}

#[test]
fn against_a_revision_a_lookup_is_affected_by_the_files_that_it_finds() {
    let project = project();
    let ignored = "scratch/\n";
    project.write(".gitignore", ignored);
    eval(&project, "answer", "{finds: [docs/feed.md], within: 2}").code(0);
    commit(&project);
    let unchanged = || {
        project
            .run(&["eval", "--affected"])
            .code(0)
            .says("1 carried")
    };
    unchanged();
    project.write("docs/lions.md", "Lions roar and sleep.\n");
    project.write("scratch/feed.md", "Zebras are fed with hay.\n");
    unchanged();
    // Nobody has committed it, and it is found.
    project.write(
        "docs/hay.md",
        "Zebras are fed with hay: zebras, fed with hay.\n",
    );
    project.run(&["eval", "--affected"]).says("0 carried");
    std::fs::remove_file(project.path("docs/hay.md")).unwrap();
    unchanged();
    project.write("docs/feed.md", "Moved.\n");
    project
        .run(&["eval", "--affected"])
        .code(1)
        .says("expected `docs/feed.md` among the best 2 matches");
}

#[test]
fn a_file_that_is_found_in_place_of_another_is_a_change_of_the_scenario() {
    let project = project();
    eval(&project, "answer", "{finds: [docs/feed.md], within: 2}").code(0);
    project.run(&["eval", "--out", "before.json"]).code(0);
    let affected = ["eval", "--affected", "--since", "before.json"];
    project.write("docs/lions.md", "Lions roar and sleep.\n");
    project.run(&affected).code(0).says("1 carried");
    project.write("docs/feed.md", "Moved.\n");
    project
        .run(&affected)
        .code(1)
        .says("expected `docs/feed.md` among the best 2 matches");
}
