//! A unified diff of two texts, as `patch` and `git apply` read it.

use super::escape::{escape_line, escape_lines};
use super::screen::{Paint, Screen};
use crate::base::lines::diff_hunks;
use std::io::{self, Write};

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// Writes the diff; nothing if the texts are equal.
pub(crate) fn write_diff(
    out: &mut dyn Write,
    name: &str,
    old: &str,
    new: &str,
    screen: Screen,
) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let name = escape_line(name);
    writeln!(
        out,
        "{}",
        screen.paint(Paint::Strong, &format!("--- {name}"))
    )?;
    writeln!(
        out,
        "{}",
        screen.paint(Paint::Strong, &format!("+++ {name}"))
    )?;
    for (header, lines) in diff_hunks(&old, &new, CONTEXT_LINES) {
        writeln!(out, "{}", screen.paint(Paint::Hint, &header))?;
        for (sign, line) in lines {
            write_diff_line(out, sign, line, screen)?;
        }
    }
    Ok(())
}

fn write_diff_line(out: &mut dyn Write, sign: char, line: &str, screen: Screen) -> io::Result<()> {
    let text = line.strip_suffix('\n');
    let shown = format!("{sign}{}", text.unwrap_or(line));
    // A file or pipe gets exact bytes for `patch`, a terminal gets escaped text.
    let shown = if screen == Screen::PLAIN {
        shown.into()
    } else {
        escape_lines(&shown)
    };
    match sign {
        '-' => writeln!(out, "{}", screen.paint(Paint::Error, &shown))?,
        '+' => writeln!(out, "{}", screen.paint(Paint::Good, &shown))?,
        _ => writeln!(out, "{shown}")?,
    }
    if text.is_none() {
        writeln!(out, "\\ No newline at end of file")
    } else {
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/unified.rs"]
mod tests;
