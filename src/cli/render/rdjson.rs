//! The diagnostic format of reviewdog: one JSON document. Columns count bytes of UTF-8. A fix with
//! several edits becomes one suggestion over all of them, because suggestions are alternatives.

use super::plain_finding::{RepositoryBase, full_message, without_empty_keys};
use super::report::CheckReport;
use super::sources::{FindingSource, SourceTexts};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit, Fix};
use crate::base::rule_meta::Severity;
use crate::base::span::Span;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes every finding.
pub(crate) fn write_rdjson(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
    sources: &mut SourceTexts,
) -> io::Result<()> {
    let diagnostics: Vec<Value> = report
        .diagnostics
        .iter()
        .map(|finding| to_rdjson(finding, base, sources.finding_source(&finding.path)))
        .collect();
    serde_json::to_writer(
        &mut *out,
        &json!({"source": {"name": "ctxc"}, "diagnostics": diagnostics}),
    )
    .map_err(io::Error::from)?;
    out.write_all(b"\n")
}

fn to_rdjson(finding: &Diagnostic, base: &RepositoryBase, source: Option<&FindingSource>) -> Value {
    let severity = match finding.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARNING",
        Severity::Info | Severity::Hint => "INFO",
    };
    let location = json!({"path": base.repository_path(&finding.path), "range": source.map(|source| to_range(source, finding.span))});
    let shown = source.filter(|source| source.is_shown);
    let suggestions = shown.into_iter().flat_map(|source| {
        finding
            .fixes
            .iter()
            .filter_map(|fix| to_suggestion(source, fix))
    });
    without_empty_keys(json!({
        "message": full_message(finding),
        "location": without_empty_keys(location),
        "severity": severity,
        "code": {"value": finding.rule.code.to_string()},
        "suggestions": suggestions.collect::<Vec<_>>(),
    }))
}

/// Returns the range of a span; the end is exclusive.
fn to_range(source: &FindingSource, span: Span) -> Value {
    let place = |offset: u32| {
        let line = source.index.line_number(offset);
        let start = source
            .index
            .line_span(&source.text, line)
            .map_or(0, |line| line.start);
        json!({"line": line, "column": offset.min(source.text.len() as u32).saturating_sub(start) + 1})
    };
    json!({"start": place(span.start), "end": place(span.end)})
}

/// Returns the text from the first edit of a fix to its last, after the fix.
fn to_suggestion(source: &FindingSource, fix: &Fix) -> Option<Value> {
    let first = fix.edits.first()?.span;
    let last = fix.edits.last()?.span;
    let whole = first.cover(last);
    let shifted: Vec<Edit> = fix
        .edits
        .iter()
        .map(|edit| shift_edit(edit, whole.start))
        .collect();
    let text = fix::apply_edits(
        source.text.get(whole.start as usize..whole.end as usize)?,
        &shifted,
    )?;
    Some(json!({"range": to_range(source, whole), "text": text}))
}

fn shift_edit(edit: &Edit, by: u32) -> Edit {
    Edit::replace(
        Span::new(edit.span.start - by, edit.span.end - by),
        edit.insert.clone(),
    )
}
