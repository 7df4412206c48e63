//! The diagnostic format of reviewdog: one JSON document. Columns count bytes of UTF-8; a fix of several edits becomes
//! one suggestion over all of them, since suggestions are alternatives.

use super::message::message;
use super::place::{Base, Spot, Unit, spots};
use super::report::Report;
use super::sources::{Source, Sources};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit, Fix};
use crate::base::rule_meta::Severity;
use crate::base::span::Span;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'r> {
    source: Tool,
    diagnostics: Vec<Finding<'r>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
}

#[derive(Serialize)]
struct Finding<'r> {
    message: String,
    location: Location<'r>,
    severity: &'static str,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion>,
}

#[derive(Serialize)]
struct Location<'r> {
    path: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

#[derive(Serialize)]
struct Code {
    value: String,
}

#[derive(Serialize)]
struct Range {
    start: Spot,
    end: Spot,
}

#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: String,
}

/// Writes every finding.
pub(crate) fn write(out: &mut dyn Write, report: &Report, base: &Base, sources: &mut Sources) -> io::Result<()> {
    let mut diagnostics = Vec::with_capacity(report.diagnostics.len());
    for finding in &report.diagnostics {
        let source = sources.main(&finding.path);
        diagnostics.push(word(finding, base, source));
    }
    let document = Document { source: Tool { name: "ctxc" }, diagnostics };
    serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

fn word<'r>(finding: &'r Diagnostic, base: &Base, source: Option<&Source>) -> Finding<'r> {
    Finding {
        message: message(finding),
        location: Location { path: base.path(&finding.path), range: source.map(|source| range(source, finding.span)) },
        severity: match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info | Severity::Hint => "INFO",
        },
        code: Code { value: finding.rule.code.to_string() },
        suggestions: source
            .filter(|source| source.is_shown)
            .map_or_else(Vec::new, |source| finding.fixes.iter().filter_map(|fix| suggestion(source, fix)).collect()),
    }
}

fn range(source: &Source, span: Span) -> Range {
    let (start, end) = spots(source, span, Unit::Utf8);
    Range { start, end }
}

/// The text from the first edit of a fix to its last, as it is after the fix.
fn suggestion(source: &Source, fix: &Fix) -> Option<Suggestion> {
    let first = fix.edits.first()?.span;
    let last = fix.edits.last()?.span;
    let whole = first.cover(last);
    let shifted: Vec<Edit> = fix.edits.iter().map(|edit| shift(edit, whole.start)).collect();
    let text = fix::apply(source.text.get(whole.start as usize..whole.end as usize)?, &shifted)?;
    Some(Suggestion { range: range(source, whole), text })
}

fn shift(edit: &Edit, by: u32) -> Edit {
    Edit::replace(Span::new(edit.span.start - by, edit.span.end - by), edit.insert.clone())
}
