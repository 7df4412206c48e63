//! What a change is held against, and what the gate says where that is not what it seems.

use super::gate::{CONFIG, TASK, branch, commit, git, replace};
use super::project::Project;

const CONTEXT: &str = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";

#[test]
fn a_base_that_has_the_project_under_another_commit_or_path_is_no_new_project() {
    // A branch from before the project.
    let project = Project::new().file("readme.md", "x");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    git(&project, &["switch", "-q", "main"]);
    let add = |folder: &str| {
        project.write(&format!("{folder}ctxc.toml"), CONFIG);
        project.write(&format!("{folder}templates/triage.xml"), TASK);
        project.write(&format!("{folder}scenarios/bare.yaml"), CONTEXT);
        commit(&project);
    };
    add("");
    git(&project, &["switch", "-q", "change"]);
    project.write("more.md", "x");
    add("");
    project.run(&["gate"]).code(7).says("main has this project, but this branch started before it did: merge main first");
    // A folder that was moved.
    let project = Project::new()
        .file("one/ctxc.toml", CONFIG)
        .file("one/templates/triage.xml", TASK)
        .file("one/scenarios/bare.yaml", CONTEXT);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    git(&project, &["mv", "one", "two"]);
    commit(&project);
    let run = project.run(&["gate", "--project", "two"]).code(7);
    run.says("nothing is compared: the project that main has in one/ is no longer there");
    // A new project beside others is new.
    git(&project, &["mv", "two", "one"]);
    project.write("three/ctxc.toml", CONFIG);
    project.write("three/templates/triage.xml", TASK);
    project.write("three/scenarios/bare.yaml", CONTEXT);
    commit(&project);
    project.run(&["gate", "--project", "three"]).code(0).warns("main does not have this project yet");
}

#[test]
fn what_is_not_compared_is_said() {
    let project = branch();
    project.run(&["gate"]).code(0).says("HEAD is main or behind it: only uncommitted changes are compared");
    commit(&project);
    project.run(&["gate"]).code(0).never_says("HEAD is main");
    git(&project, &["switch", "-q", "main"]);
    project.write("scenarios/bare.yaml", CONTEXT.replace("contains:", "contians:"));
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    project.write("scenarios/bare.yaml", CONTEXT);
    project.run(&["gate"]).code(0).says("scenarios/bare.yaml cannot be read in main, so its expectations there are not compared");
}

#[test]
fn an_error_of_the_base_is_said_to_be_there() {
    let project = branch();
    git(&project, &["switch", "-q", "main"]);
    let kept = project.read("baselines/recorded.json");
    replace(&project, "baselines/recorded.json", "\"verdict\": \"pass\"", "\"verdict\": \"fail\"");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    project.write("baselines/recorded.json", &kept);
    project.run(&["gate"]).code(3).warns("in main: baselines/recorded.json cannot be compared with");
    git(&project, &["switch", "-q", "-f", "main"]);
    project.write("baselines/recorded.json", kept);
    project.write("templates/triage.xml", "<task");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    project.write("templates/triage.xml", TASK);
    project.run(&["gate"]).code(1).warns("in main: ");
}

#[test]
fn somebody_who_may_not_accept_learns_it() {
    let project = branch();
    replace(&project, "scenarios/scripted.yaml", "  - absent: [sorry]\n", "");
    let run = project.run(&["baseline", "accept", "--reason", "x", "--by", "mallory@example.org"]).code(0);
    run.warns("`ctxc gate` will not count what mallory@example.org accepts: the `accepters` of main are lead@example.org");
    let run = project.run(&["gate"]).code(4);
    run.says("what mallory@example.org accepted does not count: the `accepters` of the base are lead@example.org");
}

#[test]
fn an_inconclusive_decision_says_why() {
    let project = branch();
    project.write("scenarios/bare.yaml", CONTEXT);
    let run = project.run(&["gate", "--min-answered", "0.7"]).code(7);
    run.says("too few scenarios have answers: 2 of 3, and --min-answered is 0.7");
    let project = branch();
    let open =
        CONTEXT.split("expect_context").next().unwrap().replace("bare", "open") + "expectations:\n  - contains: [billing]\n";
    project.write("scenarios/open.yaml", open);
    let run = project.run(&["gate"]);
    run.says("`open` is undecided: it has no recorded answer and no expectation on its context");
    let project = Project::new().file("templates/triage.xml", TASK);
    project.run(&["gate"]).code(2).warns("lies in no git repository").never_says("would be a git revision");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project.run(&["gate"]).code(7).says("there is no scenario");
}

#[test]
fn a_shallow_clone_is_named() {
    let project = branch();
    for branch in ["main", "change"] {
        git(&project, &["switch", "-q", branch]);
        project.write(&format!("{branch}.md"), "x");
        commit(&project);
    }
    let clone = project.path("clone");
    let (from, to) = (format!("file://{}", project.path("").display()), clone.display().to_string());
    git(&project, &["clone", "-q", "--depth", "1", "--no-single-branch", "-b", "change", &from, &to]);
    let run = project.run(&["gate", "--project", "clone", "--base", "origin/main"]).code(2);
    run.warns("`origin/main` and `HEAD` have no commit in common").warns("git fetch --unshallow");
}

#[test]
fn the_branch_behind_another_name_is_named_and_line_ends_of_a_checkout_are_no_change() {
    let project = branch();
    project.write("scenarios/t.txt", "my invoice\n");
    let filed = project.read("scenarios/scripted.yaml").replace("ticket: my invoice", "ticket: {file: t.txt}");
    project.write("scenarios/filed.yaml", filed.replace("name: scripted", "name: filed").replace("  - snapshot: true\n", ""));
    commit(&project);
    git(&project, &["branch", "-q", "-f", "main"]);
    git(&project, &["update-ref", "refs/remotes/origin/trunk", "main"]);
    git(&project, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    project.run(&["gate"]).code(0).says("gate against origin/trunk: PASS").says("note: HEAD is origin/trunk or behind it");
    project.write("scenarios/t.txt", "my invoice\r\n");
    project.run(&["gate"]).code(0).says("nothing is loosened");
    project.run(&["gate", "--candidate", "nowhere.json"]).code(2).warns("nowhere.json cannot be read: it does not exist");
    project.run(&["eval", "--rescore", "last"]).code(2).warns("a run is named with `=`: `--rescore=last`");
    project.run(&["eval", "--jobs", "0"]).code(2).warns("expected a number, 1 or more");
}
