//! Recorded findings: written, read, applied.

use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::source::LineIndex;
use ctxc::internals::base::span::Span;
use ctxc::internals::project::suppressions::{StaleSuppression, Suppressions, SuppressionsFault};
use ctxc::internals::rules::list;
use pretty_assertions::assert_eq;
use std::sync::Arc;

/// A finding at one line of a text.
fn finding(rule: &str, path: &str, text: &str, line: u32) -> Diagnostic {
    let index = LineIndex::new(text);
    let span = index.line_span(text, line).unwrap();
    let meta = &list::find_rule(rule).unwrap().meta;
    let mut finding = Diagnostic::new(
        meta,
        &Arc::from(path),
        Span::new(span.start, span.start + 1),
        "message",
    );
    finding.locate(text, &index);
    finding
}

const TEXT: &str = "alpha\nbeta\nbeta\ngamma\n";

fn sample() -> Vec<Diagnostic> {
    vec![
        finding("stale-suppression", "b \"quoted\".xml", TEXT, 1),
        finding("stale-suppression", "a.xml", TEXT, 2),
        finding("stale-suppression", "a.xml", TEXT, 3),
        finding("unreadable-file", "a.xml", TEXT, 4),
    ]
}

#[test]
fn what_is_recorded_is_read_back_and_no_longer_counts() {
    let recorded = Suppressions::from_findings(&sample());
    assert_eq!(recorded.finding_count(), 3, "the locked rule is left out");
    let text = recorded.render();
    let read = Suppressions::parse(&text).unwrap();
    assert_eq!(read.render(), text);
    let mut findings = sample();
    let applied = read.apply(&mut findings, |_| true);
    assert_eq!((applied.suppressed, applied.stale.len()), (3, 0));
    assert_eq!(
        findings
            .iter()
            .map(|finding| finding.rule.name)
            .collect::<Vec<_>>(),
        ["unreadable-file"]
    );
}

#[test]
fn one_more_of_the_same_is_new() {
    let recorded = Suppressions::from_findings(&sample());
    let mut findings = sample();
    findings.push(finding(
        "stale-suppression",
        "a.xml",
        &format!("{TEXT}beta\n"),
        5,
    ));
    recorded.apply(&mut findings, |_| true);
    assert_eq!(
        findings.len(),
        2,
        "the locked one and the third of the same kind"
    );
}

#[test]
fn lines_may_move_and_other_files_do_not_answer() {
    let recorded = Suppressions::from_findings(&sample());
    let moved = format!("\n\n\n{TEXT}");
    let mut findings = vec![
        finding("stale-suppression", "a.xml", &moved, 5),
        finding("stale-suppression", "c.xml", TEXT, 2),
    ];
    let applied = recorded.apply(&mut findings, |_| true);
    assert_eq!((applied.suppressed, &*findings[0].path), (1, "c.xml"));
}

#[test]
fn an_entry_that_met_too_few_findings_is_stale_if_its_file_was_looked_at() {
    let text = Suppressions::from_findings(&sample()).render();
    let recorded = Suppressions::parse(&text).unwrap();
    let stale = recorded
        .apply(
            &mut vec![finding("stale-suppression", "a.xml", TEXT, 2)],
            |path| path == "a.xml",
        )
        .stale;
    let [StaleSuppression { key, entry, found }] = &stale[..] else {
        panic!("{stale:?}")
    };
    assert_eq!((&*key.path, entry.count, *found), ("a.xml", 2, 1));
    assert_eq!(entry.span.slice(&text), format!("{} = 2", key.fingerprint));
}

#[test]
fn two_branches_that_record_different_files_touch_different_lines() {
    let all = Suppressions::from_findings(&sample()).render();
    let one = Suppressions::from_findings(&sample()[..1]).render();
    let lines: Vec<&str> = all.lines().collect();
    assert!(
        one.lines().all(|line| lines.contains(&line)),
        "{all}\n{one}"
    );
    assert!(
        all.find("[\"a.xml\"").unwrap() < all.find("[\"b ").or_else(|| all.find("['b ")).unwrap(),
        "sorted: {all}"
    );
}

#[test]
fn a_file_that_cannot_be_taken_gives_the_place_and_why() {
    let fault = |text: &str| Suppressions::parse(text).unwrap_err();
    assert!(matches!(fault("[\"a"), SuppressionsFault::Syntax { .. }));
    assert!(matches!(fault(""), SuppressionsFault::Schema { .. }));
    let newer = fault("schema = \"ctxc/suppressions/9\"\n");
    assert_eq!(
        newer.to_string(),
        "has schema `ctxc/suppressions/9`, expected `ctxc/suppressions/1`"
    );
    let text = "schema = \"ctxc/suppressions/1\"\n[\"a.xml\".no-context]\nabc = -1\n";
    let shape = fault(text);
    assert_eq!(
        (shape.to_string().as_str(), shape.span().slice(text)),
        ("`abc` should be a count, 1 or more", "-1")
    );
    assert_eq!(
        fault("schema = \"ctxc/suppressions/1\"\nx = 1\n").to_string(),
        "`x` should be a table of rules"
    );
}
