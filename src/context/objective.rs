//! The objective of a request: the goal in the caller's words. `render`, `manifest`, scenarios and
//! hosts share this rule.
//!
//! If the task declares a parameter `objective`, the objective becomes its value, unless the caller
//! passes a value for the parameter itself. Otherwise it becomes the segment `objective`, unless a
//! line of the description is identical.

use super::fault::{Fault, FaultKind};
use super::request::{CallerGoals, Request};
use super::segments::draft_segment::DraftSegment;
use crate::kernel::context::{Kind, Segment, Stability, TracedText, Trust};
use crate::kernel::tokens::TokenCounter;
use crate::registry::{Registry, RegistryParameter, Task};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the parameter that takes the objective, and of the segment for tasks without that
/// parameter.
pub(crate) const NAME: &str = "objective";

/// The priority of the segment: the objective ranks with the description.
pub(super) const PRIORITY: u8 = Kind::Description.priority();

/// Checks the length of the objective: it is never cut, so a long one would displace everything
/// else.
pub(super) fn check_length(
    request: &Request<'_>,
    counter: &dyn TokenCounter,
    limit: usize,
) -> Result<(), Fault> {
    let objective = request.goals.objective.unwrap_or("");
    // A token is at least one byte.
    let tokens = if objective.len() <= limit {
        0
    } else {
        counter.count(objective)
    };
    if tokens > limit {
        Err(FaultKind::LongObjective { tokens, limit }.into())
    } else {
        Ok(())
    }
}

/// Returns the parameter that takes the objective.
pub(crate) fn objective_parameter(declared: &[RegistryParameter]) -> Option<&RegistryParameter> {
    declared.iter().find(|parameter| parameter.name == NAME)
}

/// Returns true if the task takes the objective as a value.
fn takes_objective(registry: &Registry, task: &str) -> Result<bool, Fault> {
    Ok(objective_parameter(
        &registry
            .find(task)
            .map_or(Ok(Vec::new()), Task::parameters)?,
    )
    .is_some())
}

/// Returns the inputs with the objective among them; `None` if the request's inputs apply
/// unchanged.
pub(super) fn inputs_with_objective(
    registry: &Registry,
    request: &Request<'_>,
) -> Result<Option<BTreeMap<String, Value>>, Fault> {
    let Some(objective) = request
        .goals
        .objective
        .filter(|objective| !objective.is_empty())
    else {
        return Ok(None);
    };
    if !takes_objective(registry, request.task)? {
        return Ok(None);
    }
    let mut inputs = request.inputs.clone();
    inputs
        .entry(NAME.to_owned())
        .or_insert_with(|| Value::from(objective));
    Ok(Some(inputs))
}

/// Returns the request with these inputs and without a separate objective; the request itself if
/// there are none.
pub(super) fn bind_objective<'r>(
    request: &Request<'r>,
    values: Option<&'r BTreeMap<String, Value>>,
) -> Request<'r> {
    let Some(inputs) = values else {
        return *request;
    };
    Request {
        inputs,
        goals: CallerGoals {
            objective: None,
            ..request.goals
        },
        ..*request
    }
}

/// Returns the segment of an unknown objective in a dry run: every call of an agent role may bring
/// one.
pub(super) fn open_segment(
    registry: &Registry,
    request: &Request<'_>,
) -> Result<Option<DraftSegment>, Fault> {
    if request.role.is_none()
        || request.goals.objective.is_some()
        || takes_objective(registry, request.task)?
    {
        return Ok(None);
    }
    let segment = Segment::from_template(
        Kind::Input,
        TracedText::default(),
        "asked for by the caller",
    )
    .named(NAME, NAME)
    .stable(Stability::Call)
    .prior(PRIORITY);
    let condition = Some("the caller names one");
    Ok(Some(DraftSegment {
        unknown: BTreeSet::from([NAME.to_owned()]),
        condition,
        ..DraftSegment::known(segment)
    }))
}

/// Returns true if the description already contains the objective as a line of its own, written by
/// a trusted author. Before a run, a line with an unknown value does not count.
pub(super) fn is_in_description(objective: &str, context: &[DraftSegment]) -> bool {
    trusted_descriptions(context).any(|drafted| {
        let text = &drafted.segment.text;
        let mut start = 0;
        let is_objective = |line: &str| {
            let place = start..=start + line.len();
            start += line.len() + 1;
            let is_others = || {
                text.untrusted()
                    .iter()
                    .any(|range| range.start < *place.end() && *place.start() < range.end)
            };
            line.trim() == objective.trim()
                && !text.open_positions().iter().any(|at| place.contains(at))
                && !is_others()
        };
        let is_whole = text.open_positions().is_empty()
            && text.untrusted().is_empty()
            && text.text().trim() == objective.trim();
        text.text().split('\n').any(is_objective) || is_whole
    })
}

/// Returns true if the description may contain the objective once its unknown values are known.
pub(super) fn may_be_in_description(context: &[DraftSegment]) -> bool {
    trusted_descriptions(context).any(|drafted| !drafted.segment.text.open_positions().is_empty())
}

fn trusted_descriptions(context: &[DraftSegment]) -> impl Iterator<Item = &DraftSegment> {
    context.iter().filter(|drafted| {
        drafted.segment.kind == Kind::Description && drafted.segment.trust == Trust::Trusted
    })
}
