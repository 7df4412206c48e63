//! The format for people: the message, the source lines, the origins of values, the fixes.
//!
//! The lines are drawn by [`super::drawing`]. The message, notes and fixes around them are written
//! here, so that editors and terminals can link the first line of a finding.

use super::drawing::draw_marks;
use super::escape::{escape_line, wrap_line};
use super::report::{CheckReport, ShownFindings};
use super::screen::{Paint, Screen};
use super::sources::SourceTexts;
use super::summary;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Applicability;
use crate::base::span::Span;
use crate::rules::input::unreadable_file;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The maximum number of places shown of one finding.
const MAX_LABELS: usize = 8;

/// The shown part of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindingExtent {
    /// Source lines, notes and fixes.
    Whole,
    /// Its first line.
    Line,
}

/// Writes the selected findings and the number of omitted ones.
pub(crate) fn write_full(
    out: &mut dyn Write,
    report: &CheckReport,
    shown: ShownFindings,
    screen: Screen,
    sources: &mut SourceTexts,
) -> io::Result<()> {
    let (selected, left_out) = shown.select_findings(&report.diagnostics);
    let selected = choose_extents(&selected, shown.max_drawn);
    for (diagnostic, extent) in &selected {
        match extent {
            FindingExtent::Whole => {
                write_finding(out, diagnostic, screen, sources)?;
                writeln!(out)?;
            }
            FindingExtent::Line => write_first_line(out, diagnostic, screen)?,
        }
    }
    summary::write_omitted(out, &left_out, screen)?;
    let lines = selected
        .iter()
        .filter(|(_, extent)| *extent == FindingExtent::Line)
        .count();
    summary::write_shortened(out, lines, screen)
}

/// Draws the first `most` findings, errors before all others; the others get one line each.
fn choose_extents<'d>(
    findings: &[&'d Diagnostic],
    max_lines: usize,
) -> Vec<(&'d Diagnostic, FindingExtent)> {
    use crate::base::rule_meta::Severity;
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    let mut errors_left = errors.min(max_lines);
    let mut others_left = max_lines.saturating_sub(errors);
    let extent = |finding: &'d Diagnostic| {
        let left = if finding.severity == Severity::Error {
            &mut errors_left
        } else {
            &mut others_left
        };
        let extent = if *left > 0 {
            FindingExtent::Whole
        } else {
            FindingExtent::Line
        };
        *left = left.saturating_sub(1);
        (finding, extent)
    };
    findings.iter().copied().map(extent).collect()
}

/// Writes one finding.
pub(crate) fn write_finding(
    out: &mut dyn Write,
    diagnostic: &Diagnostic,
    screen: Screen,
    sources: &mut SourceTexts,
) -> io::Result<()> {
    write_first_line(out, diagnostic, screen)?;
    let marks = finding_marks(diagnostic);
    // A file that was not read, because a link leads out of the project, is not shown either.
    let was_read =
        diagnostic.rule.name != unreadable_file::RULE.meta.name || diagnostic.span.end > 0;
    if let Some(source) = sources
        .finding_source(&diagnostic.path)
        .filter(|source| was_read && source.is_shown)
    {
        out.write_all(draw_marks(diagnostic, source, &marks, None, screen).as_bytes())?;
    }
    let mut elsewhere: BTreeMap<&str, Vec<(Span, &str)>> = BTreeMap::new();
    for label in diagnostic.labels.iter().take(MAX_LABELS) {
        if let Some(path) = &label.path
            && **path != *diagnostic.path
        {
            elsewhere
                .entry(path)
                .or_default()
                .push((label.span, &label.text));
        }
    }
    for (path, marks) in elsewhere {
        if let Some(source) = sources
            .related_source(path)
            .filter(|source| source.is_shown)
        {
            out.write_all(draw_marks(diagnostic, source, &marks, Some(path), screen).as_bytes())?;
        }
    }
    write_notes(out, diagnostic, screen)
}

/// Writes the first line: `error[name] path:line:col: message (CTX202)`.
fn write_first_line(
    out: &mut dyn Write,
    diagnostic: &Diagnostic,
    screen: Screen,
) -> io::Result<()> {
    if screen.width.is_none() {
        return first_line(out, diagnostic, screen).and_then(|()| writeln!(out));
    }
    let mut line = Vec::new();
    first_line(&mut line, diagnostic, screen)?;
    writeln!(
        out,
        "{}",
        wrap_line(&String::from_utf8_lossy(&line), screen.width, 2)
    )
}

fn first_line(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    let off = screen.color_end();
    write!(
        out,
        "{}{}[{}]{off} {}{}:{}:{}:{off} {} {}({}){off}",
        screen.color_start(summary::severity_paint(diagnostic.severity)),
        diagnostic.severity,
        diagnostic.rule.name,
        screen.color_start(Paint::Strong),
        escape_line(&diagnostic.path),
        diagnostic.start.line,
        diagnostic.start.column,
        escape_line(&diagnostic.message),
        screen.color_start(Paint::Dim),
        diagnostic.rule.code,
    )
}

/// Returns the place of the finding, then its other places in the same file.
fn finding_marks(diagnostic: &Diagnostic) -> Vec<(Span, &str)> {
    let mut marks = vec![(diagnostic.span, &*diagnostic.here)];
    for label in diagnostic.labels.iter().take(MAX_LABELS) {
        if label
            .path
            .as_ref()
            .is_none_or(|path| *path == diagnostic.path)
        {
            marks.push((label.span, &*label.text));
        }
    }
    marks
}

/// Writes notes, help and fixes.
fn write_notes(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    for note in &diagnostic.notes {
        write_item(out, screen, Paint::Strong, "=", note)?;
    }
    if let Some(help) = &diagnostic.help {
        write_item(out, screen, Paint::Help, "help:", help)?;
    }
    let several = diagnostic.fixes.len() > 1;
    for (at, fix) in diagnostic.fixes.iter().enumerate() {
        let safe = if fix.applicability == Applicability::Safe {
            "safe "
        } else {
            ""
        };
        let letter = if several {
            format!(" {}", char::from(b'a' + (at.min(25)) as u8))
        } else {
            String::new()
        };
        write_item(
            out,
            screen,
            Paint::Good,
            &format!("{safe}fix{letter}:"),
            &fix.title,
        )?;
    }
    Ok(())
}

/// Writes one item under a finding. Further lines are indented to its first word.
fn write_item(
    out: &mut dyn Write,
    screen: Screen,
    paint: Paint,
    head: &str,
    text: &str,
) -> io::Result<()> {
    let line = format!("  {} {}", screen.paint(paint, head), escape_line(text));
    writeln!(
        out,
        "{}",
        wrap_line(&line, screen.width, 3 + head.chars().count())
    )
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/full.rs"]
mod tests;
