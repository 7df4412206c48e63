//! A manifest as Markdown: a table for each agent. Names of files and values are escaped, so that
//! they cannot end a cell.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::text::{bounds_note, exactness_note, short_name};
use super::words;
use crate::cli::render::markup::{code_element, escape_cell};
use crate::cli::render::summary::format_thousands;
use crate::context::manifest::{Entry, MANIFEST_SCHEMA, Manifest, Part};
use std::fmt::Write as _;

/// Returns the page.
pub(super) fn render_page(manifest: &Manifest) -> String {
    let mut out = format!(
        "<!-- {MANIFEST_SCHEMA} -->\n# What each agent receives\n\nRegistry `{}`\n",
        manifest.registry_hash
    );
    for entry in &manifest.entries {
        write_agent(entry, &mut out);
    }
    out
}

fn write_agent(entry: &Entry, out: &mut String) {
    let _ = write!(out, "\n## {}\n\n", escape_cell(&entry.title()));
    if let Some(test) = &entry.condition {
        let _ = write!(out, "Called when {}.\n\n", code_element(test));
    }
    let bound = bounds_note(entry);
    let exact = exactness_note(entry);
    let _ = write!(
        out,
        "{} tokens{bound} ({}{exact}); reusable prefix {}.\n\n",
        format_thousands(entry.total.fixed),
        entry.tokenizer.name,
        format_thousands(entry.prefix_tokens)
    );
    if let Some((name, why)) = words::describe_model(entry) {
        let _ = write!(
            out,
            "Model {} {}.\n\n",
            code_element(name),
            escape_cell(&why)
        );
    }
    if let Some(cost) = words::describe_cost(entry) {
        let _ = write!(out, "{}.\n\n", escape_cell(&cost));
    }
    if let Some(defaults) = words::describe_defaults(&entry.defaults, entry.total.estimate) {
        let _ = write!(out, "{}.\n\n", escape_cell(&defaults));
    }
    for (word, entries) in words::policy_lists(entry) {
        let entries: Vec<String> = entries.iter().map(|entry| code_element(entry)).collect();
        let _ = write!(out, "- {word}: {}\n\n", entries.join(", "));
    }
    out.push_str("| | segment | tokens | at most | stable for | waits for | source |\n|--:|---|--:|--:|---|---|---|\n");
    let dropped = entry.segments.iter().filter(|part| part.position.is_none());
    for part in entry.segments_in_order().into_iter().chain(dropped) {
        out.push_str(&table_row(part));
    }
    for late in &entry.late {
        let _ = write!(
            out,
            "\n{} is left out: {}.\n",
            code_element(&late.id),
            escape_cell(&late.reason())
        );
    }
}

fn table_row(part: &Part) -> String {
    let place = part
        .position
        .map_or_else(|| "–".to_owned(), |at| (at + 1).to_string());
    let bound = part
        .bound
        .map_or_else(|| "no bound".to_owned(), format_thousands);
    let waits: Vec<String> = part
        .variable
        .iter()
        .map(|name| code_element(name))
        .collect();
    let sources: Vec<String> = part
        .source
        .iter()
        .map(|source| code_element(source.path.as_ref().unwrap_or(&source.name)))
        .collect();
    format!(
        "| {place} | {} {} | {} | {bound} | {} | {} | {} |\n",
        part.kind.as_str(),
        if short_name(part) == part.kind.as_str() {
            String::new()
        } else {
            code_element(short_name(part))
        },
        words::known_tokens(part),
        part.stability.word(),
        waits.join(", "),
        sources.join(", ")
    )
}
