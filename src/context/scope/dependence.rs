//! Decides whether a node depends on the results of earlier inputs: evaluates it with those results
//! and without them, by the code that binds names and builds contexts.

use super::chain_memo::ChainMemo;
use super::node_values::at_node;
use crate::context::assemble::draft;
use crate::context::fill::Unknown;
use crate::context::options::Options;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::TaskGraph;
use crate::registry::Node;
use crate::registry::node::NodeForm;
use std::collections::BTreeMap;

/// Returns true if the results make no difference to a node: neither its texts nor its inherited
/// context use them.
pub(crate) fn is_apart(
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
    let Some(form) = graph.node(request.task, request.node).map(Node::form) else {
        return false;
    };
    if form == NodeForm::Agent {
        let segments = |request: &Request<'_>| {
            draft(
                graph,
                request,
                (Unknown::Fault, &mut ChainMemo::default()),
                options,
            )
            .map(|draft| draft.segments)
        };
        return segments(&with) == segments(&without);
    }
    let reading = |request: &Request<'_>| {
        at_node(graph, request, |values| values.reading(form))
            .ok()
            .flatten()
    };
    reading(&with).is_some_and(|with| reading(&without) == Some(with))
}
