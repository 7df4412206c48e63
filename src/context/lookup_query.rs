//! Builds the query of a lookup from the agent's description and the values that drive matching.
//! The source decides which words are significant.

use super::fence_marker;
use super::segments::draft_segment::DraftSegment;
use super::values::{self, BoundValue, NameScope};
use crate::kernel::context::{Kind, Origin, Trust};
use crate::registry::Node;
use std::collections::BTreeSet;

/// Returns the inputs that drive matching: those that `context_relevance` includes, otherwise all.
pub(super) fn relevant_inputs(node: &Node) -> Vec<String> {
    let relevance = &node.body.context_relevance;
    let names: Vec<_> = if relevance.is_empty() {
        node.body.inputs.iter().map(|input| &input.name).collect()
    } else {
        relevance
            .iter()
            .filter(|input| input.include)
            .map(|input| &input.name)
            .collect()
    };
    names
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect()
}

/// Returns the parameters that drive matching in a task without inputs and `context_relevance`. A
/// parameter with its default value is excluded, because a default is the same in every call.
fn relevant_parameters(node: &Node, scope: &NameScope) -> Vec<String> {
    if !node.body.inputs.is_empty() || !node.body.context_relevance.is_empty() {
        return Vec::new();
    }
    let names = node
        .body
        .parameters
        .iter()
        .flatten()
        .filter_map(|parameter| parameter.name.as_deref());
    let is_default = |origin: &Origin| matches!(origin, Origin::Template { field, .. } if field.starts_with("parameters/"));
    let is_given = |name: &&str| {
        scope
            .get(name)
            .is_some_and(|bound| !is_default(&bound.origin))
    };
    names.filter(is_given).map(str::to_owned).collect()
}

/// The material of the query of one agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuerySource<'q> {
    pub(super) node: &'q Node,
    /// The names in scope at the node.
    pub(super) scope: &'q NameScope,
    /// The segments of the node itself.
    pub(super) own: &'q [DraftSegment],
}

/// Builds the query: the description and the relevant inputs.
pub(super) fn full_query(source: QuerySource<'_>) -> String {
    let description = source
        .own
        .iter()
        .find(|drafted| drafted.segment.kind == Kind::Description);
    let description = description.map_or_else(String::new, |drafted| {
        fence_marker::without_fences(&drafted.segment.text)
    });
    append_values(description, source, |_| true)
}

/// Builds the trusted part of the query: the author's description and trusted values.
pub(super) fn trusted_query(source: QuerySource<'_>) -> String {
    let is_trusted = |drafted: &&DraftSegment| drafted.segment.trust == Trust::Trusted;
    let description = source
        .own
        .iter()
        .find(|drafted| drafted.segment.kind == Kind::Description)
        .filter(is_trusted);
    let description = description.map_or_else(String::new, |drafted| {
        drafted.segment.text.without_untrusted().text().to_owned()
    });
    append_values(description, source, |bound| {
        bound.trust_of(&[]) == Trust::Trusted
    })
}

/// Appends the values that drive matching to a description.
fn append_values(
    description: String,
    QuerySource { node, scope, .. }: QuerySource<'_>,
    is_wanted: impl Fn(&BoundValue) -> bool,
) -> String {
    let value = |name: &str| {
        let bound = scope.get(name).filter(|bound| is_wanted(bound));
        bound
            .and_then(|bound| bound.value.as_ref())
            .map(|value| values::to_text(value))
    };
    let mut query = description;
    for name in relevant_inputs(node) {
        if let Some(value) = value(&name) {
            query.push('\n');
            query.push_str(&value);
        }
    }
    for name in relevant_parameters(node, scope) {
        let value = value(&name);
        // The description may already contain it.
        if let Some(value) = value.filter(|value| !query.contains(&**value)) {
            query.push('\n');
            query.push_str(&value);
        }
    }
    query
}

/// Returns the parts of the query that are not available before the agent of this context has run.
pub(super) fn deferred_inputs(source: QuerySource<'_>) -> BTreeSet<String> {
    let QuerySource { node, scope, own } = source;
    let descriptions = own
        .iter()
        .filter(|drafted| drafted.segment.kind == Kind::Description);
    let deferred = descriptions.flat_map(|drafted| drafted.deferred.iter().cloned());
    deferred
        .chain(
            relevant_inputs(node)
                .iter()
                .filter_map(|name| scope.awaited_input(name).cloned()),
        )
        .collect()
}

/// Returns true if every part of the query is known.
pub(super) fn is_query_known(source: QuerySource<'_>) -> bool {
    let QuerySource { node, scope, own } = source;
    let mut descriptions = own
        .iter()
        .filter(|drafted| drafted.segment.kind == Kind::Description);
    let is_there = |name: &String| scope.get(name).is_none_or(|bound| bound.value.is_some());
    descriptions.all(|drafted| drafted.unknown.is_empty())
        && relevant_inputs(node)
            .iter()
            .chain(&relevant_parameters(node, scope))
            .all(is_there)
}
