//! `ctxc/diagnostics/1`: one JSON document. The keys are a promise; additions are allowed, renames are a new version.

use super::report::{Report, Totals};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Fix;
use crate::base::rule_meta::Severity;
use crate::base::source::Position;
use crate::base::span::Span;
use crate::schema::json::names::DIAGNOSTICS;
use serde::Serialize;
use serde::ser::SerializeSeq;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'r> {
    schema: &'static str,
    files: usize,
    summary: Summary,
    #[serde(serialize_with = "all")]
    diagnostics: &'r [Diagnostic],
}

/// Totals of a run.
#[derive(Serialize)]
pub(crate) struct Summary {
    error: usize,
    warning: usize,
    info: usize,
    hint: usize,
    fixable: usize,
}

impl From<&Totals<'_>> for Summary {
    fn from(totals: &Totals<'_>) -> Self {
        let Totals { error, warning, info, hint, fixable, safe: _, rules: _ } = *totals;
        Self { error, warning, info, hint, fixable }
    }
}

/// One finding in the shape of the format.
#[derive(Serialize)]
pub(crate) struct Finding<'d> {
    code: String,
    name: &'static str,
    severity: Severity,
    message: &'d str,
    path: &'d str,
    span: Span,
    start: Position,
    end: Position,
    labels: Vec<Labelled<'d>>,
    notes: &'d [std::borrow::Cow<'static, str>],
    help: Option<&'d str>,
    task: Option<&'d str>,
    fixes: &'d [Fix],
    fingerprint: &'d str,
}

#[derive(Serialize)]
struct Labelled<'d> {
    path: &'d str,
    span: Span,
    text: &'d str,
}

impl<'d> From<&'d Diagnostic> for Finding<'d> {
    fn from(from: &'d Diagnostic) -> Self {
        let here = (!from.here.is_empty()).then(|| Labelled { path: &from.path, span: from.span, text: &from.here });
        let others = from.labels.iter().map(|label| Labelled {
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

fn all<S: serde::Serializer>(diagnostics: &&[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(Some(diagnostics.len()))?;
    for diagnostic in *diagnostics {
        seq.serialize_element(&Finding::from(diagnostic))?;
    }
    seq.end()
}

/// Writes the whole report, every severity.
pub(crate) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let totals = report.totals();
    let document =
        Document { schema: DIAGNOSTICS, files: report.files, summary: Summary::from(&totals), diagnostics: &report.diagnostics };
    serde_json::to_writer(&mut *out, &document).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
