//! Any events in any order: a run ends once, never runs a stage more often than it may, plays no visit twice, and its state can be
//! stored and read between any two steps.

use ctxc::runtime::{
    AgentOutput, Effect, Event, Next, Obstacle, Pipeline, PipelineState, PipelineStatus,
    StageGraph, Status, Visit,
};
use std::collections::BTreeSet;

const STAGES: [&str; 4] = ["a", "b", "c", "d"];
/// How often a stage may run.
const MOST: u32 = 3;

/// A graph of which bytes say what comes next.
struct Any<'d>(&'d [u8]);

impl Any<'_> {
    fn decide(&self, at: &Visit, salt: usize) -> Next {
        let place = usize::from(at.stage.as_bytes()[0]) * 7 + at.number as usize * 3 + salt;
        let byte = self
            .0
            .get(place % self.0.len().max(1))
            .copied()
            .unwrap_or(0);
        let stage = |shift: u8| STAGES[usize::from(byte >> shift) % STAGES.len()].to_owned();
        match byte % 8 {
            0 => Next::Complete,
            1 => Next::Wait,
            2 => Next::Fail(Obstacle::new("x", "")),
            3 => Next::Block(Obstacle::new("x", "")),
            4 | 5 => Next::Run(vec![stage(3), stage(5)]),
            _ => Next::run(stage(3)),
        }
    }
}

impl StageGraph for Any<'_> {
    fn start(&self) -> Vec<String> {
        STAGES
            .iter()
            .take(usize::from(self.0.first().copied().unwrap_or(0)) % 4)
            .map(|&stage| stage.to_owned())
            .collect()
    }

    fn next(&self, at: &Visit, _: &PipelineState) -> Next {
        self.decide(at, 0)
    }

    fn recover(&self, at: &Visit, _: &Obstacle, _: &PipelineState) -> Next {
        self.decide(at, 1)
    }

    fn max_visits(&self, _: &str) -> u32 {
        MOST
    }
}

fn event(byte: u8) -> Event {
    let visit = Visit {
        stage: STAGES[usize::from(byte) % 4].to_owned(),
        number: u32::from(byte >> 2) % 4,
    };
    let output = |status: Status| AgentOutput {
        status,
        ..AgentOutput::complete("x")
    };
    match byte >> 4 {
        15 if byte == 255 => Event::Stopped {
            obstacle: Obstacle::new("budget", ""),
        },
        14 | 15 => Event::Failed {
            visit,
            obstacle: Obstacle::new("provider", ""),
        },
        13 => Event::Finished {
            visit,
            output: output(Status::Waiting),
        },
        12 => Event::Finished {
            visit,
            output: output(Status::Continuation),
        },
        11 => Event::Finished {
            visit,
            output: output(Status::Failed),
        },
        _ => Event::Finished {
            visit,
            output: output(Status::Complete),
        },
    }
}

/// Takes the events that the bytes say, in their order.
pub(crate) fn check(data: &[u8]) {
    let (graph, events) = data.split_at(data.len() / 2);
    let pipeline = Pipeline::new(Any(graph));
    let (mut state, first) = pipeline.begin();
    let mut begun = BTreeSet::new();
    let mut ends = 0;
    let mut see = |effects: &[Effect], state: &PipelineState| {
        for effect in effects {
            match effect {
                Effect::Run(visit) => assert!(
                    begun.insert(visit.clone()) && visit.number <= MOST,
                    "{visit:?}"
                ),
                Effect::Abandon(visit) => assert!(begun.contains(visit) && ends == 0),
                Effect::End(status) => {
                    ends += 1;
                    assert_eq!(*status, state.status());
                }
                _ => panic!("an effect that no host knows"),
            }
        }
        assert_eq!(ends, usize::from(state.status() != PipelineStatus::Running));
        assert_eq!(
            state.pending().is_empty(),
            ends == 1,
            "a run goes on while something runs, and ends when nothing does"
        );
    };
    see(&first, &state);
    for byte in events {
        let before = state.clone();
        let event = event(*byte);
        let is_known = match &event {
            Event::Finished { visit, .. } | Event::Failed { visit, .. } => {
                state.pending().contains(visit)
            }
            Event::Stopped { .. } | _ => true,
        };
        let effects = pipeline.step(&mut state, event);
        if !is_known || before.status() != PipelineStatus::Running {
            assert!(
                effects.is_empty() && state == before,
                "an event that does not belong changes nothing"
            );
        }
        see(&effects, &state);
        let stored = serde_json::to_string(&state).unwrap();
        assert_eq!(
            serde_json::from_str::<PipelineState>(&stored).unwrap(),
            state
        );
    }
}
