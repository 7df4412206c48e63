//! Line differences between two texts. Lines that occur once in each text are the fixed points.

use super::fix::Edit;
use super::span::Span;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffTag, capture_diff_slices, group_diff_ops};
use std::ops::Range;

/// The number of line ends in a text.
pub fn count_line_ends(text: &str) -> u32 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32
}

/// Removed lines, and the lines that replace them.
pub type LineChange = (Range<usize>, Range<usize>);

/// The edits that turn `old` into `new`, each limited to the changed part of its lines.
pub fn diff_edits(old: &str, new: &str) -> Vec<Edit> {
    let (before, after): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let mut line = 0;
    let mut offset = 0;
    let mut edits = Vec::new();
    for (gone, came) in diff_lines(&before, &after) {
        let length = |lines: Option<&[&str]>| {
            lines
                .unwrap_or(&[])
                .iter()
                .map(|line| line.len())
                .sum::<usize>()
        };
        offset += length(before.get(line..gone.start));
        let own = before.get(gone.clone()).unwrap_or(&[]).concat();
        let other = after.get(came).unwrap_or(&[]).concat();
        edits.push(narrow_edit(offset, &own, &other));
        offset += own.len();
        line = gone.end;
    }
    edits
}

/// One edit without the common beginning and end of both texts.
fn narrow_edit(start: usize, old: &str, new: &str) -> Edit {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let mut head = same(&mut old.chars().zip(new.chars()));
    // No position lies between the two halves of a line break.
    head -= usize::from(old.get(..head).is_some_and(|same| same.ends_with('\r')));
    let own = old.get(head..).unwrap_or("");
    let other = new.get(head..).unwrap_or("");
    let mut tail = same(&mut own.chars().rev().zip(other.chars().rev()));
    let halved = |text: &str| {
        text.get(..text.len() - tail)
            .is_some_and(|rest| rest.ends_with('\r'))
    };
    let is_break = own
        .get(own.len() - tail..)
        .is_some_and(|same| same.starts_with('\n'));
    tail -= usize::from(is_break && (halved(own) || halved(other)));
    let insert = other.get(..other.len() - tail).unwrap_or("");
    Edit::replace(
        Span::from_offsets(start + head, start + old.len() - tail),
        insert,
    )
}

/// A hunk of a unified diff: its header, and its lines with their signs.
pub type DiffHunk<'t> = (String, Vec<(char, &'t str)>);

/// The hunks of a unified diff, with `around` lines of context around each change.
pub fn diff_hunks<'t>(old: &[&'t str], new: &[&'t str], around: usize) -> Vec<DiffHunk<'t>> {
    let sign = |tag: ChangeTag| match tag {
        ChangeTag::Equal => ' ',
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
    };
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Patience, old, new), around);
    let hunk = |ops: Vec<similar::DiffOp>| {
        let lines = ops
            .iter()
            .flat_map(|op| op.iter_changes(old, new))
            .map(|change| (sign(change.tag()), change.value()));
        (UnifiedHunkHeader::new(&ops).to_string(), lines.collect())
    };
    groups.into_iter().map(hunk).collect()
}

/// The changes that turn the lines `old` into `new`.
pub fn diff_lines(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let mut changes: Vec<LineChange> = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        let (tag, gone, came) = op.as_tag_tuple();
        match changes
            .last_mut()
            .filter(|last| (last.0.end, last.1.end) == (gone.start, came.start))
        {
            _ if tag == DiffTag::Equal => {}
            // A removal and the insertion in its place are one change.
            Some(last) => (last.0.end, last.1.end) = (gone.end, came.end),
            None => changes.push((gone, came)),
        }
    }
    changes
}
