//! Tests of the private items of `src/cli/watch/show.rs`.

use super::{FindingsDelta, changed_names, screen_reason, time_of_day, write_last_line};
use crate::base::diagnostic::Diagnostic;
use crate::base::hash::Hash;
use crate::base::span::Span;
use crate::cli::render::screen::Screen;
use crate::rules::list;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[test]
fn the_last_line_states_when_and_how_many() {
    assert_eq!(time_of_day(0), "00:00:00");
    assert_eq!(
        time_of_day((86_400 + 3 * 3600 + 25 * 60 + 45) * 1_000_000_000 + 999_999_999),
        "03:25:45"
    );
    let names = |count: usize| {
        (0..count)
            .map(|at| format!("{at}.xml"))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(screen_reason(0, &names(0)), "no template yet");
    assert_eq!(screen_reason(1, &names(0)), "1 template");
    assert_eq!(
        screen_reason(2, &names(3)),
        "2 templates; changed: 0.xml, 1.xml, 2.xml"
    );
    assert_eq!(
        screen_reason(9, &names(5)),
        "9 templates; changed: 0.xml, 1.xml, 2.xml, 2 more files"
    );
    let mut out = Vec::new();
    write_last_line(&mut out, Screen::PLAIN, "a\u{1b}[2Jb").unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        !text.contains('\u{1b}') && text.ends_with("Ctrl-C ends it\n"),
        "{text}"
    );
}

#[test]
fn a_project_file_that_came_went_or_changed_is_named() {
    let files = |all: &[(&str, &str)]| -> BTreeMap<String, Hash> {
        all.iter()
            .map(|(name, text)| ((*name).to_owned(), Hash::digest(text.as_bytes())))
            .collect()
    };
    let before = files(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let after = files(&[("b", "2"), ("c", "1"), ("d", "1")]);
    assert_eq!(changed_names(&before, &after), ["a", "b", "d"]);
}

/// A finding of the first rule by its place, its fingerprint and its message.
fn finding(start: u32, fingerprint: &str, message: &str) -> Diagnostic {
    let rule = &list::all_rules().next().unwrap().meta;
    let mut finding = Diagnostic::new(
        rule,
        &Arc::from("a.xml"),
        Span::new(start, start + 1),
        message,
    );
    fingerprint.clone_into(&mut finding.fingerprint);
    finding
}

fn describe_delta(before: &[Diagnostic], after: &[Diagnostic]) -> String {
    let one = |finding: &&Diagnostic| format!("{}{}", finding.fingerprint, finding.span.start);
    let all = |findings: &[&Diagnostic]| findings.iter().map(one).collect::<Vec<_>>().join(",");
    let delta = FindingsDelta::compare(before, after);
    let moved: Vec<String> = delta
        .moved
        .iter()
        .map(|(was, is)| format!("{}>{}", one(was), one(is)))
        .collect();
    assert_eq!(
        delta.is_empty(),
        before.len() == after.len() && moved.is_empty() && delta.new.is_empty()
    );
    format!(
        "new {} moved {} gone {}",
        all(&delta.new),
        moved.join(","),
        all(&delta.gone)
    )
}

#[test]
fn each_finding_is_kept_new_moved_or_gone() {
    let is = |start, print| finding(start, print, "m");
    assert_eq!(describe_delta(&[], &[is(1, "a")]), "new a1 moved  gone ");
    assert_eq!(describe_delta(&[is(1, "a")], &[]), "new  moved  gone a1");
    assert_eq!(
        describe_delta(&[is(1, "a")], &[is(1, "a")]),
        "new  moved  gone "
    );
    assert_eq!(
        describe_delta(&[is(1, "a")], &[is(1, "b")]),
        "new b1 moved  gone a1"
    );
    assert_eq!(
        describe_delta(&[is(1, "a")], &[is(5, "a")]),
        "new  moved a1>a5 gone "
    );
    assert_eq!(
        describe_delta(&[is(1, "a")], &[finding(1, "a", "other")]),
        "new  moved a1>a1 gone "
    );
}

#[test]
fn of_several_alike_those_that_did_not_change_are_kept() {
    let is = |start| finding(start, "a", "m");
    assert_eq!(
        describe_delta(&[is(1), is(5), is(9)], &[is(5), is(9)]),
        "new  moved  gone a1"
    );
    assert_eq!(
        describe_delta(&[is(1), is(5), is(9)], &[is(5), is(10)]),
        "new  moved a1>a10 gone a9"
    );
    assert_eq!(
        describe_delta(&[is(5), is(5)], &[is(5), is(5), is(5)]),
        "new a5 moved  gone "
    );
}
