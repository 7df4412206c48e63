//! Workflow commands of GitHub Actions, one line a finding: they become annotations on the pull request. Nothing that a
//! file or a message says can end its command or begin another.

use super::escape::escape;
use super::message::message;
use super::place::Base;
use super::report::Report;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use std::io::{self, Write};

/// Writes every finding.
pub(crate) fn write(out: &mut dyn Write, report: &Report, base: &Base) -> io::Result<()> {
    for finding in &report.diagnostics {
        let Diagnostic { start, end, rule, .. } = finding;
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "notice",
        };
        let file = property(&base.path(&finding.path));
        let title = property(&format!("{} ({})", rule.name, rule.code));
        write!(out, "::{command} file={file},line={},", start.line.max(1))?;
        // Columns are taken only where the finding ends on the line it starts on.
        if start.line == end.line {
            write!(out, "col={},endColumn={},", start.column.max(1), end.column.max(1))?;
        } else {
            write!(out, "endLine={},", end.line)?;
        }
        let lines: Vec<String> = message(finding).lines().map(data).collect();
        writeln!(out, "title={title}::{}", lines.join("%0A"))?;
    }
    Ok(())
}

/// The text of a command: control characters are shown, `%` is escaped.
fn data(text: &str) -> String {
    escape(text).replace('%', "%25")
}

/// The value of a property, which must not hold what separates properties either.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
