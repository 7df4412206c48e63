//! Tests of the private items of `src/cli/watch/delta.rs`.

use super::FindingsDelta;
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use crate::rules::list;
use std::sync::Arc;

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

fn shown(before: &[Diagnostic], after: &[Diagnostic]) -> String {
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
    assert_eq!(shown(&[], &[is(1, "a")]), "new a1 moved  gone ");
    assert_eq!(shown(&[is(1, "a")], &[]), "new  moved  gone a1");
    assert_eq!(shown(&[is(1, "a")], &[is(1, "a")]), "new  moved  gone ");
    assert_eq!(shown(&[is(1, "a")], &[is(1, "b")]), "new b1 moved  gone a1");
    assert_eq!(
        shown(&[is(1, "a")], &[is(5, "a")]),
        "new  moved a1>a5 gone "
    );
    assert_eq!(
        shown(&[is(1, "a")], &[finding(1, "a", "other")]),
        "new  moved a1>a1 gone "
    );
}

#[test]
fn of_several_alike_those_that_did_not_change_are_kept() {
    let is = |start| finding(start, "a", "m");
    assert_eq!(
        shown(&[is(1), is(5), is(9)], &[is(5), is(9)]),
        "new  moved  gone a1"
    );
    assert_eq!(
        shown(&[is(1), is(5), is(9)], &[is(5), is(10)]),
        "new  moved a1>a10 gone a9"
    );
    assert_eq!(
        shown(&[is(5), is(5)], &[is(5), is(5), is(5)]),
        "new a5 moved  gone "
    );
}
