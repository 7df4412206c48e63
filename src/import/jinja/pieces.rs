//! Splits a Jinja text into contiguous pieces: text, tags, comments and raw text, with the effect
//! of each on adjacent white space.
//!
//! Depending on their settings, engines remove white space by default: `trim_blocks`,
//! `lstrip_blocks`, the last line break.

use crate::import::model::Options;
use crate::jinja::tags::{self, Tag};
use std::ops::Range;

/// The kind of a piece.
#[derive(Debug)]
pub(super) enum Kind<'t> {
    /// Literal text.
    Data,
    /// `{{ … }}` or `{% … %}`.
    Tag(Tag<'t>),
    /// `{# … #}`.
    Comment,
    /// `{% raw %}`; the text after it is literal up to its end.
    Raw,
    /// `{% endraw %}`.
    EndRaw,
}

/// The effect of a tag on adjacent white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trim {
    /// The engine's default.
    Default,
    /// `-`: removes all of it.
    All,
    /// `+`: retains it whatever the engine's default.
    Keep,
}

impl Trim {
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Default => "",
            Self::All => "-",
            Self::Keep => "+",
        }
    }

    fn at(text: &str, at: usize) -> Self {
        match text.as_bytes().get(at) {
            Some(b'-') => Self::All,
            Some(b'+') => Self::Keep,
            _ => Self::Default,
        }
    }
}

#[derive(Debug)]
pub(super) struct Piece<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) range: Range<usize>,
    pub(super) left: Trim,
    pub(super) right: Trim,
}

impl<'t> Piece<'t> {
    fn new(text: &str, kind: Kind<'t>, range: Range<usize>) -> Self {
        let mut left = Trim::Default;
        let mut right = Trim::Default;
        if !matches!(kind, Kind::Data) {
            (left, right) = (
                Trim::at(text, range.start + 2),
                Trim::at(text, range.end.saturating_sub(3)),
            );
        }
        Self {
            kind,
            range,
            left,
            right,
        }
    }

    /// The source text of the piece.
    pub(super) fn slice<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.range.clone()).unwrap_or("")
    }

    pub(super) const fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Data)
    }
}

/// Splits a text; parts that minijinja cannot parse are literal text.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut split = Split {
        text,
        pieces: Vec::new(),
        done: 0,
    };
    let mut at = 0;
    for piece in tags::pieces(text) {
        match piece {
            tags::Piece::Words(range) => {
                split.silent(at..range.start);
                at = range.end;
            }
            tags::Piece::Tag(tag) => {
                split.silent(at..tag.range.start);
                at = tag.range.end;
                split.push(tag.range.clone(), Kind::Tag(tag));
            }
        }
    }
    split.silent(at..text.len());
    split.data(text.len());
    split.pieces
}

struct Split<'t> {
    text: &'t str,
    pieces: Vec<Piece<'t>>,
    done: usize,
}

impl<'t> Split<'t> {
    fn data(&mut self, end: usize) {
        if self.done < end {
            self.pieces
                .push(Piece::new(self.text, Kind::Data, self.done..end));
        }
    }

    fn push(&mut self, range: Range<usize>, kind: Kind<'t>) {
        self.data(range.start);
        self.done = range.end;
        self.pieces.push(Piece::new(self.text, kind, range));
    }

    /// Adds comments, the tags of raw text, and white space.
    fn silent(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while let Some(open) = self
            .text
            .get(at..range.end)
            .and_then(|rest| rest.find(['{']))
            .map(|found| at + found)
        {
            let is_comment = self.text.as_bytes().get(open + 1) == Some(&b'#');
            let close = if is_comment { "#}" } else { "%}" };
            let inside = self
                .text
                .get(open + 2..range.end)
                .and_then(|rest| Some(rest.split_once(close)?.0));
            let Some(inside) = inside else { return };
            at = open + inside.len() + 4;
            let is_end = inside
                .trim_start_matches(['-', '+'])
                .trim_start()
                .starts_with("endraw");
            let kind = match is_comment {
                true => Kind::Comment,
                false if is_end => Kind::EndRaw,
                false => Kind::Raw,
            };
            self.push(open..at, kind);
        }
    }
}

/// The text of a piece, as an engine with these settings outputs it.
pub(super) fn data<'t>(
    text: &'t str,
    pieces: &[Piece<'_>],
    at: usize,
    options: Options,
) -> &'t str {
    let Some(piece) = pieces.get(at) else {
        return "";
    };
    let mut words = piece.slice(text);
    let is_block = |piece: &Piece<'_>| match &piece.kind {
        Kind::Tag(tag) => tag.is_block,
        Kind::Comment | Kind::Raw | Kind::EndRaw => true,
        Kind::Data => false,
    };
    let before = at
        .checked_sub(1)
        .and_then(|at| pieces.get(at))
        .filter(|piece| !matches!(piece.kind, Kind::Raw));
    if options.trim_blocks
        && before.is_some_and(|piece| is_block(piece) && piece.right == Trim::Default)
    {
        words = words.strip_prefix('\n').unwrap_or(words);
    }
    let after = pieces.get(at + 1);
    if options.lstrip_blocks
        && after.is_some_and(|piece| is_block(piece) && piece.left == Trim::Default)
    {
        let kept = words.trim_end_matches([' ', '\t']);
        let begins =
            kept.ends_with('\n') || kept.is_empty() && (at == 0 || began_line(text, piece));
        words = if begins { kept } else { words };
    }
    words
}

/// Returns true if a piece begins at the start of a line.
fn began_line(text: &str, piece: &Piece<'_>) -> bool {
    piece.slice(text).starts_with('\n')
        || text
            .get(..piece.range.start)
            .is_some_and(|before| before.ends_with('\n'))
}

/// A text without its last line break, as Jinja reads a file.
pub(super) fn without_last_break(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

#[cfg(test)]
#[path = "../../../tests/unit/import/jinja/pieces.rs"]
mod tests;
