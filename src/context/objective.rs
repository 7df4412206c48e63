//! The objective of a request: what is to be done, in the caller's words. One rule for `render`, `manifest`, scenarios and hosts.
//!
//! If the task declares a parameter `objective`, the objective becomes its value, unless a value was given to the parameter
//! itself. Otherwise it becomes the segment `objective`, unless a line of the description is identical.

use super::fault::{Fault, FaultKind};
use super::request::{Asked, Request};
use super::segments::draft::DraftSegment;
use crate::kernel::context::{Kind, Segment, Stability, Traced, Trust};
use crate::kernel::tokens::TokenCounter;
use crate::registry::{Parameter, Registry, Task};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The parameter that takes the objective, and the segment that it is where there is none.
pub(crate) const NAME: &str = "objective";

/// The priority of the segment: it is what the agent is asked for, as the description is.
pub(super) const PRIORITY: u8 = Kind::Description.priority();

/// Holds the objective to its limit: it is never cut, so a long one would push out everything else.
pub(super) fn fits(request: &Request<'_>, counter: &dyn TokenCounter, limit: usize) -> Result<(), Fault> {
    let objective = request.asked.objective.unwrap_or("");
    // A token is at least one byte.
    let tokens = if objective.len() <= limit { 0 } else { counter.count(objective) };
    if tokens > limit { Err(FaultKind::LongObjective { tokens, limit }.into()) } else { Ok(()) }
}

/// The parameter that takes the objective.
pub(crate) fn parameter(declared: &[Parameter]) -> Option<&Parameter> {
    declared.iter().find(|parameter| parameter.name == NAME)
}

/// Whether a task takes the objective as a value.
fn takes(registry: &Registry, task: &str) -> Result<bool, Fault> {
    Ok(parameter(&registry.find(task).map_or(Ok(Vec::new()), Task::parameters)?).is_some())
}

/// The values of a request whose task takes the objective as one of them; `None` where they stay as they are.
pub(super) fn values(registry: &Registry, request: &Request<'_>) -> Result<Option<BTreeMap<String, Value>>, Fault> {
    let Some(objective) = request.asked.objective.filter(|objective| !objective.is_empty()) else { return Ok(None) };
    if !takes(registry, request.task)? {
        return Ok(None);
    }
    let mut inputs = request.inputs.clone();
    inputs.entry(NAME.to_owned()).or_insert_with(|| Value::from(objective));
    Ok(Some(inputs))
}

/// The same request with the objective among its values, if it is one of them.
pub(super) fn settled<'r>(request: &Request<'r>, values: Option<&'r BTreeMap<String, Value>>) -> Request<'r> {
    let Some(inputs) = values else { return *request };
    Request { inputs, asked: Asked { objective: None, ..request.asked }, ..*request }
}

/// The objective as far as a dry run knows it: an agent role gets one with each call, whoever calls.
pub(super) fn open(registry: &Registry, request: &Request<'_>) -> Result<Option<DraftSegment>, Fault> {
    if request.role.is_none() || request.asked.objective.is_some() || takes(registry, request.task)? {
        return Ok(None);
    }
    let segment = Segment::of(Kind::Input, Traced::default(), "asked for by the caller")
        .named(NAME, NAME)
        .stable(Stability::Call)
        .prior(PRIORITY);
    let condition = Some("the caller names one");
    Ok(Some(DraftSegment { unknown: BTreeSet::from([NAME.to_owned()]), condition, ..DraftSegment::whole(segment) }))
}

/// Returns whether the description of the agent says the objective already, in a line of its own that no letter brought along. Before a run a line
/// may wait for a value.
pub(super) fn is_said(objective: &str, context: &[DraftSegment]) -> bool {
    descriptions(context).any(|drafted| {
        let text = &drafted.segment.text;
        let mut start = 0;
        let says = |line: &str| {
            let place = start..=start + line.len();
            start += line.len() + 1;
            let is_others = || text.untrusted().iter().any(|range| range.start < *place.end() && *place.start() < range.end);
            line.trim() == objective.trim() && !text.open().iter().any(|at| place.contains(at)) && !is_others()
        };
        let is_whole = text.open().is_empty() && text.untrusted().is_empty() && text.text().trim() == objective.trim();
        text.text().split('\n').any(says) || is_whole
    })
}

/// Whether the description may come to say it, by a value that it waits for.
pub(super) fn may_be_said(context: &[DraftSegment]) -> bool {
    descriptions(context).any(|drafted| !drafted.segment.text.open().is_empty())
}

fn descriptions(context: &[DraftSegment]) -> impl Iterator<Item = &DraftSegment> {
    context.iter().filter(|drafted| drafted.segment.kind == Kind::Description && drafted.segment.trust == Trust::Trusted)
}
