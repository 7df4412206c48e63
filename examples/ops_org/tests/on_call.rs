//! The team answers alerts from a script.

use ctxc::runtime::{OutcomeContext, PipelineStatus, Task, TaskQueue, ToolCall};
use ops_org::Alert;
use ops_org::org::Team;
use ops_org::script::{Recorder, answer};
use ops_org::tools::registry;
use serde_json::json;
use std::cell::Cell;
use std::time::Duration;

fn alerts(says: &[&str]) -> TaskQueue<Alert> {
    let mut queue = TaskQueue::default();
    for (number, says) in says.iter().enumerate() {
        let alert = Alert {
            service: "checkout".to_owned(),
            says: (*says).to_owned(),
        };
        queue.push(Task::new("ops", format!("A-{number}"), alert));
    }
    queue
}

#[test]
fn an_investigation_loops_until_it_knows_and_then_rolls_back() {
    let systems = Recorder::default();
    let runbook = |service: &str| format!("{service} may be rolled back.");
    let team = Team {
        model: &answer,
        systems: &systems,
        runbook: &runbook,
    };
    let mut history: Vec<OutcomeContext> = Vec::new();
    let (report, findings, _) = team
        .work(
            &mut alerts(&["12 % of requests fail"]),
            &mut history,
            &|| Duration::ZERO,
        )
        .unwrap();
    let state = &report.runs[0].1;
    assert_eq!(state.status(), PipelineStatus::Complete);
    let path: Vec<&str> = state
        .path()
        .iter()
        .map(|step| step.visit.stage.as_str())
        .collect();
    assert_eq!(
        path,
        ["triage", "investigate", "investigate", "rollback", "verify"]
    );
    let asked = [
        "get_metrics {\"service\":\"checkout\"}",
        "query_logs {\"service\":\"checkout\",\"words\":\"release\"}",
        "trigger_rollback {\"service\":\"checkout\"}",
    ];
    assert_eq!(*systems.0.borrow(), asked);
    assert_eq!(findings, []);
}

#[test]
fn what_goes_wrong_too_often_is_found_and_counted_in_alerts() {
    let systems = Recorder::default();
    let runbook = |_: &str| "Restart the old host.".to_owned();
    let team = Team {
        model: &answer,
        systems: &systems,
        runbook: &runbook,
    };
    let minute = Cell::new(0);
    let clock = || Duration::from_secs(20 * minute.replace(minute.get() + 1));
    let mut history: Vec<OutcomeContext> = Vec::new();
    let mut source = alerts(&["one"; 14]);
    let (report, findings, remedies) = team.work(&mut source, &mut history, &clock).unwrap();
    // The eleventh alert of the hour waits.
    let ended = report.ended.unwrap();
    assert_eq!(
        (report.runs.len(), ended.note.as_str()),
        (
            10,
            "the budget of 10 alerts for each 3600 s is spent: 10 used"
        )
    );
    assert_eq!(source.waiting().count(), 4);
    let names: Vec<&str> = findings
        .iter()
        .map(|finding| finding.pattern.as_str())
        .collect();
    assert_eq!(names, ["alert-storm", "stale-runbook"]);
    assert_eq!(remedies[1].payload.says, "bring the runbook up to date");
    // A person was woken each time.
    assert_eq!(
        systems
            .0
            .borrow()
            .iter()
            .filter(|call| call.starts_with("page_oncall"))
            .count(),
        10
    );
}

#[test]
fn a_rollback_that_did_not_help_pages_somebody() {
    let systems = Recorder::default();
    let runbook = |_: &str| String::new();
    let team = Team {
        model: &answer,
        systems: &systems,
        runbook: &runbook,
    };
    let mut history: Vec<OutcomeContext> = Vec::new();
    let mut source = alerts(&["disk full since release 81"]);
    let (report, findings, _) = team
        .work(&mut source, &mut history, &|| Duration::ZERO)
        .unwrap();
    let path: Vec<&str> = report.runs[0]
        .1
        .path()
        .iter()
        .map(|step| step.visit.stage.as_str())
        .collect();
    assert_eq!(path, ["triage", "rollback", "verify", "page"]);
    assert_eq!(findings[0].pattern, "false-rollback");
}

#[test]
fn a_stage_that_looks_may_not_act() {
    let call = |service: &str| ToolCall {
        id: "1".into(),
        name: "trigger_rollback".into(),
        arguments: json!({"service": service}),
    };
    assert!(
        registry("investigate")
            .unwrap()
            .approve(call("checkout"))
            .is_err()
    );
    assert!(
        registry("rollback")
            .unwrap()
            .approve(call("checkout"))
            .is_ok()
    );
    let blocked = registry("rollback")
        .unwrap()
        .approve(call("payments"))
        .unwrap_err();
    assert_eq!(
        blocked.note,
        "`trigger_rollback` is blocked by the pattern `payments`"
    );
}
