//! The team works a task file off in a repository of its own, from a script.

use ctxc::runtime::{
    AgentOutput, GitWorktrees, OutcomeContext, PipelineStatus, TaskJournal, TaskSource,
    read_task_file, sweep,
};
use eng_org::org::{patterns, work};
use eng_org::script;
use eng_org::tools::{git, registry};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn repository(folder: &Path) {
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("greet.sh"), "echo Hello\n").unwrap();
    let test = "said=$(sh greet.sh Ada)\n[ \"$said\" = 'Hello Ada' ] && exit 0\necho \"expected Hello Ada, found $said\"\nexit 1\n";
    fs::write(folder.join("tests.sh"), test).unwrap();
    git(folder, &["init", "--quiet", "--initial-branch", "main"]).unwrap();
    git(folder, &["add", "--all"]).unwrap();
    git(
        folder,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "commit",
            "--quiet",
            "--message",
            "Begin",
        ],
    )
    .unwrap();
}

#[test]
fn a_task_goes_from_the_index_to_the_archive_and_is_debugged_on_the_way() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("repository");
    repository(&folder);
    let worktrees = GitWorktrees::new(&folder, place.path().join("worktrees")).unwrap();
    let mut source: TaskJournal<Value> = TaskJournal::open(&place.path().join("state")).unwrap();
    for task in read_task_file(include_str!("../tasks.yaml")).unwrap() {
        source.add(task).unwrap();
    }
    let mut history: Vec<OutcomeContext> = Vec::new();
    let minute = Cell::new(0);
    let clock = || Duration::from_secs(60 * minute.replace(minute.get() + 1));

    let (report, findings, remedies) = work(
        &mut source,
        &worktrees,
        &mut history,
        &clock,
        &script::answer,
    )
    .unwrap();

    let (id, done) = &report.runs[0];
    assert_eq!(
        (id.as_str(), done.status()),
        ("T-1", PipelineStatus::Complete)
    );
    let path: Vec<String> = done
        .path()
        .iter()
        .map(|step| format!("{} {}", step.visit.stage, step.visit.number))
        .collect();
    let expected = [
        "index 1",
        "plan 1",
        "triage 1",
        "implement 1",
        "test 1",
        "test 2",
        "security 1",
        "release 1",
        "archive 1",
    ];
    assert_eq!(path, expected);
    assert_eq!(
        done.path()[4].obstacle.as_ref().unwrap().note,
        "expected Hello Ada, found Hello"
    );
    assert_eq!(
        done.result(),
        Some(&AgentOutput::complete("The first argument is $1."))
    );

    // Its change is a commit on a branch of its own; its worktree is gone, and main is as it was.
    let branches = git(
        &folder,
        &[
            "branch",
            "--list",
            "ctxc/T-1-*",
            "--format",
            "%(refname:short)",
        ],
    )
    .unwrap();
    assert_eq!(
        git(&folder, &["show", &format!("{branches}:greet.sh")]).unwrap(),
        "echo Hello $1"
    );
    assert_eq!(
        git(&folder, &["show", &format!("{branches}:tests.sh")]).unwrap(),
        git(&folder, &["show", "main:tests.sh"]).unwrap()
    );
    assert_eq!(
        fs::read_to_string(folder.join("greet.sh")).unwrap(),
        "echo Hello\n"
    );
    assert_eq!(
        git(&folder, &["worktree", "list"]).unwrap().lines().count(),
        1
    );
    assert_eq!(sweep(&place.path().join("worktrees")).unwrap(), 0);

    // The other is refused twice, and given back.
    let refused: Vec<PipelineStatus> = report.runs[1..]
        .iter()
        .map(|(_, state)| state.status())
        .collect();
    assert_eq!(refused, [PipelineStatus::Failed, PipelineStatus::Failed]);
    let names: Vec<&str> = findings
        .iter()
        .map(|finding| finding.pattern.as_str())
        .collect();
    assert_eq!(names, ["rejection-rate"]);
    assert_eq!(
        (remedies[0].id.as_str(), &remedies[0].payload),
        (
            "remedy:rejection-rate",
            &json!("write down what a task needs")
        )
    );
    assert_eq!(
        source.claim().unwrap().map(|task| task.id),
        Some("T-2".to_owned())
    );
    assert_eq!(source.claim().unwrap(), None);
}

#[test]
fn the_gate_keeps_the_tests_and_everything_else() {
    let tools = registry().unwrap();
    let refusal = |name: &str, arguments: Value| {
        let call = ctxc::runtime::ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
        };
        tools
            .approve(call)
            .map(|_| ())
            .map_err(|obstacle| obstacle.note)
    };
    assert_eq!(
        refusal("run", json!({"command": ["sh", "tests.sh"]})),
        Ok(())
    );
    assert!(
        refusal("run", json!({"command": ["sh", "-c", "x"]}))
            .unwrap_err()
            .starts_with("`run sh -c x` is not allowed")
    );
    assert!(
        refusal("write_file", json!({"path": "a/../tests.sh", "text": ""}))
            .unwrap_err()
            .ends_with("is a protected path")
    );
    assert_eq!(
        refusal(
            "write_file",
            json!({"path": "greet.sh", "text": "tests.sh runs me"})
        ),
        Ok(())
    );
}

#[test]
fn the_patterns_are_data() {
    assert_eq!(patterns().unwrap().len(), 14);
}
