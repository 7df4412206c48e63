//! The changes of each agent as text: its tokens, then settings and segments, each with the cause
//! of its change.

use super::words;
use crate::base::number::usd;
use crate::cli::prelude::*;
use crate::context::manifest::{
    Cause, CauseKind, Difference, Disposition, Moved, SegmentChange, SourceKind,
};

/// Prints a difference.
pub(super) fn print(difference: &Difference, cx: &mut Cx) -> Result<()> {
    if difference.is_empty() {
        return cx.line(&same(difference));
    }
    let screen = cx.options.screen;
    for (sign, agents) in [("+", &difference.added), ("-", &difference.removed)] {
        for agent in agents {
            let name = screen.paint(Paint::Strong, &format!("{sign} {}", escape(&agent.agent)));
            let cost = agent.cost.as_ref().map_or_else(String::new, |cost| {
                format!("; US$ {} a call", usd(cost.first))
            });
            cx.line(&format!("{name}  {} tokens{cost}", thousands(agent.tokens)))?;
        }
    }
    for change in &difference.changed {
        let agent = screen.paint(Paint::Strong, &format!("~ {}", escape(&change.agent)));
        let prefix = if change.prefix.from == change.prefix.to {
            String::new()
        } else {
            format!("; reusable prefix {}", moved(change.prefix))
        };
        let cost = words::paid(&change.cost).map_or_else(String::new, |cost| format!("; {cost}"));
        cx.hanging(
            &format!("{agent}  {} tokens{prefix}{cost}", moved(change.total)),
            4,
        )?;
        let settings = change
            .settings
            .iter()
            .map(crate::context::manifest::SettingChange::words);
        let said = settings
            .chain(change.segments.iter().map(segment))
            .chain(change.other.iter().cloned());
        for word in said {
            cx.hanging(&format!("    {}", escape(&word)), 6)?;
        }
    }
    cx.line(&total(difference))
}

/// Returns the line for two equal sides.
pub(super) fn same(difference: &Difference) -> String {
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
pub(super) fn total(difference: &Difference) -> String {
    let count = |count: usize, what: &str| {
        (count > 0).then(|| format!("{} {what}", plural(count, "agent")))
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
        moved(difference.total)
    )
}

/// Returns a figure before and after, such as “79 → 26 (−53, −67 %)”.
pub(super) fn moved(moved: Moved) -> String {
    let Moved { from, to } = moved;
    if from == to {
        return thousands(to);
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
        thousands(from),
        thousands(to),
        thousands(by)
    )
}

/// Returns a text such as “~ system 6 → 10: text of the template (templates/triage.xml)”.
fn segment(change: &SegmentChange) -> String {
    let Moved { from, to } = change.tokens;
    let figures = match change.change {
        Disposition::Added => format!("+ {} {}", change.id, thousands(to)),
        Disposition::Removed => format!("- {} {}", change.id, thousands(from)),
        Disposition::Changed if from == to => format!("~ {}", change.id),
        Disposition::Changed => format!("~ {} {} → {}", change.id, thousands(from), thousands(to)),
    };
    let causes = causes(change);
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
pub(super) fn causes(change: &SegmentChange) -> Vec<String> {
    let is_news = |cause: &&Cause| match change.change {
        Disposition::Changed => true,
        Disposition::Added | Disposition::Removed => cause.what == CauseKind::Setting,
    };
    change
        .moved_by
        .iter()
        .filter(is_news)
        .map(|cause| word(cause, &change.id))
        .collect()
}

fn word(cause: &Cause, id: &str) -> String {
    let what = cause.what.word();
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
