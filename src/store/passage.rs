//! Splits a file into passages: a small file is one passage, a larger one is split at headings and
//! blank lines, so that a match is neither a single line out of context nor a whole book.
//!
//! Passages follow each other without gaps: joined, they are the file.

use std::ops::Range;

/// The maximum size of a passage in bytes, unless it has no better border; a file up to this size
/// is one passage.
pub const MAX_PASSAGE_BYTES: usize = 3_000;
/// The size in bytes from which on a heading begins a new passage.
const MIN_SECTION_BYTES: usize = 600;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePassage {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line that is not blank.
    pub last: u32,
    /// The number of the piece of a line that is too long for one passage; otherwise 0.
    pub piece: u32,
}

/// A line, or a piece of one that is too long.
#[derive(Clone, Copy)]
struct PassageLine<'t> {
    start: usize,
    text: &'t str,
    number: u32,
    piece: u32,
}

/// Returns the passages of a text. The extension of `path` determines the syntax of headings.
pub fn split_passages(path: &str, text: &str) -> Vec<FilePassage> {
    let mut out: Vec<FilePassage> = Vec::new();
    if text.len() <= MAX_PASSAGE_BYTES {
        let lines = text.trim_end().split('\n').count() as u32;
        out.push(FilePassage {
            range: 0..text.len(),
            first: 1,
            last: lines,
            piece: 0,
        });
        return out;
    }
    let headings = Headings::from_path(path);
    let mut open: Option<FilePassage> = None;
    for block in split_blocks(text, headings) {
        let len = block.iter().map(|line| line.text.len()).sum::<usize>();
        let starts = block
            .first()
            .is_some_and(|line| headings.is_heading(line.text));
        let full = |open: &FilePassage| {
            open.piece > 0
                || open.range.len() + len > MAX_PASSAGE_BYTES
                || (starts && open.range.len() >= MIN_SECTION_BYTES)
        };
        if open.as_ref().is_some_and(full) {
            out.extend(open.take());
        }
        for line in block {
            let room = |open: &FilePassage| {
                open.piece == 0
                    && (len <= MAX_PASSAGE_BYTES
                        || open.range.len() + line.text.len() <= MAX_PASSAGE_BYTES)
            };
            if line.piece > 0 || !open.as_ref().is_none_or(room) {
                out.extend(open.take());
            }
            let blank = line.text.trim().is_empty();
            let start = line.start;
            let end = line.start + line.text.len();
            let open = open.get_or_insert(FilePassage {
                range: start..end,
                first: line.number,
                last: line.number,
                piece: line.piece,
            });
            open.range.end = end;
            if !blank {
                open.last = line.number;
            }
        }
    }
    out.extend(open);
    out
}

/// The syntax of headings in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Headings {
    /// `# Title`
    Hashes,
    /// `= Title`
    Equals,
    /// No headings; sections end at blank lines.
    None,
}

impl Headings {
    fn from_path(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or("") {
            "md" | "markdown" | "mdx" | "mdc" => Self::Hashes,
            "adoc" | "asciidoc" => Self::Equals,
            _ => Self::None,
        }
    }

    fn is_heading(self, line: &str) -> bool {
        let sign = match self {
            Self::Hashes => '#',
            Self::Equals => '=',
            Self::None => return false,
        };
        let rest = line.trim_start_matches(sign);
        (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with([' ', '\t'])
    }
}

/// Splits lines into blocks, which end behind blank lines and before headings.
fn split_blocks(text: &str, headings: Headings) -> impl Iterator<Item = Vec<PassageLine<'_>>> {
    let mut lines = split_lines(text).peekable();
    let mut fenced = false;
    std::iter::from_fn(move || {
        let mut block = vec![lines.next()?];
        let mut blank = false;
        let fence = |line: &PassageLine<'_>| {
            headings == Headings::Hashes && line.text.trim_start().starts_with("```")
        };
        if block.iter().any(fence) {
            fenced = !fenced;
        }
        while let Some(line) = lines.peek() {
            let is_blank = line.text.trim().is_empty();
            if !fenced && ((blank && !is_blank) || headings.is_heading(line.text)) {
                break;
            }
            if fence(line) {
                fenced = !fenced;
            }
            blank = is_blank;
            block.extend(lines.next());
        }
        Some(block)
    })
}

/// Returns the lines with their line ends; a line longer than a passage is split into pieces.
fn split_lines(text: &str) -> impl Iterator<Item = PassageLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .zip(1..)
        .flat_map(move |(line, number)| {
            let from = start;
            start += line.len();
            let mut at = 0;
            (0..).map_while(move |piece| {
                let rest = line.get(at..).filter(|rest| !rest.is_empty())?;
                let len = rest.floor_char_boundary(MAX_PASSAGE_BYTES);
                let found = PassageLine {
                    start: from + at,
                    text: rest.get(..len)?,
                    number,
                    piece,
                };
                at += len;
                Some(found)
            })
        })
}
