//! Formats token counts: a line above a definition, and the hover text of a segment.

use super::counts::Known;
use crate::base::number::thousands;
use crate::context::manifest::{Entry, Part};
use crate::kernel::context::Kind as Segment;
use crate::lsp::prelude::*;
use crate::syntax::tree::{Document, Element};
use crate::template::elements::Kind;
use crate::template::{self, nodes};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the names of a document's definitions, in order.
pub(in crate::lsp) fn names(project: &ProjectState, name: &Arc<str>) -> Vec<String> {
    let definitions = project
        .template(name)
        .map_or(&[][..], |template| &template.facts.definitions);
    definitions
        .iter()
        .map(|definition| definition.name.to_string())
        .collect()
}

/// Summarises entries: “84 tokens · waits for ticket · reusable prefix 78”.
pub(in crate::lsp) fn brief(entries: &[Entry]) -> Option<String> {
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
    let mut out = format!("{role}{agents}{about}{} tokens", thousands(fixed));
    let waits: BTreeSet<&str> = entries.iter().flat_map(waiting).collect();
    if !waits.is_empty() {
        let shown: Vec<&str> = waits.iter().copied().take(3).collect();
        let more = if waits.len() > 3 { ", …" } else { "" };
        let _ = write!(out, " · waits for {}{more}", shown.join(", "));
    }
    if entries.len() == 1 {
        let _ = write!(out, " · reusable prefix {}", thousands(first.prefix_tokens));
    }
    if let Some(budget) = first.budget.tokens.filter(|_| entries.len() == 1) {
        let _ = write!(out, " · budget {}", thousands(budget));
    }
    Some(out)
}

fn waiting(entry: &Entry) -> impl Iterator<Item = &str> {
    entry
        .segments
        .iter()
        .flat_map(|part| &part.variable)
        .map(String::as_str)
}

/// Describes the token count of the task or segment at an offset, in Markdown.
pub(in crate::lsp) fn at(
    document: Document<'_>,
    names: &[String],
    known: &Known,
    offset: u32,
) -> Option<String> {
    let element = document.element_at(offset)?;
    let kind = place::kind(element)?;
    let is_body = kind.is_body();
    let segment = if is_body {
        None
    } else {
        Some(segment(element)?)
    };
    let body =
        place::around(element).find(|element| place::kind(*element).is_some_and(Kind::is_body))?;
    let file = template::lower(document);
    let mut found = None;
    for (definition, name) in file.definitions.iter().zip(names) {
        let Some(task) = definition.task() else {
            continue;
        };
        nodes::paths(task, &mut |node, path| {
            if let nodes::Node::Task(task) = node
                && task.element.id() == body.id()
            {
                found = Some((name.clone(), path.to_owned()));
            }
        });
    }
    let (task, node) = found?;
    let entries = known.tasks.get(&task)?;
    let here: Vec<Entry> = entries
        .iter()
        .filter(|entry| is_at(entry, &node))
        .cloned()
        .collect();
    match segment {
        None => {
            let entry = here.iter().find(|entry| entry.node == node);
            let list = entry.map_or_else(String::new, |entry| format!("\n\n{}", list(entry)));
            Some(format!("**receives** {}{list}", brief(&here)?))
        }
        Some((kind, id)) => {
            let entry = here.iter().find(|entry| entry.node == node)?;
            let of_kind =
                |part: &&Part| part.kind == kind && id.as_ref().is_none_or(|id| part.id == *id);
            let parts: Vec<String> = entry.segments.iter().filter(of_kind).map(line).collect();
            (!parts.is_empty()).then(|| format!("segment {}", parts.join("\n\nsegment ")))
        }
    }
}

/// Returns true if an agent is at a node or inside it.
fn is_at(entry: &Entry, node: &str) -> bool {
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
fn segment(element: Element<'_>) -> Option<(Segment, Option<String>)> {
    let chain = place::around(element);
    for element in chain {
        let kind = place::kind(element)?;
        let attribute = |name: &str| {
            element
                .attribute(name)
                .map(|attribute| attribute.value().trim().to_owned())
        };
        let found = match kind {
            Kind::System => (Segment::System, None),
            Kind::Description => (Segment::Description, None),
            Kind::Instructions => (Segment::Instructions, None),
            Kind::Criteria => (Segment::Criteria, None),
            Kind::Constraint | Kind::Constraints => (Segment::Constraints, None),
            Kind::Example | Kind::Examples => (Segment::Examples, None),
            Kind::OutputFormat => (Segment::OutputFormat, None),
            Kind::Path => (
                Segment::File,
                Some(format!("file:{}", element.text().trim())),
            ),
            Kind::FilePaths => (Segment::File, None),
            Kind::Input => (
                Segment::Input,
                Some(format!("input:{}", attribute("name")?)),
            ),
            Kind::FreshContext => (Segment::Fresh, None),
            Kind::InheritContext => (Segment::Inherited, None),
            Kind::AccumulateData | Kind::AccumulationFormat => (Segment::Accumulated, None),
            _ if kind.is_body() => return None,
            _ => continue,
        };
        return Some(found);
    }
    None
}

/// Lists the segments of an agent in order.
fn list(entry: &Entry) -> String {
    let dropped = entry.segments.iter().filter(|part| part.position.is_none());
    let parts = entry
        .positioned()
        .into_iter()
        .chain(dropped)
        .map(|part| format!("- {}", line(part)));
    let counted = format!("counted by {}", entry.tokenizer.name);
    parts
        .chain([format!("\n{counted}")])
        .collect::<Vec<_>>()
        .join("\n")
}

/// Describes a segment: “`system` 6 tokens, the same in every call”.
fn line(part: &Part) -> String {
    let known = thousands(part.tokens);
    let tokens = match part.bound {
        _ if !part.is_variable() => format!("{known} tokens"),
        Some(bound) => format!(
            "{known} to {} tokens, waits for {}",
            thousands(bound),
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
