//! A manifest as text, a line for each agent's segments and one for its total; and the changes of
//! each agent: its tokens, then settings and segments, each with the cause of its change.

use super::agent_facts;
use crate::base::number::format_usd;
use crate::cli::prelude::*;
use crate::context::manifest::{
    Cause, CauseKind, Difference, Disposition, Entry, Manifest, Moved, Part, SegmentChange,
    SourceKind, Total,
};
use crate::kernel::context::{FIRST_EXPENDABLE, Kind};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the name of a segment without its kind, if it has one.
pub(super) fn short_name(part: &Part) -> &str {
    part.id
        .split_once(':')
        .filter(|(kind, _)| *kind == part.kind.as_str())
        .map_or(&*part.id, |(_, name)| name)
}

/// Returns the name for a line that does not contain the kind.
fn standalone_name(part: &Part) -> String {
    let whose = if part.kind == Kind::Inherited {
        "parent's "
    } else {
        ""
    };
    // A number alone is not a name.
    let is_number = short_name(part).bytes().all(|byte| byte.is_ascii_digit());
    let name = if part.kind == Kind::History || is_number {
        &part.id
    } else {
        short_name(part)
    };
    format!("{whose}{}", escape_line(name))
}

/// Describes the tokens that a run may remove and add.
pub(super) fn bounds_note(entry: &Entry) -> String {
    let Total {
        least,
        fixed,
        bound,
        ..
    } = entry.total;
    let less = if least < fixed {
        format!(", at least {}", format_thousands(least))
    } else {
        String::new()
    };
    match bound {
        Some(bound) if bound == fixed => less,
        Some(bound) => format!("{less}, at most {}", format_thousands(bound)),
        None => format!("{less}, more with what a run brings"),
    }
}

/// Returns a note for the tokenizer if its figures are not exact and its name does not mark them as
/// estimates.
pub(super) fn exactness_note(entry: &Entry) -> &'static str {
    let is_labelled = entry.tokenizer.exact || entry.tokenizer.name.ends_with("(estimate)");
    if is_labelled { "" } else { ", an upper bound" }
}

/// Prints every agent.
pub(super) fn print_agents(manifest: &Manifest, cx: &mut Cx) -> Result<()> {
    for (number, entry) in manifest.entries.iter().enumerate() {
        if number > 0 {
            cx.print_line("")?;
        }
        let title = cx
            .options
            .screen
            .paint(Paint::Strong, &escape_line(&entry.title()));
        let condition = entry
            .condition
            .as_ref()
            .map_or_else(String::new, |test| format!("  when {}", escape_line(test)));
        cx.print_line(&format!("{title}{condition}"))?;
        if let Some((name, why)) = agent_facts::describe_model(entry) {
            cx.print_hanging(
                &format!(" model {} {}", escape_line(name), escape_line(&why)),
                4,
            )?;
        }
        let segments = segments_line(entry);
        cx.print_hanging(&format!(" {segments}"), 4)?;
        cx.print_hanging(&format!(" {}", total_line(entry)), 4)?;
        if let Some(defaults) =
            agent_facts::describe_defaults(&entry.defaults, entry.total.estimate)
        {
            cx.print_hanging(&format!(" {}", escape_line(&defaults)), 4)?;
        }
        if !entry.checked.is_empty() {
            cx.print_hanging(
                &format!(
                    " trusted by the author's word {}",
                    escape_line(&entry.checked.join(", "))
                ),
                4,
            )?;
        }
        if let Some(cost) = agent_facts::describe_cost(entry) {
            cx.print_hanging(&format!(" {cost}"), 4)?;
        }
        let policy = agent_facts::policy_lists(entry);
        if !policy.is_empty() {
            let list = |(word, entries): &(&str, Vec<String>)| {
                format!("{word} {}", escape_line(&entries.join(", ")))
            };
            cx.print_hanging(
                &format!(
                    " {}",
                    policy.iter().map(list).collect::<Vec<_>>().join("; ")
                ),
                4,
            )?;
        }
    }
    if manifest.entries.is_empty() {
        return cx.print_line("no agent: nothing here calls one");
    }
    if manifest.entries.len() > 1 {
        let known: usize = manifest
            .entries
            .iter()
            .map(|entry| entry.total.expected_tokens())
            .sum();
        cx.print_line("")?;
        cx.print_line(&format!(
            "{}, {} known before a run",
            pluralize(manifest.entries.len(), "agent"),
            pluralize(known, "token")
        ))?;
    }
    Ok(())
}

/// Returns the segments in their order, with the end of the reusable prefix.
fn segments_line(entry: &Entry) -> String {
    let reusable = entry.prefix_segments;
    let mut out = String::new();
    for (number, part) in entry.segments_in_order().into_iter().enumerate() {
        if number == reusable && number > 0 {
            let _ = write!(
                out,
                " │ reusable prefix {} │ ",
                format_thousands(entry.prefix_tokens)
            );
        } else if number > 0 {
            out.push_str(" · ");
        }
        let _ = write!(
            out,
            "{} {} {}",
            number + 1,
            standalone_name(part),
            token_figure(entry, part)
        );
    }
    if reusable > 0 && reusable == entry.segments_in_order().len() {
        out.push_str(" │ all of it reusable");
    }
    for part in entry.segments.iter().filter(|part| part.position.is_none()) {
        let _ = write!(out, " · {} dropped", standalone_name(part));
    }
    for late in &entry.late {
        let _ = write!(
            out,
            " · {} left out: {}",
            escape_line(&late.id),
            escape_line(&late.reason())
        );
    }
    out
}

fn token_figure(entry: &Entry, part: &Part) -> String {
    let known = format_thousands(part.tokens);
    if !part.is_variable() {
        // Without a budget, a segment may still be omitted if the run provides an equal or better
        // one.
        let may_lack = entry.budget.tokens.is_none() && part.least < part.tokens;
        return if may_lack {
            format!("0 or {known}")
        } else {
            agent_facts::known_tokens(part)
        };
    }
    let last = if part.priority >= FIRST_EXPENDABLE {
        " (cut first)"
    } else {
        ""
    };
    match part.bound {
        Some(bound) => format!("≤ {}{last}", format_thousands(bound)),
        None if part.least < part.tokens => format!("0 or ≥ {known}"),
        None => format!("≥ {known}"),
    }
}

/// Returns the line with the total, the tokenizer and the names of missing values.
fn total_line(entry: &Entry) -> String {
    let Total {
        least,
        fixed,
        bound,
        ..
    } = entry.total;
    let counted = format!("{}{}", entry.tokenizer.name, exactness_note(entry));
    let known = match (least < fixed, entry.budget.tokens) {
        (false, _) => String::new(),
        (true, Some(_)) => format!("; {} if everything known now fits", format_thousands(fixed)),
        (true, None) => format!("; {} with all that is known", format_thousands(fixed)),
    };
    let least = format_thousands(least);
    let unknown: BTreeSet<&str> = entry
        .segments
        .iter()
        .flat_map(|part| &part.variable)
        .map(String::as_str)
        .collect();
    let waits = unknown
        .iter()
        .map(|name| escape_line(name))
        .collect::<Vec<_>>()
        .join(", ");
    let of = entry.budget.tokens.map_or_else(String::new, |budget| {
        format!(" of {}", format_thousands(budget))
    });
    match (bound, waits.is_empty()) {
        (_, true) if of.is_empty() => format!("total {} ({counted})", pluralize(fixed, "token")),
        (_, true) => format!("total {}{of} tokens ({counted})", format_thousands(fixed)),
        (Some(bound), false) => {
            format!(
                "total between {least} and {}{of} tokens ({counted}), depending on {waits}{known}",
                format_thousands(bound)
            )
        }
        (None, false) => {
            format!("total {least} tokens ({counted}) and what a run brings: {waits}{known}")
        }
    }
}

/// Prints a difference.
pub(super) fn print_difference(difference: &Difference, cx: &mut Cx) -> Result<()> {
    if difference.is_empty() {
        return cx.print_line(&unchanged_line(difference));
    }
    let screen = cx.options.screen;
    for (sign, agents) in [("+", &difference.added), ("-", &difference.removed)] {
        for agent in agents {
            let name = screen.paint(
                Paint::Strong,
                &format!("{sign} {}", escape_line(&agent.agent)),
            );
            let cost = agent.cost.as_ref().map_or_else(String::new, |cost| {
                format!("; US$ {} a call", format_usd(cost.first))
            });
            cx.print_line(&format!(
                "{name}  {}{cost}",
                pluralize(agent.tokens, "token")
            ))?;
        }
    }
    for change in &difference.changed {
        let agent = screen.paint(Paint::Strong, &format!("~ {}", escape_line(&change.agent)));
        let prefix = if change.prefix.from == change.prefix.to {
            String::new()
        } else {
            format!("; reusable prefix {}", format_change(change.prefix))
        };
        let cost = agent_facts::describe_cost_change(&change.cost)
            .map_or_else(String::new, |cost| format!("; {cost}"));
        cx.print_hanging(
            &format!(
                "{agent}  {} tokens{prefix}{cost}",
                format_change(change.total)
            ),
            4,
        )?;
        let settings = change
            .settings
            .iter()
            .map(crate::context::manifest::SettingChange::describe);
        let words = settings
            .chain(change.segments.iter().map(segment_line))
            .chain(change.other.iter().cloned());
        for word in words {
            cx.print_hanging(&format!("    {}", escape_line(&word)), 6)?;
        }
    }
    cx.print_line(&totals_line(difference))
}

/// Returns the line for two equal sides.
pub(super) fn unchanged_line(difference: &Difference) -> String {
    let is_same = difference.old.registry_hash == difference.new.registry_hash;
    format!(
        "every agent receives the same{}",
        if is_same {
            ""
        } else {
            "; what changed reaches no agent"
        }
    )
}

/// Returns the last line: the total numbers of agents and tokens.
pub(super) fn totals_line(difference: &Difference) -> String {
    let count = |count: usize, what: &str| {
        (count > 0).then(|| format!("{} {what}", pluralize(count, "agent")))
    };
    let added = difference.added.len();
    let removed = difference.removed.len();
    let parts = [
        count(added, "added"),
        count(removed, "removed"),
        count(difference.changed.len(), "changed"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!(
        "{}; {} tokens known before a run",
        parts.join(", "),
        format_change(difference.total)
    )
}

/// Returns a figure before and after, such as “79 → 26 (−53, −67 %)”.
pub(super) fn format_change(moved: Moved) -> String {
    let Moved { from, to } = moved;
    if from == to {
        return format_thousands(to);
    }
    let (sign, by) = if to > from {
        ("+", to - from)
    } else {
        ("−", from - to)
    };
    let share = (by * 100 + from / 2)
        .checked_div(from)
        .map_or_else(String::new, |share| format!(", {sign}{share} %"));
    format!(
        "{} → {} ({sign}{}{share})",
        format_thousands(from),
        format_thousands(to),
        format_thousands(by)
    )
}

/// Returns a text such as “~ system 6 → 10; priority 2, was 3: text of the template
/// (templates/triage.xml)”: the tokens, further changes, the causes.
fn segment_line(change: &SegmentChange) -> String {
    let Moved { from, to } = change.tokens;
    let figures = match change.change {
        Disposition::Added => format!("+ {} {}", change.id, format_thousands(to)),
        Disposition::Removed => format!("- {} {}", change.id, format_thousands(from)),
        Disposition::Changed if from == to => format!("~ {}", change.id),
        Disposition::Changed => format!(
            "~ {} {} → {}",
            change.id,
            format_thousands(from),
            format_thousands(to)
        ),
    };
    let causes = describe_causes(change);
    let words = if change.words.is_empty() {
        String::new()
    } else {
        format!("; {}", change.words.join("; "))
    };
    let causes = if causes.is_empty() {
        String::new()
    } else {
        format!(": {}", causes.join(", "))
    };
    format!("{figures}{words}{causes}")
}

/// Describes the causes of a segment's change that its name does not already show.
pub(super) fn describe_causes(change: &SegmentChange) -> Vec<String> {
    let is_news = |cause: &&Cause| match change.change {
        Disposition::Changed => true,
        Disposition::Added | Disposition::Removed => cause.what == CauseKind::Setting,
    };
    change
        .moved_by
        .iter()
        .filter(is_news)
        .map(|cause| describe_cause(cause, &change.id))
        .collect()
}

fn describe_cause(cause: &Cause, id: &str) -> String {
    let what = cause.what.label();
    match (cause.what, &cause.path) {
        (CauseKind::Setting, _) => cause.name.clone(),
        (CauseKind::Source(SourceKind::Template), Some(path)) => format!("{what} ({path})"),
        (CauseKind::Source(SourceKind::Fragment), Some(path)) => {
            format!("{what} {} ({path})", cause.name)
        }
        _ if id.ends_with(&cause.name) => what.to_owned(),
        _ => format!("{what} {}", cause.name),
    }
}
