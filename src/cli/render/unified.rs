//! Two texts as a unified diff, as `patch` and `git apply` read it.
//!
//! Lines that occur once on either side are the fixed points; between them lines pair up from both ends. Linear but for
//! a sort, the same on every machine; never the smallest diff at any price.

use super::escape::escape;
use super::screen::{Paint, Screen};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// How often a range is divided by its own fixed points.
const DEPTH: usize = 16;

/// Writes what leads from one text to the other; nothing when they are the same.
pub(crate) fn write(out: &mut dyn Write, name: &str, old: &str, new: &str, screen: Screen) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let name = escape(name);
    writeln!(out, "{}", screen.paint(Paint::Strong, &format!("--- {name}")))?;
    writeln!(out, "{}", screen.paint(Paint::Strong, &format!("+++ {name}")))?;
    for hunk in hunks(&changes(&old, &new)) {
        write_hunk(out, &hunk, &old, &new, screen)?;
    }
    Ok(())
}

/// Lines that go, and lines that come in their place.
type Change = (Range<usize>, Range<usize>);

fn write_hunk(out: &mut dyn Write, hunk: &[Change], old: &[&str], new: &[&str], screen: Screen) -> io::Result<()> {
    let (Some((first_old, first_new)), Some((last_old, last_new))) = (hunk.first(), hunk.last()) else { return Ok(()) };
    let lead = first_old.start.min(CONTEXT);
    let trail = (old.len() - last_old.end).min(CONTEXT);
    let (from, to) = (first_old.start - lead..last_old.end + trail, first_new.start - lead..last_new.end + trail);
    let head = format!("@@ -{} +{} @@", place(&from), place(&to));
    writeln!(out, "{}", screen.paint(Paint::Hint, &head))?;
    let mut at = from.start;
    for (gone, came) in hunk {
        lines(out, ' ', old.get(at..gone.start), screen)?;
        lines(out, '-', old.get(gone.clone()), screen)?;
        lines(out, '+', new.get(came.clone()), screen)?;
        at = gone.end;
    }
    lines(out, ' ', old.get(at..from.end), screen)
}

fn place(lines: &Range<usize>) -> String {
    // An empty range stands behind the line before it.
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    format!("{start},{}", lines.len())
}

fn lines(out: &mut dyn Write, sign: char, lines: Option<&[&str]>, screen: Screen) -> io::Result<()> {
    let paint = match sign {
        '-' => Some(Paint::Error),
        '+' => Some(Paint::Good),
        _ => None,
    };
    for line in lines.unwrap_or(&[]) {
        let text = line.strip_suffix('\n');
        let shown = format!("{sign}{}", text.unwrap_or(line));
        match paint.filter(|_| screen.color) {
            Some(paint) => writeln!(out, "{}", screen.paint(paint, &escape(&shown)))?,
            None => writeln!(out, "{shown}")?,
        }
        if text.is_none() {
            writeln!(out, "\\ No newline at end of file")?;
        }
    }
    Ok(())
}

/// Changes whose surroundings touch stand in one hunk.
fn hunks(changes: &[Change]) -> Vec<Vec<Change>> {
    let mut hunks: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        let near = |hunk: &Vec<Change>| hunk.last().is_some_and(|last| change.0.start - last.0.end <= 2 * CONTEXT);
        match hunks.last_mut().filter(|hunk| near(hunk)) {
            Some(hunk) => hunk.push(change.clone()),
            None => hunks.push(vec![change.clone()]),
        }
    }
    hunks
}

/// What lies between the lines that pair up.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
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
    use super::{Screen, changes, write};
    use proptest::prelude::*;

    fn diff(old: &str, new: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, "a.xml", old, new, Screen::PLAIN).unwrap();
        String::from_utf8(out).unwrap()
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
        assert!(diff("", "a\n").contains("@@ -0,0 +1,1 @@\n+a\n"));
        assert!(diff("a\n", "").contains("@@ -1,1 +0,0 @@\n-a\n"));
    }

    proptest! {
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
