//! Splits a Jinja text into contiguous pieces: text, tags, comments and raw text, with the effect
//! of each on adjacent white space.
//!
//! Depending on their settings, engines remove white space by default: `trim_blocks`,
//! `lstrip_blocks`, the last line break.

use crate::import::prompt_model::EngineOptions;
use crate::jinja::tags::{self, JinjaTag};
use std::ops::Range;

/// The kind of a piece.
#[derive(Debug)]
pub(super) enum PieceKind<'t> {
    /// Literal text.
    Data,
    /// `{{ … }}` or `{% … %}`.
    Tag(JinjaTag<'t>),
    /// `{# … #}`.
    Comment,
    /// `{% raw %}`; the text after it is literal up to its end.
    Raw,
    /// `{% endraw %}`.
    EndRaw,
}

/// The effect of a tag on adjacent white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhitespaceTrim {
    /// The engine's default.
    Default,
    /// `-`: removes all of it.
    All,
    /// `+`: retains it whatever the engine's default.
    Keep,
}

impl WhitespaceTrim {
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Default => "",
            Self::All => "-",
            Self::Keep => "+",
        }
    }

    fn from_sign(text: &str, at: usize) -> Self {
        match text.as_bytes().get(at) {
            Some(b'-') => Self::All,
            Some(b'+') => Self::Keep,
            _ => Self::Default,
        }
    }
}

/// The effects of the two ends of a tag, or of two tags that enclose a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrimPair {
    pub(super) left: WhitespaceTrim,
    pub(super) right: WhitespaceTrim,
}

impl TrimPair {
    /// The engine's default at both ends.
    pub(super) const DEFAULT: Self = Self {
        left: WhitespaceTrim::Default,
        right: WhitespaceTrim::Default,
    };

    /// The effects of a piece; the engine's default without one.
    pub(super) const fn of_piece(piece: Option<&JinjaPiece<'_>>) -> Self {
        match piece {
            Some(piece) => Self {
                left: piece.left,
                right: piece.right,
            },
            None => Self::DEFAULT,
        }
    }
}

#[derive(Debug)]
pub(super) struct JinjaPiece<'t> {
    pub(super) kind: PieceKind<'t>,
    pub(super) range: Range<usize>,
    pub(super) left: WhitespaceTrim,
    pub(super) right: WhitespaceTrim,
}

impl<'t> JinjaPiece<'t> {
    fn new(text: &str, kind: PieceKind<'t>, range: Range<usize>) -> Self {
        let mut left = WhitespaceTrim::Default;
        let mut right = WhitespaceTrim::Default;
        if !matches!(kind, PieceKind::Data) {
            (left, right) = (
                WhitespaceTrim::from_sign(text, range.start + 2),
                WhitespaceTrim::from_sign(text, range.end.saturating_sub(3)),
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
        matches!(self.kind, PieceKind::Data)
    }
}

/// Splits a text; parts that minijinja cannot parse are literal text.
pub(super) fn split_pieces(text: &str) -> Vec<JinjaPiece<'_>> {
    let mut split = JinjaPieceSplitter {
        text,
        pieces: Vec::new(),
        done: 0,
    };
    let mut at = 0;
    for piece in tags::split_pieces(text) {
        match piece {
            tags::TextPiece::Text(range) => {
                split.push_silent(at..range.start);
                at = range.end;
            }
            tags::TextPiece::Tag(tag) => {
                split.push_silent(at..tag.range.start);
                at = tag.range.end;
                split.push_piece(tag.range.clone(), PieceKind::Tag(tag));
            }
        }
    }
    split.push_silent(at..text.len());
    split.push_data(text.len());
    split.pieces
}

struct JinjaPieceSplitter<'t> {
    text: &'t str,
    pieces: Vec<JinjaPiece<'t>>,
    done: usize,
}

impl<'t> JinjaPieceSplitter<'t> {
    fn push_data(&mut self, end: usize) {
        if self.done < end {
            self.pieces
                .push(JinjaPiece::new(self.text, PieceKind::Data, self.done..end));
        }
    }

    fn push_piece(&mut self, range: Range<usize>, kind: PieceKind<'t>) {
        self.push_data(range.start);
        self.done = range.end;
        self.pieces.push(JinjaPiece::new(self.text, kind, range));
    }

    /// Adds comments, the tags of raw text, and white space.
    fn push_silent(&mut self, range: Range<usize>) {
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
                true => PieceKind::Comment,
                false if is_end => PieceKind::EndRaw,
                false => PieceKind::Raw,
            };
            self.push_piece(open..at, kind);
        }
    }
}

/// The text of a piece, as an engine with these settings outputs it.
pub(super) fn piece_text<'t>(
    text: &'t str,
    pieces: &[JinjaPiece<'_>],
    at: usize,
    options: EngineOptions,
) -> &'t str {
    let Some(piece) = pieces.get(at) else {
        return "";
    };
    let mut words = piece.slice(text);
    let is_block = |piece: &JinjaPiece<'_>| match &piece.kind {
        PieceKind::Tag(tag) => tag.is_block,
        PieceKind::Comment | PieceKind::Raw | PieceKind::EndRaw => true,
        PieceKind::Data => false,
    };
    let before = at
        .checked_sub(1)
        .and_then(|at| pieces.get(at))
        .filter(|piece| !matches!(piece.kind, PieceKind::Raw));
    if options.trim_blocks
        && before.is_some_and(|piece| is_block(piece) && piece.right == WhitespaceTrim::Default)
    {
        words = words.strip_prefix('\n').unwrap_or(words);
    }
    let after = pieces.get(at + 1);
    if options.lstrip_blocks
        && after.is_some_and(|piece| is_block(piece) && piece.left == WhitespaceTrim::Default)
    {
        let kept = words.trim_end_matches([' ', '\t']);
        let begins =
            kept.ends_with('\n') || kept.is_empty() && (at == 0 || begins_line(text, piece));
        words = if begins { kept } else { words };
    }
    words
}

/// Returns true if a piece begins at the start of a line.
fn begins_line(text: &str, piece: &JinjaPiece<'_>) -> bool {
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
