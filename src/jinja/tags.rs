//! Splits a Jinja text into plain text and tags with their positions, using minijinja's lexer. Ends
//! at the first lexer error.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use std::ops::Range;

/// A tag with its position: `{{ … }}` or `{% … %}`.
#[derive(Debug)]
pub(crate) struct JinjaTag<'t> {
    /// From its first brace to the end of its last one; to the end of the text if it is not closed.
    pub(crate) range: Range<usize>,
    /// True for a statement.
    pub(crate) is_block: bool,
    /// The tokens between the braces.
    pub(crate) tokens: Vec<(Token<'t>, Range<usize>)>,
}

/// A part of a text. Comments and the tags of `raw` are not parts; they are gaps between parts.
#[derive(Debug)]
pub(crate) enum TextPiece<'t> {
    /// Plain text, without the white space that neighbouring tags strip.
    Text(Range<usize>),
    /// A tag.
    Tag(JinjaTag<'t>),
}

/// All parts of a text, in order.
pub(crate) fn split_pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    for (token, span) in tokenize(text, false, SyntaxConfig::default()).map_while(Result::ok) {
        let range = span.start_offset as usize..span.end_offset as usize;
        match token {
            Token::TemplateData(_) => pieces.push(TextPiece::Text(range)),
            Token::VariableStart | Token::BlockStart => {
                let is_block = matches!(token, Token::BlockStart);
                pieces.push(TextPiece::Tag(JinjaTag {
                    range: range.start..text.len(),
                    is_block,
                    tokens: Vec::new(),
                }));
            }
            token => {
                let Some(TextPiece::Tag(tag)) = pieces.last_mut() else {
                    continue;
                };
                if matches!(token, Token::VariableEnd | Token::BlockEnd) {
                    tag.range.end = range.end;
                } else {
                    tag.tokens.push((token, range));
                }
            }
        }
    }
    pieces
}

/// All tags of a text, in order.
pub(crate) fn split_tags(text: &str) -> impl Iterator<Item = JinjaTag<'_>> {
    split_pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            TextPiece::Tag(tag) => Some(tag),
            TextPiece::Text(_) => None,
        })
}

impl<'t> JinjaTag<'t> {
    /// The name in a token; empty if the token is not a name.
    pub(crate) fn name_token(&self, at: usize) -> &'t str {
        match self.tokens.get(at) {
            Some((Token::Ident(name), _)) => name,
            _ => "",
        }
    }

    /// The value of a string literal token.
    pub(crate) fn string_token(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some((Token::Str(text), _)) => Some(text),
            Some((Token::String(text), _)) => Some(text),
            _ => None,
        }
    }

    /// The keyword of a statement; empty for other tags.
    pub(crate) fn keyword(&self) -> &'t str {
        if self.is_block {
            self.name_token(0)
        } else {
            ""
        }
    }

    /// The range between the braces.
    pub(crate) fn inner_range(&self) -> Range<usize> {
        let first = self
            .tokens
            .first()
            .map_or(self.range.start, |(_, range)| range.start);
        first..self.tokens.last().map_or(first, |(_, range)| range.end)
    }
}

/// The tag that contains an offset.
pub(crate) fn tag_at(text: &str, at: usize) -> Option<JinjaTag<'_>> {
    split_tags(text).find(|tag| tag.range.contains(&at))
}

/// The ranges that produce no output: comments, statements, the tags of `raw`.
#[cfg(feature = "assemble")]
pub(crate) fn silent_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut between = |range: Range<usize>| {
        let words = text.get(range.clone()).unwrap_or("");
        let begun = words.trim_start();
        let kept = words.trim();
        if !kept.is_empty() {
            found.push(range.end - begun.len()..range.end - begun.len() + kept.len());
        }
    };
    for piece in split_pieces(text) {
        let range = match piece {
            TextPiece::Text(range) => range,
            TextPiece::Tag(tag) if !tag.is_block => tag.range,
            TextPiece::Tag(_) => continue,
        };
        between(start..range.start);
        start = range.end;
    }
    between(start..text.len());
    found
}

/// The offsets at which a text uses a name, in its statements and expressions. The text may contain
/// XML character references.
#[cfg(feature = "lsp")]
pub(crate) fn find_uses(text: &str, name: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for tag in split_tags(&blank_references(text)) {
        let mut depth = 0_usize;
        for (at, (token, range)) in tag.tokens.iter().enumerate() {
            match token {
                Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => depth += 1,
                Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            let before = at
                .checked_sub(1)
                .and_then(|at| tag.tokens.get(at))
                .map(|(token, _)| token);
            let is_argument =
                depth > 0 && matches!(tag.tokens.get(at + 1), Some((Token::Assign, _)));
            let is_hung_on =
                matches!(before, Some(Token::Dot | Token::Pipe)) || tag.is_block && at == 0;
            if tag.name_token(at) == name && !is_argument && !is_hung_on {
                found.push(range.start);
            }
        }
    }
    found
}

/// The text with references to quotes replaced by quotes and all others by spaces, padded to the
/// same length.
#[cfg(feature = "lsp")]
fn blank_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, behind) = rest.split_at(at);
        let length = behind.find(';').map_or(1, |end| end + 1).min(10);
        let reference = behind.get(..length).unwrap_or("&");
        let sign = match reference {
            "&quot;" | "&#34;" => "\"",
            "&apos;" | "&#39;" => "'",
            "&lt;" => "<",
            "&gt;" => ">",
            _ => " ",
        };
        out.extend([before, sign]);
        out.extend(std::iter::repeat_n(' ', reference.len() - 1));
        rest = behind.get(reference.len()..).unwrap_or("");
    }
    out + rest
}

#[cfg(all(test, feature = "lsp"))]
#[path = "../../tests/unit/jinja/tags.rs"]
mod tests;
