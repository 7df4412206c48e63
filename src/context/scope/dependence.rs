//! Decides whether a node depends on the results of earlier inputs: evaluates it with those results
//! and without them, by the code that binds names and builds contexts.

use super::chain_memo::ChainMemo;
use super::node_values::with_node_values;
use crate::context::assemble::draft_context;
use crate::context::fill::UnknownHandling;
use crate::context::options::Options;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::TaskGraph;
use crate::registry::Node;
use crate::registry::node::NodeForm;
use std::collections::BTreeMap;

/// Returns true if the results make no difference to a node: neither its texts nor its inherited
/// context use them.
pub(crate) fn is_independent(
    graph: &TaskGraph<'_>,
    request: &Request<'_>,
    results: &BTreeMap<String, StepResult>,
    options: &Options<'_>,
) -> bool {
    let none = BTreeMap::new();
    let (with, without) = (
        Request {
            results,
            ..*request
        },
        Request {
            results: &none,
            ..*request
        },
    );
    let Some(form) = graph.find_node(request.task, request.node).map(Node::form) else {
        return false;
    };
    if form == NodeForm::Agent {
        let segments = |request: &Request<'_>| {
            draft_context(
                graph,
                request,
                &mut ChainMemo::new(UnknownHandling::Fault),
                options,
            )
            .map(|draft| draft.segments)
        };
        return segments(&with) == segments(&without);
    }
    let reading = |request: &Request<'_>| {
        with_node_values(graph, request, |values| values.comparable_reading(form))
            .ok()
            .flatten()
    };
    reading(&with).is_some_and(|with| reading(&without) == Some(with))
}
