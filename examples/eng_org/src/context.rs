//! What each role is told: who it is, what the task is, what the stages before found, and what earlier attempts ran into.

use crate::stages::STAGES;
use ctxc::runtime::{AgentContext, Kind, Obstacle, Segment, Stability};

/// The role that plays a stage.
pub fn role(stage: &str) -> &'static str {
    STAGES
        .iter()
        .find(|(name, _)| *name == stage)
        .map_or("planner", |(_, role)| role)
}

fn system(role: &str) -> &'static str {
    match role {
        "planner" => "You plan changes of a small repository.",
        "architect" => {
            "You decide whether a plan is small enough for one change. You refuse what is not."
        }
        "implementer" => {
            "You change files with the tools that you have, and nothing that the plan does not name."
        }
        "security" => "You review changes for what an attacker could use.",
        "release" => "You word commits: one line in the imperative.",
        _ => "You say in one sentence what was learnt.",
    }
}

/// The segments of a stage.
pub fn segments(context: &AgentContext<'_>, work: &str) -> Result<Vec<Segment>, Obstacle> {
    let stage = context.visit.stage.as_str();
    let mut segments = vec![
        Segment::new(Kind::System, "", system(role(stage))).stable(Stability::Fixed),
        Segment::new(Kind::Description, "", format!("Stage {stage}: {work}")),
    ];
    for step in context
        .state
        .path()
        .iter()
        .filter(|step| step.obstacle.is_none())
    {
        let name = step.visit.stage.as_str();
        segments.push(Segment::new(
            Kind::Accumulated,
            name,
            context.state.text(name),
        ));
    }
    // What went wrong in this run, then what did in earlier ones.
    let failures = context
        .state
        .path()
        .iter()
        .filter_map(|step| step.obstacle.as_ref());
    let earlier = context
        .attempts
        .iter()
        .map(|attempt| format!("- {}: {}\n", attempt.stage, attempt.note));
    let failures: String = failures
        .map(|obstacle| format!("- {obstacle}\n"))
        .chain(earlier)
        .collect();
    if !failures.is_empty() {
        segments.push(
            Segment::new(Kind::FailureHistory, "", failures)
                .untrusted()
                .stable(Stability::Call),
        );
    }
    Ok(segments)
}
