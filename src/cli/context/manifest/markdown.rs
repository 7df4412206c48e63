//! A manifest as Markdown: a table for each agent. Names of files and values are escaped, so that
//! they cannot end a cell.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::text::{beyond, inexact, name};
use super::words;
use crate::cli::render::markup::{cell, code};
use crate::cli::render::summary::thousands;
use crate::context::manifest::{Entry, Manifest, Part, SCHEMA};
use std::fmt::Write as _;

/// Returns the page.
pub(super) fn page(manifest: &Manifest) -> String {
    let mut out = format!(
        "<!-- {SCHEMA} -->\n# What each agent receives\n\nRegistry `{}`\n",
        manifest.registry_hash
    );
    for entry in &manifest.entries {
        agent(entry, &mut out);
    }
    out
}

fn agent(entry: &Entry, out: &mut String) {
    let _ = write!(out, "\n## {}\n\n", cell(&entry.title()));
    if let Some(test) = &entry.condition {
        let _ = write!(out, "Called when {}.\n\n", code(test));
    }
    let bound = beyond(entry);
    let exact = inexact(entry);
    let _ = write!(
        out,
        "{} tokens{bound} ({}{exact}); reusable prefix {}.\n\n",
        thousands(entry.total.fixed),
        entry.tokenizer.name,
        thousands(entry.prefix_tokens)
    );
    if let Some((name, why)) = words::model(entry) {
        let _ = write!(out, "Model {} {}.\n\n", code(name), cell(&why));
    }
    if let Some(cost) = words::cost(entry) {
        let _ = write!(out, "{}.\n\n", cell(&cost));
    }
    if let Some(defaults) = words::defaults(&entry.defaults, entry.total.estimate) {
        let _ = write!(out, "{}.\n\n", cell(&defaults));
    }
    for (word, entries) in words::policy(entry) {
        let entries: Vec<String> = entries.iter().map(|entry| code(entry)).collect();
        let _ = write!(out, "- {word}: {}\n\n", entries.join(", "));
    }
    out.push_str("| | segment | tokens | at most | stable for | waits for | source |\n|--:|---|--:|--:|---|---|---|\n");
    let dropped = entry.segments.iter().filter(|part| part.position.is_none());
    for part in entry.positioned().into_iter().chain(dropped) {
        out.push_str(&row(part));
    }
    for late in &entry.late {
        let _ = write!(
            out,
            "\n{} is left out: {}.\n",
            code(&late.id),
            cell(&late.reason())
        );
    }
}

fn row(part: &Part) -> String {
    let place = part
        .position
        .map_or_else(|| "–".to_owned(), |at| (at + 1).to_string());
    let bound = part.bound.map_or_else(|| "no bound".to_owned(), thousands);
    let waits: Vec<String> = part.variable.iter().map(|name| code(name)).collect();
    let sources: Vec<String> = part
        .source
        .iter()
        .map(|source| code(source.path.as_ref().unwrap_or(&source.name)))
        .collect();
    format!(
        "| {place} | {} {} | {} | {bound} | {} | {} | {} |\n",
        part.kind.word(),
        if name(part) == part.kind.word() {
            String::new()
        } else {
            code(name(part))
        },
        words::known(part),
        part.stability.word(),
        waits.join(", "),
        sources.join(", ")
    )
}
