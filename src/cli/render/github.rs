//! Workflow commands of GitHub Actions, one line per finding: GitHub shows them as annotations. No
//! content of a file or message can end a command or start another.

use super::escape::escape_line;
use super::plain_finding::{RepositoryBase, full_message};
use super::report::CheckReport;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use std::io::{self, Write};

/// Writes every finding.
pub(crate) fn write_github(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
) -> io::Result<()> {
    for finding in &report.diagnostics {
        let Diagnostic {
            start, end, rule, ..
        } = finding;
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "notice",
        };
        let file = escape_property(&base.repository_path(&finding.path));
        let title = escape_property(&format!("{} ({})", rule.name, rule.code));
        write!(out, "::{command} file={file},line={},", start.line.max(1))?;
        // GitHub accepts columns only if the finding ends on the line on which it starts.
        if start.line == end.line {
            write!(
                out,
                "col={},endColumn={},",
                start.column.max(1),
                end.column.max(1)
            )?;
        } else {
            write!(out, "endLine={},", end.line)?;
        }
        let lines: Vec<String> = full_message(finding).lines().map(escape_data).collect();
        writeln!(out, "title={title}::{}", lines.join("%0A"))?;
    }
    Ok(())
}

/// Escapes the text of a command: control characters and `%`.
fn escape_data(text: &str) -> String {
    escape_line(text).replace('%', "%25")
}

/// Escapes the value of a property, including the separators of properties.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
