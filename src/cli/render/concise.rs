//! One line per finding: `path:line:col: severity[name]: message`, as editors and `grep` expect it.

use super::escape::escape_line;
use super::report::{CheckReport, ShownFindings};
use super::screen::Screen;
use super::summary;
use std::io::{self, Write};

/// Writes the selected findings, a line each, and the number of omitted ones.
pub(crate) fn write_concise(
    out: &mut dyn Write,
    report: &CheckReport,
    shown: ShownFindings,
    screen: Screen,
) -> io::Result<()> {
    let (selected, left_out) = shown.select_findings(&report.diagnostics);
    for diagnostic in selected {
        let on = screen.color_start(summary::severity_paint(diagnostic.severity));
        let off = screen.color_end();
        writeln!(
            out,
            "{}:{}:{}: {on}{}[{}]{off}: {}",
            escape_line(&diagnostic.path),
            diagnostic.start.line,
            diagnostic.start.column,
            diagnostic.severity,
            diagnostic.rule.name,
            escape_line(&diagnostic.message),
        )?;
    }
    summary::write_omitted(out, &left_out, screen)
}
