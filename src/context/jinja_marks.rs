//! Finds the lines of what a Jinja text captures before it writes it: `macro`, `set`, `call`, `filter`.
//!
//! Such a text is rendered once more with marks in what it captures. An output that is the same but for its marks has its lines from
//! them; any other (a filter may cut a mark off, a condition may count it) has the line of its tag. What is said is never taken from here.

use super::jinja::{Says, Stretch};
use crate::base::source::LineIndex;
use crate::template::jinja::said;
use crate::template::jinja_tags::{Piece, Placed, Tag, inserted, pieces};
use minijinja::Value;
use std::ops::Range;

/// The filter that marks a value. No text can name it.
pub(super) const FILTER: &str = "_l";
/// The first mark: the planes for private use have room for two on each of 65,536 lines. They have no case and are no space.
const FIRST: u32 = 0xF_0000;

/// A mark before words, or before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Lines above it in the text.
    line: u32,
    is_value: bool,
}

impl Mark {
    fn sign(self) -> Option<char> {
        char::from_u32(self.line.checked_mul(2)?.checked_add(FIRST + u32::from(self.is_value))?)
    }

    fn of(sign: char) -> Option<Self> {
        let number = u32::from(sign).checked_sub(FIRST)?;
        Some(Self { line: number / 2, is_value: number % 2 == 1 })
    }
}

/// A text with marks in these parts of it: before the first word of each line, and in front of what an output writes.
pub(super) fn written(text: &str, captured: &[Range<usize>]) -> String {
    let lines = LineIndex::new(text);
    let above = |at: usize| lines.line(at as u32) - 1;
    let (mut inserts, mut captured, mut start) = (Vec::new(), captured, 0);
    for Placed { open, end, piece } in pieces(text) {
        while let Some((_, rest)) = captured.split_first().filter(|(part, _)| part.end <= start) {
            captured = rest;
        }
        let plain = start..open;
        start = end;
        if captured.first().is_none_or(|part| part.start >= open) {
            continue;
        }
        let raw = if let Piece::Raw = piece { inner(text, open..end) } else { open..open };
        for at in firsts(text, plain).chain(firsts(text, raw)) {
            inserts.extend(Mark { line: above(at), is_value: false }.sign().map(|sign| (at, sign.to_string())));
        }
        if let Piece::Tag(Tag { is_block: false, tokens, .. }) = piece
            && let (Some(first), Some(last)) = (tokens.first(), tokens.last())
        {
            inserts.push((first.start, "(".to_owned()));
            inserts.push((last.end, format!(")|{FILTER}({})", above(first.start))));
        }
    }
    inserted(text, inserts)
}

/// What stands between `{% raw %}` and `{% endraw %}`.
pub(super) fn inner(text: &str, raw: Range<usize>) -> Range<usize> {
    let words = text.get(raw.clone()).unwrap_or("");
    let (start, end) = (words.find("%}").map_or(0, |at| at + 2), words.rfind("{%").unwrap_or(0));
    raw.start + start..raw.start + end.max(start)
}

/// Where the words of each line begin.
fn firsts(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    let mut at = range.start;
    let lines = text.get(range).unwrap_or("").split_inclusive('\n');
    lines.filter_map(move |line| {
        let first = at + line.len() - line.trim_start().len();
        at += line.len();
        (first < at).then_some(first)
    })
}

/// A value that is written below so many lines, with its mark: nothing stays nothing, and what is undefined is refused where it is written.
pub(super) fn marked(value: Value, line: u32) -> Value {
    let Some(sign) = (Mark { line, is_value: true }).sign().filter(|_| !value.is_undefined()) else { return value };
    let words = said(&value).to_string();
    match () {
        () if words.is_empty() => value,
        () if value.is_safe() => Value::from_safe_string(format!("{sign}{words}")),
        () => Value::from(format!("{sign}{words}")),
    }
}

/// The stretches of what an output wrote, where with marks it wrote the same: a mark counts from the beginning of its line. What stands
/// before the first is from the tag, below so many lines. `None` where no mark says anything.
pub(super) fn stretches(words: &str, marked: &str, start: usize, tag: u32) -> Option<Vec<Stretch>> {
    let marks = marks(words, marked)?;
    let (mut made, mut from, mut last) = (Vec::new(), 0, Mark { line: tag, is_value: true });
    let mut push = |range: Range<usize>, says: Says| {
        if !range.is_empty() {
            made.push(Stretch { range: start + range.start..start + range.end, says });
        }
    };
    for (at, mark) in marks {
        let before = words.get(from..at).unwrap_or("");
        let line = before.trim_end_matches([' ', '\t']);
        let to = if line.is_empty() || line.ends_with('\n') { from + line.len() } else { at };
        let ends = words.get(from..to).map_or(0, |words| words.matches('\n').count());
        // Words with nothing but line ends up to the next ones stand as they are written, blank lines included.
        let is_whole = !last.is_value && last.line as usize + ends == mark.line as usize;
        push(from..to, if is_whole { Says::Author(last.line) } else { Says::Output(last.line) });
        (from, last) = (to, mark);
    }
    push(from..words.len(), Says::Output(last.line));
    Some(made)
}

/// The marks in a text that is this one without them, each with its place in this one; `None` where it is another, or has none.
fn marks(words: &str, marked: &str) -> Option<Vec<(usize, Mark)>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut plain = marked;
    while let Some((next, sign)) = plain.char_indices().find(|(_, sign)| *sign as u32 >= FIRST) {
        let rest = words.get(at..).filter(|rest| rest.as_bytes().get(..next) == plain.as_bytes().get(..next));
        rest?;
        at += next;
        found.push((at, Mark::of(sign)?));
        plain = plain.get(next + sign.len_utf8()..).unwrap_or("");
    }
    (!found.is_empty() && words.get(at..) == Some(plain)).then_some(found)
}
