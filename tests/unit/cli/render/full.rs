//! Tests of the private items of `src/cli/render/full.rs`.

use super::{Screen, SourceTexts, write_finding};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::RuleMeta;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use proptest::prelude::{Strategy, any, proptest};
use std::path::PathBuf;
use std::sync::Arc;

fn rule() -> &'static RuleMeta {
    &crate::rules::list::find_rule("unreadable-file")
        .expect("a rule")
        .meta
}

fn render(text: &str, mut diagnostic: Diagnostic, screen: Screen) -> String {
    diagnostic.locate(text, &LineIndex::new(text));
    let mut sources = SourceTexts::new(PathBuf::from("/nowhere"), 0)
        .with_stdin(&diagnostic.path, text.as_bytes());
    let mut out = Vec::new();
    write_finding(&mut out, &diagnostic, screen, &mut sources).expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

fn sample() -> (String, Diagnostic) {
    let text = "<task>\n  <context_management>\n    <inherit_context>full</inherit_context>\n\n    <!-- why -->\n\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    let fresh = text.find("enabled").expect("there");
    let full = text.find("full").expect("there");
    let diagnostic = Diagnostic::new(
        rule(),
        &Arc::from("a.xml"),
        Span::from_offsets(fresh, fresh + 7),
        "looks up fresh context, but would also inherit",
    )
    .here("looked up here")
    .label(Span::from_offsets(full, full + 4), "inherited here")
    .note("the two exclude each other")
    .fix(Fix::suggested(
        "set inherit_context to `none`",
        vec![Edit::replace(Span::from_offsets(full, full + 4), "none")],
    ))
    .fix(Fix::safe(
        "set fresh_context to `disabled`",
        vec![Edit::replace(
            Span::from_offsets(fresh, fresh + 7),
            "disabled",
        )],
    ));
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
    use super::{FindingExtent, choose_extents};
    use crate::base::rule_meta::Severity;
    let finding = |at: u32| {
        let severity = if at % 10 == 9 {
            Severity::Error
        } else {
            Severity::Warning
        };
        Diagnostic::new(rule(), &Arc::from("a.xml"), Span::empty_at(at), "found").severity(severity)
    };
    let findings: Vec<Diagnostic> = (0..100).map(finding).collect();
    let all: Vec<&Diagnostic> = findings.iter().collect();
    let drawn = |most: usize| {
        let extents = choose_extents(&all, most);
        assert_eq!(extents.len(), 100, "none is left out");
        extents
            .iter()
            .filter(|(_, extent)| *extent == FindingExtent::Whole)
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
    let shown = render(
        &text,
        diagnostic,
        Screen {
            unicode: false,
            ..Screen::PLAIN
        },
    );
    assert!(shown.is_ascii(), "{shown}");
}

#[test]
fn a_narrow_screen_wraps_notes_under_their_first_word() {
    let (text, diagnostic) = sample();
    let screen = Screen {
        width: Some(40),
        ..Screen::PLAIN
    };
    let shown = render(
        &text,
        diagnostic.note("one two three four five six seven eight nine ten eleven"),
        screen,
    );
    assert!(
        shown.contains("  = one two three four five six seven\n    eight nine ten eleven\n"),
        "{shown}"
    );
}

#[test]
fn a_line_of_a_megabyte_is_cut_around_its_mark() {
    let text = format!("{}<bad/>{}", "ä".repeat(300_000), "b".repeat(500_000));
    let at = text.find("<bad").expect("there");
    let shown = render(
        &text,
        Diagnostic::new(
            rule(),
            &Arc::from("a.xml"),
            Span::from_offsets(at, at + 6),
            "bad",
        )
        .here("this"),
        Screen::PLAIN,
    );
    assert!(
        shown.len() < 2_000 && shown.contains("ä<bad/>b") && shown.contains('…'),
        "{shown}"
    );
}

#[test]
fn the_text_of_a_file_does_not_reach_the_terminal_raw() {
    let text = "<a>\x1b]0;title\x07\u{202e}</a>";
    let diagnostic = Diagnostic::new(
        rule(),
        &Arc::from("a\x1b[2J.xml"),
        Span::from_offsets(3, 12),
        "a\x1b[1mb\nc",
    )
    .here("\x07");
    let shown = render(text, diagnostic, Screen::PLAIN);
    assert!(
        shown
            .chars()
            .all(|c| c == '\n' || !super::super::escape::is_hostile(c)),
        "{shown:?}"
    );
}

proptest! {
    #[test]
    fn any_text_with_any_marks_is_drawn(
        text in "([ -~äΩ日\t\u{1b}\u{202e}]{0,40}(\n|\r\n|\r)?){0,9}",
        marks in proptest::collection::vec((any::<u16>(), any::<u8>()).prop_map(|(start, len)| (start % 400, len)), 1..5),
        unicode in any::<bool>(),
    ) {
        let mut spans = marks.iter().map(|(start, len)| Span::from_offsets(usize::from(*start), usize::from(*start) + usize::from(*len)));
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
