//! One finding per line, the totals in the last line: for programs that read while ctxc writes.

use super::json::{Finding, Summary};
use super::report::Report;
use crate::cli::prelude::*;
use crate::schema::json::names::DIAGNOSTICS;
use std::io::{self, Write};

/// One line of `--format jsonl`: a finding, or the totals at the end.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "line")]
#[serde(untagged)]
pub(crate) enum Line<'d> {
    /// A finding.
    Finding(Finding<'d>),
    /// The last line.
    Closing(Closing),
}

/// The last line of `--format jsonl`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Closing {
    /// The format.
    schema: &'static str,
    /// The number of templates that were looked at.
    files: usize,
    /// The number of findings of each severity.
    summary: Summary,
}

/// Writes every finding, then the totals.
pub(crate) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let closing = Closing {
        schema: DIAGNOSTICS,
        files: report.files,
        summary: Summary::from(&report.totals()),
    };
    let findings = report
        .diagnostics
        .iter()
        .map(|diagnostic| Line::Finding(diagnostic.into()));
    for line in findings.chain([Line::Closing(closing)]) {
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
