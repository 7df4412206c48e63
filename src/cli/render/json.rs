//! `ctxc/diagnostics/1`: one JSON document. Keys may be added; a renamed key needs a new version.

use super::report::{CheckReport, FindingTotals};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Fix;
use crate::base::rule_meta::Severity;
use crate::base::source::Position;
use crate::base::span::Span;
use crate::schema::json::names::DIAGNOSTICS;
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::SerializeSeq;
use std::io::{self, Write};

/// Findings of `ctxc check --format json` and `ctxc build --format json`. Each line of `--format jsonl` is a `#/$defs/line`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct DiagnosticsDocument<'r> {
    /// The version of the format.
    schema: &'static str,
    /// The number of templates that were checked.
    files: usize,
    /// The number of findings of each severity.
    summary: SeverityCounts,
    /// The parts of the requests that the checked sessions do not hold, such as tool definitions;
    /// absent if no session was checked.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing_parts: &'r [&'static str],
    /// Every finding, sorted by path and position.
    #[serde(serialize_with = "all")]
    #[schemars(with = "Vec<FindingRow<'r>>")]
    diagnostics: &'r [Diagnostic],
}

/// Totals of a run.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Summary")]
pub(crate) struct SeverityCounts {
    /// Findings that fail the build.
    error: usize,
    /// Findings that are probably mistakes.
    warning: usize,
    /// Findings worth knowing.
    info: usize,
    /// Small improvements.
    hint: usize,
    /// Findings that come with a fix.
    fixable: usize,
}

impl From<&FindingTotals> for SeverityCounts {
    fn from(totals: &FindingTotals) -> Self {
        let FindingTotals {
            error,
            warning,
            info,
            hint,
            fixable,
            safe: _,
            rules: _,
        } = *totals;
        Self {
            error,
            warning,
            info,
            hint,
            fixable,
        }
    }
}

/// One finding of one rule.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Finding")]
pub(crate) struct FindingRow<'d> {
    /// The rule's number, an alias of its name.
    code: String,
    /// The rule; `ctxc explain NAME` shows its page.
    name: &'static str,
    /// The severity in this project.
    severity: Severity,
    /// The observed state against the expected one.
    message: &'d str,
    /// The file, relative to the project; `-` is standard input.
    path: &'d str,
    /// The bytes to look at.
    span: Span,
    /// The start of the span.
    start: Position,
    /// The end of the span.
    end: Position,
    /// Places that explain the finding, its own first if it has a text.
    labels: Vec<LabelRow<'d>>,
    /// The origin of values, and the reason that the finding matters.
    notes: &'d [std::borrow::Cow<'static, str>],
    /// Advice; null if the message contains it.
    help: Option<&'d str>,
    /// The task that it belongs to; null outside of tasks.
    task: Option<&'d str>,
    /// Fixes as edits of the file, the best first.
    fixes: &'d [Fix],
    /// A value that stays the same while the line moves; it identifies the finding in suppressions.
    fingerprint: &'d str,
}

/// A place that explains a finding.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Labelled")]
pub(crate) struct LabelRow<'d> {
    /// The file.
    path: &'d str,
    /// The span in that file, in bytes.
    span: Span,
    /// The explanation of the place.
    text: &'d str,
}

impl<'d> From<&'d Diagnostic> for FindingRow<'d> {
    fn from(from: &'d Diagnostic) -> Self {
        let here = (!from.here.is_empty()).then(|| LabelRow {
            path: &from.path,
            span: from.span,
            text: &from.here,
        });
        let others = from.labels.iter().map(|label| LabelRow {
            path: label.path.as_deref().unwrap_or(&from.path),
            span: label.span,
            text: &label.text,
        });
        Self {
            code: from.rule.code.to_string(),
            name: from.rule.name,
            severity: from.severity,
            message: &from.message,
            path: &from.path,
            span: from.span,
            start: from.start,
            end: from.end,
            labels: here.into_iter().chain(others).collect(),
            notes: &from.notes,
            help: from.help.as_deref(),
            task: from.task.as_deref(),
            fixes: &from.fixes,
            fingerprint: &from.fingerprint,
        }
    }
}

fn all<S: serde::Serializer>(
    diagnostics: &&[Diagnostic],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(Some(diagnostics.len()))?;
    for diagnostic in *diagnostics {
        seq.serialize_element(&FindingRow::from(diagnostic))?;
    }
    seq.end()
}

/// Writes the whole report, all severities.
pub(crate) fn write_json(out: &mut dyn Write, report: &CheckReport) -> io::Result<()> {
    let totals = report.count_totals();
    let document = DiagnosticsDocument {
        schema: DIAGNOSTICS,
        files: report.files,
        summary: SeverityCounts::from(&totals),
        missing_parts: &report.missing_parts,
        diagnostics: &report.diagnostics,
    };
    serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
