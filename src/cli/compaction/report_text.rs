//! The report for people, in 80 columns: the verdict, then each compaction.

use super::report::{ClassRow, CompactionReport, CompactionRow, FactRow, ListedFacts, SessionRow};
use crate::cli::prelude::*;
use crate::cli::render::escape::wrap_line;

/// The width of the report.
const COLUMNS: usize = 80;
/// The column in which the text of a fact begins.
const FACT_COLUMN: usize = 17;
/// The maximum number of facts that are listed of one kind.
const MAX_LISTED: usize = 20;

/// Prints the report.
pub(super) fn print_report(
    report: &CompactionReport,
    listed: ListedFacts,
    cx: &mut Cx,
) -> Result<()> {
    let verdict = verdict_line(report);
    let paint = if report.prompt_line.is_some() {
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
        let place = report.sessions.first().map_or("", prompt_place);
        let title = format!("to keep them, add this line to the compaction prompt{place}:");
        print_wrapped(&title, 2, cx)?;
        print_wrapped(&format!("  {line}"), 2, cx)?;
    }
    Ok(())
}

/// Returns the place of a compaction prompt (looked up 2026-11-28).
fn prompt_place(session: &SessionRow) -> &'static str {
    match session.format {
        "claude-code" => " (`/compact LINE`, or CLAUDE.md)",
        "codex" => " (`compact_prompt` in config.toml)",
        "pi" => " (`/compact LINE`)",
        _ => "",
    }
}

/// Returns the verdict in one line.
pub(super) fn verdict_line(report: &CompactionReport) -> String {
    let needed = report
        .facts()
        .filter(|fact| fact.needed_again.is_some())
        .count();
    let instructions = report
        .facts()
        .filter(|fact| fact.is_dropped_instruction())
        .count();
    let mutated = report
        .facts()
        .filter(|fact| fact.summary_value.is_some())
        .count();
    let mut parts = vec![format!(
        "{} dropped and needed again",
        pluralize(needed, "fact")
    )];
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

fn print_session(session: &SessionRow, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    cx.print_line("")?;
    let line = format!(
        "{}: {}, {}",
        escape_line(&session.name),
        session.format,
        pluralize(session.messages, "message")
    );
    print_wrapped(&line, 2, cx)?;
    for note in unread_notes(session) {
        print_wrapped(&format!("  {note}"), 4, cx)?;
    }
    for compaction in &session.compactions {
        print_compaction(compaction, listed, cx)?;
    }
    Ok(())
}

/// Returns the notes on rows that could not be used.
pub(super) fn unread_notes(session: &SessionRow) -> Vec<String> {
    let mut notes = Vec::new();
    if !session.unknown_rows.is_empty() {
        let kinds: Vec<String> = session
            .unknown_rows
            .iter()
            .map(|row| format!("{} {}", escape_line(&row.kind), row.rows))
            .collect();
        notes.push(format!(
            "rows of unknown kinds, left out: {}",
            kinds.join(", ")
        ));
    }
    if let Some(first) = session.unreadable_lines.first() {
        let count = pluralize(session.unreadable_lines.len(), "line");
        notes.push(format!(
            "{count} left out, as not JSON; the first is line {first}"
        ));
    }
    if session.is_cut {
        notes.push("the last line is cut and left out: the session is still being written, or its writer was killed".to_owned());
    }
    notes
}

/// Returns the rows of facts of a compaction.
pub(super) fn measures(compaction: &CompactionRow) -> String {
    let growth = compaction
        .summary_growth
        .map_or_else(String::new, |growth| format!(" ({growth:+})"));
    let edit = compaction.answers_to_edit.map_or_else(
        || "no edit after it".to_owned(),
        |answers| format!("{} to the next edit", pluralize(answers, "answer")),
    );
    format!(
        "{} dropped, {} kept; summary {} bytes{growth}; {} read again; {edit}",
        pluralize(compaction.messages_dropped, "message"),
        format_thousands(compaction.messages_kept),
        format_thousands(compaction.summary_bytes),
        pluralize(compaction.files_read_again, "file"),
    )
}

/// Returns the time, the cause and the tokens of a compaction.
pub(super) fn headline(compaction: &CompactionRow) -> String {
    let tokens = |count: Option<u64>| Some(format_thousands(usize::try_from(count?).ok()?));
    let tokens: Vec<String> = [compaction.tokens_before, compaction.tokens_after]
        .into_iter()
        .filter_map(tokens)
        .collect();
    let tokens = if tokens.is_empty() {
        String::new()
    } else {
        format!("{} tokens", tokens.join(" → "))
    };
    let at = compaction.at.as_deref().unwrap_or_default();
    let at = at.get(..16).unwrap_or(at).replace('T', " ");
    let at = escape_line(&at).into_owned();
    let kind = match compaction.kind {
        "cleared-results" => "results of tools cleared",
        "opaque" => "the summary cannot be read",
        _ => "",
    };
    let trigger = compaction
        .trigger
        .as_deref()
        .map(escape_line)
        .unwrap_or_default();
    let parts = [
        format!("#{}", compaction.number),
        at,
        trigger.into_owned(),
        kind.to_owned(),
        tokens,
        format!("line {}", compaction.line),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}

fn print_compaction(compaction: &CompactionRow, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    let line = cx
        .options
        .screen
        .paint(Paint::Strong, &headline(compaction));
    cx.print_line(&line)?;
    print_wrapped(&format!("  {}", measures(compaction)), 2, cx)?;
    if listed == ListedFacts::All {
        let all: Vec<&FactRow> = compaction.facts.iter().collect();
        print_facts("all facts", &all, all.len(), cx)?;
    } else {
        let chosen = |is_chosen: fn(&FactRow) -> bool| -> Vec<&FactRow> {
            compaction
                .facts
                .iter()
                .filter(|fact| is_chosen(fact))
                .collect()
        };
        let needed = chosen(|fact| fact.needed_again.is_some());
        print_facts("dropped and needed again", &needed, MAX_LISTED, cx)?;
        let rules = chosen(|fact| fact.is_dropped_instruction() && fact.needed_again.is_none());
        print_facts(
            "instructions not found in the summary",
            &rules,
            MAX_LISTED,
            cx,
        )?;
        let mutated = chosen(|fact| fact.summary_value.is_some() && fact.needed_again.is_none());
        print_facts("another value in the summary", &mutated, MAX_LISTED, cx)?;
    }
    let classes: Vec<String> = compaction.classes.iter().map(survivors).collect();
    if !classes.is_empty() {
        print_wrapped(&format!("  kept: {}", classes.join(" · ")), 8, cx)?;
    }
    Ok(())
}

/// Returns the share of a class that is left: `3 of 7 instruction`.
fn survivors(class: &ClassRow) -> String {
    format!("{} {} of {}", class.class, class.surviving(), class.facts)
}

fn print_facts(title: &str, facts: &[&FactRow], most: usize, cx: &mut Cx) -> Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    cx.print_line(&format!("  {title}: {}", facts.len()))?;
    for fact in facts.iter().take(most) {
        let class = &fact.class;
        let line = format!(
            "    {class:<12} {}  {}",
            escape_line(&fact.text),
            place(fact)
        );
        print_wrapped(&line, FACT_COLUMN, cx)?;
    }
    if facts.len() > most {
        cx.print_line(&format!(
            "    … {} more: --all lists every fact",
            facts.len() - most
        ))?;
    }
    Ok(())
}

/// Returns the verdict, the line and the later use of a fact.
pub(super) fn place(fact: &FactRow) -> String {
    let mut parts = vec![format!("line {}", fact.line)];
    if let Some(other) = &fact.summary_value {
        parts.push(format!("the summary has {}", escape_line(other)));
    }
    if let Some(later) = &fact.needed_again {
        parts.push(format!("{} at {}", later.kind, later.line));
    } else if fact.summary_value.is_none() {
        parts.push(fact.verdict.to_owned());
    }
    format!("({})", parts.join(", "))
}

fn print_wrapped(line: &str, hang: usize, cx: &mut Cx) -> Result<()> {
    let width = cx.options.screen.width.unwrap_or(COLUMNS).min(COLUMNS);
    let line = wrap_line(line, Some(width), hang).into_owned();
    cx.print(|out| writeln!(out, "{line}"))
}
