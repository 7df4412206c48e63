//! The changes of each agent as text: its tokens, then settings and segments, each with the cause
//! of its change.

use super::words;
use crate::base::number::format_usd;
use crate::cli::prelude::*;
use crate::context::manifest::{
    Cause, CauseKind, Difference, Disposition, Moved, SegmentChange, SourceKind,
};

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
                "{name}  {} tokens{cost}",
                format_thousands(agent.tokens)
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
        let cost = words::describe_cost_change(&change.cost)
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
        let said = settings
            .chain(change.segments.iter().map(segment_line))
            .chain(change.other.iter().cloned());
        for word in said {
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

/// Returns a text such as “~ system 6 → 10: text of the template (templates/triage.xml)”.
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
    let said = if change.words.is_empty() {
        String::new()
    } else {
        format!("; {}", change.words.join("; "))
    };
    let by = if causes.is_empty() {
        String::new()
    } else {
        format!(": {}", causes.join(", "))
    };
    format!("{figures}{said}{by}")
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
