//! One finding a line, the totals in the last line: for programs that read as we write.

use super::json::{Finding, Summary};
use super::report::Report;
use crate::schema::json::names::DIAGNOSTICS;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Closing {
    schema: &'static str,
    files: usize,
    summary: Summary,
}

/// Writes every finding, then the totals.
pub(crate) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for diagnostic in &report.diagnostics {
        serde_json::to_writer(&mut *out, &Finding::from(diagnostic)).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    let totals = report.totals();
    let closing = Closing { schema: DIAGNOSTICS, files: report.files, summary: Summary::from(&totals) };
    serde_json::to_writer(&mut *out, &closing).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
