//! The workflow that `ctxc init --ci github` writes, run step by step as the forge runs it: in a fresh clone, with few variables.

use super::gate::{RECORDED, TASK, commit, git, recorded, replace};
use super::project::{Project, Run};
use pretty_assertions::assert_eq;
use std::path::Path;
use std::process::Command;

/// How a clone is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Whole,
    Shallow,
}

/// The steps of a job that run commands: their names, folders and scripts.
fn steps(workflow: &str, job: &str) -> Vec<(String, String, String)> {
    let (tree, faults) = ctxc::internals::syntax::yaml::read(workflow);
    assert!(faults.is_empty(), "{faults:?}");
    let job = &tree.to_json()["jobs"][job];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of = |step: &serde_json::Value| {
        let folder = step.get("working-directory").unwrap_or(&job["defaults"]["run"]["working-directory"]);
        step.get("run").map(|run| (text(&step["name"]), text(folder), text(run)))
    };
    job["steps"].as_array().unwrap().iter().filter_map(of).collect()
}

/// A project as it stands on the forge, and what its workflow finds.
pub(crate) struct Forge {
    pub(crate) project: Project,
    /// Programs that stand in front of those of the machine.
    pub(crate) tools: String,
}

impl Forge {
    /// Generates the workflow and commits everything to `main`.
    pub(crate) fn of(project: Project) -> Self {
        git(&project, &["init", "-q", "-b", "main"]);
        project.run(&["init", "--ci", "github", "--install", "ctxc --version"]).code(0);
        commit(&project);
        Self { project, tools: String::new() }
    }

    /// The hash that permits what scenarios run.
    pub(crate) fn hash(&self) -> String {
        self.project.run(&["trust", "--show", "--json"]).code(0).json()["hash"].as_str().unwrap().to_owned()
    }

    /// Runs the jobs of the workflow, each on a machine of its own, in fresh clones of the current commit, and gives the exit code of each step by its
    /// name.
    pub(crate) fn run(&self, history: History, base: &str, hash: &str) -> Vec<(String, i32, String)> {
        let mut all = self.run_job("check", history, base, hash);
        all.extend(
            self.run_job("gate", history, base, hash).into_iter().filter(|(name, code, _)| name != "install ctxc" || *code != 0),
        );
        all
    }

    fn run_job(&self, job: &str, history: History, base: &str, hash: &str) -> Vec<(String, i32, String)> {
        let outside = tempfile::tempdir().unwrap();
        let workspace = outside.path().join("work");
        let temp = outside.path().join("temp");
        std::fs::create_dir_all(&temp).unwrap();
        let folder = if job == "gate" { workspace.join("change") } else { workspace.clone() };
        self.clone_to(&folder, history, None);
        if job == "gate" {
            self.clone_to(&workspace.join("base"), History::Whole, Some(base));
        }
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_ctxc")).parent().unwrap();
        let mut path = format!("{}:{}:{}", self.tools, program.display(), std::env::var("PATH").unwrap());
        let workflow = std::fs::read_to_string(folder.join(".github/workflows/ctxc.yml")).unwrap();
        let mut all = Vec::new();
        for (name, inside, script) in steps(&workflow, job) {
            let mut shell = Command::new("bash");
            shell.args(["-e", "-o", "pipefail", "-c", &script]).current_dir(workspace.join(inside)).env_clear();
            shell.env("PATH", &path).env("HOME", outside.path()).env("BASE", base).env("CTXC_TRUST_HASH", hash);
            shell.env("GITHUB_PATH", outside.path().join("path")).env("CI", "true");
            shell.env("RUNNER_TEMP", &temp).env("GITHUB_WORKSPACE", &workspace);
            let Run { code, stdout, stderr } = Run::from(shell.output().unwrap());
            // What a step adds stands in front for those behind it.
            let added = std::fs::read_to_string(outside.path().join("path")).unwrap_or_default();
            path = added.lines().fold(path, |path, line| format!("{line}:{path}"));
            all.push((name, code.unwrap(), stdout + &stderr));
        }
        all
    }

    /// Clones the project as the forge checks it out: a commit, or the current one.
    fn clone_to(&self, folder: &Path, history: History, commit: Option<&str>) {
        let url = format!("file://{}", self.project.path(".").canonicalize().unwrap().display());
        let mut clone = Command::new("git");
        clone.args(["clone", "-q"]).args((history == History::Shallow).then_some("--depth=1")).arg(url).arg(folder);
        assert!(clone.output().unwrap().status.success());
        // A commit that is not there has no files.
        _ = Command::new("git").args(["checkout", "-q", "--detach"]).args(commit).current_dir(folder).output().unwrap();
    }

    /// The same, with the exit codes alone.
    pub(crate) fn codes(&self, history: History, base: &str, hash: &str) -> Vec<(String, i32)> {
        self.run(history, base, hash).into_iter().map(|(name, code, _)| (name, code)).collect()
    }

    /// The id of the current commit.
    pub(crate) fn head(&self) -> String {
        let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(self.project.path(".")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn codes(check: i32, eval: i32, gate: i32) -> Vec<(String, i32)> {
    let all = [("install ctxc", 0), ("check", check), ("eval", eval), ("gate", gate)];
    all.map(|(name, code)| (name.to_owned(), code)).to_vec()
}

#[test]
#[cfg(unix)]
fn the_generated_workflow_is_green_as_generated_and_holds_the_gate() {
    // A new project, which its base does not have.
    let project = Project::new();
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    let forge = Forge::of(project);
    let before = {
        let output = Command::new("git").args(["rev-parse", "HEAD~1"]).current_dir(forge.project.path(".")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    for history in [History::Whole, History::Shallow] {
        assert_eq!(forge.codes(history, &before, ""), codes(0, 0, 0));
    }
    // Then with nothing but templates on both sides.
    let base = forge.head();
    replace(&forge.project, "templates/summarize-document.xml", "five sentences", "six sentences");
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, ""), codes(0, 0, 0));
    // With scenarios, whose expectations a change takes away.
    forge.project.write("templates/triage.xml", TASK);
    forge.project.write("scenarios/recorded.yaml", RECORDED);
    forge.project.write("scenarios/recordings/recorded.jsonl", recorded(&forge.project, "my invoice", "billing"));
    commit(&forge.project);
    let base = forge.head();
    replace(&forge.project, "templates/summarize-document.xml", "six sentences", "seven sentences");
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, ""), codes(0, 0, 0));
    // A clone without the base gets it from the one beside it; one that cannot is not green.
    assert_eq!(forge.codes(History::Shallow, &base, ""), codes(0, 0, 0));
    assert_eq!(forge.codes(History::Shallow, &"1".repeat(40), "").pop().unwrap().1, 128);
    replace(&forge.project, "scenarios/recorded.yaml", "- contains: [billing]", "- contains: [.]");
    commit(&forge.project);
    for history in [History::Whole, History::Shallow] {
        assert_eq!(forge.codes(history, &base, ""), codes(0, 0, 4));
    }
    // Whoever takes the project file away does not pass for a new project.
    git(&forge.project, &["rm", "-q", "ctxc.toml"]);
    commit(&forge.project);
    let gate = forge.codes(History::Whole, &base, "").pop().unwrap();
    assert_ne!(gate, ("gate".to_owned(), 0));
}

/// The branch brings programs of the names that the gate calls: what was installed before anything of it ran stands in front.
#[test]
#[cfg(unix)]
fn no_program_of_the_change_takes_the_place_of_the_gate() {
    let project = Project::new().file("templates/triage.xml", TASK).file("scenarios/recorded.yaml", RECORDED);
    project.write("scenarios/recordings/recorded.jsonl", recorded(&project, "my invoice", "billing"));
    let forge = Forge::of(project);
    let base = forge.head();
    for name in ["ctxc", "git"] {
        forge.project.write(&format!("bin/{name}"), "#!/bin/sh\nexit 0\n");
        std::fs::set_permissions(forge.project.path(&format!("bin/{name}")), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    replace(&forge.project, "scenarios/recorded.yaml", "- contains: [billing]", "- contains: [.]");
    let workflow = forge.project.read(".github/workflows/ctxc.yml");
    // As a package of the change does whose installation adds a folder to the path.
    let dependencies = "      - name: dependencies\n        run: echo \"$PWD/bin\" >> \"$GITHUB_PATH\"\n      - name: gate\n";
    forge.project.write(".github/workflows/ctxc.yml", workflow.replace("      - name: gate\n", dependencies));
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, "").pop(), Some(("gate".to_owned(), 4)));
    for key in ["types: [opened, synchronize, reopened, edited]", "merge_group:", "github.event.merge_group.base_sha"] {
        assert!(workflow.contains(key), "{workflow}");
    }
}

/// A check of the project's own needs the hash; without it, its scenario alone is left undecided.
#[test]
#[cfg(unix)]
fn the_generated_workflow_runs_what_the_variable_of_the_repository_permits() {
    let checked = "name: checked\ntask: triage\ncontext: {objective: sort, inputs: {ticket: x}}\nexpectations:\n  - command: [sh, check.sh]\nanswers:\n  - reply: billing\n";
    let project = Project::new().file("templates/triage.xml", TASK).file("scenarios/checked.yaml", checked);
    let project = project.file("check.sh", "echo '{\"pass\": true}'\n").file("README.md", "");
    let forge = Forge::of(project);
    let base = forge.head();
    forge.project.write("README.md", "x\n");
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, &forge.hash()), codes(0, 0, 0));
    assert_eq!(forge.codes(History::Whole, &base, ""), codes(0, 7, 7));
    assert_eq!(forge.codes(History::Whole, &base, &format!("b3:{}", "0".repeat(64))), codes(0, 7, 7));
}

#[test]
fn the_page_has_the_workflow_as_it_is_generated() {
    let project = Project::new();
    project.run(&["init", "--ci", "github"]).code(0);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/CI.md")).unwrap();
    let workflow = project.read(".github/workflows/ctxc.yml");
    assert!(page.contains(&format!("```yaml\n{workflow}```\n")), "{workflow}");
}
