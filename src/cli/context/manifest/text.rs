//! A manifest as text: a line for each agent's segments, and one for its total.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::words;
use crate::cli::prelude::*;
use crate::context::manifest::{Entry, Manifest, Part, Total};
use crate::kernel::context::{FIRST_EXPENDABLE, Kind};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the name of a segment without its kind, if it has one.
pub(super) fn name(part: &Part) -> &str {
    part.id
        .split_once(':')
        .filter(|(kind, _)| *kind == part.kind.word())
        .map_or(&*part.id, |(_, name)| name)
}

/// Returns the name for a line that does not contain the kind.
fn alone(part: &Part) -> String {
    let whose = if part.kind == Kind::Inherited {
        "parent's "
    } else {
        ""
    };
    // A number alone is not a name.
    let is_number = name(part).bytes().all(|byte| byte.is_ascii_digit());
    let name = if part.kind == Kind::History || is_number {
        &part.id
    } else {
        name(part)
    };
    format!("{whose}{}", escape(name))
}

/// Describes the tokens that a run may remove and add.
pub(super) fn beyond(entry: &Entry) -> String {
    let Total {
        least,
        fixed,
        bound,
        ..
    } = entry.total;
    let less = if least < fixed {
        format!(", at least {}", thousands(least))
    } else {
        String::new()
    };
    match bound {
        Some(bound) if bound == fixed => less,
        Some(bound) => format!("{less}, at most {}", thousands(bound)),
        None => format!("{less}, more with what a run brings"),
    }
}

/// Returns a note for the tokenizer if its figures are not exact and its name does not mark them as
/// estimates.
pub(super) fn inexact(entry: &Entry) -> &'static str {
    let is_said = entry.tokenizer.exact || entry.tokenizer.name.ends_with("(estimate)");
    if is_said { "" } else { ", an upper bound" }
}

/// Prints every agent.
pub(super) fn print(manifest: &Manifest, cx: &mut Cx) -> Result<()> {
    for (number, entry) in manifest.entries.iter().enumerate() {
        if number > 0 {
            cx.line("")?;
        }
        let title = cx
            .options
            .screen
            .paint(Paint::Strong, &escape(&entry.title()));
        let condition = entry
            .condition
            .as_ref()
            .map_or_else(String::new, |test| format!("  when {}", escape(test)));
        cx.line(&format!("{title}{condition}"))?;
        if let Some((name, why)) = words::model(entry) {
            cx.hanging(&format!(" model {} {}", escape(name), escape(&why)), 4)?;
        }
        let segments = segments(entry);
        cx.hanging(&format!(" {segments}"), 4)?;
        cx.hanging(&format!(" {}", total(entry)), 4)?;
        if let Some(defaults) = words::defaults(&entry.defaults, entry.total.estimate) {
            cx.hanging(&format!(" {}", escape(&defaults)), 4)?;
        }
        if !entry.checked.is_empty() {
            cx.hanging(
                &format!(
                    " trusted by the author's word {}",
                    escape(&entry.checked.join(", "))
                ),
                4,
            )?;
        }
        if let Some(cost) = words::cost(entry) {
            cx.hanging(&format!(" {cost}"), 4)?;
        }
        let policy = words::policy(entry);
        if !policy.is_empty() {
            let list = |(word, entries): &(&str, Vec<String>)| {
                format!("{word} {}", escape(&entries.join(", ")))
            };
            cx.hanging(
                &format!(
                    " {}",
                    policy.iter().map(list).collect::<Vec<_>>().join("; ")
                ),
                4,
            )?;
        }
    }
    if manifest.entries.is_empty() {
        return cx.line("no agent: nothing here calls one");
    }
    if manifest.entries.len() > 1 {
        let known: usize = manifest
            .entries
            .iter()
            .map(|entry| entry.total.expected())
            .sum();
        cx.line("")?;
        cx.line(&format!(
            "{}, {} tokens known before a run",
            plural(manifest.entries.len(), "agent"),
            thousands(known)
        ))?;
    }
    Ok(())
}

/// Returns the segments in their order, with the end of the reusable prefix.
fn segments(entry: &Entry) -> String {
    let reusable = entry.prefix_segments;
    let mut out = String::new();
    for (number, part) in entry.positioned().into_iter().enumerate() {
        if number == reusable && number > 0 {
            let _ = write!(
                out,
                " │ reusable prefix {} │ ",
                thousands(entry.prefix_tokens)
            );
        } else if number > 0 {
            out.push_str(" · ");
        }
        let _ = write!(
            out,
            "{} {} {}",
            number + 1,
            alone(part),
            tokens(entry, part)
        );
    }
    if reusable > 0 && reusable == entry.positioned().len() {
        out.push_str(" │ all of it reusable");
    }
    for part in entry.segments.iter().filter(|part| part.position.is_none()) {
        let _ = write!(out, " · {} dropped", alone(part));
    }
    for late in &entry.late {
        let _ = write!(
            out,
            " · {} left out: {}",
            escape(&late.id),
            escape(&late.reason())
        );
    }
    out
}

fn tokens(entry: &Entry, part: &Part) -> String {
    let known = thousands(part.tokens);
    if !part.is_variable() {
        // Without a budget, a segment may still be omitted if the run provides an equal or better
        // one.
        let may_lack = entry.budget.tokens.is_none() && part.least < part.tokens;
        return if may_lack {
            format!("0 or {known}")
        } else {
            words::known(part)
        };
    }
    let last = if part.priority >= FIRST_EXPENDABLE {
        " (cut first)"
    } else {
        ""
    };
    match part.bound {
        Some(bound) => format!("≤ {}{last}", thousands(bound)),
        None if part.least < part.tokens => format!("0 or ≥ {known}"),
        None => format!("≥ {known}"),
    }
}

/// Returns the line with the total, the tokenizer and the names of missing values.
fn total(entry: &Entry) -> String {
    let Total {
        least,
        fixed,
        bound,
        ..
    } = entry.total;
    let counted = format!("{}{}", entry.tokenizer.name, inexact(entry));
    let known = match (least < fixed, entry.budget.tokens) {
        (false, _) => String::new(),
        (true, Some(_)) => format!("; {} if everything known now fits", thousands(fixed)),
        (true, None) => format!("; {} with all that is known", thousands(fixed)),
    };
    let least = thousands(least);
    let unknown: BTreeSet<&str> = entry
        .segments
        .iter()
        .flat_map(|part| &part.variable)
        .map(String::as_str)
        .collect();
    let waits = unknown
        .iter()
        .map(|name| escape(name))
        .collect::<Vec<_>>()
        .join(", ");
    let of = entry
        .budget
        .tokens
        .map_or_else(String::new, |budget| format!(" of {}", thousands(budget)));
    match (bound, waits.is_empty()) {
        (_, true) => format!("total {}{of} tokens ({counted})", thousands(fixed)),
        (Some(bound), false) => {
            format!(
                "total between {least} and {}{of} tokens ({counted}), depending on {waits}{known}",
                thousands(bound)
            )
        }
        (None, false) => {
            format!("total {least} tokens ({counted}) and what a run brings: {waits}{known}")
        }
    }
}
