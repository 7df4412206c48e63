//! The workflow that `ctxc init --ci github` writes, run step by step as the forge runs it: in a
//! fresh clone, with few variables.

use super::gate::{RECORDED, TASK, commit, git, recorded, replace};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::path::Path;
use std::process::Command;

/// The depth of a clone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Whole,
    Shallow,
}

/// A step of a job that runs commands.
struct Step {
    name: String,
    folder: String,
    /// The file without which the step is skipped.
    needs: Option<String>,
    script: String,
}

/// The steps of a job that run commands.
fn steps(workflow: &str, job: &str) -> Vec<Step> {
    let (tree, faults) = ctxc::internals::syntax::yaml::parse_tree(workflow);
    assert!(faults.is_empty(), "{faults:?}");
    let job = &tree.to_json()["jobs"][job];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let of = |step: &serde_json::Value| {
        let folder = step
            .get("working-directory")
            .unwrap_or(&job["defaults"]["run"]["working-directory"]);
        let condition = text(&step["if"]);
        let needs = condition
            .strip_prefix("hashFiles('")
            .and_then(|rest| rest.split_once('\''))
            .map(|(file, _)| file.to_owned());
        step.get("run").map(|run| Step {
            name: text(&step["name"]),
            folder: text(folder),
            needs,
            script: text(run),
        })
    };
    job["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(of)
        .collect()
}

/// A project as it stands on the forge, and the environment of its workflow.
pub(crate) struct Forge {
    pub(crate) project: Project,
    /// Programs that shadow those of the machine.
    pub(crate) tools: String,
}

impl Forge {
    /// Generates the workflow and commits everything to `main`.
    pub(crate) fn of(project: Project) -> Self {
        git(&project, &["init", "-q", "-b", "main"]);
        project
            .run(&["init", "--ci", "github", "--install", "ctxc --version"])
            .exits_with(0);
        commit(&project);
        Self {
            project,
            tools: String::new(),
        }
    }

    /// The hash that permits the commands of the scenarios.
    pub(crate) fn hash(&self) -> String {
        self.project
            .run(&["trust", "--show", "--json"])
            .exits_with(0)
            .json()["hash"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Runs the jobs of the workflow, each on a machine of its own, in fresh clones of the current
    /// commit, and gives the exit code of each step by its name.
    pub(crate) fn run(
        &self,
        history: History,
        base: &str,
        hash: &str,
    ) -> Vec<(String, i32, String)> {
        let artifacts = tempfile::tempdir().unwrap();
        let mut all = self.run_job(("check", artifacts.path()), history, base, hash);
        let gate = self.run_job(("gate", artifacts.path()), history, base, hash);
        all.extend(
            gate.into_iter()
                .filter(|(name, code, _)| name != "install ctxc" || *code != 0),
        );
        all
    }

    fn run_job(
        &self,
        (job, artifacts): (&str, &Path),
        history: History,
        base: &str,
        hash: &str,
    ) -> Vec<(String, i32, String)> {
        let outside = tempfile::tempdir().unwrap();
        let workspace = outside.path().join("work");
        let temp = outside.path().join("temp");
        std::fs::create_dir_all(temp.join("requests")).unwrap();
        let folder = if job == "gate" {
            workspace.join("change")
        } else {
            workspace.clone()
        };
        self.clone_to(&folder, history, None);
        if job == "gate" {
            self.clone_to(&workspace.join("base"), History::Whole, Some(base));
            _ = std::fs::copy(
                artifacts.join("requests.json"),
                temp.join("requests/requests.json"),
            );
        }
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_ctxc"))
            .parent()
            .unwrap();
        let mut path = format!(
            "{}:{}:{}",
            self.tools,
            program.display(),
            std::env::var("PATH").unwrap()
        );
        let workflow = std::fs::read_to_string(folder.join(".github/workflows/ctxc.yml")).unwrap();
        let mut all = Vec::new();
        for Step {
            name,
            folder: inside,
            needs,
            script,
        } in steps(&workflow, job)
        {
            if needs.is_some_and(|file| !workspace.join(file).exists()) {
                continue;
            }
            let mut shell = Command::new("bash");
            shell
                .args(["-e", "-o", "pipefail", "-c", &script])
                .current_dir(workspace.join(inside))
                .env_clear();
            shell
                .env("PATH", &path)
                .env("HOME", outside.path())
                .env("BASE", base)
                .env("CTXC_TRUST_HASH", hash);
            shell
                .env("GITHUB_PATH", outside.path().join("path"))
                .env("CI", "true");
            shell
                .env("RUNNER_TEMP", &temp)
                .env("GITHUB_WORKSPACE", &workspace);
            let ProgramRun {
                code,
                stdout,
                stderr,
            } = ProgramRun::from(shell.output().unwrap());
            // A folder added by a step comes first in the path of the steps behind it.
            let added = std::fs::read_to_string(outside.path().join("path")).unwrap_or_default();
            path = added
                .lines()
                .fold(path, |path, line| format!("{line}:{path}"));
            all.push((name, code.unwrap(), stdout + &stderr));
        }
        _ = std::fs::copy(temp.join("requests.json"), artifacts.join("requests.json"));
        all
    }

    /// Clones the project as the forge checks it out: a commit, or the current one.
    fn clone_to(&self, folder: &Path, history: History, commit: Option<&str>) {
        let url = format!(
            "file://{}",
            self.project.path(".").canonicalize().unwrap().display()
        );
        let mut clone = Command::new("git");
        clone
            .args(["clone", "-q"])
            .args((history == History::Shallow).then_some("--depth=1"))
            .arg(url)
            .arg(folder);
        assert!(clone.output().unwrap().status.success());
        // A commit that does not exist has no files.
        _ = Command::new("git")
            .args(["checkout", "-q", "--detach"])
            .args(commit)
            .current_dir(folder)
            .output()
            .unwrap();
    }

    /// The same, with the exit codes alone.
    pub(crate) fn codes(&self, history: History, base: &str, hash: &str) -> Vec<(String, i32)> {
        self.run(history, base, hash)
            .into_iter()
            .map(|(name, code, _)| (name, code))
            .collect()
    }

    /// The id of the current commit.
    pub(crate) fn head(&self) -> String {
        let output = Command::new("git")
            .args(["rev-parse", "HEAD"])
            .current_dir(self.project.path("."))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// The same for a workflow with programs in the first job.
fn codes_of_programs(check: i32, eval: i32, gate: i32) -> Vec<(String, i32)> {
    let mut all = codes(check, eval, gate);
    all.insert(3, ("requests".to_owned(), 0));
    all
}

fn codes(check: i32, eval: i32, gate: i32) -> Vec<(String, i32)> {
    let all = [
        ("install ctxc", 0),
        ("check", check),
        ("eval", eval),
        ("gate", gate),
    ];
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
        let output = Command::new("git")
            .args(["rev-parse", "HEAD~1"])
            .current_dir(forge.project.path("."))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    for history in [History::Whole, History::Shallow] {
        assert_eq!(forge.codes(history, &before, ""), codes(0, 0, 0));
    }
    // Then with nothing but templates on both sides.
    let base = forge.head();
    replace(
        &forge.project,
        "templates/summarize-document.xml",
        "five sentences",
        "six sentences",
    );
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, ""), codes(0, 0, 0));
    // With scenarios, whose expectations a change takes away.
    forge.project.write_file("templates/triage.xml", TASK);
    forge
        .project
        .write_file("scenarios/recorded.yaml", RECORDED);
    forge.project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&forge.project, "my invoice", "billing"),
    );
    commit(&forge.project);
    let base = forge.head();
    replace(
        &forge.project,
        "templates/summarize-document.xml",
        "six sentences",
        "seven sentences",
    );
    commit(&forge.project);
    assert_eq!(forge.codes(History::Whole, &base, ""), codes(0, 0, 0));
    // A clone without the base gets it from the one beside it; one that cannot is not green.
    assert_eq!(forge.codes(History::Shallow, &base, ""), codes(0, 0, 0));
    assert_eq!(
        forge
            .codes(History::Shallow, &"1".repeat(40), "")
            .pop()
            .unwrap()
            .1,
        128
    );
    replace(
        &forge.project,
        "scenarios/recorded.yaml",
        "- contains: [billing]",
        "- contains: [.]",
    );
    commit(&forge.project);
    for history in [History::Whole, History::Shallow] {
        assert_eq!(forge.codes(history, &base, ""), codes(0, 0, 4));
    }
    // A project whose file was removed is not taken for a new project.
    git(&forge.project, &["rm", "-q", "ctxc.toml"]);
    commit(&forge.project);
    let gate = forge.codes(History::Whole, &base, "").pop().unwrap();
    assert_ne!(gate, ("gate".to_owned(), 0));
}

/// An agent of the project; a script that a package installs is a script of the change, too.
#[cfg(unix)]
const AGENT: &str = "import json, os, urllib.request\n\
    if os.path.isdir(os.environ.get('GITHUB_WORKSPACE', '') + '/base'): raise SystemExit('this is the job of the gate')\n\
    body = {'model': 'gpt-4.1', 'messages': [{'role': 'system', 'content': 'You answer questions on parcels.'}, {'role': 'user', 'content': 'Where is 4711?'}]}\n\
    head = {'content-type': 'application/json', 'authorization': 'Bearer none'}\n\
    sent = urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', json.dumps(body).encode(), head)\n\
    print(json.load(urllib.request.urlopen(sent))['choices'][0]['message']['content'])\n";

/// A program that runs when the branch is installed, or when its agent runs, replaces the programs
/// that decide: never in the job of the gate.
#[test]
#[cfg(unix)]
fn no_program_of_the_change_runs_in_the_job_of_the_gate() {
    let project = Project::new()
        .with_file("agent.py", AGENT)
        .with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    project.write_file("requirements.txt", "# none\n");
    // A package manager that runs scripts of the installed folder, as those of Node and Python do.
    project.write_file(
        "tools/pip",
        "#!/bin/sh\n[ ! -e preinstall.sh ] || sh preinstall.sh\n",
    );
    let record = [
        "record",
        "--script",
        "script.yaml",
        "--into",
        "calls",
        "--name",
        "a",
        "--",
        "python3",
        "agent.py",
    ];
    project.run(&record).exits_with(0);
    project
        .run(&["new", "scenario", "--from", "calls#1", "--name", "where"])
        .exits_with(0);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path("tools/pip"), mode).unwrap();
    let mut forge = Forge::of(project);
    forge.tools = forge
        .project
        .path("tools")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let base = forge.head();
    let hash = forge.hash();
    forge.project.write_file("NOTES.md", "x\n");
    commit(&forge.project);
    let of_gate = |steps: &[(String, i32, String)]| {
        steps
            .iter()
            .find(|step| step.0 == "gate")
            .map(|step| step.1)
    };
    let steps = forge.run(History::Shallow, &base, &hash);
    assert_eq!(of_gate(&steps), Some(0), "{steps:?}");
    forge
        .project
        .write_file("agent.py", AGENT.replace("You answer", "Answer no"));
    commit(&forge.project);
    let steps = forge.run(History::Whole, &base, &hash);
    assert_eq!(of_gate(&steps), Some(4), "{steps:?}");
    // Programs of the same names, which the installation and the agent put on the path.
    let evil = "mkdir -p \"$HOME/evil\"; for name in ctxc git; do printf '#!/bin/sh\\nexit 0\\n' > \"$HOME/evil/$name\"; chmod +x \"$HOME/evil/$name\"; done\n\
        echo \"$HOME/evil\" >> \"${GITHUB_PATH:-/dev/null}\"\n";
    forge.project.write_file("preinstall.sh", evil);
    commit(&forge.project);
    let steps = forge.run(History::Whole, &base, &hash);
    assert_eq!(of_gate(&steps), Some(3), "{steps:?}");
    // Without the output of the other job, nothing is decided.
    forge.project.write_file("preinstall.sh", "exit 1\n");
    commit(&forge.project);
    let steps = forge.run_job(
        ("gate", Path::new("/nowhere")),
        History::Whole,
        &base,
        &hash,
    );
    let (_, code, told) = steps.last().unwrap();
    assert!(
        *code == 3 && told.contains("the requests of programs cannot be read from"),
        "{told}"
    );
}

/// GitHub's own rules: an event without `before` has null there, which equals zeros; a job that is
/// skipped counts as passed.
#[test]
fn the_gate_runs_on_every_event_that_has_a_base() {
    let project = Project::new();
    let programs = Project::new().with_file("requirements.txt", "# none\n");
    let zeros = "0".repeat(40);
    let runs = format!("(github.event_name != 'push' || github.event.before != '{zeros}')\n");
    for (project, before) in [
        (&project, "\n    if: "),
        (&programs, "\n    if: (!cancelled()) && "),
    ] {
        project.run(&["init", "--ci", "github"]).exits_with(0);
        let workflow = project.read_file(".github/workflows/ctxc.yml");
        assert!(workflow.contains(&format!("{before}{runs}")), "{workflow}");
        for key in [
            "types: [opened, synchronize, reopened, edited]",
            "merge_group:",
            "github.event.merge_group.base_sha",
        ] {
            assert!(workflow.contains(key), "{workflow}");
        }
    }
}

/// A check of the project's own needs the hash; without it, its scenario alone is left undecided.
#[test]
#[cfg(unix)]
fn the_generated_workflow_runs_what_the_variable_of_the_repository_permits() {
    let checked = "name: checked\ntask: triage\ncontext: {objective: sort, inputs: {ticket: x}}\nexpectations:\n  - command: [sh, check.sh]\nanswers:\n  - reply: billing\n";
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/checked.yaml", checked);
    let project = project
        .with_file("check.sh", "echo '{\"pass\": true}'\n")
        .with_file("README.md", "");
    let forge = Forge::of(project);
    let base = forge.head();
    forge.project.write_file("README.md", "x\n");
    commit(&forge.project);
    assert_eq!(
        forge.codes(History::Whole, &base, &forge.hash()),
        codes_of_programs(0, 0, 0)
    );
    assert_eq!(
        forge.codes(History::Whole, &base, ""),
        codes_of_programs(0, 7, 7)
    );
    let other = format!("b3:{}", "0".repeat(64));
    assert_eq!(
        forge.codes(History::Whole, &base, &other),
        codes_of_programs(0, 7, 7)
    );
}

#[test]
fn the_page_has_the_workflow_as_it_is_generated() {
    let project = Project::new();
    project.run(&["init", "--ci", "github"]).exits_with(0);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/CI.md")).unwrap();
    let workflow = project.read_file(".github/workflows/ctxc.yml");
    assert!(
        page.contains(&format!("```yaml\n{workflow}```\n")),
        "{workflow}"
    );
}
