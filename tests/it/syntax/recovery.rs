//! The cost of a single deleted character: names, parents, errors, faults elsewhere. The figures go
//! to `benches/RESULTS.md`; `cargo test --test it recovery -- --nocapture` prints them.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "prints shares of small counts"
)]

use crate::project::reading::check_template;
use ctxc::Config;
use ctxc::internals::syntax::tree::Element;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const TEMPLATES: [(&str, &str); 4] = [
    ("sequential", include_str!("recovery/sequential.xml")),
    ("reduce", include_str!("recovery/reduce.xml")),
    ("loop", include_str!("recovery/loop.xml")),
    ("library", include_str!("recovery/library.xml")),
];

/// A text without one of its characters.
fn without(text: &str, at: usize) -> String {
    let mut mutant = text.to_owned();
    mutant.remove(at);
    mutant
}

fn deletions(text: &str) -> impl Iterator<Item = (usize, String)> {
    text.char_indices().map(|(at, _)| (at, without(text, at)))
}

fn counted<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// The number of items in `before` that are not in `after`.
fn lost<T: Ord>(before: &BTreeMap<T, usize>, after: &BTreeMap<T, usize>) -> usize {
    before
        .iter()
        .map(|(item, count)| count.saturating_sub(after.get(item).copied().unwrap_or(0)))
        .sum()
}

fn names(text: &str) -> BTreeMap<String, usize> {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    counted(
        reader
            .document(text)
            .elements()
            .map(|element| element.name().to_owned()),
    )
}

/// The names from the root down to each element.
fn path(element: Element<'_>) -> String {
    let around = element.parent().map_or_else(String::new, path);
    format!("{around}/{}", element.name())
}

/// Each element by the start of its name, with the start of its parent's name, in offsets of the
/// text before the deletion.
fn parents(text: &str, deleted: Option<(usize, u8)>) -> BTreeMap<u32, Option<u32>> {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let original = |element: Element<'_>| {
        let start = element.name_span().start;
        // A name that starts where the deleted character stood has lost its first letter, or the
        // bracket before it.
        let behind = deleted.is_some_and(|(at, byte)| {
            start as usize > at || (start as usize == at && byte == b'<')
        });
        start + u32::from(behind)
    };
    reader
        .document(text)
        .elements()
        .map(|element| (original(element), element.parent().map(original)))
        .collect()
}

/// The counts of one measurement, with their share of the whole.
#[derive(Default)]
struct Figure {
    good: usize,
    all: usize,
    worst: usize,
}

impl Figure {
    fn add(&mut self, cost: usize, allowed: usize) {
        self.all += 1;
        self.good += usize::from(cost <= allowed);
        self.worst = self.worst.max(cost);
    }

    fn share(&self) -> f64 {
        self.good as f64 * 100.0 / self.all as f64
    }

    fn print(&self, what: &str) {
        println!(
            "| {what} | {:.2} % of {} | {} |",
            self.share(),
            self.all,
            self.worst
        );
    }
}

fn show(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    format!(
        "{}[{}]{}",
        &text[line..at],
        &text[at..=at].escape_debug(),
        text.get(at + 1..end).unwrap_or("")
    )
}

#[test]
fn a_deleted_character_costs_at_most_one_name() {
    let mut figure = Figure::default();
    for (_, text) in TEMPLATES {
        let before = names(text);
        for (at, mutant) in deletions(text) {
            let cost = lost(&before, &names(&mutant));
            if cost > 1 {
                println!("{cost} names: {}", show(text, at));
            }
            figure.add(cost, 1);
        }
    }
    figure.print("at most one element name vanishes");
    assert!(figure.share() >= 99.5, "{:.2} %", figure.share());
    assert!(figure.worst <= 3, "{}", figure.worst);
}

#[test]
fn a_deleted_character_gives_at_most_three_structural_errors() {
    let mut figure = Figure::default();
    for (_, text) in TEMPLATES {
        for (at, mutant) in deletions(text) {
            let mut reader = XmlReader::new();
            reader.read(&mutant, &XmlLimits::default());
            let count = reader.faults().len();
            if count > 1 {
                println!(
                    "{count} errors: {} {:?}",
                    show(text, at),
                    reader.faults().iter().map(|f| f.kind).collect::<Vec<_>>()
                );
            }
            figure.add(count, 1);
        }
    }
    figure.print("at most one structural error");
    assert!(figure.worst <= 3, "{}", figure.worst);
    assert!(figure.share() >= 99.7, "{:.2} %", figure.share());
}

#[test]
fn surviving_elements_keep_their_parents() {
    let (mut by_place, mut by_path) = (Figure::default(), Figure::default());
    for (_, text) in TEMPLATES {
        let before = parents(text, None);
        let mut reader = XmlReader::new();
        reader.read(text, &XmlLimits::default());
        let paths = counted(reader.document(text).elements().map(path));
        for (at, mutant) in deletions(text) {
            let after = parents(&mutant, Some((at, text.as_bytes()[at])));
            let moved = before
                .iter()
                .filter(|(start, parent)| after.get(start).is_some_and(|now| now != *parent))
                .count();
            if moved > 1 {
                println!("{moved} moved: {}", show(text, at));
            }
            by_place.add(moved, 1);
            reader.read(&mutant, &XmlLimits::default());
            by_path.add(
                lost(
                    &paths,
                    &counted(reader.document(&mutant).elements().map(path)),
                ),
                1,
            );
        }
    }
    by_place.print("at most one surviving element gets another parent");
    by_path.print("at most one element loses its path of names");
    assert!(by_place.share() >= 99.9, "{:.2} %", by_place.share());
    assert!(by_place.worst <= 2, "{}", by_place.worst);
    assert!(by_path.share() >= 93.0, "{:.2} %", by_path.share());
}

/// Plants an unknown element at head, middle and tail: behind the first start tag, in the middle,
/// before the last end tag.
fn planted(text: &str) -> String {
    let root = text
        .find("<task")
        .or_else(|| text.find("<library"))
        .expect("a root");
    let head = root + text[root..].find(">\n").expect("a start tag") + 2;
    let breaks: Vec<usize> = text.match_indices(">\n  <").map(|(at, _)| at + 2).collect();
    let middle = *breaks
        .iter()
        .min_by_key(|&&at| at.abs_diff(text.len() / 2))
        .expect("a child");
    let tail = text.rfind("</").expect("an end tag");
    let mut out = text.to_owned();
    for (at, name) in [
        (tail, "planted-tail"),
        (middle, "planted-middle"),
        (head, "planted-head"),
    ] {
        out.insert_str(at, &format!("  <{name} is=\"here\"/>\n"));
    }
    out
}

/// The planted elements that are reported, by the program's own check of the file.
fn reported_elements(text: &str) -> BTreeSet<String> {
    let found = check_template(text, &Config::default());
    let unknown = found
        .into_iter()
        .filter(|finding| finding.rule.name == "unknown-element");
    unknown
        .map(|finding| finding.span.slice(text).to_owned())
        .filter(|name| name.starts_with("planted-"))
        .collect()
}

#[test]
fn faults_elsewhere_are_still_reported() {
    let (mut two, mut three) = (Figure::default(), Figure::default());
    for (_, text) in TEMPLATES {
        let text = planted(text);
        assert_eq!(reported_elements(&text).len(), 3);
        for (at, mutant) in deletions(&text) {
            let missed = 3 - reported_elements(&mutant).len();
            if missed > 1 {
                println!("{missed} missed: {}", show(&text, at));
            }
            two.add(missed, 1);
            three.add(missed, 0);
        }
    }
    two.print("two of three planted faults reported");
    three.print("all three planted faults reported");
    assert!(two.share() >= 99.9, "{:.2} %", two.share());
}
