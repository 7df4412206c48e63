//! A manifest as Markdown, a table for each agent; and the changes of each agent, for a comment on a
//! pull request. Names of files and values are escaped, so that they cannot end a cell.

use super::agent_facts::{self, describe_cost_change};
use super::text::{
    bounds_note, describe_causes, exactness_note, format_change, short_name, totals_line,
    unchanged_line,
};
use crate::base::number::format_usd;
use crate::cli::render::markup::{code_element, escape_cell};
use crate::cli::render::summary::{format_thousands, pluralize};
use crate::context::manifest::{
    Agent, Change, CostChange, DIFF_SCHEMA, Difference, Disposition, Entry, MANIFEST_SCHEMA,
    Manifest, Part, SegmentChange,
};
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
        "{}{bound} ({}{exact}); reusable prefix {}.\n\n",
        pluralize(entry.total.fixed, "token"),
        entry.tokenizer.name,
        format_thousands(entry.prefix_tokens)
    );
    if let Some((name, why)) = agent_facts::describe_model(entry) {
        let _ = write!(
            out,
            "Model {} {}.\n\n",
            code_element(name),
            escape_cell(&why)
        );
    }
    if let Some(cost) = agent_facts::describe_cost(entry) {
        let _ = write!(out, "{}.\n\n", escape_cell(&cost));
    }
    if let Some(defaults) = agent_facts::describe_defaults(&entry.defaults, entry.total.estimate) {
        let _ = write!(out, "{}.\n\n", escape_cell(&defaults));
    }
    for (word, entries) in agent_facts::policy_lists(entry) {
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
        agent_facts::known_tokens(part),
        part.stability.word(),
        waits.join(", "),
        sources.join(", ")
    )
}

/// Returns the page.
pub(super) fn render_changes(difference: &Difference) -> String {
    let old = code_element(&difference.old.name);
    let new = code_element(&difference.new.name);
    let mut out = format!("<!-- {DIFF_SCHEMA} -->\n### What agents receive: {old} → {new}\n\n");
    if difference.is_empty() {
        let _ = writeln!(out, "{}.", capitalize(&unchanged_line(difference)));
        return out;
    }
    // Without prices the column is omitted.
    let has_prices = difference
        .changed
        .iter()
        .any(|change| change.cost != CostChange::default())
        || difference
            .added
            .iter()
            .chain(&difference.removed)
            .any(|agent| agent.cost.is_some());
    let priced = |cost: String| {
        if has_prices {
            format!(" {cost} |")
        } else {
            String::new()
        }
    };
    let head = priced("US$ a call".to_owned());
    let rule = if has_prices { "---|" } else { "" };
    let _ = write!(
        out,
        "{}.\n\n| agent | tokens | reusable prefix |{head}\n|---|---|---|{rule}\n",
        totals_line(difference)
    );
    for (what, agents) in [
        ("added", &difference.added),
        ("removed", &difference.removed),
    ] {
        for Agent {
            agent,
            tokens,
            cost,
            ..
        } in agents
        {
            let cost = priced(cost.as_ref().map_or_else(String::new, |cost| {
                format!("US$ {}", format_usd(cost.first))
            }));
            let _ = writeln!(
                out,
                "| {} | {} ({what}) | |{cost}",
                code_element(agent),
                format_thousands(*tokens)
            );
        }
    }
    for change in &difference.changed {
        let cost = priced(describe_cost_change(&change.cost).unwrap_or_default());
        let _ = writeln!(
            out,
            "| {} | {} | {} |{cost}",
            code_element(&change.agent),
            format_change(change.total),
            format_change(change.prefix)
        );
    }
    for change in &difference.changed {
        write_change(change, &mut out);
    }
    out
}

/// Writes the folded details of an agent.
fn write_change(change: &Change, out: &mut String) {
    let _ = write!(
        out,
        "\n<details><summary>{}</summary>\n\n",
        code_element(&change.agent)
    );
    for setting in &change.settings {
        let _ = writeln!(out, "- {}", escape_cell(&setting.describe()));
    }
    for segment in &change.segments {
        let _ = writeln!(out, "- {}", segment_line(segment));
    }
    for word in &change.other {
        let _ = writeln!(out, "- {}", escape_cell(word));
    }
    out.push_str("\n</details>\n");
}

fn segment_line(change: &SegmentChange) -> String {
    let figures = match change.change {
        Disposition::Added => format!("new: {}", pluralize(change.tokens.to, "token")),
        Disposition::Removed => format!("gone: {}", pluralize(change.tokens.from, "token")),
        Disposition::Changed => format!("{} tokens", format_change(change.tokens)),
    };
    let mut out = format!("{} {figures}", code_element(&change.id));
    for word in change.words.iter().chain(&describe_causes(change)) {
        let _ = write!(out, "; {}", escape_cell(word));
    }
    out
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
