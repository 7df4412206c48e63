//! Formats token counts: a line above a definition, and the hover text of a segment.

use super::counts::DocumentCounts;
use crate::base::number::format_thousands;
use crate::context::manifest::{Entry, Part};
use crate::kernel::context::Kind as Segment;
use crate::lsp::prelude::*;
use crate::lsp::state::read_cache::BodyTable;
use crate::syntax::tree::Element;
use crate::template::elements::ElementKind;
use crate::template::names::DefinitionFacts;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the names of a document's definitions, in order.
pub(in crate::lsp) fn definition_names(project: &ProjectState, name: &Arc<str>) -> Vec<String> {
    let definitions = project
        .template(name)
        .map_or(&[][..], |template| &template.facts.definitions);
    definitions
        .iter()
        .map(|definition| definition.name.to_string())
        .collect()
}

/// Summarises entries: “84 tokens · waits for ticket · reusable prefix 78”.
pub(in crate::lsp) fn summarize_entries(entries: &[Entry]) -> Option<String> {
    let first = entries.first()?;
    let fixed: usize = entries.iter().map(|entry| entry.total.fixed).sum();
    let about = if first.tokenizer.exact { "" } else { "≈ " };
    let agents = if entries.len() > 1 {
        format!("{} agents · ", entries.len())
    } else {
        String::new()
    };
    let as_role = first
        .role
        .as_ref()
        .filter(|_| entries.iter().all(|entry| entry.role == first.role));
    let role = as_role.map_or_else(String::new, |role| format!("{role}: "));
    let mut out = format!("{role}{agents}{about}{} tokens", format_thousands(fixed));
    let waits: BTreeSet<&str> = entries.iter().flat_map(awaited_inputs).collect();
    if !waits.is_empty() {
        let shown: Vec<&str> = waits.iter().copied().take(3).collect();
        let more = if waits.len() > 3 { ", …" } else { "" };
        let _ = write!(out, " · waits for {}{more}", shown.join(", "));
    }
    if entries.len() == 1 {
        let _ = write!(
            out,
            " · reusable prefix {}",
            format_thousands(first.prefix_tokens)
        );
    }
    if let Some(budget) = first.budget.tokens.filter(|_| entries.len() == 1) {
        let _ = write!(out, " · budget {}", format_thousands(budget));
    }
    Some(out)
}

fn awaited_inputs(entry: &Entry) -> impl Iterator<Item = &str> {
    entry
        .segments
        .iter()
        .flat_map(|part| &part.variable)
        .map(String::as_str)
}

/// Describes the token count of an element that is a task or gives a segment, in Markdown.
pub(in crate::lsp) fn describe_element(
    element: Element<'_>,
    definitions: &[DefinitionFacts],
    bodies: &BodyTable,
    known: &DocumentCounts,
) -> Option<String> {
    let kind = place::element_kind(element)?;
    let is_body = kind.is_body();
    let segment = if is_body {
        None
    } else {
        Some(element_segment(element)?)
    };
    let body = place::ancestors(element)
        .find(|element| place::element_kind(*element).is_some_and(ElementKind::is_body))?;
    let (task, node) = bodies.get(&body.id())?.node.as_ref()?;
    let entries = known.tasks.get(&*definitions.get(*task)?.name)?;
    let here: Vec<Entry> = entries
        .iter()
        .filter(|entry| is_inside_node(entry, node))
        .cloned()
        .collect();
    match segment {
        None => {
            let entry = here.iter().find(|entry| entry.node == *node);
            let list =
                entry.map_or_else(String::new, |entry| format!("\n\n{}", list_segments(entry)));
            Some(format!("**receives** {}{list}", summarize_entries(&here)?))
        }
        Some((kind, id)) => {
            let entry = here.iter().find(|entry| entry.node == *node)?;
            let of_kind =
                |part: &&Part| part.kind == kind && id.as_ref().is_none_or(|id| part.id == *id);
            let parts: Vec<String> = entry
                .segments
                .iter()
                .filter(of_kind)
                .map(describe_segment)
                .collect();
            (!parts.is_empty()).then(|| format!("segment {}", parts.join("\n\nsegment ")))
        }
    }
}

/// Returns true if an agent is at a node or inside it.
fn is_inside_node(entry: &Entry, node: &str) -> bool {
    node == "/"
        || entry.node == node
        || entry
            .node
            .strip_prefix(node)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the segment that receives an element's text, with its id if several segments have the
/// kind.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "most elements give no segment a text of their own"
)]
fn element_segment(element: Element<'_>) -> Option<(Segment, Option<String>)> {
    let chain = place::ancestors(element);
    for element in chain {
        let kind = place::element_kind(element)?;
        let attribute = |name: &str| {
            element
                .attribute(name)
                .map(|attribute| attribute.value().trim().to_owned())
        };
        let found = match kind {
            ElementKind::System => (Segment::System, None),
            ElementKind::Description => (Segment::Description, None),
            ElementKind::Instructions => (Segment::Instructions, None),
            ElementKind::Criteria => (Segment::Criteria, None),
            ElementKind::Constraint | ElementKind::Constraints => (Segment::Constraints, None),
            ElementKind::Example | ElementKind::Examples => (Segment::Examples, None),
            ElementKind::OutputFormat => (Segment::OutputFormat, None),
            ElementKind::Path => (
                Segment::File,
                Some(format!("file:{}", element.text().trim())),
            ),
            ElementKind::FilePaths => (Segment::File, None),
            ElementKind::Input => (
                Segment::Input,
                Some(format!("input:{}", attribute("name")?)),
            ),
            ElementKind::FreshContext => (Segment::Fresh, None),
            ElementKind::InheritContext => (Segment::Inherited, None),
            ElementKind::AccumulateData | ElementKind::AccumulationFormat => {
                (Segment::Accumulated, None)
            }
            _ if kind.is_body() => return None,
            _ => continue,
        };
        return Some(found);
    }
    None
}

/// Lists the segments of an agent in order.
fn list_segments(entry: &Entry) -> String {
    let dropped = entry.segments.iter().filter(|part| part.position.is_none());
    let parts = entry
        .segments_in_order()
        .into_iter()
        .chain(dropped)
        .map(|part| format!("- {}", describe_segment(part)));
    let counted = format!("counted by {}", entry.tokenizer.name);
    parts
        .chain([format!("\n{counted}")])
        .collect::<Vec<_>>()
        .join("\n")
}

/// Describes a segment: “`system` 6 tokens, the same in every call”.
fn describe_segment(part: &Part) -> String {
    let known = format_thousands(part.tokens);
    let tokens = match part.bound {
        _ if !part.is_variable() => format!("{known} tokens"),
        Some(bound) => format!(
            "{known} to {} tokens, waits for {}",
            format_thousands(bound),
            part.variable.join(", ")
        ),
        None => format!(
            "{known} tokens and more, waits for {}",
            part.variable.join(", ")
        ),
    };
    let place = if part.position.is_none() {
        ", dropped: the budget ends before it"
    } else {
        ""
    };
    format!(
        "`{}` {tokens}; stable: {}{place}",
        part.id.replace('`', "'"),
        part.stability.word()
    )
}
