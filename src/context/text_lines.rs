//! Maps each line of a compiled text to its source line.
//!
//! A compiled text lacks comments, blank lines at its ends, references and sections, so its element
//! is read again; the registry does not contain lines. In a Jinja text only words count, not
//! statements and comments. Runs in linear time.

use crate::base::source::LineIndex;
use crate::jinja::tags::silent_ranges;
use crate::registry::{is_use, preserves_space};
use crate::syntax::tree::{Element, NodeKind, XmlNode};
use crate::syntax::value;
use crate::template::keywords::TextSyntax;
use std::iter::Peekable;
use std::ops::Range;

/// The characters that indent a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// The lines of a text, as runs of consecutive lines: each entry is the first line of a run in the
/// text, from 0, and in the file, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextLines {
    breaks: Vec<(u32, u32)>,
    /// The runs by the first character of each line, even if it belongs to a statement or comment.
    first_breaks: Vec<(u32, u32)>,
}

impl TextLines {
    /// Maps a text between tags; `text` is the content of the file.
    pub(super) fn from_element(
        element: Element<'_>,
        syntax: TextSyntax,
        text: &str,
        lines: &LineIndex,
    ) -> Self {
        let line = lines.line_number(element.inner().start);
        let silent = if syntax == TextSyntax::Jinja {
            silent_ranges(&element.text())
        } else {
            Vec::new()
        };
        let mut walk = TextTraversal {
            lines,
            preserves: preserves_space(element),
            silent: silent.into_iter().peekable(),
            at: 0,
            found: None,
            first: None,
            line,
            number: 0,
            result: Self::default(),
        };
        for node in element.children() {
            match node.kind() {
                NodeKind::Text | NodeKind::Cdata => walk.read_node(node, text),
                NodeKind::Element if node.as_element().is_some_and(is_use) => {
                    walk.note_insertion(node.span().start as usize);
                }
                NodeKind::Element | NodeKind::Comment | NodeKind::Instruction => {}
            }
        }
        walk.end_line(0);
        walk.result
    }

    /// Maps a text that is a whole file.
    pub(super) fn from_file(element: Element<'_>, text: &str) -> Self {
        let is_blank =
            |line: &&str| !preserves_space(element) && line.trim_matches(BLANKS).is_empty();
        let blank = text
            .split(['\n', '\r'])
            .take_while(is_blank)
            .map(|line| line.len() + 1)
            .sum::<usize>();
        Self::consecutive(LineIndex::new(text).line_number(blank as u32))
    }

    /// Maps a text whose lines are consecutive in the file, from line `first`.
    pub(super) fn consecutive(first: u32) -> Self {
        Self {
            breaks: vec![(0, first)],
            first_breaks: vec![(0, first)],
        }
    }

    /// Returns the line of the file that contains the first words of a line of the text.
    pub(super) fn line(&self, line: u32) -> u32 {
        source_line(&self.breaks, line)
    }

    /// Returns the line of the file where a line of the text begins, possibly with a Jinja
    /// statement.
    pub(super) fn first_line(&self, line: u32) -> u32 {
        source_line(&self.first_breaks, line)
    }
}

fn source_line(turns: &[(u32, u32)], line: u32) -> u32 {
    let behind = turns.partition_point(|(from, _)| *from <= line);
    let (from, first) = behind
        .checked_sub(1)
        .and_then(|at| turns.get(at))
        .copied()
        .unwrap_or((0, 1));
    first + (line - from)
}

/// The traversal of a text, with the state of the current line.
struct TextTraversal<'l> {
    lines: &'l LineIndex,
    /// True if leading blank lines belong to the text.
    preserves: bool,
    /// The ranges of the text that produce no output.
    silent: Peekable<std::vec::IntoIter<Range<usize>>>,
    /// The offset up to which the text is read.
    at: usize,
    /// The file line of its first word.
    found: Option<u32>,
    /// The file line of its first character, including statements and comments.
    first: Option<u32>,
    /// The file line where it begins.
    line: u32,
    /// The number of lines before it.
    number: u32,
    result: TextLines,
}

impl TextTraversal<'_> {
    fn read_node(&mut self, node: XmlNode<'_>, text: &str) {
        let start = node.inner().start as usize;
        let raw = node.inner().slice(text);
        let is_text = node.kind() == NodeKind::Text;
        let mut rest = raw;
        while !rest.is_empty() {
            let at = start + raw.len() - rest.len();
            let stop = rest
                .find(|c| matches!(c, '\n' | '\r') || c == '&' && is_text)
                .unwrap_or(rest.len());
            let (words, behind) = rest.split_at(stop);
            self.read_words(at, words);
            let length = match behind.as_bytes() {
                [] => 0,
                [b'&', ..] => self.read_reference(at + stop, behind),
                [b'\r', b'\n', ..] => 2,
                _ => 1,
            };
            if behind.starts_with(['\n', '\r']) {
                self.at += 1;
                self.end_line(at + stop + length);
            }
            rest = behind.get(length..).unwrap_or("");
        }
    }

    /// Reads a reference, which begins with `&`, and returns its length. A line break written as a
    /// reference ends a line of the text but not of the file.
    fn read_reference(&mut self, at: usize, behind: &str) -> usize {
        let inside = behind.get(1..).unwrap_or("");
        let length = inside
            .find([';', '&', '\n'])
            .filter(|end| inside[*end..].starts_with(';'))
            .map_or(1, |end| end + 2);
        let (sign, next) = behind.split_at(length);
        let stands_for = value::decode_text(sign, false);
        match &*stands_for {
            "\n" => self.end_line(at + length),
            // Outside `xml:space="preserve"`, it is a line break by itself, or one together with
            // the following one.
            "\r" if !self.preserves && !next.starts_with(['\n', '\r']) => {
                self.end_line(at + length);
            }
            other => {
                self.read_words(at, other);
                return length;
            }
        }
        self.at += stands_for.len();
        length
    }

    fn read_words(&mut self, at: usize, words: &str) {
        let start = self.at;
        self.at += words.len();
        let mut blank = words.len() - words.trim_start_matches(BLANKS).len();
        if blank < words.len() {
            let line = || self.lines.line_number((at + blank) as u32);
            self.first = self.first.or_else(|| Some(line()));
        }
        while self.found.is_none() && blank < words.len() {
            self.silent.next_if(|silent| silent.end <= start + blank);
            match self.silent.peek() {
                Some(silent) if silent.end <= start + blank => {}
                Some(silent) if silent.start <= start + blank => {
                    let behind = words.get(silent.end - start..).unwrap_or("");
                    blank = words.len() - behind.trim_start_matches(BLANKS).len();
                }
                _ => self.found = Some(self.lines.line_number((at + blank) as u32)),
            }
        }
    }

    /// Records an element that inserts text into the line.
    fn note_insertion(&mut self, at: usize) {
        let line = self.lines.line_number(at as u32);
        self.found = self.found.or(Some(line));
        self.first = self.first.or(Some(line));
    }

    /// Ends the current line; the next begins at `next`.
    fn end_line(&mut self, next: usize) {
        let found = self.found.take();
        let first = self.first.take();
        let first_line = first.unwrap_or(self.line);
        let line = found.unwrap_or(first_line);
        self.line = self.lines.line_number(next as u32);
        if self.result.breaks.is_empty() && first.is_none() && !self.preserves {
            return;
        }
        for (turns, line) in [
            (&mut self.result.breaks, line),
            (&mut self.result.first_breaks, first_line),
        ] {
            if turns.is_empty() || source_line(turns, self.number) != line {
                turns.push((self.number, line));
            }
        }
        self.number += 1;
    }
}
