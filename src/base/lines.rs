//! What leads from one text to another, by lines.
//!
//! Lines that occur once on either side are the fixed points; between them lines pair up from both ends. Linear but for
//! a sort, the same on every machine; never the smallest change at any price.

use super::fix::Edit;
use super::span::Span;
use std::collections::BTreeMap;
use std::ops::Range;

/// How often a range is divided by its own fixed points.
const DEPTH: usize = 16;

/// Lines that go, and lines that come in their place.
pub type Change = (Range<usize>, Range<usize>);

/// The edits that make one text of the other, each no longer than what changes in its lines.
pub fn edits(old: &str, new: &str) -> Vec<Edit> {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let (mut line, mut offset) = (0, 0);
    let mut edits = Vec::new();
    for (gone, came) in changes(&before, &after) {
        let length = |lines: Option<&[&str]>| lines.unwrap_or(&[]).iter().map(|line| line.len()).sum::<usize>();
        offset += length(before.get(line..gone.start));
        let (own, other) = (before.get(gone.clone()).unwrap_or(&[]).concat(), after.get(came).unwrap_or(&[]).concat());
        edits.push(narrow(offset, &own, &other));
        offset += own.len();
        line = gone.end;
    }
    edits
}

/// One edit without what both texts begin and end with.
fn narrow(start: usize, old: &str, new: &str) -> Edit {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let mut head = same(&mut old.chars().zip(new.chars()));
    // No place lies between the two halves of a line break.
    head -= usize::from(old.get(..head).is_some_and(|same| same.ends_with('\r')));
    let (own, other) = (old.get(head..).unwrap_or(""), new.get(head..).unwrap_or(""));
    let mut tail = same(&mut own.chars().rev().zip(other.chars().rev()));
    let halved = |text: &str| text.get(..text.len() - tail).is_some_and(|rest| rest.ends_with('\r'));
    let is_break = own.get(own.len() - tail..).is_some_and(|same| same.starts_with('\n'));
    tail -= usize::from(is_break && (halved(own) || halved(other)));
    let insert = other.get(..other.len() - tail).unwrap_or("");
    Edit::replace(Span::of(start + head, start + old.len() - tail), insert)
}

/// What lies between the lines that pair up.
pub fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut at = (0, 0);
    for (a, b) in pairs(old, new).into_iter().chain([(old.len(), new.len())]) {
        if at != (a, b) {
            changes.push((at.0..a, at.1..b));
        }
        at = (a + 1, b + 1);
    }
    changes
}

/// Lines that stay, by their numbers on both sides, in order.
fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = vec![(0..old.len(), 0..new.len(), DEPTH)];
    while let Some((mut a, mut b, depth)) = open.pop() {
        while !a.is_empty() && !b.is_empty() && old.get(a.start) == new.get(b.start) {
            found.push((a.start, b.start));
            (a.start, b.start) = (a.start + 1, b.start + 1);
        }
        while !a.is_empty() && !b.is_empty() && old.get(a.end - 1) == new.get(b.end - 1) {
            (a.end, b.end) = (a.end - 1, b.end - 1);
            found.push((a.end, b.end));
        }
        if a.is_empty() || b.is_empty() || depth == 0 {
            continue;
        }
        let fixed = fixed_points(old, new, &a, &b);
        if fixed.is_empty() {
            continue;
        }
        for (x, y) in fixed.into_iter().chain([(a.end, b.end)]) {
            open.push((a.start..x, b.start..y, depth - 1));
            if x < a.end {
                found.push((x, y));
            }
            (a.start, b.start) = (x + 1, y + 1);
        }
    }
    found.sort_unstable();
    found
}

/// Lines that occur once on both sides: the longest run of them that is in the same order on both.
fn fixed_points(old: &[&str], new: &[&str], a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
    let mut seen: BTreeMap<&str, (Count, Count)> = BTreeMap::new();
    for at in a.clone() {
        seen.entry(old.get(at).copied().unwrap_or("")).or_default().0.add(at);
    }
    for at in b.clone() {
        seen.entry(new.get(at).copied().unwrap_or("")).or_default().1.add(at);
    }
    let once = seen.into_values().filter_map(|(a, b)| Some((a.once()?, b.once()?)));
    let mut once: Vec<(usize, usize)> = once.collect();
    once.sort_unstable();
    longest_rise(&once)
}

#[derive(Clone, Copy, Default)]
struct Count {
    count: usize,
    at: usize,
}

impl Count {
    fn add(&mut self, at: usize) {
        (self.count, self.at) = (self.count + 1, at);
    }

    fn once(self) -> Option<usize> {
        (self.count == 1).then_some(self.at)
    }
}

/// The longest subsequence whose second numbers rise.
fn longest_rise(points: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the point that ends such a run lowest, and for each point the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(points.len());
    let second = |at: usize| points.get(at).map_or(0, |point| point.1);
    for (at, point) in points.iter().enumerate() {
        let length = ends.partition_point(|&end| second(end) < point.1);
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(here) = at {
        run.extend(points.get(here).copied());
        at = before.get(here).copied().flatten();
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::{changes, edits};
    use crate::base::fix;
    use crate::base::span::Span;
    use proptest::prelude::*;

    #[test]
    fn an_edit_is_no_longer_than_the_change() {
        let old = "<a>\n  <b>één</b>\n  <c/>\n</a>\n";
        let made = edits(old, &old.replace("één", "één two").replace("<c/>", "<d/>"));
        let spans: Vec<(Span, &str)> = made.iter().map(|edit| (edit.span, edit.insert.as_str())).collect();
        assert_eq!(spans, [(Span::new(14, 23), " two</b>\n  <d")]);
        let apart = old.replace("<a>", "<a x>").replace("</a>", "</a >");
        assert_eq!(edits(old, &apart).len(), 2);
        assert!(edits(old, old).is_empty());
    }

    proptest! {
        #[test]
        fn edits_give_the_new_text(old in "[abé😀\r\n]{0,40}", new in "[abcé😀\r\n]{0,40}") {
            prop_assert_eq!(fix::apply(&old, &edits(&old, &new)), Some(new));
        }

        #[test]
        fn applied_changes_give_the_new_text(old in "[ab\n]{0,40}", new in "[abc\n]{0,40}") {
            let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
            let mut made = Vec::new();
            let mut at = 0;
            for (gone, came) in changes(&a, &b) {
                made.extend_from_slice(&a[at..gone.start]);
                made.extend_from_slice(&b[came]);
                at = gone.end;
            }
            made.extend_from_slice(&a[at..]);
            prop_assert_eq!(made.concat(), new);
        }
    }
}
