//! The changes of each agent as Markdown, for a comment on a pull request: the figures in a table,
//! the details folded.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::change_text::{causes, moved, same, total};
use super::words::paid;
use crate::base::number::usd;
use crate::cli::render::markup::{cell, code};
use crate::cli::render::summary::thousands;
use crate::context::manifest::{
    Agent, Change, CostChange, DIFF_SCHEMA, Difference, Disposition, SegmentChange,
};
use std::fmt::Write as _;

/// Returns the page.
pub(super) fn page(difference: &Difference) -> String {
    let old = code(&difference.old.name);
    let new = code(&difference.new.name);
    let mut out = format!("<!-- {DIFF_SCHEMA} -->\n### What agents receive: {old} → {new}\n\n");
    if difference.is_empty() {
        let _ = writeln!(out, "{}.", upper(&same(difference)));
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
        total(difference)
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
            let cost = priced(
                cost.as_ref()
                    .map_or_else(String::new, |cost| format!("US$ {}", usd(cost.first))),
            );
            let _ = writeln!(
                out,
                "| {} | {} ({what}) | |{cost}",
                code(agent),
                thousands(*tokens)
            );
        }
    }
    for change in &difference.changed {
        let cost = priced(paid(&change.cost).unwrap_or_default());
        let _ = writeln!(
            out,
            "| {} | {} | {} |{cost}",
            code(&change.agent),
            moved(change.total),
            moved(change.prefix)
        );
    }
    for change in &difference.changed {
        one(change, &mut out);
    }
    out
}

/// Writes the folded details of an agent.
fn one(change: &Change, out: &mut String) {
    let _ = write!(
        out,
        "\n<details><summary>{}</summary>\n\n",
        code(&change.agent)
    );
    for setting in &change.settings {
        let _ = writeln!(out, "- {}", cell(&setting.words()));
    }
    for segment in &change.segments {
        let _ = writeln!(out, "- {}", words(segment));
    }
    for word in &change.other {
        let _ = writeln!(out, "- {}", cell(word));
    }
    out.push_str("\n</details>\n");
}

fn words(change: &SegmentChange) -> String {
    let figures = match change.change {
        Disposition::Added => format!("new: {} tokens", thousands(change.tokens.to)),
        Disposition::Removed => format!("gone: {} tokens", thousands(change.tokens.from)),
        Disposition::Changed => format!("{} tokens", moved(change.tokens)),
    };
    let mut out = format!("{} {figures}", code(&change.id));
    for word in change.words.iter().chain(&causes(change)) {
        let _ = write!(out, "; {}", cell(word));
    }
    out
}

fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
