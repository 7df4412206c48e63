//! The program's surroundings in pipelines: the action's script, completions, manual pages.

use super::check::{CLEAN, CONFLICT};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A repository whose runner has the program installed already.
fn runner() -> Project {
    let project = Project::new()
        .with_file("agents/ctxc.toml", "")
        .with_file("agents/templates/a b.xml", CONFLICT);
    let program = project.path("program/bin/ctxc");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::hard_link(env!("CARGO_BIN_EXE_ctxc"), &program)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_ctxc"), &program).map(|_| ()))
        .unwrap();
    project
        .with_file("clean/c.xml", CLEAN)
        .with_file(".git/HEAD", "")
}

fn action(project: &Project, variables: &[(&str, &str)]) -> ProgramRun {
    let mut command = Command::new("bash");
    command
        .arg(format!("{ROOT}/.ci/action"))
        .arg("run")
        .current_dir(project.path(""));
    command
        .env("CTXC_ROOT", project.path("program"))
        .env("GITHUB_OUTPUT", project.path("output"));
    command.env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    for name in [
        "CTXC_COMMAND",
        "CTXC_PROJECT",
        "CTXC_PATHS",
        "CTXC_FORMAT",
        "CTXC_OUTPUT_FILE",
        "CTXC_SUMMARY_FILE",
        "CTXC_ARGS",
        "CTXC_BASE",
    ] {
        command.env(
            name,
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map_or("", |(_, value)| value),
        );
    }
    ProgramRun::from(command.output().unwrap())
}

#[test]
#[cfg(unix)]
fn the_action_annotates_and_exits_as_the_program_does() {
    let project = runner();
    action(&project, &[("CTXC_PROJECT", "agents")])
        .exits_with(1)
        .stdout_contains("::error file=agents/templates/a b.xml,line=5,");
    assert_eq!(project.read_file("output"), "exit-code=1\n");
    action(&project, &[("CTXC_PATHS", "\nclean/c.xml\r\n  \n")])
        .exits_with(0)
        .stdout_is_empty();
    let sarif = [
        ("CTXC_PROJECT", "agents"),
        ("CTXC_FORMAT", "sarif"),
        ("CTXC_OUTPUT_FILE", "ctxc.sarif"),
    ];
    action(&project, &sarif).exits_with(1).stdout_is_empty();
    assert!(
        project
            .read_file("ctxc.sarif")
            .contains("agents/templates/a%20b.xml")
    );
    let built = [
        ("CTXC_COMMAND", "build"),
        ("CTXC_ARGS", "--check"),
        ("CTXC_PATHS", "clean"),
    ];
    action(&project, &built)
        .exits_with(1)
        .stderr_contains("does not exist");
    assert_eq!(
        project.read_file("output"),
        "exit-code=1\nexit-code=0\nexit-code=1\nexit-code=1\n"
    );
}

#[test]
#[cfg(unix)]
fn the_action_runs_scenarios() {
    let project = runner();
    action(
        &project,
        &[("CTXC_COMMAND", "eval"), ("CTXC_PROJECT", "agents")],
    )
    .exits_with(5)
    .stderr_contains("no scenario to run");
    let empty = [
        ("CTXC_COMMAND", "eval"),
        ("CTXC_PROJECT", "agents"),
        ("CTXC_ARGS", "--allow-empty"),
    ];
    action(&project, &empty).exits_with(0);
    action(&project, &[&empty[..], &[("CTXC_FORMAT", "json")]].concat()).exits_with(0);
}

#[test]
#[cfg(unix)]
fn inputs_of_the_action_are_never_run() {
    let project = runner();
    action(
        &project,
        &[("CTXC_PATHS", "$(touch hit)\n`touch hit`\n; touch hit")],
    )
    .exits_with(2);
    action(&project, &[("CTXC_PATHS", "--suppress-existing")])
        .exits_with(2)
        .stderr_contains("there is no such file");
    action(&project, &[("CTXC_COMMAND", "check; touch hit")])
        .exits_with(2)
        .stdout_contains("is check, build, eval or gate");
    assert!(!project.path("hit").exists());
}

#[test]
#[cfg(unix)]
fn the_cache_key_of_the_action_is_the_same_hash_each_time() {
    let key = || {
        ProgramRun::from(
            Command::new("bash")
                .arg(format!("{ROOT}/.ci/action"))
                .arg("key")
                .output()
                .unwrap(),
        )
        .exits_with(0)
        .stdout
    };
    assert_eq!((key().len(), key()), ("key=".len() + 41, key()));
}

/// The inputs that `action.yml` declares, those that it passes on, and those that the page lists
/// are the same.
#[test]
fn every_input_of_the_action_is_handed_on_and_documented() {
    let text = std::fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let (_, inputs) = text.split_once("\ninputs:\n").unwrap();
    let (inputs, rest) = inputs.split_once("\noutputs:\n").unwrap();
    let declared: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    assert_eq!(
        declared,
        [
            "command",
            "project",
            "paths",
            "format",
            "output-file",
            "summary-file",
            "args"
        ]
    );
    let page = std::fs::read_to_string(format!("{ROOT}/docs/CI.md")).unwrap();
    for name in declared {
        let variable = format!(
            "CTXC_{}: ${{{{ inputs.{name} }}}}",
            name.replace('-', "_").to_uppercase()
        );
        assert!(rest.contains(&variable), "{variable}");
        assert!(page.contains(&format!("| `{name}` | ")), "{name}");
    }
}

/// An input that is inserted into the text of a script can end it and begin another.
#[test]
fn no_script_of_the_action_and_the_workflows_holds_an_expression() {
    for path in [
        "action.yml",
        "examples/ci/.github/workflows/ctxc.yml",
        "examples/python_agent/.github/workflows/ctxc.yml",
        "examples/langgraph_agent/.github/workflows/ctxc.yml",
    ] {
        let text = std::fs::read_to_string(format!("{ROOT}/{path}")).unwrap();
        let scripts: Vec<&str> = text
            .lines()
            .filter(|line| line.trim_start_matches([' ', '-']).starts_with("run:"))
            .collect();
        assert!(
            scripts.len() > 1
                && scripts
                    .iter()
                    .all(|line| !line.contains("${{") && !line.ends_with('|')),
            "{scripts:?}"
        );
    }
}

fn git(folder: &std::path::Path, args: &[&str]) {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args);
    command
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .env_remove("GIT_DIR");
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// `examples/ci` in a repository, and a clone of it in `clone`, as `actions/checkout` makes one.
fn example() -> Project {
    let project = runner();
    let copied = Command::new("cp")
        .arg("-R")
        .arg(format!("{ROOT}/examples/ci"))
        .arg(project.path("origin"))
        .status()
        .unwrap();
    assert!(copied.success());
    let origin = project.path("origin");
    git(&origin, &["init", "-q", "-b", "main"]);
    git(&origin, &["add", "-A"]);
    git(&origin, &["commit", "-q", "-m", "what was accepted"]);
    git(&project.path(""), &["clone", "-q", "origin", "clone"]);
    git(&project.path("clone"), &["switch", "-q", "-c", "change"]);
    git(
        &project.path("clone"),
        &["commit", "-q", "--allow-empty", "-m", "begin"],
    );
    project
}

/// The commit that the change of the clone is compared with, as an event names it.
fn base(project: &Project) -> String {
    let args = ["-C", "clone", "rev-parse", "origin/main"];
    let found = Command::new("git")
        .args(args)
        .current_dir(project.path(""))
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

/// Runs the commands of the example's workflow in the clone, each as the runner does, and returns
/// their exit codes by name.
fn workflow(project: &Project) -> Vec<(String, i32)> {
    let page =
        std::fs::read_to_string(format!("{ROOT}/examples/ci/.github/workflows/ctxc.yml")).unwrap();
    let (test, _) = page.split_once("\n  comment:\n").unwrap();
    let steps = test.split("\n      - name: ").skip(1).filter_map(|step| {
        let (name, rest) = step.split_once('\n')?;
        Some((
            name,
            rest.lines()
                .find_map(|line| line.trim().strip_prefix("run: "))?,
        ))
    });
    let path = format!(
        "{}:{}",
        project.path("program/bin").display(),
        std::env::var("PATH").unwrap()
    );
    let run = |(name, script): (&str, &str)| {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", script])
            .current_dir(project.path("clone"))
            .env("PATH", &path);
        bash.env("BASE", base(project))
            .env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
        bash.env("XDG_STATE_HOME", project.path("state"))
            .env("XDG_CACHE_HOME", project.path("cache"));
        (
            name.to_owned(),
            bash.output().unwrap().status.code().unwrap(),
        )
    };
    steps
        .filter(|(name, _)| *name != "install")
        .map(run)
        .collect()
}

fn codes(check: i32, build: i32, eval: i32, gate: i32) -> Vec<(String, i32)> {
    let all = [
        ("check", check),
        ("build", build),
        ("eval", eval),
        ("gate", gate),
        ("summary", 0),
    ];
    all.map(|(name, code)| (name.to_owned(), code)).to_vec()
}

#[test]
#[cfg(unix)]
fn the_workflow_of_the_example_is_green_and_red_after_a_change_that_breaks_it() {
    let project = example();
    assert_eq!(
        workflow(&project),
        codes(0, 0, 0, 0),
        "`ctxc build` and `ctxc baseline accept` in examples/ci bring it up to date"
    );
    let summary = project.read_file("summary.md");
    assert!(
        summary.contains("2 scenarios, 2 with answers; nothing is loosened"),
        "{summary}"
    );
    assert_eq!(project.read_file("clone/comment.md"), summary);

    let template = project.read_file("clone/prompts/triage.xml");
    let (head, rest) = template.split_once("  <file_paths").unwrap();
    let (_, rest) = rest.split_once("</file_paths>\n").unwrap();
    project.write_file("clone/prompts/triage.xml", format!("{head}{rest}"));
    project.write_file("summary.md", "");
    assert_eq!(workflow(&project), codes(0, 1, 1, 4));
    let comment = project.read_file("clone/comment.md");
    assert!(
        comment.contains(&format!("gate against {:.12}: FAIL", base(&project)))
            && comment.contains("double-charge"),
        "{comment}"
    );

    // A change that also removes the expectation makes the scenarios pass, and not the gate.
    let scenarios = project.read_file("clone/scenarios/triage.yaml").replace(
        "    - segment: {id: \"file:docs/runbook.md\", state: kept}\n",
        "",
    );
    let scenarios = scenarios
        .replace("reply: product", "reply: billing, data")
        .replace("^billing$", "billing")
        .replace("^data$", "data");
    project.write_file("clone/scenarios/triage.yaml", scenarios);
    project.run(&["build", "--project", "clone"]).exits_with(0);
    assert_eq!(workflow(&project), codes(0, 0, 0, 4));
}

#[test]
#[cfg(unix)]
fn the_action_gates_a_change_and_writes_its_summary() {
    let project = example();
    let base = base(&project);
    let gate = [
        ("CTXC_COMMAND", "gate"),
        ("CTXC_PROJECT", "clone"),
        ("CTXC_BASE", &*base),
        ("CTXC_SUMMARY_FILE", "comment.md"),
    ];
    action(&project, &gate)
        .exits_with(0)
        .stdout_contains(&format!("gate against {base:.12}: PASS"));
    action(
        &project,
        &[
            ("CTXC_COMMAND", "eval"),
            ("CTXC_PROJECT", "clone"),
            ("CTXC_SUMMARY_FILE", "comment.md"),
        ],
    )
    .exits_with(0);
    let comment = project.read_file("comment.md");
    assert!(
        comment.contains("2 scenarios, 2 with answers") && comment.contains("0 carried"),
        "{comment}"
    );
    assert_eq!(project.read_file("summary.md"), comment);
    project.write_file("clone/docs/runbook.md", "# Runbook\n");
    action(&project, &gate)
        .exits_with(4)
        .stdout_contains(&format!("gate against {base:.12}: FAIL"));
    action(
        &project,
        &[&gate[..3], &[("CTXC_ARGS", "--base=change")]].concat(),
    )
    .exits_with(4)
    .stdout_contains("gate against change: FAIL");
    assert!(
        project
            .read_file("output")
            .ends_with("exit-code=4\nexit-code=4\n")
    );
}

#[test]
fn completions_offer_what_help_lists() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Project::new()
            .run(&["completions", shell])
            .exits_with(0)
            .stderr_is_empty()
            .stdout;
        for word in [
            "check",
            "build",
            "schema",
            "completions",
            "suppress-existing",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The others do not complete values.
        let takes_values = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(
            script.contains("sarif") && script.contains("rdjson"),
            takes_values,
            "{shell}"
        );
        assert!(!script.contains("debug-panic"), "{shell}");
    }
    Project::new().run(&["completions", "tcsh"]).exits_with(2);
}

#[test]
fn every_verb_has_a_manual_page() {
    let project = Project::new();
    let whole = project
        .run(&["man"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout_contains(".TH ctxc 1")
        .stdout_contains("ctxc\\-check(1)")
        .stdout;
    assert!(!whole.contains("debug\\-panic"), "hidden verbs have none");
    for verb in [
        "init",
        "check",
        "build",
        "diff",
        "show",
        "explain",
        "defaults",
        "rules",
        "schema",
        "completions",
        "man",
    ] {
        let page = project
            .run(&["man", verb])
            .exits_with(0)
            .stderr_is_empty()
            .stdout_contains(&format!(".TH ctxc-{verb} 1  \"ctxc 0."))
            .stdout_contains(".SH SYNOPSIS");
        page.stdout_contains("Examples:");
    }
    project
        .run(&["man", "chek"])
        .exits_with(2)
        .stderr_contains("did you mean `check`?");
    project.run(&["man", "debug-panic"]).exits_with(2);
}
