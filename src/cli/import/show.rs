//! The report of `ctxc import` for people: the disposition of each prompt, then the totals.

use super::make::ConvertedPrompt;
use super::report::{ImportDisposition, ImportReport};
use super::suggest::suggest_config;
use super::verify::{FailedSample, SampleDifferenceKind};
use crate::cli::prelude::*;
use crate::cli::render::screen::Screen;
use crate::cli::render::unified;
use crate::import::{ImportNote, ImportNoteKind, ImportedParameter, NoteWeight, PromptText};
use crate::kernel::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// Characters shown on each side of a difference.
const CONTEXT_CHARS: usize = 60;

/// Prints the whole report.
pub(super) fn print_report(report: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    for (converted, disposition) in report.batch.converted.iter().zip(report.dispositions) {
        print_prompt(converted, *disposition, cx)?;
    }
    for (path, reason) in &report.found.unreadable {
        let word = cx.options.screen.paint(Paint::Error, "error");
        cx.print_line(&format!(
            "{}: {word}: it cannot be read: {reason}",
            escape_line(path)
        ))?;
    }
    print_verdict(report, cx)?;
    if let Some(suggestion) = suggest_config(&report.batch.converted) {
        cx.print_line(
            "models and their settings, as a suggestion for ctxc.toml, which was not changed:",
        )?;
        for line in suggestion.lines() {
            cx.print(|out| writeln!(out, "{}", format!("  {}", escape_line(line)).trim_end()))?;
        }
    }
    print_totals(report, cx)
}

fn print_prompt(
    converted: &ConvertedPrompt,
    disposition: ImportDisposition,
    cx: &mut Cx,
) -> Result<()> {
    let screen = cx.options.screen;
    let from: Vec<&str> = converted
        .system
        .iter()
        .chain([&converted.path])
        .map(String::as_str)
        .collect();
    let from = screen.paint(Paint::Strong, &escape_line(&from.join(" + ")));
    let suite = converted
        .suite
        .iter()
        .map(|(path, _)| format!(" and {path}"));
    let to = escape_line(&converted.output).into_owned() + &escape_line(&suite.collect::<String>());
    let outcome = match disposition {
        ImportDisposition::Written => format!("→ {to}"),
        ImportDisposition::Dry => format!("→ {to} (not written)"),
        ImportDisposition::There => {
            format!("{to} already exists; left as it is (--force overwrites it)")
        }
        ImportDisposition::Same => format!("{to} already exists, unchanged"),
        ImportDisposition::Refused => "is not carried over".to_owned(),
    };
    let place = if converted
        .imported
        .turns
        .iter()
        .all(|turn| matches!(turn.body, PromptText::InPlace { .. }))
    {
        ", text stays in its file"
    } else {
        ""
    };
    let place = if disposition == ImportDisposition::Refused {
        ""
    } else {
        place
    };
    cx.print_line(&format!(
        "{from} ({}{place}) {outcome}",
        converted.format.title
    ))?;
    if disposition != ImportDisposition::Refused && !converted.imported.parameters.is_empty() {
        let inputs: Vec<String> = converted
            .imported
            .parameters
            .iter()
            .map(describe_input)
            .collect();
        cx.print_hanging(&format!("  inputs: {}", escape_line(&inputs.join(", "))), 4)?;
    }
    let mut groups: Vec<(&ImportNote, Vec<u32>)> = Vec::new();
    let mut known: BTreeMap<(&str, &ImportNoteKind), usize> = BTreeMap::new();
    for one in &converted.imported.notes {
        let at = *known.entry((&one.path, &one.kind)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, others)) => others.push(one.line),
            None => groups.push((one, Vec::new())),
        }
    }
    groups
        .into_iter()
        .try_for_each(|(first, others)| print_import_note(first, &others, cx))
}

/// The maximum number of further lines of a note that are listed.
const MAX_LISTED_LINES: usize = 4;

/// Lists the further lines of a note, such as “ (also in lines 37, 39 and 196 more)”.
fn further_lines(others: &[u32]) -> String {
    let lines: Vec<String> = others
        .iter()
        .take(MAX_LISTED_LINES)
        .map(u32::to_string)
        .collect();
    let word = if others.len() == 1 { "line" } else { "lines" };
    match others.len().saturating_sub(MAX_LISTED_LINES) {
        _ if others.is_empty() => String::new(),
        0 => format!(" (also in {word} {})", lines.join(", ")),
        more => format!(" (also in {word} {} and {more} more)", lines.join(", ")),
    }
}

/// Describes an input, such as `tone (string, default "warm")`.
fn describe_input(parameter: &ImportedParameter) -> String {
    let kind = parameter.kind.unwrap_or("any");
    match &parameter.default {
        Some(default) if matches!(kind, "string" | "any") => {
            format!("{} ({kind}, default {default:?})", parameter.name)
        }
        Some(default) => format!("{} ({kind}, default {default})", parameter.name),
        None => format!("{} ({kind})", parameter.name),
    }
}

fn print_import_note(note: &ImportNote, others: &[u32], cx: &mut Cx) -> Result<()> {
    let weight = note.kind.weight();
    let paint = match weight {
        NoteWeight::Info => Paint::Info,
        NoteWeight::Warning => Paint::Warning,
        NoteWeight::Error => Paint::Error,
    };
    let word = cx.options.screen.paint(paint, weight.word());
    let place = if note.line == 0 {
        note.path.clone()
    } else {
        format!("{}:{}", note.path, note.line)
    };
    cx.print_hanging(
        &format!(
            "  {}: {word}: {}{}",
            escape_line(&place),
            escape_line(&note.kind.to_string()),
            further_lines(others)
        ),
        4,
    )
}

/// Prints the result of the samples.
pub(super) fn print_verdict(report: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    let Some((path, verdict)) = report.verdict else {
        return Ok(());
    };
    let path = path.display().to_string();
    let word = cx.options.screen.paint(Paint::Error, "error");
    for difference in &verdict.differences {
        cx.print_line(&format!(
            "{}:{}: {word}: {}",
            escape_line(&path),
            difference.line,
            escape_line(&difference_title(difference))
        ))?;
        for line in difference_lines(difference) {
            cx.print(|out| writeln!(out, "  {}", escape_line(&line)))?;
        }
    }
    let equal = verdict.samples - verdict.differences.len();
    let samples = pluralize(verdict.samples, "sample");
    let quoted = |names: &BTreeSet<String>| {
        names
            .iter()
            .map(|name| format!("`{}`", escape_line(name)))
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
    cx.print_line(&if equal == verdict.samples {
        format!("{samples}: every message{fields} equal, byte for byte{others}")
    } else {
        format!(
            "{samples}: {equal} equal byte for byte, {} not{others}",
            verdict.differences.len()
        )
    })
}

/// Describes a difference in one line.
pub(super) fn difference_title(difference: &FailedSample) -> String {
    let name = &difference.template;
    match &difference.kind {
        SampleDifferenceKind::Failed(why) => format!(
            "{name} cannot be rendered: {}",
            why.first().map_or("", String::as_str)
        ),
        SampleDifferenceKind::Roles(expected, rendered) => {
            let list = |roles: &[String]| {
                if roles.is_empty() {
                    "nothing".to_owned()
                } else {
                    roles.join(", ")
                }
            };
            format!("{name} is {}; expected {}", list(rendered), list(expected))
        }
        SampleDifferenceKind::Field((field, ..)) => format!("{name}: {field} differs"),
        SampleDifferenceKind::Byte(byte) => {
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
pub(super) fn difference_lines(difference: &FailedSample) -> Vec<String> {
    match &difference.kind {
        SampleDifferenceKind::Failed(why) => why
            .iter()
            .skip(1)
            .map(|why| escape_line(why).into_owned())
            .collect(),
        SampleDifferenceKind::Roles(..) => {
            vec!["`expected` may be a list of {\"role\", \"content\"}, one for each message, or the body of a request".to_owned()]
        }
        SampleDifferenceKind::Field((field, expected, rendered)) => {
            let mut diff = Vec::new();
            // Writing to a vector cannot fail.
            let _ = unified::write_diff(&mut diff, field, expected, rendered, Screen::PLAIN);
            String::from_utf8_lossy(&diff)
                .lines()
                .skip(2)
                .map(str::to_owned)
                .collect()
        }
        SampleDifferenceKind::Byte(byte) => {
            let part = |text: &str| {
                let skipped = byte.column.saturating_sub(1 + CONTEXT_CHARS);
                let part: String = text.chars().skip(skipped).take(2 * CONTEXT_CHARS).collect();
                let (head, tail) = (
                    if skipped > 0 { "…" } else { "" },
                    if text.chars().count() > skipped + 2 * CONTEXT_CHARS {
                        "…"
                    } else {
                        ""
                    },
                );
                format!("{head}{}{tail}", visible_text(&part))
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
fn visible_text(text: &str) -> String {
    if text.is_empty() {
        "(nothing more)".to_owned()
    } else {
        escape_line(text).into_owned()
    }
}

fn print_totals(report: &ImportReport<'_>, cx: &mut Cx) -> Result<()> {
    let count = |dispositions: &[ImportDisposition]| {
        report
            .dispositions
            .iter()
            .filter(|disposition| dispositions.contains(disposition))
            .count()
    };
    let mut totals = Vec::new();
    let mut add = |count: usize, words: &dyn Fn(usize) -> String| {
        if count > 0 {
            totals.push(words(count));
        }
    };
    add(count(&[ImportDisposition::Written]), &|count| {
        format!("wrote {}", pluralize(count, "template"))
    });
    add(count(&[ImportDisposition::Dry]), &|count| {
        format!("would write {}", pluralize(count, "template"))
    });
    add(
        count(&[ImportDisposition::There, ImportDisposition::Same]),
        &|count| format!("left {} alone", pluralize(count, "template")),
    );
    add(count(&[ImportDisposition::Refused]), &|count| {
        format!("{} not carried over", pluralize(count, "prompt"))
    });
    add(report.found.unreadable.len(), &|count| {
        format!("{} not readable", pluralize(count, "file"))
    });
    add(report.batch.parts.len(), &|count| match count {
        1 => "1 file is a part of others".to_owned(),
        _ => format!("{count} files are parts of others"),
    });
    add(report.found.plain.len(), &|count| {
        format!(
            "skipped {} without placeholders (name it to import it)",
            pluralize(count, "page")
        )
    });
    cx.print_line(&format!(
        "{}; changed none of the prompts",
        totals.join("; ")
    ))?;
    if !report.found.others.is_empty() {
        cx.print_note(&format!(
            "note: skipped {}",
            describe_skipped(&report.found.others)
        ));
    }
    if let Some(folder) = report.left_out {
        cx.print_note(&format!(
            "note: [templates] include of ctxc.toml leaves {}/ out: add it there",
            escape_line(folder)
        ));
    }
    if count(&[ImportDisposition::Written, ImportDisposition::Same]) > 0 {
        cx.print_note("next: ctxc check");
    }
    Ok(())
}

/// Describes the files that were skipped because their placeholders match no format.
pub(super) fn describe_skipped(paths: &[String]) -> String {
    let names = escape_line(&paths.join(", ")).into_owned();
    format!("{names}: placeholders in no supported format; copy each text into its own `.md` file")
}
