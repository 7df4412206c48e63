//! The report for people, in 80 columns: the verdict, then each compaction.

use super::prompt_line::parts;
use super::report::{CompactionReport, ReadSession};
use crate::cli::prelude::*;
use crate::cli::render::escape::wrap_line;
use crate::session::analysis::{ClassCounts, JudgedCompaction, JudgedFact, ListedFacts};
use crate::session::facts::fact::FactClass;
use crate::session::facts::fetched_result::ResultKind;
use crate::session::refetch::{LaterWork, Refetch};
use crate::session::sentences::one_line;
use crate::session::session_event::{CompactionKind, RowCounts, SessionFormat};
use crate::session::verdict::FactVerdict;
use std::collections::HashSet;

/// The width of the report.
const COLUMNS: usize = 80;
/// The column in which the text of a fact begins.
const FACT_COLUMN: usize = 17;
/// The column in which the name of a result begins.
const REFETCH_COLUMN: usize = 19;
/// The maximum number of results that are listed, and of characters of their names.
const MAX_REFETCHES: usize = 5;
const MAX_NAME_CHARS: usize = 120;
/// The explanation of the words that are read most easily in another way.
pub(super) const LEGEND: &str = "row: a line of the session's file. kept: named in the summary or a message that stays, a file by its path; fetched again: its content. `ctxc compaction --help` has the other words.";
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
    let paint = if report.prompt_line.is_some() || report.opaque() > 0 {
        Paint::Warning
    } else {
        Paint::Good
    };
    for line in verdict_lines(report) {
        let width = cx.options.screen.width.unwrap_or(COLUMNS).min(COLUMNS);
        let line = wrap_line(&line, Some(width), 2).into_owned();
        let line = cx.options.screen.paint(paint, &line);
        cx.print(|out| writeln!(out, "{line}"))?;
    }
    if let Some(title) = prompt_title(report) {
        print_wrapped(&title, 2, cx)?;
    }
    if let Some(line) = &report.prompt_line {
        // A wrapped or indented line could not be pasted.
        cx.print_line(line)?;
        print_wrapped(&format!("  {}", examples_line(report)), 4, cx)?;
    }
    for session in &report.sessions {
        print_session(session, listed, cx)?;
    }
    cx.print_line("")?;
    print_wrapped(LEGEND, 2, cx)
}

/// Returns the line above the one for the compaction prompt; `None` if a summary cannot be read and
/// there is none.
pub(super) fn prompt_title(report: &CompactionReport) -> Option<String> {
    if report.prompt_line.is_none() {
        let none = "there is no line to add to the compaction prompt";
        return (report.opaque() == 0).then(|| none.to_owned());
    }
    let place = prompt_place(report);
    let title = format!("to keep it, add this line to the compaction prompt{place}:");
    Some(title)
}

/// Returns the examples of the line for the compaction prompt.
pub(super) fn examples_line(report: &CompactionReport) -> String {
    format!("lost last time: {}", report.prompt_examples.join("; "))
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

/// Returns the verdict: the results that were fetched again with their price, and the facts that the
/// summaries lack.
pub(super) fn verdict_lines(report: &CompactionReport) -> Vec<String> {
    let mut lines = Vec::new();
    let opaque = report.opaque();
    if opaque > 0 {
        let count = pluralize(opaque, "compaction");
        lines.push(format!(
            "{count} undecided, without a summary that can be read"
        ));
    }
    lines.extend(refetch_line(report));
    let instructions = report.count(JudgedFact::is_dropped_instruction);
    let others = report.count(|fact| fact.other_value.is_some());
    let counts = [
        (
            report.count(JudgedFact::is_needed_again),
            "fact",
            " dropped and needed again",
        ),
        (instructions, "instruction", " not found in the summary"),
        (others, "fact", " with another value in the summary"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, name, state)| pluralize(count, name) + state)
        .collect();
    if !counts.is_empty() {
        lines.push(counts.join(", "));
    }
    lines
}

/// Returns the results that were fetched again, each once, and the answers and tokens that this took;
/// `None` if a summary cannot be read and there are none.
fn refetch_line(report: &CompactionReport) -> Option<String> {
    let all: Vec<&JudgedCompaction> = report.compactions().collect();
    let refetches: Vec<&Refetch> = report.refetches().collect();
    let count = |kind: ResultKind| -> usize {
        let names = |session: &ReadSession| {
            let own = session.refetches().filter(|own| own.kind == kind);
            own.map(|own| &own.name).collect::<HashSet<_>>().len()
        };
        report.sessions.iter().map(names).sum()
    };
    let counts: Vec<String> = [(ResultKind::File, "file"), (ResultKind::Command, "result")]
        .into_iter()
        .filter(|(kind, _)| count(*kind) > 0)
        .map(|(kind, name)| pluralize(count(kind), name))
        .collect();
    if counts.is_empty() {
        let none = "nothing that was dropped was fetched again";
        return (report.opaque() == 0).then(|| none.to_owned());
    }
    let sum = |of: fn(&LaterWork) -> usize| all.iter().map(|own| of(&own.later)).sum::<usize>();
    // The work behind the first compaction of a session contains that behind its others.
    let firsts = report
        .sessions
        .iter()
        .filter_map(|session| session.judged.compactions.first());
    let later: Vec<&LaterWork> = firsts.map(|first| &first.later).collect();
    let answers: usize = later.iter().map(|later| later.answers).sum();
    let tokens: u64 = refetches.iter().filter_map(|own| own.tokens).sum();
    let grown: u64 = later.iter().map(|later| later.tokens).sum();
    let price = if refetches.iter().any(|own| own.tokens.is_some()) {
        let share = (tokens * 100).checked_div(grown).unwrap_or(0);
        format!(
            "{} of {} new tokens ({share} %)",
            thousands(tokens),
            thousands(grown)
        )
    } else {
        format!(
            "{} bytes",
            format_thousands(refetches.iter().map(|own| own.bytes).sum())
        )
    };
    let times =
        |own: &mut dyn Iterator<Item = &&Refetch>| -> usize { own.map(|own| own.times).sum() };
    let rest = times(&mut refetches.iter().filter(|own| !own.is_avoidable()));
    let rest = if rest > 0 {
        let all = pluralize(times(&mut refetches.iter()), "case");
        format!("; in {rest} of {all} no summary would have saved it")
    } else {
        String::new()
    };
    Some(format!(
        "{} dropped and fetched again, in {} of {}: {price}{rest}",
        counts.join(" and "),
        format_thousands(sum(|later| later.refetch_answers)),
        pluralize(answers, "later answer"),
    ))
}

fn thousands(count: u64) -> String {
    format_thousands(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Returns the price of a refetch: its tokens, or its bytes without billed tokens.
pub(super) fn price(refetch: &Refetch) -> String {
    refetch.tokens.map_or_else(
        || format!("{} bytes", format_thousands(refetch.bytes)),
        |tokens| format!("{} tokens", thousands(tokens)),
    )
}

/// Returns the place of a refetch, and what came of it.
pub(super) fn refetch_place(refetch: &Refetch) -> String {
    let times = if refetch.times > 1 {
        format!(", {} times", refetch.times)
    } else {
        String::new()
    };
    let change = if refetch.is_changed {
        ", then changed"
    } else {
        ""
    };
    let cause = match (refetch.is_in_summary, refetch.is_forced) {
        (_, true) => ", demanded by a tool",
        (true, false) => ", in the summary",
        (false, false) => "",
    };
    format!("row {}{times}{cause}{change}", refetch.line)
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
        let count = pluralize(rows.unreadable_rows, "row");
        notes.push(format!(
            "{count} left out, as not JSON or too long; the first is row {first}"
        ));
    }
    if rows.is_cut {
        notes.push("the last row is cut and left out: the session is still being written, or its writer was killed".to_owned());
    }
    notes
}

/// Returns the messages, the summary and the next change of a compaction.
pub(super) fn measures(compaction: &JudgedCompaction) -> String {
    let bytes = compaction.summary_bytes;
    let before = compaction
        .growth
        .and_then(|growth| bytes.checked_add_signed(-isize::try_from(growth).ok()?))
        .filter(|before| *before > 0)
        .map_or_else(String::new, |before| {
            format!(", the one before {}", format_thousands(before))
        });
    let edit = compaction.answers_to_edit.map_or_else(
        || "no edit of a file after it".to_owned(),
        |answers| {
            format!(
                "the next edit of a file after {}",
                pluralize(answers, "answer")
            )
        },
    );
    format!(
        "{} dropped, {} kept; summary {} bytes{before}; {edit}",
        pluralize(compaction.dropped, "message"),
        format_thousands(compaction.retained),
        format_thousands(bytes),
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
        format!("row {}", point.line),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}

/// Returns the facts to list in a table: those that matter, or all.
pub(super) fn listed_facts(compaction: &JudgedCompaction, listed: ListedFacts) -> Vec<&JudgedFact> {
    match listed {
        ListedFacts::All => compaction.facts.iter().collect(),
        ListedFacts::Dropped => compaction.missed_facts().collect(),
    }
}

fn print_compaction(compaction: &JudgedCompaction, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    let line = cx
        .options
        .screen
        .paint(Paint::Strong, &headline(compaction));
    cx.print_line(&line)?;
    print_wrapped(&format!("  {}", measures(compaction)), 2, cx)?;
    print_refetches(compaction, listed, cx)?;
    if listed == ListedFacts::All {
        let all = listed_facts(compaction, listed);
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
            let facts = compaction.missed_facts();
            let chosen: Vec<&JudgedFact> = facts.filter(|fact| is_chosen(fact)).collect();
            print_facts(title, &chosen, MAX_LISTED, cx)?;
        }
    }
    let classes = compaction.classes.iter();
    let classes = classes.filter(|class| listed == ListedFacts::All || is_important(class));
    let classes = classes.filter(|class| class.count(FactVerdict::Unseen) == 0);
    let classes: Vec<String> = classes.map(survivors).collect();
    if !classes.is_empty() {
        print_wrapped(&format!("  kept: {}", classes.join(" · ")), 8, cx)?;
    }
    Ok(())
}

fn print_refetches(compaction: &JudgedCompaction, listed: ListedFacts, cx: &mut Cx) -> Result<()> {
    let all = &compaction.later.refetches;
    if all.is_empty() {
        return Ok(());
    }
    cx.print_line(&format!("  dropped and fetched again: {}", all.len()))?;
    let limit = match listed {
        ListedFacts::All => all.len(),
        ListedFacts::Dropped => MAX_REFETCHES,
    };
    for refetch in all.iter().take(limit) {
        let parts = parts(refetch);
        let colon = if parts.is_empty() { "" } else { ": " };
        let name = one_line(&escape_line(&refetch.name), MAX_NAME_CHARS);
        let line = format!(
            "    {:<14} {name}  ({}){colon}{parts}",
            price(refetch),
            refetch_place(refetch)
        );
        print_wrapped(&line, REFETCH_COLUMN, cx)?;
    }
    if all.len() > limit {
        cx.print_line(&format!(
            "    … {} more: --all lists them",
            all.len() - limit
        ))?;
    }
    Ok(())
}

/// Returns true for a class whose losses matter: of commands and values, only where some were needed.
fn is_important(class: &ClassCounts) -> bool {
    let is_detail = [FactClass::Command, FactClass::Value].map(FactClass::word);
    !is_detail.contains(&&*class.class)
        || class.needed_again + class.count(FactVerdict::Mutated) > 0
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

/// Returns the row, the verdict and the later use of a fact.
pub(super) fn place(judged: &JudgedFact) -> String {
    let mut parts = vec![format!("row {}", judged.fact.line)];
    if let Some(other) = &judged.other_value {
        parts.push(format!("the summary has {}", escape_line(other)));
    }
    if let Some(later) = &judged.later_use {
        parts.push(format!("{} at row {}", later.kind, later.line));
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
