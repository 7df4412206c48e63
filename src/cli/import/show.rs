//! The report of `ctxc import` for people: the disposition of each prompt, then the totals.

use super::make::Made;
use super::report::{Disposition, ImportReport};
use super::suggest::suggestion;
use super::verify::{Difference, DifferenceKind};
use crate::cli::prelude::*;
use crate::cli::render::screen::Screen;
use crate::cli::render::unified;
use crate::import::{Body, Note, NoteKind, Parameter, Weight};
use crate::kernel::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// Characters shown on each side of a difference.
const AROUND: usize = 60;

/// Prints the whole report.
pub(super) fn print(told: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    for (made, fate) in told.batch.made.iter().zip(told.fates) {
        prompt(made, *fate, cx)?;
    }
    for (path, reason) in &told.found.unreadable {
        let word = cx.options.screen.paint(Paint::Error, "error");
        cx.line(&format!(
            "{}: {word}: it cannot be read: {reason}",
            escape(path)
        ))?;
    }
    verdict(told, cx)?;
    if let Some(suggestion) = suggestion(&told.batch.made) {
        cx.line(
            "models and their settings, as a suggestion for ctxc.toml, which was not changed:",
        )?;
        for line in suggestion.lines() {
            cx.print(|out| writeln!(out, "{}", format!("  {}", escape(line)).trim_end()))?;
        }
    }
    totals(told, cx)
}

fn prompt(made: &Made, fate: Disposition, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let from: Vec<&str> = made
        .system
        .iter()
        .chain([&made.path])
        .map(String::as_str)
        .collect();
    let from = screen.paint(Paint::Strong, &escape(&from.join(" + ")));
    let suite = made.suite.iter().map(|(path, _)| format!(" and {path}"));
    let to = escape(&made.output).into_owned() + &escape(&suite.collect::<String>());
    let said = match fate {
        Disposition::Written => format!("→ {to}"),
        Disposition::Dry => format!("→ {to} (not written)"),
        Disposition::There => format!("{to} already exists; left as it is (--force overwrites it)"),
        Disposition::Same => format!("{to} already exists, unchanged"),
        Disposition::Refused => "is not carried over".to_owned(),
    };
    let place = if made
        .imported
        .turns
        .iter()
        .all(|turn| matches!(turn.body, Body::InPlace { .. }))
    {
        ", text stays in its file"
    } else {
        ""
    };
    let place = if fate == Disposition::Refused {
        ""
    } else {
        place
    };
    cx.line(&format!("{from} ({}{place}) {said}", made.format.title))?;
    if fate != Disposition::Refused && !made.imported.parameters.is_empty() {
        let inputs: Vec<String> = made.imported.parameters.iter().map(input).collect();
        cx.hanging(&format!("  inputs: {}", escape(&inputs.join(", "))), 4)?;
    }
    let mut groups: Vec<(&Note, Vec<u32>)> = Vec::new();
    let mut known: BTreeMap<(&str, &NoteKind), usize> = BTreeMap::new();
    for one in &made.imported.notes {
        let at = *known.entry((&one.path, &one.kind)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, others)) => others.push(one.line),
            None => groups.push((one, Vec::new())),
        }
    }
    groups
        .into_iter()
        .try_for_each(|(first, others)| note(first, &others, cx))
}

/// The maximum number of further lines of a note that are listed.
const LINES: usize = 4;

/// Lists the further lines of a note, such as “ (also in lines 37, 39 and 196 more)”.
fn also(others: &[u32]) -> String {
    let lines: Vec<String> = others.iter().take(LINES).map(u32::to_string).collect();
    let word = if others.len() == 1 { "line" } else { "lines" };
    match others.len().saturating_sub(LINES) {
        _ if others.is_empty() => String::new(),
        0 => format!(" (also in {word} {})", lines.join(", ")),
        more => format!(" (also in {word} {} and {more} more)", lines.join(", ")),
    }
}

/// Describes an input, such as `tone (string, default "warm")`.
fn input(parameter: &Parameter) -> String {
    let kind = parameter.kind.unwrap_or("any");
    match &parameter.default {
        Some(default) if matches!(kind, "string" | "any") => {
            format!("{} ({kind}, default {default:?})", parameter.name)
        }
        Some(default) => format!("{} ({kind}, default {default})", parameter.name),
        None => format!("{} ({kind})", parameter.name),
    }
}

fn note(note: &Note, others: &[u32], cx: &mut Cx) -> Result<()> {
    let weight = note.kind.weight();
    let paint = match weight {
        Weight::Info => Paint::Info,
        Weight::Warning => Paint::Warning,
        Weight::Error => Paint::Error,
    };
    let word = cx.options.screen.paint(paint, weight.word());
    let place = if note.line == 0 {
        note.path.clone()
    } else {
        format!("{}:{}", note.path, note.line)
    };
    cx.hanging(
        &format!(
            "  {}: {word}: {}{}",
            escape(&place),
            escape(&note.kind.to_string()),
            also(others)
        ),
        4,
    )
}

/// Prints the result of the samples.
pub(super) fn verdict(told: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    let Some((path, verdict)) = told.verdict else {
        return Ok(());
    };
    let shown = path.display().to_string();
    let word = cx.options.screen.paint(Paint::Error, "error");
    for difference in &verdict.differences {
        cx.line(&format!(
            "{}:{}: {word}: {}",
            escape(&shown),
            difference.line,
            escape(&title(difference))
        ))?;
        for line in message(difference) {
            cx.print(|out| writeln!(out, "  {}", escape(&line)))?;
        }
    }
    let equal = verdict.samples - verdict.differences.len();
    let samples = plural(verdict.samples, "sample");
    let quoted = |names: &BTreeSet<String>| {
        names
            .iter()
            .map(|name| format!("`{}`", escape(name)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let others = if verdict.others.is_empty() {
        String::new()
    } else {
        format!("; not compared: {}", quoted(&verdict.others))
    };
    let fields = if verdict.compared.is_empty() {
        String::new()
    } else {
        format!(", and {}", quoted(&verdict.compared))
    };
    cx.line(&if equal == verdict.samples {
        format!("{samples}: every message{fields} equal, byte for byte{others}")
    } else {
        format!(
            "{samples}: {equal} equal byte for byte, {} not{others}",
            verdict.differences.len()
        )
    })
}

/// Describes a difference in one line.
pub(super) fn title(difference: &Difference) -> String {
    let name = &difference.template;
    match &difference.kind {
        DifferenceKind::Failed(why) => format!(
            "{name} cannot be rendered: {}",
            why.first().map_or("", String::as_str)
        ),
        DifferenceKind::Roles(expected, rendered) => {
            let list = |roles: &[String]| {
                if roles.is_empty() {
                    "nothing".to_owned()
                } else {
                    roles.join(", ")
                }
            };
            format!("{name} is {}; expected {}", list(rendered), list(expected))
        }
        DifferenceKind::Field((field, ..)) => format!("{name}: {field} differs"),
        DifferenceKind::Byte(byte) => {
            let message = &byte.message;
            let at = byte.at;
            let line = byte.line;
            let column = byte.column;
            format!(
                "{name}: the {message} differs from byte {at} on (line {line}, column {column})"
            )
        }
    }
}

/// Returns the detail lines of a difference.
pub(super) fn message(difference: &Difference) -> Vec<String> {
    match &difference.kind {
        DifferenceKind::Failed(why) => why
            .iter()
            .skip(1)
            .map(|why| escape(why).into_owned())
            .collect(),
        DifferenceKind::Roles(..) => {
            vec!["`expected` may be a list of {\"role\", \"content\"}, one for each message, or the body of a request".to_owned()]
        }
        DifferenceKind::Field((field, expected, rendered)) => {
            let mut diff = Vec::new();
            // Writing to a vector cannot fail.
            let _ = unified::write(&mut diff, field, expected, rendered, Screen::PLAIN);
            String::from_utf8_lossy(&diff)
                .lines()
                .skip(2)
                .map(str::to_owned)
                .collect()
        }
        DifferenceKind::Byte(byte) => {
            let part = |text: &str| {
                let skipped = byte.column.saturating_sub(1 + AROUND);
                let part: String = text.chars().skip(skipped).take(2 * AROUND).collect();
                let (head, tail) = (
                    if skipped > 0 { "…" } else { "" },
                    if text.chars().count() > skipped + 2 * AROUND {
                        "…"
                    } else {
                        ""
                    },
                );
                format!("{head}{}{tail}", shown(&part))
            };
            let lines = [
                format!("expected: {}", part(&byte.expected)),
                format!("rendered: {}", part(&byte.rendered)),
            ];
            let why = |profile: Profile| {
                format!(
                    "its profile `{}` writes headings: `profile=\"bare\"` on the task leaves them out",
                    profile.word()
                )
            };
            lines.into_iter().chain(byte.profile.map(why)).collect()
        }
    }
}

/// Returns a line with its invisible characters escaped.
fn shown(text: &str) -> String {
    if text.is_empty() {
        "(nothing more)".to_owned()
    } else {
        escape(text).into_owned()
    }
}

fn totals(told: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    let count = |fates: &[Disposition]| {
        told.fates
            .iter()
            .filter(|fate| fates.contains(fate))
            .count()
    };
    let mut said = Vec::new();
    let mut add = |count: usize, words: &dyn Fn(usize) -> String| {
        if count > 0 {
            said.push(words(count));
        }
    };
    add(count(&[Disposition::Written]), &|count| {
        format!("wrote {}", plural(count, "template"))
    });
    add(count(&[Disposition::Dry]), &|count| {
        format!("would write {}", plural(count, "template"))
    });
    add(count(&[Disposition::There, Disposition::Same]), &|count| {
        format!("left {} alone", plural(count, "template"))
    });
    add(count(&[Disposition::Refused]), &|count| {
        format!("{} not carried over", plural(count, "prompt"))
    });
    add(told.found.unreadable.len(), &|count| {
        format!("{} not readable", plural(count, "file"))
    });
    add(told.batch.parts.len(), &|count| match count {
        1 => "1 file is a part of others".to_owned(),
        _ => format!("{count} files are parts of others"),
    });
    add(told.found.plain.len(), &|count| {
        format!(
            "skipped {} without placeholders (name it to import it)",
            plural(count, "page")
        )
    });
    cx.line(&format!("{}; changed none of the prompts", said.join("; ")))?;
    if !told.found.others.is_empty() {
        cx.note(&format!("note: skipped {}", others(&told.found.others)));
    }
    if let Some(folder) = told.left_out {
        cx.note(&format!(
            "note: [templates] include of ctxc.toml leaves {}/ out: add it there",
            escape(folder)
        ));
    }
    if count(&[Disposition::Written, Disposition::Same]) > 0 {
        cx.note("next: ctxc check");
    }
    Ok(())
}

/// Describes the files that were skipped because their placeholders match no format.
pub(super) fn others(paths: &[String]) -> String {
    let names = escape(&paths.join(", ")).into_owned();
    format!("{names}: placeholders in no supported format; copy each text into its own `.md` file")
}
