//! A package that a project uses, as every verb sees it.

use super::project::Project;
use pretty_assertions::assert_eq;

const PACKAGE: &str = "[package]\nname = \"acme/base\"\nversion = \"1.0.0\"\nexports = [\"tasks/triage\", \"tasks/spare\", \"roles/planner\"]\n\
    [defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n\
    [roles.planner]\ntemplate = \"triage\"\ntools = [\"look\"]\n[tools.look]\ncommand = [\"look\", \"up\"]\n";
const TRIAGE: &str = "<library>\n  <task name=\"triage\"><description>sort {{ticket}}</description></task>\n  <task name=\"spare\"><description>d</description></task>\n</library>\n";
const OWN: &str = "<task name=\"all\" type=\"sequential\"><description>ours</description><steps><task ref=\"acme/base/triage\"/></steps></task>\n";

fn project() -> Project {
    let lock = format!(
        "version = 1\n[[package]]\nname = \"acme/base\"\nversion = \"1.0.0\"\nsource = \"path:shared/base\"\ntree = \"{}\"\ndependencies = []\n[package.files]\n",
        "a".repeat(64)
    );
    Project::new()
        .with_file("ctxc.toml", "[dependencies]\n\"acme/base\" = \"path:shared/base\"\n[roles.planner]\nextends = \"acme/base/planner\"\n")
        .with_file("ctxc.lock", &lock)
        .with_file("shared/base/ctxc.toml", PACKAGE)
        .with_file("shared/base/templates/triage.xml", TRIAGE)
        .with_file("all.xml", OWN)
}

#[test]
fn every_verb_sees_the_tasks_of_a_package() {
    let project = project();
    // The project has no folder of templates, and the package is none of its own files.
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("1 file");
    project
        .run(&["list", "tasks"])
        .exits_with(0)
        .stdout_contains("acme/base/triage");
    project.run(&["build", "-o", "before.json"]).exits_with(0);
    let manifest = project.run(&["manifest"]).exits_with(0);
    manifest
        .stdout_contains("planner")
        .output_lacks("acme/base/spare");
    let shown = project
        .run(&["show", "acme/base/triage", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        shown["nodes"][0]["settings"]["fresh_context"]["value"],
        "enabled"
    );
    project
        .run(&[
            "render",
            "acme/base/triage",
            "--no-index",
            "--input",
            "ticket=late",
        ])
        .exits_with(0)
        .stdout_contains("sort");
    let trust = project.run(&["trust", "--show"]).exits_with(0);
    trust
        .stdout_contains("look up  (acme/base@1.0.0/ctxc.toml)")
        .stdout_contains("of the package acme/base 1.0.0: 1 command");
    project.write_file(
        "shared/base/templates/triage.xml",
        TRIAGE.replace("sort {{", "order {{"),
    );
    project.run(&["build", "-o", "after.json"]).exits_with(0);
    let diff = project.run(&["diff", "before.json", "after.json"]);
    diff.stdout_contains("acme/base/triage")
        .stdout_contains("all");
}

#[test]
fn hidden_text_of_a_package_is_reported_where_it_is_used() {
    let hidden = "sort\u{202e}";
    let permits = format!("{PACKAGE}[lints]\nhidden-text = \"off\"\n");
    let prompt = "[roles.planner]\nsystem = \"You plan\u{202e}.\"\n";
    for (file, text) in [
        ("templates/triage.xml", TRIAGE.replace("sort", hidden)),
        ("ctxc.toml", PACKAGE.replace("[roles.planner]\n", prompt)),
    ] {
        let project = project();
        project.write_file("shared/base/ctxc.toml", &permits);
        project.run(&["check"]).exits_with(0);
        let own = if file == "ctxc.toml" {
            format!("{text}[lints]\nhidden-text = \"off\"\n")
        } else {
            text
        };
        project.write_file(&format!("shared/base/{file}"), own);
        let check = ["check", "--format", "concise"];
        let run = project.run(&check).exits_with(2);
        run.stdout_contains(&format!("it has an error, first: acme/base@1.0.0/{file}"))
            .stdout_contains("found U+202E");
        project.run(&["build", "-o", "registry.json"]).exits_with(2);
        // The user of a package permits it, not its author.
        let config = project.read_file("ctxc.toml");
        project.write_file(
            "ctxc.toml",
            format!("{config}[lints]\nhidden-text = \"off\"\n"),
        );
        project.run(&check).exits_with(0);
    }
}

#[test]
fn a_package_includes_no_file_of_the_project_that_uses_it() {
    let project = project()
        .with_file("secret.txt", "key-of-the-consumer\n")
        .with_file("private/secret.txt", "key-of-the-consumer\n");
    #[cfg(unix)]
    for (target, link) in [("secret.txt", "link.txt"), ("private", "folder")] {
        let link = project.path(&format!("shared/base/templates/{link}"));
        std::os::unix::fs::symlink(project.path(target), link).unwrap();
    }
    for way in [
        "../../../secret.txt",
        "../../../../secret.txt",
        "link.txt",
        "folder/secret.txt",
    ] {
        let text = TRIAGE.replace(
            "</description></task>\n  <task name=\"spare\"",
            &format!("</description><instructions src=\"{way}\"/></task>\n  <task name=\"spare\""),
        );
        project.write_file("shared/base/templates/triage.xml", text);
        let built = project.run(&["build", "-o", "registry.json"]);
        assert_ne!(built.code, Some(0), "{way}");
        built.output_lacks("key-of-the-consumer");
        assert!(!project.path("registry.json").exists(), "{way}");
    }
    project.write_file("shared/base/templates/text.txt", "in the package");
    let text = TRIAGE.replace(
        "</description></task>\n  <task name=\"spare\"",
        "</description><instructions src=\"text.txt\"/></task>\n  <task name=\"spare\"",
    );
    project.write_file("shared/base/templates/triage.xml", text);
    project.run(&["build", "-o", "registry.json"]).exits_with(0);
    assert!(
        project
            .read_file("registry.json")
            .contains("in the package")
    );
}

#[test]
fn a_package_that_cannot_be_used_is_the_only_finding() {
    let project = project();
    let settings = project.read_file("ctxc.toml");
    project.write_file(
        "ctxc.toml",
        format!("{settings}tools = [\"look\"]\n[tools]\nfrom = [\"acme/base\"]\n[tools.other]\ncommand = [\"true\"]\n"),
    );
    project.write_file(
        "scenarios/late.yaml",
        "name: late\ntask: acme/base/triage\ncontext: {objective: sort, inputs: {ticket: late}}\nexpectations:\n  - contains: [late]\nanswers:\n  - reply: late\n",
    );
    let manifest = PACKAGE.replace("\"roles/planner\"", "\"roles/planner\", \"tools/look\"");
    project.write_file("shared/base/ctxc.toml", &manifest);
    project.run(&["check"]).exits_with(0);
    let expect = |expected: &str| {
        let found = project.run(&["check", "--format", "json"]).json();
        let rules: Vec<&str> = found["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["severity"] != "hint")
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(rules, ["package-not-available"]);
        for verb in [
            &["eval"][..],
            &["build", "-o", "r.json"],
            &["render", "acme/base/triage"],
            &["manifest"],
        ] {
            let run = project.run(verb).exits_with(2);
            let printed = format!("{}{}", run.stdout, run.stderr);
            assert!(printed.contains(expected), "{verb:?}: {printed}");
            assert!(!printed.contains("no task"), "{verb:?}: {printed}");
        }
    };
    std::fs::rename(project.path("shared/base"), project.path(".gone")).unwrap();
    expect("cannot use package `acme/base`: ");
    std::fs::rename(project.path(".gone"), project.path("shared/base")).unwrap();
    project.write_file(
        "shared/base/templates/triage.xml",
        TRIAGE.replace("</library>", ""),
    );
    expect("cannot use package `acme/base`: it has ");
}

#[test]
fn a_name_without_its_package_is_suggested_in_full() {
    let project = project();
    project.write_file("all.xml", OWN.replace("acme/base/triage", "triage"));
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("did you mean `acme/base/triage`?");
}

#[test]
fn a_package_from_outside_of_a_package_stays_untrusted() {
    let rules = "[package]\nname = \"acme/rules\"\nversion = \"1.0.0\"\nexports = [\"tasks/all\"]\n[dependencies]\n\"acme/base\" = { source = \"path:../base\", trust = \"outside\" }\n";
    let own = "<task name=\"mine\" type=\"sequential\"><description>ours</description><steps><task ref=\"acme/rules/all\"/></steps></task>\n";
    let config = "[dependencies]\n\"acme/rules\" = \"path:shared/rules\"\n";
    let project = project()
        .with_file("ctxc.toml", config)
        .with_file("shared/rules/ctxc.toml", rules)
        .with_file("shared/rules/templates/all.xml", OWN)
        .with_file("all.xml", own);
    project.run(&["package", "update"]).exits_with(0);
    let untrusted = || {
        let manifest = project.run(&["manifest", "mine", "--json"]).exits_with(0);
        manifest.stdout.contains("\"trust\": \"untrusted\"")
    };
    assert!(untrusted());
    // A project that names the package itself decides.
    let named = format!("{config}\"acme/base\" = \"path:shared/base\"\n");
    project.write_file("ctxc.toml", named);
    project.run(&["package", "update"]).exits_with(0);
    assert!(!untrusted());
}
