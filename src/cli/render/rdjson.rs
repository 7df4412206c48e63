//! The diagnostic format of reviewdog: one JSON document. Columns count bytes of UTF-8. A fix with
//! several edits becomes one suggestion over all of them, because suggestions are alternatives.

use super::message::{message, trimmed};
use super::place::Base;
use super::report::Report;
use super::sources::{Source, Sources};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit, Fix};
use crate::base::rule_meta::Severity;
use crate::base::span::Span;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes every finding.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &Report,
    base: &Base,
    sources: &mut Sources,
) -> io::Result<()> {
    let diagnostics: Vec<Value> = report
        .diagnostics
        .iter()
        .map(|finding| word(finding, base, sources.main(&finding.path)))
        .collect();
    serde_json::to_writer(
        &mut *out,
        &json!({"source": {"name": "ctxc"}, "diagnostics": diagnostics}),
    )
    .map_err(io::Error::from)?;
    out.write_all(b"\n")
}

fn word(finding: &Diagnostic, base: &Base, source: Option<&Source>) -> Value {
    let severity = match finding.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info | Severity::Hint => "INFO",
    };
    let location = json!({"path": base.path(&finding.path), "range": source.map(|source| range(source, finding.span))});
    let shown = source.filter(|source| source.is_shown);
    let suggestions = shown.into_iter().flat_map(|source| {
        finding
            .fixes
            .iter()
            .filter_map(|fix| suggestion(source, fix))
    });
    trimmed(json!({
        "message": message(finding),
        "location": trimmed(location),
        "severity": severity,
        "code": {"value": finding.rule.code.to_string()},
        "suggestions": suggestions.collect::<Vec<_>>(),
    }))
}

/// Returns the range of a span; the end is exclusive.
fn range(source: &Source, span: Span) -> Value {
    let place = |offset: u32| {
        let line = source.index.line(offset);
        let start = source
            .index
            .line_span(&source.text, line)
            .map_or(0, |line| line.start);
        json!({"line": line, "column": offset.min(source.text.len() as u32).saturating_sub(start) + 1})
    };
    json!({"start": place(span.start), "end": place(span.end)})
}

/// Returns the text from the first edit of a fix to its last, after the fix.
fn suggestion(source: &Source, fix: &Fix) -> Option<Value> {
    let first = fix.edits.first()?.span;
    let last = fix.edits.last()?.span;
    let whole = first.cover(last);
    let shifted: Vec<Edit> = fix
        .edits
        .iter()
        .map(|edit| shift(edit, whole.start))
        .collect();
    let text = fix::apply(
        source.text.get(whole.start as usize..whole.end as usize)?,
        &shifted,
    )?;
    Some(json!({"range": range(source, whole), "text": text}))
}

fn shift(edit: &Edit, by: u32) -> Edit {
    Edit::replace(
        Span::new(edit.span.start - by, edit.span.end - by),
        edit.insert.clone(),
    )
}
