//! The format for people: the message, the source lines, the origins of values, the fixes.
//!
//! The lines are drawn by [`super::drawing`]. The message, notes and fixes around them are written
//! here, so that editors and terminals can link the first line of a finding.

use super::drawing::draw;
use super::escape::escape;
use super::report::{Report, Shown};
use super::screen::{Paint, Screen};
use super::sources::Sources;
use super::summary;
use super::wrap::wrap;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Applicability;
use crate::base::span::Span;
use crate::rules::input::unreadable_file;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The maximum number of places shown of one finding.
const LABELS: usize = 8;

/// The shown part of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Source lines, notes and fixes.
    Whole,
    /// Its first line.
    Line,
}

/// Writes the selected findings and the number of omitted ones.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &Report,
    shown: Shown,
    screen: Screen,
    sources: &mut Sources,
) -> io::Result<()> {
    let (selected, left_out) = shown.select(&report.diagnostics);
    let selected = extents(&selected, shown.drawn);
    for (diagnostic, extent) in &selected {
        match extent {
            Extent::Whole => {
                finding(out, diagnostic, screen, sources)?;
                writeln!(out)?;
            }
            Extent::Line => head(out, diagnostic, screen)?,
        }
    }
    summary::left_out(out, &left_out, screen)?;
    let lines = selected
        .iter()
        .filter(|(_, extent)| *extent == Extent::Line)
        .count();
    summary::shortened(out, lines, screen)
}

/// Draws the first `most` findings, errors before all others; the others get one line each.
fn extents<'d>(findings: &[&'d Diagnostic], most: usize) -> Vec<(&'d Diagnostic, Extent)> {
    use crate::base::rule_meta::Severity;
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count();
    let mut errors_left = errors.min(most);
    let mut others_left = most.saturating_sub(errors);
    let extent = |finding: &'d Diagnostic| {
        let left = if finding.severity == Severity::Error {
            &mut errors_left
        } else {
            &mut others_left
        };
        let extent = if *left > 0 {
            Extent::Whole
        } else {
            Extent::Line
        };
        *left = left.saturating_sub(1);
        (finding, extent)
    };
    findings.iter().copied().map(extent).collect()
}

/// Writes one finding.
pub(crate) fn finding(
    out: &mut dyn Write,
    diagnostic: &Diagnostic,
    screen: Screen,
    sources: &mut Sources,
) -> io::Result<()> {
    head(out, diagnostic, screen)?;
    let marks = marks(diagnostic);
    // A file that was not read, because a link leads out of the project, is not shown either.
    let was_read =
        diagnostic.rule.name != unreadable_file::RULE.meta.name || diagnostic.span.end > 0;
    if let Some(source) = sources
        .main(&diagnostic.path)
        .filter(|source| was_read && source.is_shown)
    {
        out.write_all(draw(diagnostic, source, &marks, None, screen).as_bytes())?;
    }
    let mut elsewhere: BTreeMap<&str, Vec<(Span, &str)>> = BTreeMap::new();
    for label in diagnostic.labels.iter().take(LABELS) {
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
        if let Some(source) = sources.aside(path).filter(|source| source.is_shown) {
            out.write_all(draw(diagnostic, source, &marks, Some(path), screen).as_bytes())?;
        }
    }
    tail(out, diagnostic, screen)
}

/// Writes the first line: `error[name] path:line:col: message (CTX202)`.
fn head(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    if screen.width.is_none() {
        return first_line(out, diagnostic, screen).and_then(|()| writeln!(out));
    }
    let mut line = Vec::new();
    first_line(&mut line, diagnostic, screen)?;
    writeln!(
        out,
        "{}",
        wrap(&String::from_utf8_lossy(&line), screen.width, 2)
    )
}

fn first_line(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    let off = screen.off();
    write!(
        out,
        "{}{}[{}]{off} {}{}:{}:{}:{off} {} {}({}){off}",
        screen.on(summary::paint(diagnostic.severity)),
        diagnostic.severity,
        diagnostic.rule.name,
        screen.on(Paint::Strong),
        escape(&diagnostic.path),
        diagnostic.start.line,
        diagnostic.start.column,
        escape(&diagnostic.message),
        screen.on(Paint::Dim),
        diagnostic.rule.code,
    )
}

/// Returns the place of the finding, then its other places in the same file.
fn marks(diagnostic: &Diagnostic) -> Vec<(Span, &str)> {
    let mut marks = vec![(diagnostic.span, &*diagnostic.here)];
    for label in diagnostic.labels.iter().take(LABELS) {
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
fn tail(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    for note in &diagnostic.notes {
        item(out, screen, Paint::Strong, "=", note)?;
    }
    if let Some(help) = &diagnostic.help {
        item(out, screen, Paint::Help, "help:", help)?;
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
        item(
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
fn item(
    out: &mut dyn Write,
    screen: Screen,
    paint: Paint,
    head: &str,
    text: &str,
) -> io::Result<()> {
    let line = format!("  {} {}", screen.paint(paint, head), escape(text));
    writeln!(
        out,
        "{}",
        wrap(&line, screen.width, 3 + head.chars().count())
    )
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/full.rs"]
mod tests;
