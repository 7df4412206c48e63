//! The format for people: the message, the lines it is about, where values came from, the ways out.
//!
//! The lines are drawn by [`super::drawing`]; the message, notes and fixes around them are written here, so that the first
//! line of a finding is one that editors and terminals can click.

use super::drawing::draw;
use super::escape::escape;
use super::report::{Report, Shown};
use super::screen::{Paint, Screen};
use super::sources::Sources;
use super::summary;
use super::wrap::wrap;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Applicability;
use crate::base::span::Span;
use crate::rules::input::unreadable_file;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Places shown of one finding; a fault with more is understood from the first.
const LABELS: usize = 8;

/// How much of a finding is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The lines it is about, notes and ways out.
    Whole,
    /// Its first line.
    Line,
}

/// Writes the findings that are shown and what was left out.
pub(crate) fn write(out: &mut dyn Write, report: &Report, shown: Shown, screen: Screen, sources: &mut Sources) -> io::Result<()> {
    let (selected, left_out) = shown.select(&report.diagnostics);
    let selected = extents(&selected, shown.drawn);
    for (diagnostic, extent) in &selected {
        match extent {
            Extent::Whole => {
                finding(out, diagnostic, screen, sources)?;
                writeln!(out)?;
            }
            Extent::Line => head(out, diagnostic, screen)?,
        }
    }
    summary::left_out(out, &left_out, screen)?;
    let lines = selected.iter().filter(|(_, extent)| *extent == Extent::Line).count();
    summary::shortened(out, lines, screen)
}

/// Thousands of drawings are read by nobody: the first `most` findings are drawn, errors before all others.
fn extents<'d>(findings: &[&'d Diagnostic], most: usize) -> Vec<(&'d Diagnostic, Extent)> {
    use crate::base::rule_meta::Severity;
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let mut errors_left = errors.min(most);
    let mut others_left = most.saturating_sub(errors);
    let extent = |finding: &'d Diagnostic| {
        let left = if finding.severity == Severity::Error { &mut errors_left } else { &mut others_left };
        let extent = if *left > 0 { Extent::Whole } else { Extent::Line };
        *left = left.saturating_sub(1);
        (finding, extent)
    };
    findings.iter().copied().map(extent).collect()
}

/// Writes one finding.
pub(crate) fn finding(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen, sources: &mut Sources) -> io::Result<()> {
    head(out, diagnostic, screen)?;
    let marks = marks(diagnostic);
    // What was not read, since a link leads out of the project to it, is not shown either.
    let was_read = diagnostic.rule.name != unreadable_file::RULE.meta.name || diagnostic.span.end > 0;
    if let Some(source) = sources.main(&diagnostic.path).filter(|source| was_read && source.is_shown) {
        out.write_all(draw(diagnostic, source, &marks, None, screen).as_bytes())?;
    }
    let mut elsewhere: BTreeMap<&str, Vec<(Span, &str)>> = BTreeMap::new();
    for label in diagnostic.labels.iter().take(LABELS) {
        if let Some(path) = &label.path
            && **path != *diagnostic.path
        {
            elsewhere.entry(path).or_default().push((label.span, &label.text));
        }
    }
    for (path, marks) in elsewhere {
        if let Some(source) = sources.aside(path).filter(|source| source.is_shown) {
            out.write_all(draw(diagnostic, source, &marks, Some(path), screen).as_bytes())?;
        }
    }
    tail(out, diagnostic, screen)
}

/// `error[name] path:line:col: message (CTX202)`.
fn head(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    if screen.width.is_none() {
        return first_line(out, diagnostic, screen).and_then(|()| writeln!(out));
    }
    let mut line = Vec::new();
    first_line(&mut line, diagnostic, screen)?;
    writeln!(out, "{}", wrap(&String::from_utf8_lossy(&line), screen.width, 2))
}

fn first_line(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    let off = screen.off();
    write!(
        out,
        "{}{}[{}]{off} {}{}:{}:{}:{off} {} {}({}){off}",
        screen.on(summary::paint(diagnostic.severity)),
        diagnostic.severity,
        diagnostic.rule.name,
        screen.on(Paint::Strong),
        escape(&diagnostic.path),
        diagnostic.start.line,
        diagnostic.start.column,
        escape(&diagnostic.message),
        screen.on(Paint::Dim),
        diagnostic.rule.code,
    )
}

/// The finding's own place first, then the others in its file.
fn marks(diagnostic: &Diagnostic) -> Vec<(Span, &str)> {
    let mut marks = vec![(diagnostic.span, &*diagnostic.here)];
    for label in diagnostic.labels.iter().take(LABELS) {
        if label.path.as_ref().is_none_or(|path| *path == diagnostic.path) {
            marks.push((label.span, &*label.text));
        }
    }
    marks
}

/// Notes, help and fixes.
fn tail(out: &mut dyn Write, diagnostic: &Diagnostic, screen: Screen) -> io::Result<()> {
    for note in &diagnostic.notes {
        item(out, screen, Paint::Strong, "=", note)?;
    }
    if let Some(help) = &diagnostic.help {
        item(out, screen, Paint::Help, "help:", help)?;
    }
    let several = diagnostic.fixes.len() > 1;
    for (at, fix) in diagnostic.fixes.iter().enumerate() {
        let safe = if fix.applicability == Applicability::Safe { "safe " } else { "" };
        let letter = if several { format!(" {}", char::from(b'a' + (at.min(25)) as u8)) } else { String::new() };
        item(out, screen, Paint::Good, &format!("{safe}fix{letter}:"), &fix.title)?;
    }
    Ok(())
}

/// One item under a finding, continued under its first word where it is longer than the screen is wide.
fn item(out: &mut dyn Write, screen: Screen, paint: Paint, head: &str, text: &str) -> io::Result<()> {
    let line = format!("  {} {}", screen.paint(paint, head), escape(text));
    writeln!(out, "{}", wrap(&line, screen.width, 3 + head.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::{Screen, Sources, finding};
    use crate::base::diagnostic::Diagnostic;
    use crate::base::fix::{Edit, Fix};
    use crate::base::rule_meta::RuleMeta;
    use crate::base::source::LineIndex;
    use crate::base::span::Span;
    use proptest::prelude::{Strategy, any, proptest};
    use std::path::PathBuf;
    use std::sync::Arc;

    fn rule() -> &'static RuleMeta {
        &crate::rules::list::find("unreadable-file").expect("a rule").meta
    }

    fn render(text: &str, mut diagnostic: Diagnostic, screen: Screen) -> String {
        diagnostic.locate(text, &LineIndex::new(text));
        let mut sources = Sources::new(PathBuf::from("/nowhere"), 0).with_stdin(&diagnostic.path, text.as_bytes());
        let mut out = Vec::new();
        finding(&mut out, &diagnostic, screen, &mut sources).expect("a vector takes everything");
        String::from_utf8(out).expect("text")
    }

    fn sample() -> (String, Diagnostic) {
        let text = "<task>\n  <context_management>\n    <inherit_context>full</inherit_context>\n\n    <!-- why -->\n\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
        let fresh = text.find("enabled").expect("there");
        let full = text.find("full").expect("there");
        let diagnostic = Diagnostic::new(
            rule(),
            &Arc::from("a.xml"),
            Span::of(fresh, fresh + 7),
            "looks up fresh context, but would also inherit",
        )
        .here("looked up here")
        .label(Span::of(full, full + 4), "inherited here")
        .note("the two exclude each other")
        .fix(Fix::suggested("set inherit_context to `none`", vec![Edit::replace(Span::of(full, full + 4), "none")]))
        .fix(Fix::safe("set fresh_context to `disabled`", vec![Edit::replace(Span::of(fresh, fresh + 7), "disabled")]));
        (text.to_owned(), diagnostic)
    }

    #[test]
    fn a_finding_shows_its_lines_reasons_and_ways_out() {
        let (text, diagnostic) = sample();
        insta::assert_snapshot!(render(&text, diagnostic, Screen::PLAIN), @r"
        error[unreadable-file] a.xml:7:20: looks up fresh context, but would also inherit (CTX901)
           ╭─
         2 │   <context_management>
         3 │     <inherit_context>full</inherit_context>
           ·                      ──┬─
           ·                        ╰── inherited here
         4 │
         5 │     <!-- why -->
         6 │
         7 │     <fresh_context>enabled</fresh_context>
           ·                    ───┬───
           ·                       ╰── looked up here
         8 │   </context_management>
           ╰────
          = the two exclude each other
          fix a: set inherit_context to `none`
          safe fix b: set fresh_context to `disabled`
        ");
    }

    #[test]
    fn thousands_of_findings_are_drawn_up_to_a_number_errors_first() {
        use super::{Extent, extents};
        use crate::base::rule_meta::Severity;
        let finding = |at: u32| {
            let severity = if at % 10 == 9 { Severity::Error } else { Severity::Warning };
            Diagnostic::new(rule(), &Arc::from("a.xml"), Span::at(at), "found").severity(severity)
        };
        let findings: Vec<Diagnostic> = (0..100).map(finding).collect();
        let all: Vec<&Diagnostic> = findings.iter().collect();
        let drawn = |most: usize| {
            let extents = extents(&all, most);
            assert_eq!(extents.len(), 100, "none is left out");
            extents
                .iter()
                .filter(|(_, extent)| *extent == Extent::Whole)
                .map(|(finding, _)| finding.span.start)
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(4), [9, 19, 29, 39]);
        assert_eq!(drawn(12), [0, 1, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
        assert_eq!(drawn(100).len(), 100);
    }

    #[test]
    fn without_box_drawing_it_is_plain_ascii() {
        let (text, diagnostic) = sample();
        let shown = render(&text, diagnostic, Screen { unicode: false, ..Screen::PLAIN });
        assert!(shown.is_ascii(), "{shown}");
    }

    #[test]
    fn a_narrow_screen_wraps_notes_under_their_first_word() {
        let (text, diagnostic) = sample();
        let screen = Screen { width: Some(40), ..Screen::PLAIN };
        let shown = render(&text, diagnostic.note("one two three four five six seven eight nine ten eleven"), screen);
        assert!(shown.contains("  = one two three four five six seven\n    eight nine ten eleven\n"), "{shown}");
    }

    #[test]
    fn a_line_of_a_megabyte_is_cut_around_its_mark() {
        let text = format!("{}<bad/>{}", "ä".repeat(300_000), "b".repeat(500_000));
        let at = text.find("<bad").expect("there");
        let shown =
            render(&text, Diagnostic::new(rule(), &Arc::from("a.xml"), Span::of(at, at + 6), "bad").here("this"), Screen::PLAIN);
        assert!(shown.len() < 2_000 && shown.contains("ä<bad/>b") && shown.contains('…'), "{shown}");
    }

    #[test]
    fn what_a_file_says_does_not_reach_the_terminal_raw() {
        let text = "<a>\x1b]0;title\x07\u{202e}</a>";
        let diagnostic = Diagnostic::new(rule(), &Arc::from("a\x1b[2J.xml"), Span::of(3, 12), "a\x1b[1mb\nc").here("\x07");
        let shown = render(text, diagnostic, Screen::PLAIN);
        assert!(shown.chars().all(|c| c == '\n' || !super::super::escape::is_hostile(c)), "{shown:?}");
    }

    proptest! {
        #[test]
        fn any_text_with_any_marks_is_drawn(
            text in "([ -~äΩ日\t\u{1b}\u{202e}]{0,40}(\n|\r\n|\r)?){0,9}",
            marks in proptest::collection::vec((any::<u16>(), any::<u8>()).prop_map(|(start, len)| (start % 400, len)), 1..5),
            unicode in any::<bool>(),
        ) {
            let mut spans = marks.iter().map(|(start, len)| Span::of(usize::from(*start), usize::from(*start) + usize::from(*len)));
            let first = spans.next().unwrap_or_default();
            let mut diagnostic = Diagnostic::new(rule(), &Arc::from("a.xml"), first, "message").here("here");
            for span in spans {
                diagnostic = diagnostic.label(span, "there");
            }
            let shown = render(&text, diagnostic, Screen { unicode, ..Screen::PLAIN });
            assert!(first.end == 0 || shown.lines().count() > 2, "{shown}");
            assert!(shown.chars().all(|c| c == '\n' || !super::super::escape::is_hostile(c)), "{shown:?}");
        }
    }
}
