//! Task files, issues of Beads, and the journal that keeps received and finished tasks.

use ctxc::runtime::{ObstacleKind, Task, TaskJournal, TaskSource, read_beads, read_task_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fs;

fn note(text: &str) -> String {
    let refused = read_task_file(text).unwrap_err();
    assert_eq!(refused.kind, ObstacleKind::Source);
    refused.note
}

#[test]
fn a_task_file_is_read_and_its_faults_have_their_line() {
    let tasks = read_task_file(
        "- {id: a, payload: [1, x]}\n- {id: b, org: eng, priority: 9, payload: {k: v}}\n",
    )
    .unwrap();
    assert_eq!(tasks[0], Task::new("", "a", json!([1, "x"])));
    assert_eq!(
        tasks[1],
        Task {
            priority: 9,
            ..Task::new("eng", "b", json!({"k": "v"}))
        }
    );
    assert_eq!(read_task_file("[]").unwrap(), []);
    assert_eq!(
        note("tasks: []"),
        "line 1: expected a list of tasks, found a mapping"
    );
    assert_eq!(
        note("- a"),
        "line 1: expected a task with `id` and `payload`, found a text"
    );
    assert_eq!(
        note("- id: a\n  payloads: x"),
        "line 2: a task has no key `payloads`; did you mean `payload`?"
    );
    assert_eq!(
        note("- payload: x"),
        "line 1: a task needs an `id`, so that later runs recognise it"
    );
    assert_eq!(note("- id: a"), "line 1: the task `a` has no `payload`");
    assert_eq!(
        note("- id: 7\n  payload: x"),
        "line 1: expected a text as `id`, found a number"
    );
    assert_eq!(
        note("- {id: a, payload: x, priority: 300}"),
        "line 1: expected a whole number from 0 (first) to 255 as `priority`, found 300"
    );
    assert_eq!(
        note("- {id: a, payload: x}\n- {id: a, payload: y}"),
        "line 2: another task has the id `a`"
    );
    assert_eq!(
        note("- {id: a, id: b, payload: y}"),
        "line 1: the key `id` is there twice"
    );
    assert!(note("- id: a\n\tpayload: y").starts_with("line 2: "));
    assert!(note("- {id: a").contains("this is not YAML: "));
}

#[test]
fn issues_are_tasks_when_nothing_blocks_them() {
    let issue = |id: &str, status: &str, blocked_by: &str, kind: &str| {
        json!({"id": id, "title": id, "status": status, "priority": 1, "issue_type": "task",
            "dependencies": [{"issue_id": id, "depends_on_id": blocked_by, "type": kind}]})
        .to_string()
    };
    let lines = [
        issue("bd-1", "closed", "", "blocks"),
        issue("bd-2", "open", "bd-1", "blocks"),
        issue("bd-3", "open", "bd-2", "blocks"),
        issue("bd-4", "in_progress", "bd-1", "blocks"),
        issue("bd-5", "open", "bd-4", "parent-child"),
        issue("bd-6", "open", "bd-gone", "blocks"),
    ];
    let tasks = read_beads(&lines.join("\n")).unwrap();
    assert_eq!(
        tasks
            .iter()
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["bd-2", "bd-5", "bd-6"]
    );
    assert_eq!(
        (tasks[0].priority, &tasks[0].payload["title"]),
        (1, &json!("bd-2"))
    );
    let refused = read_beads("{\"id\": \"a\"}\n\n{\"title\": 1}")
        .unwrap_err()
        .note;
    assert!(
        refused.starts_with("line 3: expected an issue of Beads as JSON: missing field `id`"),
        "{refused}"
    );
}

#[test]
fn what_came_and_what_is_done_outlives_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let open = || TaskJournal::<Value>::open(folder.path());
    let mut journal = open().unwrap();
    for (id, priority) in [("a", 1), ("b", 0), ("c", 1)] {
        assert!(
            journal
                .add(Task {
                    priority,
                    ..Task::new("org", id, json!({"id": id}))
                })
                .unwrap()
        );
    }
    assert!(!journal.add(Task::new("org", "a", json!(null))).unwrap());
    let other = open().unwrap_err().note;
    assert!(
        other
            .ends_with("another program is working on these tasks; stop it, or use another folder"),
        "{other}"
    );
    assert_eq!(journal.claim().unwrap().unwrap().id, "b");
    assert_eq!(journal.claim().unwrap().unwrap().id, "a");
    journal.complete("b").unwrap();
    // Not claimed: it is not done.
    journal.complete("c").unwrap();
    drop(journal);

    let mut journal = open().unwrap();
    assert_eq!(
        journal
            .waiting()
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["a", "c"],
        "a claim ends with its program"
    );
    assert!(
        !journal.add(Task::new("org", "b", json!(null))).unwrap(),
        "what is done stays done"
    );
    for _ in 0..2 {
        let task = journal.claim().unwrap().unwrap();
        journal.complete(&task.id).unwrap();
    }
    assert_eq!(journal.claim().unwrap(), None);
    drop(journal);
    drop(open().unwrap());
    let lines = fs::read_to_string(folder.path().join("tasks.jsonl")).unwrap();
    assert_eq!(
        lines, "{\"done\":\"a\"}\n{\"done\":\"b\"}\n{\"done\":\"c\"}\n",
        "what is over is not kept longer than needed"
    );
}

#[test]
fn half_a_line_was_never_acknowledged_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.jsonl");
    let mut journal = TaskJournal::<Value>::open(folder.path()).unwrap();
    journal.add(Task::new("org", "a", json!(1))).unwrap();
    drop(journal);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"added\":{{\"id\":\"b\"")).unwrap();
    let mut journal = TaskJournal::<Value>::open(folder.path()).unwrap();
    journal.add(Task::new("org", "c", json!(2))).unwrap();
    drop(journal);
    let journal = TaskJournal::<Value>::open(folder.path()).unwrap();
    assert_eq!(
        journal
            .waiting()
            .map(|task| task.id.as_str())
            .collect::<Vec<_>>(),
        ["a", "c"]
    );
    drop(journal);
    fs::write(&path, format!("{whole}nonsense\n{whole}")).unwrap();
    let damaged = TaskJournal::<Value>::open(folder.path()).unwrap_err().note;
    assert!(
        damaged.contains("tasks.jsonl: line 2 is damaged: "),
        "{damaged}"
    );
}
