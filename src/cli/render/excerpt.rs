//! The lines of a file that a report shows: safe to print, never wider than the screen, and cheap
//! for any size of file (the caller builds the line index once).
//!
//! Every mark lies inside one line of the excerpt: a mark over several lines is shown on its first.

use super::escape;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::project::dependencies::hide_credentials;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::collections::{BTreeMap, BTreeSet};

/// Longer lines are cut around their marks, on any screen and in files. In characters.
const MAX_LINE_CHARS: usize = 160;
/// Columns of the frame besides the line: a line number of five digits, bars, and the signs of cut
/// lines.
const FRAME_COLUMNS: usize = 11;
/// Marks at most this many lines apart are shown with the lines between them.
const MAX_GAP_LINES: u32 = 5;
/// Characters of a cut line before its first mark.
const CHARS_BEFORE_MARK: usize = 40;

/// A part of a file in a form that miette can draw.
#[derive(Debug)]
pub(super) struct Excerpt {
    text: String,
    lines: Vec<ExcerptLine>,
    name: Option<String>,
    /// The maximum number of characters of a line.
    widest: usize,
}

#[derive(Debug)]
struct ExcerptLine {
    /// From 1, in the file.
    number: u32,
    start: usize,
    /// With the line break.
    end: usize,
}

impl Excerpt {
    /// Cuts out the lines of `marks` and `context` lines around each. Returns the excerpt and the
    /// marks within it, in the same order. Lines are cut to a screen of `width` columns.
    pub(super) fn new(
        text: &str,
        index: &LineIndex,
        marks: &[Span],
        context: u32,
        width: Option<usize>,
    ) -> (Self, Vec<SourceSpan>) {
        let mut wanted: BTreeMap<u32, Vec<(usize, Span)>> = BTreeMap::new();
        for (at, mark) in marks.iter().enumerate() {
            wanted
                .entry(index.position(text, mark.start).line)
                .or_default()
                .push((at, *mark));
        }
        for near in nearby_lines(&wanted, context, |line| is_blank(text, index, line)) {
            wanted.entry(near).or_default();
        }
        let mut excerpt = Self {
            text: String::new(),
            lines: Vec::new(),
            name: None,
            widest: width.map_or(MAX_LINE_CHARS, |width| {
                width
                    .saturating_sub(FRAME_COLUMNS)
                    .clamp(20, MAX_LINE_CHARS)
            }),
        };
        let mut places = vec![SourceSpan::from((0, 0)); marks.len()];
        for (number, marks) in &wanted {
            excerpt.add_line(text, index, *number, marks, &mut places);
        }
        (excerpt, places)
    }

    /// Names the file in the frame.
    pub(super) fn with_name(mut self, name: &str) -> Self {
        self.name = Some(escape::escape_line(name).into_owned());
        self
    }

    fn add_line(
        &mut self,
        text: &str,
        index: &LineIndex,
        number: u32,
        marks: &[(usize, Span)],
        places: &mut [SourceSpan],
    ) {
        let whole = index.line_span(text, number).unwrap_or_default();
        let line = hide_credentials(whole.slice(text).trim_end_matches(['\n', '\r']));
        let base = whole.start as usize;
        let (from, to) = visible_range(&line, base, marks, self.widest);
        let start = self.text.len();
        if from > 0 {
            self.text.push('…');
        }
        let shown = line.get(from..to).unwrap_or("");
        let began = self.text.len();
        let landed = self.push_escaped(shown, base + from);
        let end = self.text.len();
        if to < line.len() {
            self.text.push('…');
        }
        for (at, mark) in marks {
            let land = |offset: u32| {
                if landed.is_empty() {
                    return (began + (offset as usize).saturating_sub(base + from)).min(end);
                }
                let next = landed.partition_point(|(source, _)| *source < offset as usize);
                landed.get(next).map_or(end, |(_, place)| *place)
            };
            let first = land(mark.start);
            let last = land(mark.end).max(first);
            if let Some(place) = places.get_mut(*at) {
                *place = SourceSpan::from((first, last - first));
            }
        }
        self.text.push('\n');
        self.lines.push(ExcerptLine {
            number,
            start,
            end: self.text.len(),
        });
    }
}

impl Excerpt {
    /// Appends a part of a line. Returns the source offset and the excerpt offset of each
    /// character; nothing if all offsets correspond.
    fn push_escaped(&mut self, shown: &str, offset: usize) -> Vec<(usize, usize)> {
        if escape::is_printable_ascii(shown) {
            self.text.push_str(shown);
            return Vec::new();
        }
        let mut landed = Vec::with_capacity(shown.len());
        for (at, c) in shown.char_indices() {
            landed.push((offset + at, self.text.len()));
            if c == '\t' {
                self.text.push_str("    ");
            } else {
                escape::push_escaped(&mut self.text, c);
            }
        }
        landed
    }
}

/// Returns the non-blank lines beside marked ones, and the lines of a short gap between two marks.
fn nearby_lines(
    marked: &BTreeMap<u32, Vec<(usize, Span)>>,
    context: u32,
    blank: impl Fn(u32) -> bool,
) -> BTreeSet<u32> {
    let mut near = BTreeSet::new();
    for (left, right) in marked.keys().zip(marked.keys().skip(1)) {
        if right - left <= MAX_GAP_LINES {
            near.extend(left + 1..*right);
        }
    }
    for line in marked.keys() {
        let beside = line.saturating_sub(context).max(1)..=line.saturating_add(context);
        near.extend(beside.filter(|line| !blank(*line)));
    }
    near
}

fn is_blank(text: &str, index: &LineIndex, line: u32) -> bool {
    index
        .line_span(text, line)
        .is_none_or(|line| line.slice(text).trim().is_empty())
}

/// Returns the byte range of a line that is shown: all of it, or as much as fits around the marks.
fn visible_range(
    line: &str,
    base: usize,
    marks: &[(usize, Span)],
    widest: usize,
) -> (usize, usize) {
    // A line has at most as many characters as bytes.
    if line.len() <= widest {
        return (0, line.len());
    }
    let first = marks
        .iter()
        .map(|(_, mark)| mark.start as usize)
        .min()
        .unwrap_or(base);
    let first = first.saturating_sub(base).min(line.len());
    let mut from = first;
    // If the line ends soon, more of its beginning is shown.
    let behind = line.get(first..).unwrap_or("").chars().take(widest).count();
    for _ in 0..CHARS_BEFORE_MARK.min(widest / 2).max(widest - behind) {
        from = floor_char_boundary(line, from.saturating_sub(1));
    }
    let to = line
        .get(from..)
        .unwrap_or("")
        .char_indices()
        .nth(widest)
        .map_or(line.len(), |(at, _)| from + at);
    (from, to)
}

fn floor_char_boundary(line: &str, mut at: usize) -> usize {
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let find = |offset: usize| {
            self.lines
                .partition_point(|line| line.end <= offset)
                .min(self.lines.len().saturating_sub(1))
        };
        let first = find(span.offset());
        let last = find((span.offset() + span.len().max(1) - 1).max(span.offset()));
        let joined = |a: usize, b: usize| match (self.lines.get(a), self.lines.get(b)) {
            (Some(a), Some(b)) => a.number + 1 == b.number,
            _ => false,
        };
        if (first..last).any(|at| !joined(at, at + 1)) {
            return Err(MietteError::OutOfBounds);
        }
        // The excerpt contains only lines to show, so a request for lines around a span returns the
        // whole run.
        let mut from = first;
        let mut to = last;
        while before > 0 && from > 0 && joined(from - 1, from) {
            from -= 1;
        }
        while after > 0 && joined(to, to + 1) {
            to += 1;
        }
        let (Some(head), Some(tail)) = (self.lines.get(from), self.lines.get(to)) else {
            return Err(MietteError::OutOfBounds);
        };
        let data = self.text.get(head.start..tail.end).unwrap_or("").as_bytes();
        let place = SourceSpan::from((head.start, tail.end - head.start));
        let line = head.number as usize - 1;
        let column = span.offset().saturating_sub(head.start);
        let column = if from == first { column } else { 0 };
        let count = to - from + 1;
        Ok(Box::new(match &self.name {
            Some(name) => {
                MietteSpanContents::new_named(name.clone(), data, place, line, column, count)
            }
            None => MietteSpanContents::new(data, place, line, column, count),
        }))
    }
}
