//! One finding per line, the totals in the last line: for programs that read while ctxc writes.

use super::json::{FindingRow, SeverityCounts};
use super::report::CheckReport;
use crate::cli::prelude::*;
use crate::schema::json::names::DIAGNOSTICS;
use std::io::{self, Write};

/// One line of `--format jsonl`: a finding, or the totals at the end.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "line")]
#[serde(untagged)]
pub(crate) enum JsonLine<'d> {
    /// A finding.
    Finding(FindingRow<'d>),
    /// The last line.
    Closing(ClosingLine),
}

/// The last line of `--format jsonl`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Closing")]
pub(crate) struct ClosingLine {
    /// The version of the format.
    schema: &'static str,
    /// The number of templates that were checked.
    files: usize,
    /// The number of findings of each severity.
    summary: SeverityCounts,
}

/// Writes every finding, then the totals.
pub(crate) fn write_jsonl(out: &mut dyn Write, report: &CheckReport) -> io::Result<()> {
    let closing = ClosingLine {
        schema: DIAGNOSTICS,
        files: report.files,
        summary: SeverityCounts::from(&report.count_totals()),
    };
    let findings = report
        .diagnostics
        .iter()
        .map(|diagnostic| JsonLine::Finding(diagnostic.into()));
    for line in findings.chain([JsonLine::Closing(closing)]) {
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
