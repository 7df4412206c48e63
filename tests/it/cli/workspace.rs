//! Projects of one repository: runs in all members, in one, and sections that members take over.

use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n  <inputs>\n    <input name=\"ticket\" from=\"ticket\"/>\n  </inputs>\n</task>\n";

fn workspace() -> Project {
    Project::new()
        .with_file(
            "ctxc.toml",
            "[workspace]\nmembers = [\"teams/*\"]\n[workspace.lints]\nunused-parameter = \"error\"\n[workspace.models.fast]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
        )
        .with_file("teams/a/ctxc.toml", "[lints]\nworkspace = true\n[models]\nworkspace = true\n[roles.clerk]\ntemplate = \"triage\"\nmodel = \"fast\"\n")
        .with_file("teams/a/templates/t.xml", TASK)
        .with_file("teams/b/ctxc.toml", "")
        .with_file("teams/b/templates/t.xml", TASK)
        .with_file("teams/notes/readme.txt", "no project")
}

const BROKEN: &str = "<task type=\"atomic\" name=\"broken\">\n";

#[test]
fn a_verb_for_whole_projects_runs_in_every_member() {
    let project = workspace();
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("teams/a\n")
        .stdout_contains("teams/b\n")
        .output_lacks("notes")
        .stderr_contains("2 members: nothing failed");
    let project = project.with_file("teams/b/templates/broken.xml", BROKEN);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("templates/broken.xml")
        .stderr_contains("2 members: 1 failed: teams/b (exit code 1)");
    // Members are told apart, and one does not stop the next.
    project.run(&["build"]).exits_with(1);
    assert!(project.path("teams/a/registry.json").is_file());
    assert!(!project.path("teams/b/registry.json").exists());
    assert!(!project.path("registry.json").exists());
}

#[test]
fn relative_outputs_are_files_of_the_member() {
    let project = workspace();
    project
        .run(&["manifest", "-o", "context-manifest.json"])
        .exits_with(0);
    project.run(&["manifest", "--check"]).exits_with(0);
    for member in ["a", "b"] {
        let folder = project.path("teams").join(member);
        assert!(folder.join("context-manifest.json").is_file());
    }
    assert!(!project.path("context-manifest.json").exists());
    project
        .run(&["check", "--report", "json=check.json"])
        .exits_with(0);
    assert!(project.path("teams/b/check.json").is_file());
    project
        .run(&["check", "--json"])
        .exits_with(2)
        .stderr_contains("one document is printed for each of 2 members")
        .stderr_contains("--member NAME");
    let annotations = project
        .with_file("teams/b/templates/broken.xml", BROKEN)
        .run(&["check", "--format", "github"])
        .exits_with(1);
    annotations
        .stdout_contains("::error ")
        .output_lacks("teams/a\n");
}

#[test]
fn one_member_is_named_by_its_path_its_last_part_or_a_file_of_it() {
    let project = workspace().with_file("teams/b/templates/broken.xml", BROKEN);
    for arguments in [
        &["check", "--member", "teams/a"][..],
        &["check", "--member", "a"],
        &["check", "teams/a/templates/t.xml"],
        &["list", "--member", "a", "--json"],
    ] {
        project.run(arguments).exits_with(0);
    }
    project
        .run(&["check", "--member", "c"])
        .exits_with(2)
        .stderr_contains("--member c: the workspace has no such member");
    project
        .run(&["eval", "teams/a", "teams/b"])
        .exits_with(2)
        .stderr_contains("in several members");
    project
        .run(&["list"])
        .exits_with(2)
        .stderr_contains("the root of a workspace")
        .stderr_contains("--member NAME");
}

#[test]
fn members_take_over_lints_and_models() {
    let project = workspace().with_file(
        "teams/a/templates/t.xml",
        TASK.replace(
            "<inputs>",
            "<parameters>\n    <parameter name=\"unused\"/>\n  </parameters>\n  <inputs>",
        ),
    );
    project
        .run(&["check", "--member", "a"])
        .exits_with(1)
        .stdout_contains("unused-parameter");
    let loosened = project.with_file(
        "teams/a/ctxc.toml",
        "[lints]\nworkspace = true\nunused-parameter = \"off\"\n",
    );
    loosened
        .run(&["check", "--member", "a"])
        .exits_with(2)
        .stdout_contains("loosened-policy")
        .stdout_contains("of the workspace")
        .output_lacks("shared file");
    let unlisted = workspace().with_file("others/c/ctxc.toml", "[lints]\nworkspace = true\n");
    unlisted
        .run(&["check", "--project", "others/c"])
        .exits_with(2)
        .stdout_contains("`members` of ../../ctxc.toml does not list this folder");
}

#[test]
fn a_permission_covers_what_a_member_takes_over() {
    let member = |sections: &str| format!("{sections}[roles.clerk]\ntemplate = \"triage\"\n");
    let hash = |project: &Project| {
        let run = project
            .run(&["trust", "--show", "--member", "b"])
            .exits_with(0);
        let at = run.stdout.find("b3:").expect("a hash");
        run.stdout[at..at + 67].to_owned()
    };
    let root = "[workspace]\nmembers = [\"teams/*\"]\n[workspace.lints]\n[workspace.models.fast]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = WINDOW\n";
    let with = |sections: &str, window: &str| {
        let project = workspace()
            .with_file("ctxc.toml", root.replace("WINDOW", window))
            .with_file("teams/b/ctxc.toml", member(sections));
        hash(&project)
    };
    let lints = "[lints]\nworkspace = true\n";
    let models = "[models]\nworkspace = true\n";
    assert_ne!(with(lints, "128000"), with(models, "128000"));
    assert_eq!(with(lints, "128000"), with(lints, "64000"));
    assert_ne!(with(models, "128000"), with(models, "64000"));
}

#[test]
fn what_is_for_one_member_needs_its_name() {
    let project = workspace();
    let file = project.path("all.json");
    let file = file.to_str().expect("a path of characters");
    for arguments in [
        &["eval", "triage-t1"][..],
        &["eval", "--report", "json=-"],
        &["check", "-o", file],
        &["manifest", "-o", file],
    ] {
        project
            .run(arguments)
            .exits_with(2)
            .stderr_contains("--member NAME");
    }
    for verb in [
        &["fmt"][..],
        &["defaults"],
        &["show", "triage"],
        &["explain", "triage.inherit_context"],
        &["search", "ticket"],
        &["watch"],
        &["render", "triage"],
        &["graph", "triage"],
        &["trust"],
        &["run", "triage"],
        &["baseline", "show"],
        &["baseline", "log"],
    ] {
        project
            .run(verb)
            .exits_with(2)
            .stderr_contains("the root of a workspace")
            .stderr_contains("--member NAME");
    }
}

#[test]
fn a_required_version_of_the_workspace_holds_for_members() {
    let project = workspace().with_file(
        "ctxc.toml",
        "required-version = \">=99\"\n[workspace]\nmembers = [\"teams/*\"]\n[workspace.lints]\n[workspace.models]\n",
    );
    let run = project
        .run(&["check", "--project", "teams/a"])
        .exits_with(2);
    assert!(
        run.stderr
            .starts_with("error: ../../ctxc.toml:1:20: this is ctxc ")
    );
    assert_eq!(run.stderr.lines().count(), 2);
}

#[test]
fn a_workspace_that_names_no_project_is_wrong() {
    for members in ["\"teams/**\"", "\".\"", "\"{teams/a,teams/b}\""] {
        let project =
            workspace().with_file("ctxc.toml", format!("[workspace]\nmembers = [{members}]\n"));
        project
            .run(&["check"])
            .exits_with(2)
            .stdout_contains("ctxc.toml:2:12:")
            .stdout_contains("expected folders level by level");
        project
            .run(&["build"])
            .exits_with(2)
            .stderr_contains("ctxc.toml:2:12: ");
    }
    for (members, message) in [
        (
            "[\"teams/*\", \"apps/*\"]",
            "`apps/*` matches no folder with a ctxc.toml",
        ),
        (
            "[\"teams/notes\"]",
            "`teams/notes` matches no folder with a ctxc.toml",
        ),
    ] {
        let file = format!("[workspace]\nmembers = {members}\n");
        workspace()
            .with_file("ctxc.toml", &file)
            .run(&["check"])
            .exits_with(2)
            .stderr_contains(message);
    }
    workspace()
        .with_file(
            "ctxc.toml",
            "[workspace]\nmembers = \"teams/*\"\n[roles.x]\ntemplate = \"t\"\n",
        )
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("not-of-workspace")
        .stdout_contains("`roles` cannot stand in the file of a workspace");
}

#[test]
fn paths_of_several_members_are_checked_by_the_project_of_each() {
    let project = workspace()
        .with_file("teams/a/templates/broken.xml", BROKEN)
        .with_file("teams/b/templates/broken.xml", BROKEN);
    project
        .run(&[
            "check",
            "teams/a/templates/t.xml",
            "teams/b/templates/t.xml",
        ])
        .exits_with(0)
        .stdout_contains("teams/a\nchecked 1 file")
        .stdout_contains("teams/b\nchecked 1 file");
    project
        .run(&["check", "teams/a/templates/t.xml", "teams/b"])
        .exits_with(1)
        .stdout_contains("templates/broken.xml")
        .stderr_contains("2 members: 1 failed: teams/b (exit code 1)");
    project
        .run(&["check", "--json", "teams/a", "teams/b"])
        .exits_with(2)
        .stderr_contains("--member NAME");
    project
        .run(&["check", "teams/a", "teams/notes"])
        .exits_with(2)
        .stderr_contains("teams/notes is in no member of the workspace");
}

#[test]
fn a_project_file_that_is_of_no_member_is_reported() {
    let project = workspace()
        .with_file("apps/web/ctxc.toml", "")
        .with_file("apps/web/node_modules/x/ctxc.toml", "")
        .with_file("node_modules/x/ctxc.toml", "")
        .with_file("build/ctxc.toml", "")
        .with_file(".gitignore", "build/\n");
    let run = project.run(&["check"]).exits_with(0);
    let run = run.stderr_contains("warning: of no member, and not read: apps/web/ctxc.toml. Add the folders to `[workspace] members`");
    assert_eq!(
        run.stderr.matches("/ctxc.toml").count(),
        1,
        "{}",
        run.stderr
    );
    // Without a workspace, too, in every format.
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("templates/t.xml", TASK)
        .with_file("apps/web/ctxc.toml", "");
    for format in ["full", "github"] {
        project
            .run(&["check", "--format", format])
            .exits_with(0)
            .stderr_contains(
                "warning: not read here: apps/web/ctxc.toml. `ctxc check --project DIR` checks one",
            );
    }
    project
        .with_file("ctxc.toml", "[templates]\nexclude = \"apps\"\n")
        .run(&["check"])
        .exits_with(0)
        .output_lacks("not read");
}

#[test]
fn a_check_at_the_root_covers_and_fixes_the_file_of_the_workspace() {
    let broken = "[workspace]\nmembers = [\"teams/*\"]\n# a\u{200B}b\n";
    let project = workspace()
        .with_file("ctxc.toml", broken)
        .with_file("teams/a/ctxc.toml", "")
        .with_file("teams/b/templates/broken.xml", BROKEN);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("[workspace]\nwarning[zero-width-character] ctxc.toml:3:4");
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(1)
        .stdout_contains("[workspace]\n");
    assert_eq!(
        project.read_file("ctxc.toml"),
        broken.replace('\u{200B}', "")
    );
    project.run(&["check"]).output_lacks("[workspace]");
}
