//! A Jinja text as stretches of words and tags, split as Jinja itself does. Linear; never fails: a tag that is never closed
//! reaches to the end.

use std::ops::Range;

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words.
    Data,
    /// `{{ … }}`.
    Variable,
    /// `{% … %}`.
    Statement,
    /// `{# … #}`.
    Comment,
    /// `{% raw %} … {% endraw %}`.
    Raw,
}

/// What a tag does with the white space beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trim {
    /// What the engine does unasked.
    Default,
    /// `-`: all of it goes.
    All,
    /// `+`: it stays whatever the engine does unasked.
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
}

/// A stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// All of it.
    pub(super) range: Range<usize>,
    /// What stands between the signs of a tag.
    pub(super) inner: Range<usize>,
    pub(super) left: Trim,
    pub(super) right: Trim,
}

impl Piece {
    /// What stands between the signs.
    pub(super) fn inside<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.inner.clone()).unwrap_or("")
    }

    /// All of it.
    pub(super) fn slice<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or("")
    }

    /// The first word of a statement.
    pub(super) fn word<'t>(&self, text: &'t str) -> &'t str {
        if self.kind != Kind::Statement {
            return "";
        }
        let inside = self.inside(text).trim_start();
        let end = inside.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(inside.len());
        inside.get(..end).unwrap_or("")
    }

    /// What follows the first word of a statement.
    pub(super) fn rest<'t>(&self, text: &'t str) -> &'t str {
        self.inside(text).trim_start().get(self.word(text).len()..).unwrap_or("").trim()
    }
}

/// Splits a text.
pub(super) fn scan(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut at, mut data) = (0, 0);
    while let Some(found) = memchr::memchr(b'{', text.as_bytes().get(at..).unwrap_or_default()) {
        let start = at + found;
        let kind = match text.as_bytes().get(start + 1) {
            Some(b'{') => Kind::Variable,
            Some(b'%') => Kind::Statement,
            Some(b'#') => Kind::Comment,
            _ => {
                at = start + 1;
                continue;
            }
        };
        if start > data {
            pieces.push(words(data..start));
        }
        let piece = tag(text, start, kind);
        at = piece.range.end;
        data = at;
        pieces.push(piece);
    }
    if data < text.len() {
        pieces.push(words(data..text.len()));
    }
    pieces
}

fn words(range: Range<usize>) -> Piece {
    Piece { kind: Kind::Data, inner: range.clone(), range, left: Trim::Default, right: Trim::Default }
}

fn trim_at(text: &str, at: usize) -> Trim {
    match text.as_bytes().get(at) {
        Some(b'-') => Trim::All,
        Some(b'+') => Trim::Keep,
        _ => Trim::Default,
    }
}

fn tag(text: &str, start: usize, kind: Kind) -> Piece {
    let left = trim_at(text, start + 2);
    let from = start + 2 + left.sign().len();
    let close = match kind {
        Kind::Comment => "#}",
        Kind::Variable => "}}",
        Kind::Statement | Kind::Data | Kind::Raw => "%}",
    };
    let end = if kind == Kind::Comment { find(text, from, close) } else { end(text, from, close) };
    let Some(end) = end else {
        return Piece { kind, range: start..text.len(), inner: from..text.len(), left, right: Trim::Default };
    };
    let right = match text.as_bytes().get(end.wrapping_sub(1)) {
        Some(b'-') if end > from => Trim::All,
        Some(b'+') if end > from => Trim::Keep,
        _ => Trim::Default,
    };
    let piece = Piece { kind, range: start..end + 2, inner: from..end - right.sign().len(), left, right };
    if kind == Kind::Statement && piece.inside(text).trim() == "raw" { raw(text, &piece) } else { piece }
}

/// From `{% raw %}` to behind its `{% endraw %}`.
fn raw(text: &str, open: &Piece) -> Piece {
    let mut at = open.range.end;
    while let Some(start) = find(text, at, "{%") {
        let Some(end) = find(text, start, "%}") else { break };
        let inside = text.get(start + 2..end).unwrap_or("").trim_start_matches(['-', '+']).trim_end_matches(['-', '+']);
        if inside.trim() == "endraw" {
            let right = if end > start + 2 { trim_at(text, end - 1) } else { Trim::Default };
            return Piece {
                kind: Kind::Raw,
                range: open.range.start..end + 2,
                inner: open.range.end..start,
                left: open.left,
                right,
            };
        }
        at = start + 2;
    }
    Piece {
        kind: Kind::Raw,
        range: open.range.start..text.len(),
        inner: open.range.end..text.len(),
        left: open.left,
        right: Trim::Default,
    }
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    Some(from + memchr::memmem::find(text.as_bytes().get(from..)?, what.as_bytes())?)
}

/// Where a tag ends: its closing signs outside strings and brackets.
fn end(text: &str, from: usize, close: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        if depth == 0 && bytes.get(at..at + 2) == Some(close.as_bytes()) {
            return Some(at);
        }
        match byte {
            b'"' | b'\'' => at = string(bytes, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The last byte of the string literal that begins at `at`.
pub(super) fn string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at).copied().unwrap_or(b'"');
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            byte if byte == quote => return end,
            _ => end += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Trim, scan};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_text_is_split_as_jinja_does() {
        let text = "a {%- if x == '%}' -%} {{ {'a': {}}['}}'] }}{# {{ no }} #}{% raw %}{{ x }}{% endraw -%} z {% open";
        let pieces: Vec<(Kind, &str)> = scan(text).iter().map(|piece| (piece.kind, piece.inside(text))).collect();
        let expected = [
            (Kind::Data, "a "),
            (Kind::Statement, " if x == '%}' "),
            (Kind::Data, " "),
            (Kind::Variable, " {'a': {}}['}}'] "),
            (Kind::Comment, " {{ no }} "),
            (Kind::Raw, "{{ x }}"),
            (Kind::Data, " z "),
            (Kind::Statement, " open"),
        ];
        assert_eq!(pieces, expected);
        let pieces = scan(text);
        assert_eq!((pieces[1].left, pieces[1].right, pieces[5].right), (Trim::All, Trim::All, Trim::All));
        assert_eq!(pieces.iter().map(|piece| piece.slice(text)).collect::<String>(), text);
    }
}
