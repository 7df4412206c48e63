//! Two texts as a unified diff, as `patch` and `git apply` read it.

use super::escape::{escape, escape_lines};
use super::screen::{Paint, Screen};
use crate::base::lines::hunks;
use std::io::{self, Write};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Writes what leads from one text to the other; nothing when they are the same.
pub(crate) fn write(out: &mut dyn Write, name: &str, old: &str, new: &str, screen: Screen) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let name = escape(name);
    writeln!(out, "{}", screen.paint(Paint::Strong, &format!("--- {name}")))?;
    writeln!(out, "{}", screen.paint(Paint::Strong, &format!("+++ {name}")))?;
    for (header, lines) in hunks(&old, &new, CONTEXT) {
        writeln!(out, "{}", screen.paint(Paint::Hint, &header))?;
        for (sign, line) in lines {
            write_line(out, sign, line, screen)?;
        }
    }
    Ok(())
}

fn write_line(out: &mut dyn Write, sign: char, line: &str, screen: Screen) -> io::Result<()> {
    let text = line.strip_suffix('\n');
    let shown = format!("{sign}{}", text.unwrap_or(line));
    // A file or pipe gets the bytes that `patch` takes, a person what cannot steer the terminal.
    let shown = if screen == Screen::PLAIN { shown.into() } else { escape_lines(&shown) };
    match sign {
        '-' => writeln!(out, "{}", screen.paint(Paint::Error, &shown))?,
        '+' => writeln!(out, "{}", screen.paint(Paint::Good, &shown))?,
        _ => writeln!(out, "{shown}")?,
    }
    if text.is_none() { writeln!(out, "\\ No newline at end of file") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Screen, write};

    fn diff(old: &str, new: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, "a.xml", old, new, Screen::PLAIN).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_is_not_steered() {
        let written = |screen: Screen| {
            let mut out = Vec::new();
            write(&mut out, "a.xml", "same \u{202e}\n\told\u{1b}[2J\n", "same \u{202e}\n\tnew\u{9b}\r\n", screen).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(written(Screen::PLAIN).contains(" same \u{202e}\n-\told\u{1b}[2J\n+\tnew\u{9b}\r\n"));
        let terminal = Screen { width: Some(80), ..Screen::PLAIN };
        assert!(written(terminal).contains(" same \\u{202e}\n-\told\\u{1b}[2J\n+\tnew\\u{9b}\\u{d}\n"), "{}", written(terminal));
        let colored = written(Screen { color: true, ..Screen::PLAIN });
        assert!(colored.contains(" same \\u{202e}\n") && !colored.contains(['\u{202e}', '\u{9b}', '\r']), "{colored:?}");
    }

    #[test]
    fn a_change_in_the_middle() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        insta::assert_snapshot!(diff(old, &old.replace("5\n", "five\n").replace("9\n", "9\n10")), @r"
        --- a.xml
        +++ a.xml
        @@ -2,8 +2,9 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
         9
        +10
        \ No newline at end of file
        ");
        assert_eq!(diff(old, old), "");
        assert!(diff("", "a\n").contains("@@ -0,0 +1 @@\n+a\n"));
        assert!(diff("a\n", "").contains("@@ -1 +0,0 @@\n-a\n"));
    }
}
