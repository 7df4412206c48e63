//! One line a finding: `path:line:col: severity[name]: message`, what editors and `grep` take.

use super::escape::escape;
use super::report::Report;
use super::report::Shown;
use super::screen::Screen;
use super::summary;
use std::io::{self, Write};

/// Writes the findings that are shown, a line each, and what was left out.
pub(crate) fn write(out: &mut dyn Write, report: &Report, shown: Shown, screen: Screen) -> io::Result<()> {
    let (selected, left_out) = shown.select(&report.diagnostics);
    for diagnostic in selected {
        let on = screen.on(summary::paint(diagnostic.severity));
        let off = screen.off();
        writeln!(
            out,
            "{}:{}:{}: {on}{}[{}]{off}: {}",
            escape(&diagnostic.path),
            diagnostic.start.line,
            diagnostic.start.column,
            diagnostic.severity,
            diagnostic.rule.name,
            escape(&diagnostic.message),
        )?;
    }
    summary::left_out(out, &left_out, screen)
}
