//! The changes of each agent as Markdown, for a comment on a pull request: the figures in a table,
//! the details folded.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::change_text::{describe_causes, format_change, totals_line, unchanged_line};
use super::words::describe_cost_change;
use crate::base::number::format_usd;
use crate::cli::render::markup::{code_element, escape_cell};
use crate::cli::render::summary::format_thousands;
use crate::context::manifest::{
    Agent, Change, CostChange, DIFF_SCHEMA, Difference, Disposition, SegmentChange,
};
use std::fmt::Write as _;

/// Returns the page.
pub(super) fn render_page(difference: &Difference) -> String {
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
        Disposition::Added => format!("new: {} tokens", format_thousands(change.tokens.to)),
        Disposition::Removed => format!("gone: {} tokens", format_thousands(change.tokens.from)),
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
