//! One line per finding: `path:line:col: severity[name]: message`, as editors and `grep` expect it.

use super::escape::escape;
use super::report::Report;
use super::report::Shown;
use super::screen::Screen;
use super::summary;
use std::io::{self, Write};

/// Writes the selected findings, a line each, and the number of omitted ones.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &Report,
    shown: Shown,
    screen: Screen,
) -> io::Result<()> {
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
