//! A pipeline follows its graph: joins, loops with a bound, failures, subtasks, the ways to end,
//! and stored states.

use ctxc::runtime::{
    AgentOutput, Effect, Event, Next, Obstacle, ObstacleKind, Pipeline, PipelineState,
    PipelineStatus, StageGraph, Status, SubtaskRequest, Visit,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

/// Two inputs at once, then an act that is checked and may be repeated.
struct Join;

impl StageGraph for Join {
    fn start(&self) -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    fn next(&self, at: &Visit, state: &PipelineState) -> Next {
        match at.stage.as_str() {
            "a" | "b" if state.results().len() < 2 => Next::Wait,
            "a" | "b" => Next::run("act"),
            "act" => Next::run("check"),
            _ if state.text("check") == "fine" => Next::Complete,
            _ => Next::run("act"),
        }
    }

    fn recover(&self, at: &Visit, obstacle: &Obstacle, _: &PipelineState) -> Next {
        if at.stage == "act" && obstacle.kind == ObstacleKind::Provider {
            Next::run("act")
        } else {
            Next::Fail(obstacle.clone())
        }
    }

    fn max_visits(&self, stage: &str) -> u32 {
        if stage == "a" || stage == "b" { 1 } else { 3 }
    }
}

fn finished(stage: &str, number: u32, content: &str) -> Event {
    Event::Finished {
        visit: Visit {
            stage: stage.to_owned(),
            number,
        },
        output: AgentOutput::complete(content),
    }
}

fn run(stage: &str, number: u32) -> Effect {
    Effect::Run(Visit {
        stage: stage.to_owned(),
        number,
    })
}

#[test]
fn stages_run_at_once_and_are_joined() {
    let pipeline = Pipeline::new(Join);
    let (mut state, effects) = pipeline.begin();
    assert_eq!(effects, [run("a", 1), run("b", 1)]);
    assert_eq!(pipeline.step(&mut state, finished("b", 1, "2")), []);
    // A result that no stage waits for changes nothing.
    assert_eq!(pipeline.step(&mut state, finished("b", 1, "other")), []);
    assert_eq!(pipeline.step(&mut state, finished("act", 1, "early")), []);
    assert_eq!(state.text("b"), "2");
    assert_eq!(
        pipeline.step(&mut state, finished("a", 1, "1")),
        [run("act", 1)]
    );
    assert_eq!(
        pipeline.step(&mut state, finished("act", 1, "try")),
        [run("check", 1)]
    );
    assert_eq!(
        pipeline.step(&mut state, finished("check", 1, "no")),
        [run("act", 2)]
    );
    pipeline.step(&mut state, finished("act", 2, "better"));
    assert_eq!(
        pipeline.step(&mut state, finished("check", 2, "fine")),
        [Effect::End(PipelineStatus::Complete)]
    );
    assert_eq!(
        state.result().map(AgentOutput::text).as_deref(),
        Some("fine")
    );
    assert_eq!(state.text("act"), "better");
}

#[test]
fn a_loop_without_progress_ends_blocked_at_its_bound() {
    let mut seen = 0;
    let state = Pipeline::new(Join).run(|_, _| {
        seen += 1;
        Ok(AgentOutput::complete("no"))
    });
    assert_eq!((state.status(), seen), (PipelineStatus::Blocked, 8));
    let obstacle = state.obstacle().unwrap();
    assert_eq!(
        (obstacle.kind.as_str(), obstacle.note.as_str()),
        (
            "loop_limit",
            "`act` may run 3 times and was to run again: the loop made no progress"
        )
    );
    assert_eq!(state.result(), None);
}

#[test]
fn a_failure_is_recovered_or_ends_the_run_and_results_are_kept() {
    let mut failures = 1;
    let state = Pipeline::new(Join).run(|visit, _| match visit.stage.as_str() {
        "act" if failures > 0 => {
            failures -= 1;
            Err(Obstacle::new("provider", "no answer"))
        }
        "check" => Ok(AgentOutput::failed("it is broken")),
        stage => Ok(AgentOutput::complete(stage)),
    });
    assert_eq!(
        (state.status(), state.visits("act")),
        (PipelineStatus::Failed, 2)
    );
    assert_eq!(
        state.obstacle().unwrap(),
        &Obstacle::new("reported", "it is broken")
    );
    assert_eq!(
        state.results().keys().collect::<Vec<_>>(),
        ["a", "act", "b"]
    );
    let failed: Vec<_> = state
        .path()
        .iter()
        .filter(|step| step.obstacle.is_some())
        .map(|step| (&*step.visit.stage, step.status))
        .collect();
    assert_eq!(failed, [("act", None), ("check", Some(Status::Failed))]);
}

#[test]
fn who_waits_for_somebody_blocks_the_run_and_what_still_runs_is_abandoned() {
    let pipeline = Pipeline::new(Join);
    let (mut state, _) = pipeline.begin();
    let output = AgentOutput {
        status: Status::Waiting,
        ..AgentOutput::default()
    }
    .with_notes("for the key");
    let effects = pipeline.step(
        &mut state,
        Event::Finished {
            visit: Visit::first("a"),
            output,
        },
    );
    assert_eq!(
        effects,
        [
            Effect::Abandon(Visit::first("b")),
            Effect::End(PipelineStatus::Blocked)
        ]
    );
    assert_eq!(
        state.obstacle().unwrap(),
        &Obstacle::new("waiting", "for the key")
    );
    assert_eq!(pipeline.step(&mut state, finished("b", 1, "late")), []);

    let (mut state, _) = pipeline.begin();
    let obstacle = Obstacle::new("budget", "nothing is left");
    assert_eq!(
        pipeline
            .step(&mut state, Event::Stopped { obstacle })
            .last(),
        Some(&Effect::End(PipelineStatus::Blocked))
    );
}

/// A single stage without a successor.
struct Silent;

impl StageGraph for Silent {
    fn start(&self) -> Vec<String> {
        vec!["only".to_owned()]
    }

    fn next(&self, _: &Visit, _: &PipelineState) -> Next {
        Next::Wait
    }
}

#[test]
fn what_a_graph_leaves_open_ends_the_run() {
    let ended = |output: AgentOutput| {
        let state = Pipeline::new(Silent).run(|_, _| Ok(output.clone()));
        (
            state.status(),
            state.obstacle().unwrap().kind.as_str().to_owned(),
            state.obstacle().unwrap().note.clone(),
        )
    };
    assert_eq!(ended(AgentOutput::complete("x")).1, "stalled");
    let request = SubtaskRequest {
        kind: "atomic".to_owned(),
        description: "look".to_owned(),
        ..SubtaskRequest::default()
    };
    let asking = AgentOutput {
        status: Status::Continuation,
        subtask_request: Some(request),
        ..AgentOutput::default()
    };
    let note = "`only` asks for a subtask, and this pipeline runs none".to_owned();
    assert_eq!(
        ended(asking),
        (PipelineStatus::Blocked, "subtask".to_owned(), note)
    );
    assert_eq!(
        ended(AgentOutput::failed("")),
        (
            PipelineStatus::Failed,
            "reported".to_owned(),
            "`only` gave no reason".to_owned()
        )
    );
}

#[test]
fn answers_are_read_as_results_or_as_they_are() {
    let asking = r#"{"status":"CONTINUATION","subtask_request":{"type":"atomic","description":"look","inputs":{"a":1},"file_paths":["b"]}}"#;
    let request = AgentOutput::read(asking).subtask_request.unwrap();
    assert_eq!(
        (
            request.kind.as_str(),
            &request.inputs["a"],
            request.file_paths.len()
        ),
        ("atomic", &serde_json::json!(1), 1)
    );
    for answer in [
        "",
        "words",
        "{ not json",
        "12 apples",
        r#"{"status": "open"}"#,
        r#"{"status": "FAILED", "reason": "x"}"#,
        "[1]",
        "nil",
    ] {
        let output = AgentOutput::read(answer);
        let whole: serde_json::Value =
            serde_json::from_str(answer).unwrap_or_else(|_| answer.into());
        assert_eq!(
            (output.status, output.content),
            (Status::Complete, whole),
            "{answer}"
        );
    }
    assert_eq!(AgentOutput::read("{\"a\": 1}").text(), "{\"a\":1}");
    let output = AgentOutput::read(r#"{"status":"WAITING","notes":"n"}"#);
    assert_eq!(
        (
            output.text().as_ref(),
            serde_json::to_string(&output).unwrap().as_str()
        ),
        ("", r#"{"status":"WAITING","notes":"n"}"#)
    );
}

/// Findings R1 and C10.
#[test]
fn a_result_is_read_in_any_case_and_with_any_of_its_keys() {
    for (answer, status, content) in [
        (r#"{"status":"FAILED"}"#, Status::Failed, ""),
        (
            r#"{"status":"failed","notes":"no host"}"#,
            Status::Failed,
            "",
        ),
        (
            r#"{"status":"Failed","content":"no host","notes":"x","subtask_request":null}"#,
            Status::Failed,
            "no host",
        ),
        (r#"{"status":"WAITING"}"#, Status::Waiting, ""),
        (
            r#"{"status":"complete","content":"text"}"#,
            Status::Complete,
            "text",
        ),
    ] {
        let output = AgentOutput::read(answer);
        assert_eq!(
            (output.status, output.text().as_ref()),
            (status, content),
            "{answer}"
        );
    }
    // An answer with other keys, or another status, is a value like any other.
    for answer in [
        r#"{"status":"failed","order":7}"#,
        r#"{"status":"shipped","content":"x"}"#,
        r#"{"status":7,"content":"x"}"#,
    ] {
        let output = AgentOutput::read(answer);
        assert_eq!(
            (output.status, output.content),
            (Status::Complete, serde_json::from_str(answer).unwrap()),
            "{answer}"
        );
    }
    for (answer, why) in [
        (
            r#"{"status":"CONTINUATION"}"#,
            "without a `subtask_request`",
        ),
        (
            r#"{"status":"continuation","subtask_request":{"type":"atomic"}}"#,
            "missing field `description`",
        ),
        (
            r#"{"status":"CONTINUATION","subtask_request":{"type":"atomic","description":"x","depth":2}}"#,
            "unknown field `depth`",
        ),
    ] {
        assert!(
            AgentOutput::parse(answer).unwrap_err().contains(why),
            "{answer}"
        );
        assert_eq!(AgentOutput::read(answer).status, Status::Failed, "{answer}");
    }
}

#[test]
fn kinds_of_obstacles_are_written_as_words() {
    for kind in ObstacleKind::ALL {
        let word = serde_json::to_string(&kind).unwrap();
        assert_eq!(
            (
                serde_json::from_str::<ObstacleKind>(&word).unwrap(),
                format!("\"{kind}\"")
            ),
            (kind, word)
        );
    }
    assert_eq!(
        serde_json::from_str::<ObstacleKind>("\"stale_runbook\"").unwrap(),
        ObstacleKind::Other("stale_runbook".to_owned())
    );
}

proptest! {
    #[test]
    fn events_in_any_order_end_a_run_once(data in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::fuzz::pipeline::check(&data);
    }

    #[test]
    fn a_run_that_is_stored_and_taken_up_anywhere_ends_like_one_that_is_not(cut in 0_usize..9, answers in prop::collection::vec(0_u8..4, 8)) {
        let play = |visit: &Visit, _: &PipelineState| match answers[(visit.number as usize + visit.stage.len()) % answers.len()] {
            0 => Err(Obstacle::new("provider", "x")),
            1 => Ok(AgentOutput::complete("fine")),
            _ => Ok(AgentOutput::complete("no")),
        };
        let pipeline = Pipeline::new(Join);
        let whole = pipeline.run(play);
        let (mut state, _) = pipeline.begin();
        for _ in 0..cut {
            let Some(visit) = state.pending().first().cloned() else { break };
            let event = match play(&visit, &state) {
                Ok(output) => Event::Finished { visit, output },
                Err(obstacle) => Event::Failed { visit, obstacle },
            };
            pipeline.step(&mut state, event);
        }
        let mut taken_up: PipelineState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        pipeline.resume(&mut taken_up, play);
        prop_assert_eq!(taken_up, whole);
    }
}
