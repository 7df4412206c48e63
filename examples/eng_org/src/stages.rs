//! One stage after the other; a stage of tests that fails is debugged, three times at most.

use ctxc::runtime::{Next, Obstacle, PipelineState, StageGraph, Visit};

/// The stages in their order, each with the role that plays it.
pub const STAGES: [(&str, &str); 8] = [
    ("index", "planner"),
    ("plan", "planner"),
    ("triage", "architect"),
    ("implement", "implementer"),
    ("test", "implementer"),
    ("security", "security"),
    ("release", "release"),
    ("archive", "archivist"),
];

/// The pipeline of the team.
#[derive(Clone, Copy, Debug)]
pub struct Team;

impl StageGraph for Team {
    fn start(&self) -> Vec<String> {
        vec!["index".to_owned()]
    }

    fn next(&self, at: &Visit, _: &PipelineState) -> Next {
        let mut stages = STAGES
            .iter()
            .map(|(stage, _)| *stage)
            .skip_while(|stage| *stage != at.stage)
            .skip(1);
        stages.next().map_or(Next::Complete, Next::run)
    }

    fn recover(&self, at: &Visit, obstacle: &Obstacle, _: &PipelineState) -> Next {
        let is_debugged = at.stage == "test" && at.number < self.max_visits("test");
        if is_debugged {
            Next::run("test")
        } else {
            Next::Fail(obstacle.clone())
        }
    }

    fn max_visits(&self, stage: &str) -> u32 {
        if stage == "test" { 3 } else { 1 }
    }
}
