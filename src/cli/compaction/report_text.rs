//! The report for people, in 80 columns: the verdict, then each compaction.

use super::report::{CompactionReport, ReadSession};
use crate::cli::prelude::*;
use crate::cli::render::escape::wrap_line;
use crate::session::analysis::{ClassCounts, JudgedCompaction, JudgedFact, ListedFacts};
use crate::session::session_event::{CompactionKind, RowCounts, SessionFormat};

/// The width of the report.
const COLUMNS: usize = 80;
/// The column in which the text of a fact begins.
const FACT_COLUMN: usize = 17;
/// Returns true for the facts of one list.
type FactTest = fn(&JudgedFact) -> bool;
/// The maximum number of facts that are listed of one kind.
const MAX_LISTED: usize = 20;

/// Prints the report.
pub(super) fn print_report(
    report: &CompactionReport,
    listed: ListedFacts,
    cx: &mut Cx,
) -> Result<()> {
    let verdict = verdict_line(report);
    let paint = if report.prompt_line.is_some() || report.opaque() > 0 {
        Paint::Warning
    } else {
        Paint::Good
    };
    let verdict = cx.options.screen.paint(paint, &verdict);
    cx.print_line(&verdict)?;
    for session in &report.sessions {
        print_session(session, listed, cx)?;
    }
    if let Some(line) = &report.prompt_line {
        cx.print_line("")?;
        let place = prompt_place(report);
        let title = format!("to keep them, add this line to the compaction prompt{place}:");
        print_wrapped(&title, 2, cx)?;
        print_wrapped(&format!("  {line}"), 2, cx)?;
    }
    Ok(())
}

/// Returns the place of the compaction prompt, if all sessions have one (looked up 2026-11-28).
fn prompt_place(report: &CompactionReport) -> &'static str {
    let place = |session: &ReadSession| match session.format {
        SessionFormat::ClaudeCode => " (`/compact LINE`, or CLAUDE.md)",
        SessionFormat::Codex => " (`compact_prompt` in config.toml)",
        SessionFormat::Pi => " (`/compact LINE`)",
        SessionFormat::GeminiCli | SessionFormat::Recording => "",
    };
    let mut places = report.sessions.iter().map(place);
    let first = places.next().unwrap_or_default();
    if places.all(|place| place == first) {
        first
    } else {
        ""
    }
}

/// Returns the verdict in one line.
pub(super) fn verdict_line(report: &CompactionReport) -> String {
    let needed = report.count(JudgedFact::is_needed_again);
    let instructions = report.count(JudgedFact::is_dropped_instruction);
    let mutated = report.count(|fact| fact.other_value.is_some());
    let opaque = report.opaque();
    let mut parts = vec![format!(
        "{} dropped and needed again",
        pluralize(needed, "fact")
    )];
    if opaque > 0 {
        let count = pluralize(opaque, "compaction");
        parts.insert(
            0,
            format!("{count} undecided, without a summary that can be read"),
        );
    }
    if instructions > 0 {
        parts.push(format!(
            "{} not found in the summary",
            pluralize(instructions, "instruction")
        ));
    }
    if mutated > 0 {
        parts.push(format!(
            "{} with another value in the summary",
            pluralize(mutated, "fact")
        ));
    }
    parts.join(", ")
}

fn print_session(session: &ReadSession, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    cx.print_line("")?;
    let line = format!(
        "{}: {}, {}",
        escape_line(&session.name),
        session.format.word(),
        pluralize(session.judged.messages, "message")
    );
    print_wrapped(&line, 2, cx)?;
    for note in unread_notes(&session.rows) {
        print_wrapped(&format!("  {note}"), 4, cx)?;
    }
    for compaction in &session.judged.compactions {
        print_compaction(compaction, listed, cx)?;
    }
    Ok(())
}

/// Returns the notes on rows that could not be used.
pub(super) fn unread_notes(rows: &RowCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if !rows.unknown_rows.is_empty() {
        let kinds: Vec<String> = rows
            .unknown_rows
            .iter()
            .map(|row| format!("{} {}", escape_line(&row.kind), row.rows))
            .collect();
        notes.push(format!(
            "rows of unknown kinds, left out: {}",
            kinds.join(", ")
        ));
    }
    if let Some(first) = rows.unreadable_lines.first() {
        let count = pluralize(rows.unreadable_rows, "line");
        notes.push(format!(
            "{count} left out, as not JSON or too long; the first is line {first}"
        ));
    }
    if rows.is_cut {
        notes.push("the last line is cut and left out: the session is still being written, or its writer was killed".to_owned());
    }
    notes
}

/// Maximum number of named files that were read again.
const MAX_READ_AGAIN: usize = 5;

/// Returns the messages, the summary and the later work of a compaction.
pub(super) fn measures(compaction: &JudgedCompaction) -> String {
    let growth = compaction
        .growth
        .map_or_else(String::new, |growth| format!(" ({growth:+})"));
    let edit = compaction.answers_to_edit.map_or_else(
        || "no edit after it".to_owned(),
        |answers| format!("{} to the next edit", pluralize(answers, "answer")),
    );
    let mut files: Vec<String> = compaction
        .read_again
        .iter()
        .take(MAX_READ_AGAIN)
        .map(|reading| format!("{} at {}", escape_line(&reading.path), reading.line))
        .collect();
    let more = compaction.read_again.len() - files.len();
    if more > 0 {
        files.push(format!("{more} more"));
    }
    let files = if files.is_empty() {
        String::new()
    } else {
        format!(" ({})", files.join(", "))
    };
    format!(
        "{} dropped, {} kept; summary {} bytes{growth}; {} read again{files}; {edit}",
        pluralize(compaction.dropped, "message"),
        format_thousands(compaction.retained),
        format_thousands(compaction.summary_bytes),
        pluralize(compaction.files_read_again, "file"),
    )
}

/// Returns the time, the cause and the tokens of a compaction.
pub(super) fn headline(compaction: &JudgedCompaction) -> String {
    let point = &compaction.point;
    let tokens = |count: Option<u64>| Some(format_thousands(usize::try_from(count?).ok()?));
    let tokens: Vec<String> = [point.tokens_before, point.tokens_after]
        .into_iter()
        .filter_map(tokens)
        .collect();
    let tokens = if tokens.is_empty() {
        String::new()
    } else {
        format!("{} tokens", tokens.join(" → "))
    };
    let at = point.at.as_deref().unwrap_or_default();
    let at = at.get(..16).unwrap_or(at).replace('T', " ");
    let kind = match point.kind {
        CompactionKind::Summary => "",
        CompactionKind::ClearedResults => "results of tools cleared",
        CompactionKind::Opaque => "the summary is missing or cannot be read",
    };
    let parts = [
        format!("#{}", compaction.number),
        escape_line(&at).into_owned(),
        escape_line(point.trigger.as_deref().unwrap_or_default()).into_owned(),
        kind.to_owned(),
        tokens,
        format!("line {}", point.line),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}

/// Returns the facts to list in a table: those that matter, or all.
pub(super) fn listed_facts(
    compaction: &JudgedCompaction,
    listed: ListedFacts,
) -> impl Iterator<Item = &JudgedFact> {
    let is_listed = move |fact: &&JudgedFact| listed == ListedFacts::All || fact.is_missed();
    compaction.facts.iter().filter(is_listed)
}

fn print_compaction(compaction: &JudgedCompaction, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    let line = cx
        .options
        .screen
        .paint(Paint::Strong, &headline(compaction));
    cx.print_line(&line)?;
    print_wrapped(&format!("  {}", measures(compaction)), 2, cx)?;
    if listed == ListedFacts::All {
        let all: Vec<&JudgedFact> = compaction.facts.iter().collect();
        print_facts("all facts", &all, all.len(), cx)?;
    } else {
        let groups: [(&str, FactTest); 3] = [
            ("dropped and needed again", JudgedFact::is_needed_again),
            ("instructions not found in the summary", |fact| {
                fact.is_dropped_instruction() && !fact.is_needed_again()
            }),
            ("another value in the summary", |fact| {
                fact.other_value.is_some() && !fact.is_needed_again()
            }),
        ];
        for (title, is_chosen) in groups {
            let facts = compaction.facts.iter();
            let chosen: Vec<&JudgedFact> = facts.filter(|fact| is_chosen(fact)).collect();
            print_facts(title, &chosen, MAX_LISTED, cx)?;
        }
    }
    let classes: Vec<String> = compaction.classes.iter().map(survivors).collect();
    if !classes.is_empty() {
        print_wrapped(&format!("  kept: {}", classes.join(" · ")), 8, cx)?;
    }
    Ok(())
}

/// Returns the share of a class that is left: `3 of 7 instruction`.
fn survivors(class: &ClassCounts) -> String {
    format!("{} {} of {}", class.class, class.surviving(), class.facts)
}

fn print_facts(title: &str, facts: &[&JudgedFact], limit: usize, cx: &mut Cx) -> Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    cx.print_line(&format!("  {title}: {}", facts.len()))?;
    for judged in facts.iter().take(limit) {
        let line = format!(
            "    {:<12} {}  ({})",
            judged.fact.class_name(),
            escape_line(&judged.fact.text),
            place(judged)
        );
        print_wrapped(&line, FACT_COLUMN, cx)?;
    }
    if facts.len() > limit {
        cx.print_line(&format!(
            "    … {} more: --all lists every fact",
            facts.len() - limit
        ))?;
    }
    Ok(())
}

/// Returns the line, the verdict and the later use of a fact.
pub(super) fn place(judged: &JudgedFact) -> String {
    let mut parts = vec![format!("line {}", judged.fact.line)];
    if let Some(other) = &judged.other_value {
        parts.push(format!("the summary has {}", escape_line(other)));
    }
    if let Some(later) = &judged.later_use {
        parts.push(format!("{} at {}", later.kind, later.line));
    } else if judged.other_value.is_none() {
        parts.push(judged.verdict.word().to_owned());
    }
    parts.join(", ")
}

fn print_wrapped(line: &str, hang: usize, cx: &mut Cx) -> Result<()> {
    let width = cx.options.screen.width.unwrap_or(COLUMNS).min(COLUMNS);
    let line = wrap_line(line, Some(width), hang).into_owned();
    cx.print(|out| writeln!(out, "{line}"))
}
