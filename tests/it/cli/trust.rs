//! `trust`: the permissions that the files of a project require, and the user's answer, stored
//! outside the project.

use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::path::Path;

const SCRIPT: &str = r#"<task type="script" name="tests">
  <description>Run the tests.</description>
  <command><arg>cargo</arg><arg>test</arg><arg>it's</arg></command>
  <env inherit="none"><var name="RUST_LOG">debug</var></env>
</task>
"#;
const LISTED: &str = r#"<task type="atomic" name="review">
  <description>Review.</description>
  <file_paths source="command"><command>git ls-files src</command></file_paths>
</task>
"#;
const CONFIG: &str = "[providers.cellar]\nkind = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\napi_key_env = \"CELLAR_KEY\"\n";
const SCENARIO: &str = "name: checked\ntask: review\ncontext: {objective: look}\nexpectations:\n  - not: {command: [./check, --strict]}\n";

/// A project that requires a permission of every kind, and the folder of its user's state.
fn sample() -> (Project, tempfile::TempDir) {
    let project = Project::new()
        .with_file("ctxc.toml", CONFIG)
        .with_file("templates/tests.xml", SCRIPT)
        .with_file("templates/review.xml", LISTED)
        .with_file("scenarios/checked.yaml", SCENARIO);
    (project, tempfile::tempdir().unwrap())
}

fn run(project: &Project, state: &Path, args: &[&str]) -> ProgramRun {
    ProgramRun::from(
        project
            .command(args)
            .env("XDG_STATE_HOME", state)
            .env("LOCALAPPDATA", state)
            .output()
            .unwrap(),
    )
}

fn is_trusted(project: &Project, state: &Path) -> bool {
    run(project, state, &["trust", "--json"])
        .exits_with(0)
        .json()["trusted"]
        .as_bool()
        .unwrap()
}

#[test]
fn everything_that_would_be_permitted_is_shown() {
    let (project, state) = sample();
    let shown = run(&project, state.path(), &["trust", "--show", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        shown["commands"],
        json!([
            {"path": "scenarios/checked.yaml", "command": "./check --strict", "package": null},
            {"path": "templates/review.xml", "command": "git ls-files src", "package": null},
            {"path": "templates/tests.xml", "command": "env inherit=none RUST_LOG=debug cargo test 'it'\\''s'", "package": null},
        ])
    );
    assert_eq!(
        shown["providers"],
        json!([{"name": "cellar", "kind": "openai", "base_url": "http://localhost:8000/v1", "api_key_env": "CELLAR_KEY"}])
    );
    let text = run(&project, state.path(), &["trust", "--show"]).exits_with(0);
    let text = text
        .stdout_contains("cargo test 'it'\\''s'  (templates/tests.xml)")
        .stdout_contains("cellar (openai): http://localhost:8000/v1");
    assert!(
        !text.stdout.contains("not encrypted"),
        "nobody is on the way to this machine"
    );
    text.stdout_contains("the key in CELLAR_KEY")
        .stdout_contains("\nnot permitted\n");
    project.write_file("ctxc.toml", CONFIG.replace("localhost", "models.example"));
    let text = run(&project, state.path(), &["trust", "--show"]).exits_with(0);
    text.stdout_contains(
        "the key in CELLAR_KEY; not encrypted: anyone on the network path can read it",
    );
}

#[test]
fn the_key_of_a_vendor_that_only_a_model_names_is_shown() {
    let model = "[models.small]\nid = \"s\"\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n";
    let project = Project::new().with_file("ctxc.toml", model);
    let text = project.run(&["trust", "--show"]).exits_with(0);
    text.stdout_contains("openai (openai): https://api.openai.com/v1, the key in OPENAI_API_KEY");
}

#[test]
fn without_a_terminal_nothing_is_permitted_unless_yes_is_passed() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust"])
        .exits_with(2)
        .stderr_contains("`ctxc trust --yes` permits it");
    assert!(!is_trusted(&project, state.path()));
    run(&project, state.path(), &["trust", "--yes"])
        .exits_with(0)
        .stdout_contains("permitted in this folder");
    run(&project, state.path(), &["trust"])
        .exits_with(0)
        .stdout_contains("permitted in this folder")
        .stderr_is_empty();
    run(&project, state.path(), &["trust", "--revoke"])
        .exits_with(0)
        .stderr_contains("is revoked");
    run(&project, state.path(), &["trust", "--revoke"])
        .exits_with(0)
        .stderr_contains("nothing was permitted");
    assert!(!is_trusted(&project, state.path()));
}

/// A project file with every kind of key.
const PERMITTING: &str = r#"# desk
edition = "2026"
extends = { path = "shared/ctxc.toml", hash = "HASH" }
[project]
name = "desk"
[lints]
no-context = "warning"
[fmt]
width = 100
[eval]
runs = 1
pass = 1
[eval.gate]
manifest_tokens = 0.1
link = ["node_modules"]
[policy]
commands = ["cargo test", "git", "./look", "./wipe", "./check"]
blocked = ["--force"]
env = ["LANG"]
[providers.cellar]
kind = "openai"
base_url = "http://localhost:8000/v1"
api_key_env = "CELLAR_KEY"
[models.small]
provider = "cellar"
tier = "economy"
context_window = 8000
usd_per_million = { input = 1.0, output = 2.0 }
[record]
upstream = ["openai=https://gateway.example.com/v1"]
[context]
documents = ["notes/*.txt"]
[requests]
volatile = ["/metadata/id"]
[mcp.files]
command = ["mcp-files", "--read"]
env = ["HOME_DIR"]
[tools.look]
description = "Looks an order up."
command = ["./look"]
[tools.wipe]
command = ["./wipe"]
[tools.served]
description = "Serves."
[roles.clerk]
template = "review"
tools = ["look"]
blocked_tools = ["wipe"]
protected_paths = ["secrets/**"]
[roles.reader]
template = "review"
description = "reads"
budget = { tokens = 4000 }
"#;
const SHARED: &str = "[lints]\nmissing-type = \"warning\"\n";

/// Replaces a text of the project file, or adds a line to its end.
struct Edit(&'static str, &'static str);

/// Changes of the commands, addresses or values that a project may run, reach or reveal.
const PERMISSIONS: [Edit; 34] = [
    Edit(
        "\"cargo test\", \"git\", \"./look\", \"./wipe\", \"./check\"",
        "",
    ),
    Edit(
        "commands = [\"cargo test\", \"git\", \"./look\", \"./wipe\", \"./check\"]\n",
        "",
    ),
    Edit("\"--force\"", ""),
    Edit("blocked = [\"--force\"]\n", ""),
    Edit("\"git\", ", "\"git\", \"rm\", "),
    Edit("[\"LANG\"]", "[\"LANG\", \"AWS_KEY\"]"),
    Edit("localhost:8000", "example.org"),
    Edit("\"CELLAR_KEY\"", "\"OPENAI_API_KEY\""),
    Edit("kind = \"openai\"", "kind = \"anthropic\""),
    Edit("api_key_env = \"CELLAR_KEY\"\n", ""),
    Edit("", "[providers.other]\nkind = \"ollama\"\n"),
    Edit("provider = \"cellar\"", "provider = \"openai\""),
    Edit(
        "provider = \"cellar\"",
        "provider = \"cellar\"\nid = \"other\"",
    ),
    Edit(
        "",
        "[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 8000\n",
    ),
    Edit("gateway.example.com", "example.org"),
    Edit("[record]\n", "[record]\ncontent = \"full\"\n"),
    Edit("[record]\n", "[record]\nenv = [\"MY_URL\"]\n"),
    Edit("[record]\n", "[record]\nmask = [\"C-[0-9]+\"]\n"),
    Edit("notes/*.txt", ".env"),
    Edit("", "[history]\npath = \"runs.jsonl\"\n"),
    Edit("\"--read\"", "\"--write\""),
    Edit("[\"HOME_DIR\"]", "[\"HOME_DIR\", \"TOKEN\"]"),
    Edit("", "[mcp.shell]\ncommand = [\"mcp-shell\"]\n"),
    Edit(
        "command = [\"./look\"]",
        "command = [\"./look\", \"--all\"]",
    ),
    Edit(
        "command = [\"./look\"]\n[tools.wipe]\ncommand = [\"./wipe\"]",
        "command = [\"./wipe\"]\n[tools.wipe]\ncommand = [\"./look\"]",
    ),
    Edit("tools = [\"look\"]\n", "tools = [\"look\", \"w*\"]\n"),
    Edit("tools = [\"look\"]\n", "tools = [\"look\", \"served\"]\n"),
    Edit("blocked_tools = [\"wipe\"]\n", ""),
    Edit("protected_paths = [\"secrets/**\"]\n", ""),
    Edit("description = \"reads\"\n", "tools = [\"look\"]\n"),
    Edit(
        "description = \"reads\"\n",
        "protected_paths = [\"notes/**\"]\n",
    ),
    Edit(
        "",
        "[roles.other]\ntemplate = \"review\"\ntools = [\"wipe\"]\n",
    ),
    Edit("[\"node_modules\"]", "[\"node_modules\", \".venv\"]"),
    Edit("", "[defaults.script]\ninherit_context = \"none\"\n"),
];

/// Changes that keep the permissions.
const OTHERS: [Edit; 17] = [
    Edit("# desk\n", "# the desk\n\n"),
    Edit("[fmt]\n", "\n[fmt] # layout\n"),
    Edit("edition = \"2026\"\n", ""),
    Edit("name = \"desk\"", "name = \"table\""),
    Edit("no-context = \"warning\"", "no-context = \"error\""),
    Edit("width = 100", "width = 90"),
    Edit("runs = 1\npass = 1", "runs = 3\npass = 3"),
    Edit(
        "manifest_tokens = 0.1",
        "manifest_tokens = 0.05\naccepters = [\"ada@example.org\"]",
    ),
    Edit("env = [\"LANG\"]", "env = [\n  'LANG', # words\n]"),
    Edit(
        "blocked = [\"--force\"]\nenv = [\"LANG\"]",
        "env = [\"LANG\"]\nblocked = [\"--force\"]",
    ),
    Edit("context_window = 8000", "context_window = 8_000"),
    Edit("input = 1.0", "input = 1.5"),
    Edit("\"/metadata/id\"", "\"/metadata/id\", \"/metadata/time\""),
    Edit("description = \"Serves.\"", "description = \"Serves all.\""),
    Edit(
        "description = \"reads\"\nbudget = { tokens = 4000 }",
        "system = \"You read.\"\nbudget = { tokens = 8000 }\nmodel = \"small\"",
    ),
    Edit(
        "",
        "[roles.other]\ntemplate = \"review\"\nbudget = { tokens = 4000 }\n",
    ),
    Edit(
        "",
        "[owners]\n\"**\" = \"ada\"\n[[require]]\npath = \"**\"\nmust = [\"has description\"]\n",
    ),
];

impl Edit {
    fn apply(&self, text: &str) -> String {
        let Self(from, to) = self;
        if from.is_empty() {
            return format!("{text}{to}");
        }
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    }
}

#[test]
fn the_hash_covers_what_is_permitted_and_nothing_else() {
    let (project, state) = sample();
    project.write_file("shared/ctxc.toml", SHARED);
    let shared_hash =
        |text: &str| ctxc::internals::base::hash::Hash::digest(text.as_bytes()).to_string();
    let text = PERMITTING.replace("HASH", &shared_hash(SHARED));
    let hash = |text: &str| {
        project.write_file("ctxc.toml", text);
        run(&project, state.path(), &["trust", "--show", "--json"])
            .exits_with(0)
            .json()["hash"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = hash(&text);
    for edit in OTHERS {
        assert_eq!(hash(&edit.apply(&text)), before, "{} -> {}", edit.0, edit.1);
    }
    // A shared file that permits nothing may go.
    let alone: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("extends"))
        .collect();
    assert_eq!(hash(&alone.join("\n")), before);
    let mut all = std::collections::BTreeSet::from([before.clone()]);
    for edit in PERMISSIONS {
        assert!(
            all.insert(hash(&edit.apply(&text))),
            "{} -> {}",
            edit.0,
            edit.1
        );
    }
    // A shared file with a stricter lint and with other defaults.
    for (shared, is_same) in [
        (SHARED.replace("warning", "error"), true),
        (
            format!("{SHARED}[defaults.script]\ninherit_context = \"none\"\n"),
            false,
        ),
    ] {
        project.write_file("shared/ctxc.toml", &shared);
        assert_eq!(
            hash(&PERMITTING.replace("HASH", &shared_hash(&shared))) == before,
            is_same,
            "{shared}"
        );
    }
}

#[test]
fn what_was_permitted_ends_with_a_change_of_what_is_permitted_or_of_a_command_alone() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust", "--yes"]).exits_with(0);
    project.write_file(
        "templates/tests.xml",
        SCRIPT.replace("Run the tests.", "Run all tests."),
    );
    project.write_file("check", "#!/bin/sh\n");
    project.write_file("ctxc.toml", format!("# no permission\n{CONFIG}"));
    assert!(
        is_trusted(&project, state.path()),
        "the words of a task are no command"
    );
    let moved = [
        (
            "ctxc.toml",
            CONFIG.replace("localhost", "example.org"),
            CONFIG.to_owned(),
        ),
        (
            "templates/tests.xml",
            SCRIPT.replace("cargo", "rm"),
            SCRIPT.to_owned(),
        ),
        (
            "templates/tests.xml",
            SCRIPT.replace("debug", "trace"),
            SCRIPT.to_owned(),
        ),
        (
            "templates/review.xml",
            LISTED.replace(" src", " tests"),
            LISTED.to_owned(),
        ),
        (
            "scenarios/checked.yaml",
            SCENARIO.replace("--strict", "--lax"),
            SCENARIO.to_owned(),
        ),
    ];
    for (path, other, before) in moved {
        project.write_file(path, &other);
        assert!(!is_trusted(&project, state.path()), "{path}: {other}");
        run(&project, state.path(), &["trust", "--show"])
            .exits_with(0)
            .stdout_contains("something changed since you permitted it");
        project.write_file(path, &before);
        assert!(is_trusted(&project, state.path()), "{path}");
    }
}

#[test]
fn no_project_brings_a_permission_along() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust", "--yes"]).exits_with(0);
    // A copy of the same project is another folder.
    let (copy, _) = sample();
    assert!(!is_trusted(&copy, state.path()));
    // The stored answer of one is not taken for the other, in any folder.
    let kept = |project: &Project| {
        let name = project
            .path("")
            .canonicalize()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let folders = std::fs::read_dir(state.path().join("ctxc"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        folders.into_iter().find(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(name.trim_start_matches('.'))
        })
    };
    run(&copy, state.path(), &["trust", "--yes"]).exits_with(0);
    if let (Some(from), Some(to)) = (kept(&project), kept(&copy)) {
        std::fs::copy(from.join("trust.json"), to.join("trust.json")).unwrap();
        assert!(!is_trusted(&copy, state.path()));
    }
    // A folder for state inside the project is refused, under every name.
    let inside = project.path("state");
    std::fs::create_dir(&inside).unwrap();
    run(&project, &inside, &["trust", "--yes"])
        .exits_with(3)
        .stderr_contains("XDG_STATE_HOME");
    #[cfg(unix)]
    {
        let link = state.path().join("link");
        std::os::unix::fs::symlink(&inside, &link).unwrap();
        run(&project, &link, &["trust", "--yes"])
            .exits_with(3)
            .stderr_contains("XDG_STATE_HOME");
    }
    assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 0);
}

#[test]
fn a_project_without_templates_can_be_trusted_and_a_broken_file_cannot() {
    let state = tempfile::tempdir().unwrap();
    let project = Project::new().with_file("ctxc.toml", CONFIG);
    run(&project, state.path(), &["trust", "--yes"])
        .exits_with(0)
        .stdout_contains("none")
        .stdout_contains("cellar");
    project.write_file("ctxc.toml", "[providers.cellar]\nkind = \"none\"\n");
    run(&project, state.path(), &["trust", "--yes"])
        .exits_with(2)
        .stderr_contains("ctxc.toml has errors");
}
