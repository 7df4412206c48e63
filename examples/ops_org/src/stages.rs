//! Triage decides; an investigation loops; somebody is paged where nobody knows better.

use ctxc::runtime::{Next, Obstacle, PipelineState, StageGraph, Visit};

/// The way of an alert.
#[derive(Clone, Copy, Debug)]
pub struct OnCall;

impl StageGraph for OnCall {
    fn start(&self) -> Vec<String> {
        vec!["triage".to_owned()]
    }

    fn next(&self, at: &Visit, state: &PipelineState) -> Next {
        let said = state.text(&at.stage);
        match at.stage.as_str() {
            "triage" | "investigate" if said.starts_with("roll back") => Next::run("rollback"),
            "triage" | "investigate" if said.starts_with("page") => Next::run("page"),
            "triage" => Next::run("investigate"),
            "investigate" if said.starts_with("harmless") => Next::Complete,
            "investigate" if at.number < self.max_visits("investigate") => Next::run("investigate"),
            "investigate" => Next::run("page"),
            "rollback" => Next::run("verify"),
            _ => Next::Complete,
        }
    }

    /// What a rollback did not mend, a person does.
    fn recover(&self, at: &Visit, obstacle: &Obstacle, _: &PipelineState) -> Next {
        if at.stage == "page" {
            Next::Fail(obstacle.clone())
        } else {
            Next::run("page")
        }
    }

    fn max_visits(&self, stage: &str) -> u32 {
        if stage == "investigate" { 5 } else { 1 }
    }
}
