//! What the team is told: kinds of segments of its own, each with its priority and its place.

use crate::Alert;
use ctxc::runtime::{AgentContext, CustomKind, Kind, Segment, Stability};

/// The alert itself: behind the rules, and never cut.
pub static ALERT: CustomKind = CustomKind {
    word: "alert",
    title: "Alert",
    priority: 1,
    behind: Kind::Constraints,
};
/// What the runbook of a service says: cut before what was found.
pub static RUNBOOK: CustomKind = CustomKind {
    word: "runbook",
    title: "Runbook",
    priority: 4,
    behind: Kind::File,
};
/// What an investigation found so far.
pub static FINDINGS: CustomKind = CustomKind {
    word: "findings",
    title: "Findings",
    priority: 3,
    behind: Kind::Accumulated,
};

fn instructions(stage: &str) -> &'static str {
    match stage {
        "triage" => "Say `roll back`, `page` or `investigate`, and why.",
        "investigate" => {
            "Look at metrics and logs. Say what you found; begin with `roll back`, `page` or `harmless` once you know."
        }
        "rollback" => "Roll the service back to its release before.",
        "verify" => "Look whether the rollback helped. Fail where it did not.",
        _ => "Page the person on call with what is known, in two sentences.",
    }
}

/// The segments of a stage.
pub fn segments(context: &AgentContext<'_>, alert: &Alert, runbook: &str) -> Vec<Segment> {
    let stage = context.visit.stage.as_str();
    let mut segments = vec![
        Segment::new(
            Kind::System,
            "",
            "You are on call for a shop on the web. You change nothing that you were not asked to.",
        )
        .stable(Stability::Fixed),
        Segment::new(Kind::Description, "", instructions(stage)),
        Segment::new(Kind::Custom(&ALERT), &alert.service, &alert.says).untrusted(),
        Segment::new(Kind::Custom(&RUNBOOK), &alert.service, runbook).stable(Stability::Project),
    ];
    let found: Vec<String> = context
        .state
        .path()
        .iter()
        .filter_map(|step| step.obstacle.as_ref())
        .map(ToString::to_string)
        .collect();
    if let Some(result) = context
        .state
        .results()
        .get("investigate")
        .and_then(|output| output.notes.as_ref())
    {
        segments.push(Segment::new(Kind::Custom(&FINDINGS), "", result));
    }
    if !found.is_empty() {
        segments.push(Segment::new(Kind::FailureHistory, "", found.join("\n")).untrusted());
    }
    segments
}
