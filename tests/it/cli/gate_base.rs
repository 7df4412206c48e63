//! The base of a change, and the gate's report when the base is not as it seems.

use super::gate::{CONFIG, SCRIPTED, TASK, base, begin, branch, commit, git, recorded, replace};
use super::project::Project;

const CONTEXT: &str = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";

#[test]
fn a_base_that_has_the_project_under_another_commit_or_path_is_no_new_project() {
    // A branch from before the project.
    let project = Project::new().with_file("readme.md", "x");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    git(&project, &["switch", "-q", "main"]);
    let add = |folder: &str| {
        project.write_file(&format!("{folder}ctxc.toml"), CONFIG);
        project.write_file(&format!("{folder}templates/triage.xml"), TASK);
        project.write_file(&format!("{folder}scenarios/bare.yaml"), CONTEXT);
        commit(&project);
    };
    add("");
    git(&project, &["switch", "-q", "change"]);
    project.write_file("more.md", "x");
    add("");
    project.run(&["gate"]).exits_with(7).stdout_contains(
        "main has this project, but this branch started before it did: merge main first",
    );
    // A folder that was moved.
    let project = Project::new()
        .with_file("one/ctxc.toml", CONFIG)
        .with_file("one/templates/triage.xml", TASK)
        .with_file("one/scenarios/bare.yaml", CONTEXT);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    git(&project, &["mv", "one", "two"]);
    commit(&project);
    let run = project.run(&["gate", "--project", "two"]).exits_with(0);
    run.stdout_contains("note: the project was in one/ in main, and is in two/ now")
        .stdout_contains("nothing is loosened");
    project.write_file(
        "two/scenarios/bare.yaml",
        CONTEXT.replace("[invoice]", "[.]"),
    );
    project
        .run(&["gate", "--project", "two"])
        .exits_with(4)
        .stdout_contains("expectation of `bare`");
    project.write_file("two/scenarios/bare.yaml", CONTEXT);
    // A new project beside others is new.
    git(&project, &["mv", "two", "one"]);
    project.write_file("three/ctxc.toml", CONFIG);
    project.write_file("three/templates/triage.xml", TASK);
    project.write_file("three/scenarios/bare.yaml", CONTEXT);
    commit(&project);
    project
        .run(&["gate", "--project", "three"])
        .exits_with(7)
        .stdout_contains("main does not have this project yet")
        .stdout_contains("--new-project");
    project
        .run(&["gate", "--project", "three", "--new-project"])
        .exits_with(0)
        .stdout_contains("note: main does not have this project yet");
}

#[test]
fn what_is_not_compared_is_reported() {
    let project = branch();
    project
        .run(&["gate"])
        .exits_with(0)
        .output_lacks("no commit since");
    git(&project, &["switch", "-q", "main"]);
    project.write_file(
        "scenarios/bare.yaml",
        CONTEXT.replace("contains:", "contians:"),
    );
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project.write_file("scenarios/bare.yaml", CONTEXT);
    project.run(&["gate"]).exits_with(0).stdout_contains(
        "scenarios/bare.yaml cannot be read in main, so what it holds there is not compared",
    );
}

#[test]
fn an_error_that_the_base_has_is_reported_as_such() {
    let project = branch();
    git(&project, &["switch", "-q", "main"]);
    let kept = project.read_file("baselines/recorded.json");
    replace(
        &project,
        "baselines/recorded.json",
        "\"verdict\": \"pass\"",
        "\"verdict\": \"fail\"",
    );
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project.write_file("baselines/recorded.json", &kept);
    let run = project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("baselines/recorded.json cannot be read in main");
    run.stdout_contains("baseline of `recorded`: accepted results: new");
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "mended",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    project.run(&["gate"]).exits_with(0);
    git(&project, &["checkout", "-q", "-f", "main"]);
    git(&project, &["switch", "-q", "-f", "main"]);
    project.write_file("baselines/recorded.json", kept);
    project.write_file("templates/triage.xml", "<task");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project.write_file("templates/triage.xml", TASK);
    project.run(&["gate"]).exits_with(0).stdout_contains(
        "not all of main can be read, and the rest is compared: templates/triage.xml: ",
    );
    // The readable part of it still holds.
    replace(&project, "scenarios/scripted.yaml", "max: 60", "max: 600");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("expectation of `scripted`");
}

#[test]
fn somebody_who_may_not_accept_learns_it() {
    let project = branch();
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - absent: [sorry]\n",
        "",
    );
    let run = project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "mallory@example.org",
        ])
        .exits_with(0);
    run.stderr_contains("`ctxc gate` will not count what mallory@example.org accepts: the `accepters` of main are lead@example.org");
    let run = project.run(&["gate"]).exits_with(4);
    run.stdout_contains("what mallory@example.org accepted does not count: the `accepters` of the base are lead@example.org");
}

#[test]
fn an_inconclusive_decision_gives_the_reason() {
    let project = branch();
    project.write_file("scenarios/bare.yaml", CONTEXT);
    let run = project
        .run(&["gate", "--min-answered", "0.7"])
        .exits_with(7);
    run.stdout_contains("too few scenarios have answers: 2 of 3, and --min-answered is 0.7");
    let project = branch();
    let open = CONTEXT
        .split("expect_context")
        .next()
        .unwrap()
        .replace("bare", "open")
        + "expectations:\n  - contains: [billing]\n";
    project.write_file("scenarios/open.yaml", open);
    let run = project.run(&["gate"]);
    run.stdout_contains(
        "`open` is undecided: it has no recorded answer and no expectation on its context",
    );
    let project = Project::new().with_file("templates/triage.xml", TASK);
    project
        .run(&["gate"])
        .exits_with(2)
        .stderr_contains("lies in no git repository")
        .output_lacks("would be a git revision");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("there is no scenario");
}

#[test]
fn a_shallow_clone_is_named() {
    let project = branch();
    for branch in ["main", "change"] {
        git(&project, &["switch", "-q", branch]);
        project.write_file(&format!("{branch}.md"), "x");
        commit(&project);
    }
    let clone = project.path("clone");
    let (from, to) = (
        format!("file://{}", project.path("").display()),
        clone.display().to_string(),
    );
    git(
        &project,
        &[
            "clone",
            "-q",
            "--depth",
            "1",
            "--no-single-branch",
            "-b",
            "change",
            &from,
            &to,
        ],
    );
    let gate = [
        "gate",
        "--project",
        "clone",
        "--base",
        "origin/main",
        "--report",
        "json=gate.json",
    ];
    let run = project.run(&gate).exits_with(7);
    run.stdout_contains("`origin/main` and `HEAD` have no commit in common")
        .stdout_contains("git fetch --unshallow");
    assert!(project.read_file("gate.json").contains("inconclusive"));
    let run = project
        .run(&[
            "baseline",
            "accept",
            "--project",
            "clone",
            "--base",
            "origin/main",
            "--reason",
            "x",
        ])
        .exits_with(2);
    run.stderr_contains("have no commit in common");
    // A clone of the branch alone, whose `origin/HEAD` is the branch.
    git(
        &project,
        &[
            "clone",
            "-q",
            "--single-branch",
            "-b",
            "change",
            &from,
            &project.path("one").display().to_string(),
        ],
    );
    let one = |project: &Project, args: &[&str]| {
        project.run(&[&["gate", "--project", "one"], args].concat())
    };
    git(
        &project,
        &[
            "-C",
            "one",
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/change",
        ],
    );
    one(&project, &[])
        .exits_with(7)
        .stdout_contains("there is no commit since origin/change, so no commit is compared")
        .output_lacks("shallow");
    git(
        &project,
        &[
            "clone",
            "-q",
            "--depth",
            "1",
            "-b",
            "change",
            &from,
            &project.path("low").display().to_string(),
        ],
    );
    project
        .run(&["gate", "--project", "low"])
        .exits_with(7)
        .stdout_contains("there is no commit since origin/change")
        .stdout_contains("git fetch --unshallow");
}

#[test]
fn a_base_that_is_no_commit_is_named_as_it_was_given() {
    let project = branch();
    for name in [
        "nope",
        "main^2",
        "https://example.org/repository",
        "HEAD~99",
    ] {
        let run = project
            .run(&["gate", "--base", name])
            .exits_with(2)
            .stderr_contains(&format!("there is no revision `{name}`"));
        assert!(!run.stderr.contains("a tag"), "{name}: {}", run.stderr);
    }
}

#[test]
fn the_branch_behind_another_name_is_named_and_line_ends_of_a_checkout_are_no_change() {
    let project = branch();
    project.write_file("scenarios/t.txt", "my invoice\n");
    let filed = project
        .read_file("scenarios/scripted.yaml")
        .replace("ticket: my invoice", "ticket: {file: t.txt}");
    project.write_file(
        "scenarios/filed.yaml",
        filed
            .replace("name: scripted", "name: filed")
            .replace("  - snapshot: true\n", ""),
    );
    commit(&project);
    base(&project);
    git(
        &project,
        &["update-ref", "refs/remotes/origin/trunk", "main"],
    );
    git(
        &project,
        &[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/trunk",
        ],
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("gate against origin/trunk: PASS");
    project.write_file("scenarios/t.txt", "my invoice\r\n");
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    project
        .run(&["gate", "--candidate", "nowhere.json"])
        .exits_with(2)
        .stderr_contains("nowhere.json cannot be read: it does not exist");
    project
        .run(&["eval", "--rescore", "last"])
        .exits_with(2)
        .stderr_contains("a run is named with `=`: `--rescore=last`");
    project
        .run(&["eval", "--jobs", "0"])
        .exits_with(2)
        .stderr_contains("expected a number, 1 or more");
}

/// The object id of a revision.
fn id(project: &Project, revision: &str) -> String {
    let mut command = std::process::Command::new("git");
    let found = command
        .current_dir(project.path(""))
        .args(["rev-parse", revision])
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

/// Makes a change that no gate passes.
fn loosen(project: &Project) {
    replace(project, "scenarios/scripted.yaml", "max: 60", "max: 600");
    commit(project);
}

#[test]
fn no_tag_takes_the_place_of_a_branch() {
    let project = branch();
    git(
        &project,
        &["update-ref", "refs/remotes/origin/main", "main"],
    );
    loosen(&project);
    for (base, tag) in [
        ("main", "main"),
        ("origin/main", "origin/main"),
        ("main", "refs/heads/main"),
        ("main", "heads/main"),
    ] {
        git(
            &project,
            &["update-ref", &format!("refs/tags/{tag}"), "HEAD"],
        );
        let run = project.run(&["gate", "--base", base]);
        if base == tag {
            run.exits_with(2)
                .stderr_contains("has two meanings: refs/")
                .stderr_contains(&format!("and refs/tags/{tag}"));
        } else {
            run.exits_with(4);
        }
        // The guess is spelled out.
        project.run(&["gate"]).exits_with(4);
        for spelled in [
            format!("refs/remotes/{base}"),
            format!("refs/heads/{base}"),
            id(&project, "HEAD~1"),
        ] {
            let run = project.run(&["gate", "--base", &spelled]);
            assert!([Some(2), Some(4)].contains(&run.code), "{spelled}: {run:?}");
        }
        git(&project, &["update-ref", "-d", &format!("refs/tags/{tag}")]);
    }
    // A branch that this clone does not have, and a tag of its name, spelled out or not.
    for (tag, base) in [
        ("origin/next", "origin/next"),
        ("refs/remotes/origin/next", "refs/remotes/origin/next"),
        ("fade", "fade"),
    ] {
        git(
            &project,
            &["update-ref", &format!("refs/tags/{tag}"), "HEAD"],
        );
        project.run(&["gate", "--base", base]).exits_with(2);
    }
    project
        .run(&["gate", "--base", "origin/next"])
        .exits_with(2)
        .stderr_contains(
            "`origin/next` is a tag, and the base of a change is a branch or a commit",
        );
    // A tag that is asked for as one, commits, and steps from them.
    git(&project, &["tag", "v1", "main"]);
    for base in [
        "refs/tags/v1",
        "HEAD~1",
        "HEAD^",
        "refs/heads/main",
        "refs/remotes/origin/main~0",
        "main~0",
        "@~1",
    ] {
        project
            .run(&["gate", "--base", base])
            .exits_with(4)
            .stdout_contains("expectation of `scripted`");
    }
    let (full, short) = (id(&project, "main"), id(&project, "main")[..9].to_owned());
    project.run(&["gate", "--base", &full]).exits_with(4);
    project.run(&["gate", "--base", &short]).exits_with(4);
    // A branch of the same name as a branch of a remote.
    git(&project, &["branch", "origin/main", "HEAD"]);
    let run = project
        .run(&["gate", "--base", "origin/main"])
        .exits_with(2);
    run.stderr_contains("has two meanings: refs/remotes/origin/main and ")
        .stderr_contains("and refs/heads/origin/main, at ");
    // A tag of the digits of a commit.
    git(&project, &["tag", &short, "HEAD"]);
    project
        .run(&["gate", "--base", &short])
        .exits_with(2)
        .stderr_contains("is a tag");
    for base in ["", ":/begin", "-x", "main^{tree}", "nowhere"] {
        project
            .run(&["gate", &format!("--base={base}")])
            .exits_with(2);
    }
    // A new branch has no commit before.
    project
        .run(&["gate", "--base", &"0".repeat(40)])
        .exits_with(4)
        .stdout_contains("gate against main: FAIL");
}

#[test]
fn a_comparison_with_itself_is_no_pass() {
    let project = branch();
    git(&project, &["reset", "-q", "--hard", "main"]);
    let (main, gate) = (id(&project, "main"), |args: &[&str]| {
        project.run(&[&["gate"], args].concat())
    });
    gate(&[])
        .exits_with(7)
        .stdout_contains("there is no commit since main, so no commit is compared");
    gate(&["--base", "main"])
        .exits_with(7)
        .stdout_contains("no file of the project differs from it");
    gate(&["--base", &main, "--report", "json=gate.json"])
        .exits_with(5)
        .stdout_contains("no file of the project differs from it");
    assert!(project.read_file("gate.json").contains("\"inconclusive\""));
    std::fs::remove_file(project.path("gate.json")).unwrap();
    // Uncommitted changes count as a change if the base is `HEAD`.
    replace(
        &project,
        "templates/triage.xml",
        "<parameters>",
        "<!-- why -->\n  <parameters>",
    );
    gate(&["--base", "HEAD"]).exits_with(0).stdout_contains(
        "note: there is no commit since HEAD: only uncommitted changes are compared",
    );
    gate(&["--base", &main]).exits_with(0);
    gate(&[]).exits_with(7);
    replace(&project, "scenarios/scripted.yaml", "max: 60", "max: 600");
    gate(&[]).exits_with(4);
    gate(&["--base", "HEAD"]).exits_with(4);
}

#[test]
#[cfg(unix)]
fn a_project_that_stands_elsewhere_is_compared_with_what_stood_there() {
    let project = branch();
    let inside = |project: &Project, folder: &str, args: &[&str]| {
        let output = super::project::command_in(&project.path(folder), &[&["gate"], args].concat())
            .output()
            .unwrap();
        super::project::ProgramRun::from(output)
    };
    // An inner project file takes the place of the outer one.
    git(&project, &["switch", "-q", "main"]);
    project.write_file("bots/readme.md", "x");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    inside(&project, "bots", &[]).exits_with(0);
    project.write_file("bots/ctxc.toml", "");
    project.write_file("bots/templates/bare.xml", TASK);
    project.write_file("bots/scenarios/bare.yaml", CONTEXT);
    commit(&project);
    for args in [&[][..], &["--new-project"]] {
        let run = inside(&project, "bots", args).exits_with(4);
        run.stdout_contains("the project file that counts in bots/: ctxc.toml");
    }
    // It is accepted in the log of the project that the base has.
    let accept = [
        "baseline",
        "accept",
        "--reason",
        "x",
        "--by",
        "lead@example.org",
    ];
    let accepted = super::project::command_in(&project.path("bots"), &accept)
        .output()
        .unwrap();
    assert!(accepted.status.success(), "{accepted:?}");
    inside(&project, "bots", &[])
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org");
    git(&project, &["checkout", "-q", "--", "."]);
    // And an inner one that is removed.
    base(&project);
    inside(&project, "bots", &[]).exits_with(0);
    git(
        &project,
        &["rm", "-q", "bots/ctxc.toml", "bots/scenarios/bare.yaml"],
    );
    commit(&project);
    inside(&project, "bots", &[])
        .exits_with(4)
        .stdout_contains("the project file that counts in bots/: bots/ctxc.toml → ctxc.toml");
    // The whole project moves to a folder inside of its own.
    let moved = branch();
    moved.write_file(".github/workflows/ctxc.yml", "name: gate\n");
    commit(&moved);
    base(&moved);
    std::fs::create_dir(moved.path("agents")).unwrap();
    for path in ["ctxc.toml", "templates", "scenarios", "baselines"] {
        git(&moved, &["mv", path, "agents"]);
    }
    commit(&moved);
    inside(&moved, "agents", &[]).exits_with(0).stdout_contains(
        "the project was in the top of the repository in main, and is in agents/ now",
    );
    // A link to the project leads elsewhere.
    let linked = Project::new();
    let project_in = |folder: &str, text: &str| {
        linked.write_file(&format!("{folder}/ctxc.toml"), CONFIG);
        linked.write_file(&format!("{folder}/templates/triage.xml"), TASK);
        linked.write_file(
            &format!("{folder}/scenarios/bare.yaml"),
            CONTEXT.replace("[invoice]", text),
        );
    };
    project_in("v1", "[invoice]");
    project_in("v2", "[.]");
    let link = |to: &str| {
        _ = std::fs::remove_file(linked.path("bot"));
        std::os::unix::fs::symlink(to, linked.path("bot")).unwrap();
    };
    link("v1");
    git(&linked, &["init", "-q", "-b", "main"]);
    commit(&linked);
    git(&linked, &["switch", "-q", "-c", "change"]);
    begin(&linked);
    linked.run(&["gate", "--project", "bot"]).exits_with(0);
    link("v2");
    commit(&linked);
    linked
        .run(&["gate", "--project", "bot"])
        .exits_with(4)
        .stdout_contains("the project was in v1/ in main, and is in v2/ now");
    inside(&linked, "bot", &[]).exits_with(4);
    inside(&linked, "v2", &[]).exits_with(4);
}

#[test]
#[cfg(unix)]
fn what_lies_in_a_submodule_or_behind_a_moved_link_is_not_read() {
    let project = branch();
    for folder in ["scenarios", "templates", "baselines"] {
        let project = branch();
        std::fs::rename(project.path(folder), project.path("real")).unwrap();
        std::fs::rename(
            project.path("real"),
            project.path(&format!("held/{folder}")),
        )
        .unwrap_or_else(|_| {
            std::fs::create_dir_all(project.path("held")).unwrap();
            std::fs::rename(
                project.path("real"),
                project.path(&format!("held/{folder}")),
            )
            .unwrap();
        });
        std::os::unix::fs::symlink(format!("held/{folder}"), project.path(folder)).unwrap();
        commit(&project);
        let run = project.run(&["gate"]).exits_with(7);
        run.stdout_contains(&format!(
            "{folder}, which this change adds, removes or leads elsewhere, so it is not compared"
        ));
        base(&project);
        let run = project.run(&["gate"]);
        assert!([Some(4), Some(7)].contains(&run.code), "{folder}: {run:?}");
    }
    // A file that a scenario names.
    std::os::unix::fs::symlink("one.txt", project.path("scenarios/t.txt")).unwrap();
    project.write_file("scenarios/one.txt", "my invoice");
    project.write_file("scenarios/two.txt", "my invoice");
    let filed = project
        .read_file("scenarios/scripted.yaml")
        .replace("ticket: my invoice", "ticket: {file: t.txt}");
    project.write_file(
        "scenarios/filed.yaml",
        filed
            .replace("name: scripted", "name: filed")
            .replace("  - snapshot: true\n", ""),
    );
    commit(&project);
    base(&project);
    project.run(&["gate"]).exits_with(0);
    std::fs::remove_file(project.path("scenarios/t.txt")).unwrap();
    std::os::unix::fs::symlink("two.txt", project.path("scenarios/t.txt")).unwrap();
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("scenarios/t.txt lies behind the link scenarios/t.txt");
    // Submodules.
    let other = Project::new().with_file("bare.yaml", CONTEXT);
    git(&other, &["init", "-q", "-b", "main"]);
    commit(&other);
    let from = other.path("").display().to_string();
    let add = |place: &str| {
        let project = branch();
        git(
            &project,
            &[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                &from,
                place,
            ],
        );
        commit(&project);
        project
    };
    let project = add("scenarios/sub");
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("scenarios/sub/bare.yaml lies in the submodule scenarios/sub, whose files of main are not read");
    // A submodule that the project does not use may move.
    let project = add("vendor");
    project.run(&["gate"]).exits_with(0);
    base(&project);
    project.write_file("vendor/bare.yaml", "");
    git(
        &project,
        &["-C", "vendor", "commit", "-q", "-a", "-m", "moved"],
    );
    commit(&project);
    project.run(&["gate"]).exits_with(0);
    // One that took its scenarios away.
    let project = add("scenarios/sub");
    base(&project);
    git(&project, &["rm", "-q", "-f", "scenarios/sub"]);
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("lies in the submodule scenarios/sub");
}

#[test]
fn a_branch_that_mends_its_base_can_pass() {
    let project = branch();
    let broken = |path: &str, text: &str| {
        git(&project, &["switch", "-q", "-f", "main"]);
        let kept = project.read_file(path);
        project.write_file(path, text);
        commit(&project);
        git(&project, &["switch", "-q", "-C", "change"]);
        project.write_file(path, &kept);
        commit(&project);
        let run = project.run(&["gate", "--report", "json=gate.json"]);
        assert!(project.read_file("gate.json").contains("ctxc/gate/1"));
        std::fs::remove_file(project.path("gate.json")).unwrap();
        git(&project, &["branch", "-q", "-f", "main"]);
        run
    };
    broken("ctxc.toml", &CONFIG.replace("\nruns = 3", "\nruns = \"x\""))
        .exits_with(0)
        .stdout_contains("not all of main can be read");
    // If it is invalid TOML, the last settings apply.
    broken("ctxc.toml", "[eval\n")
        .exits_with(0)
        .stdout_contains("not all of main can be read");
    broken("templates/triage.xml", "<task")
        .exits_with(0)
        .stdout_contains("not all of main can be read");
    broken("baselines/LOG.jsonl", "{}\n").exits_with(0);
    // Its own errors are in the report.
    begin(&project);
    project.write_file("templates/triage.xml", "<task");
    project
        .run(&[
            "gate",
            "--report",
            "json=gate.json",
            "--report",
            "markdown=gate.md",
        ])
        .exits_with(1);
    assert!(
        project.read_file("gate.json").contains("\"fail\""),
        "{}",
        project.read_file("gate.json")
    );
    assert!(
        project
            .read_file("gate.md")
            .contains("nothing was judged: "),
        "{}",
        project.read_file("gate.md")
    );
    let decision = project.run(&["gate", "--json"]).exits_with(1).json();
    assert!(
        decision["error"]
            .as_str()
            .unwrap()
            .contains("templates/triage.xml")
            || !decision["warnings"].as_array().unwrap().is_empty()
    );
}

#[test]
fn one_undecided_scenario_does_not_keep_others_from_being_accepted() {
    let project = branch();
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - absent: [sorry]\n",
        "",
    );
    std::fs::remove_file(project.path("scenarios/recordings/recorded.jsonl")).unwrap();
    let run = project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    run.stderr_contains("warning: `recorded` is inconclusive: only what passes or fails can be accepted: the rest is accepted without it");
    // Its accepted result stays.
    assert!(
        project
            .run(&["baseline", "show"])
            .exits_with(0)
            .stdout
            .contains("recorded  pass  1 of 1")
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org");
    let first = SCRIPTED
        .replace("name: scripted", "name: other")
        .replace("  - snapshot: true\n", "");
    project.write_file("scenarios/other.yaml", first);
    project.run(&["gate"]).exits_with(0);
}

#[test]
fn a_base_without_readable_settings_is_held_to_its_last_ones() {
    for broken in [
        "[eval\n",
        &CONFIG.replace("accepters = [", "accepters = 5 #"),
        "\u{0}",
    ] {
        let project = branch();
        git(&project, &["switch", "-q", "main"]);
        project.write_file("ctxc.toml", broken);
        commit(&project);
        git(&project, &["switch", "-q", "-C", "change"]);
        project.write_file("ctxc.toml", CONFIG);
        commit(&project);
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains(": its settings of ");
        replace(
            &project,
            "scenarios/scripted.yaml",
            "  - absent: [sorry]\n",
            "",
        );
        project
            .run(&[
                "baseline",
                "accept",
                "--reason",
                "x",
                "--by",
                "mallory@example.org",
            ])
            .exits_with(0);
        project
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains("what mallory@example.org accepted does not count");
    }
    // There never were any.
    let project = Project::new()
        .with_file("ctxc.toml", "[eval\n")
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/bare.yaml", CONTEXT);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    project.write_file("ctxc.toml", "");
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("nothing shows who may accept");
}

#[test]
fn what_goes_through_a_filter_is_compared_by_its_object() {
    let project = branch();
    for (key, value) in [
        ("smudge", "sed s/PLAIN/invoice/"),
        ("clean", "sed s/invoice/PLAIN/"),
    ] {
        git(&project, &["config", &format!("filter.plain.{key}"), value]);
    }
    project.write_file(".gitattributes", "scenarios/*.yaml filter=plain\n");
    commit(&project);
    git(&project, &["add", "--renormalize", "."]);
    commit(&project);
    base(&project);
    project.run(&["gate"]).exits_with(0);
    // A file that differs is not read: the base contains the output of the filter.
    replace(&project, "scenarios/scripted.yaml", "max: 60", "max: 600");
    project.run(&["gate"]).exits_with(4).stdout_contains(
        "scenarios/scripted.yaml goes through a filter of git, so main does not hold",
    );
}

#[test]
fn a_work_tree_a_detached_head_and_a_repository_of_another_user() {
    let project = branch();
    git(
        &project,
        &["worktree", "add", "-q", "-b", "other", "beside"],
    );
    let beside = |args: &[&str]| {
        let output = super::project::command_in(&project.path("beside"), args)
            .output()
            .unwrap();
        super::project::ProgramRun::from(output)
    };
    beside(&["gate", "--base", "main"])
        .exits_with(0)
        .stdout_contains("gate against main: PASS");
    let text = project.read_file("beside/scenarios/scripted.yaml");
    project.write_file(
        "beside/scenarios/scripted.yaml",
        text.replace("max: 60", "max: 600"),
    );
    beside(&["gate"])
        .exits_with(4)
        .stdout_contains("expectation of `scripted`");
    git(&project, &["worktree", "remove", "--force", "beside"]);
    git(&project, &["checkout", "-q", "--detach", "change"]);
    project.run(&["gate"]).exits_with(0);
    loosen(&project);
    project.run(&["gate"]).exits_with(4);
    project
        .run(&["gate", "--base", &id(&project, "main")])
        .exits_with(4);
    let owned = project
        .command(&["gate"])
        .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        .output()
        .unwrap();
    super::project::ProgramRun::from(owned)
        .exits_with(3)
        .stderr_contains("dubious ownership")
        .stderr_contains("git config --global --add safe.directory");
}

#[test]
fn replaced_objects_and_grafts_of_the_clone_are_not_followed() {
    let project = branch();
    replace(
        &project,
        "scenarios/recorded.yaml",
        "- contains: [billing]",
        "- contains: [.]",
    );
    commit(&project);
    let listed = |project: &Project| {
        project
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains("expectation of `recorded`");
    };
    listed(&project);
    git(
        &project,
        &[
            "replace",
            "main:scenarios/recorded.yaml",
            "HEAD:scenarios/recorded.yaml",
        ],
    );
    listed(&project);
    git(&project, &["replace", "-f", "main^{tree}", "HEAD^{tree}"]);
    listed(&project);
    let [main, head] =
        ["main", "change"].map(|name| project.read_file(&format!(".git/refs/heads/{name}")));
    project.write_file(
        ".git/info/grafts",
        format!("{} {}\n", main.trim(), head.trim()),
    );
    listed(&project);
}
