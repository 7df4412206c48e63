//! Limits on the size and depth of a Jinja text before it is parsed: minijinja's parser and compiler
//! recurse into expressions, and its lexer counts columns in 16 bits.
//!
//! An upper bound of the depth, never an exact measure: it considers commas and brackets, but not
//! precedence. Linear, without recursion.

use super::jinja_fault::{JinjaFault, JinjaFaultKind};
use super::tags::{JinjaTag, split_tags};
use crate::base::span::Span;
use minijinja::machinery::Token;
use std::ops::Range;

/// Maximum size of a text in bytes.
pub const MAX_TEXT_BYTES: usize = 1_000_000;
/// Maximum column that a tag may reach, in characters: minijinja counts columns in 16 bits, and
/// adds to the last of them.
pub const MAX_COLUMNS: usize = u16::MAX as usize - 1;
/// Maximum nesting of blocks; each `elif` is a level until its `endif`.
pub const MAX_BLOCK_DEPTH: u32 = 48;
/// Maximum number of nested operators, dots and filters in one expression; a pair of brackets
/// counts as four.
pub const MAX_CHAIN_LENGTH: u32 = 96;
/// Maximum size in bytes of repeated constants (`"=" * 40`) in one text.
pub const MAX_REPEATED_BYTES: u32 = 1_000_000;

/// Statements that open a block; so does `set` without a `=`.
const BLOCK_OPENERS: [&str; 8] = [
    "autoescape",
    "block",
    "call",
    "filter",
    "for",
    "if",
    "macro",
    "with",
];
/// Keyword operators in expressions.
const KEYWORD_OPERATORS: [&str; 7] = ["and", "else", "if", "in", "is", "not", "or"];
/// The weight of a bracket in operators: it passes through all of the parser's levels of
/// precedence.
const BRACKET_WEIGHT: u32 = 4;

/// The first place at which a text is too deep or a line is too long.
pub(super) fn find_excess(text: &str) -> Option<JinjaFault> {
    if let Some(range) = find_long_line(text) {
        return Some(JinjaFault {
            kind: JinjaFaultKind::LineTooLong,
            span: Span::from_offsets(range.start, range.end),
        });
    }
    // The number of levels of each open block.
    let mut blocks: Vec<u32> = Vec::new();
    for tag in split_tags(text) {
        let too_deep = |at: usize, end: usize| {
            Some(JinjaFault {
                kind: JinjaFaultKind::TooDeep,
                span: Span::from_offsets(at, end),
            })
        };
        if let Some(at) = find_long_chain(&tag) {
            return too_deep(at, at + 1);
        }
        let word = tag.keyword();
        if BLOCK_OPENERS.contains(&word) || word == "set" && !has_assignment(&tag) {
            blocks.push(1);
        } else if word == "elif" {
            blocks
                .last_mut()
                .into_iter()
                .for_each(|levels| *levels += 1);
        } else if word.starts_with("end") {
            blocks.pop();
        }
        if blocks.iter().sum::<u32>() > MAX_BLOCK_DEPTH {
            return too_deep(tag.inner_range().start, tag.range.end);
        }
    }
    None
}

/// Returns true if a tag has a `=` outside of brackets.
fn has_assignment(tag: &JinjaTag<'_>) -> bool {
    let mut depth = 0_i64;
    tag.tokens.iter().any(|(token, _)| {
        depth += bracket_change(token);
        depth == 0 && matches!(token, Token::Assign)
    })
}

/// 1 for an opening bracket, -1 for a closing one, else 0.
fn bracket_change(token: &Token<'_>) -> i64 {
    match token {
        Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => 1,
        Token::ParenClose | Token::BracketClose | Token::BraceClose => -1,
        _ => 0,
    }
}

/// The nested operators between two commas of one pair of brackets.
#[derive(Clone, Copy, Default)]
struct BracketLevel {
    segment: u32,
    longest: u32,
}

/// The place at which the expressions of a tag exceed the allowed depth.
fn find_long_chain(tag: &JinjaTag<'_>) -> Option<usize> {
    let mut levels = Vec::new();
    let mut level = BracketLevel::default();
    let mut sum = 0_u32;
    for (at, (token, range)) in tag.tokens.iter().enumerate() {
        let links = match token {
            Token::Comma => {
                sum -= level.segment;
                level = BracketLevel {
                    segment: 0,
                    longest: level.longest.max(level.segment),
                };
                0
            }
            token if bracket_change(token) > 0 => {
                level.segment += BRACKET_WEIGHT;
                levels.push(std::mem::take(&mut level));
                BRACKET_WEIGHT
            }
            token if bracket_change(token) < 0 => {
                let Some(outer) = levels.pop() else { continue };
                // The contents of the brackets may become operands of the operators after them.
                let held = level.segment.max(level.longest);
                sum -= level.segment;
                level = BracketLevel {
                    segment: outer.segment + held,
                    ..outer
                };
                held
            }
            Token::Ident(word) => u32::from(at > 0 && KEYWORD_OPERATORS.contains(word)),
            Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_)
            | Token::Colon
            | Token::Assign => 0,
            _ => 1,
        };
        if bracket_change(token) == 0 {
            level.segment += links;
        }
        sum += links;
        if sum > MAX_CHAIN_LENGTH {
            return Some(range.start);
        }
    }
    None
}

/// The first part of a line beyond [`MAX_COLUMNS`] that a tag may reach. Found by delimiters alone,
/// because the lexer cannot be used here.
fn find_long_line(text: &str) -> Option<Range<usize>> {
    // Nearly every text is too short for such a line.
    if text.len() <= MAX_COLUMNS {
        return None;
    }
    let last = |text: &str, signs: &[&str]| signs.iter().filter_map(|sign| text.rfind(sign)).max();
    let mut start = 0;
    for line in text.split('\n') {
        let end = start + line.len();
        if let Some((column, _)) = line.char_indices().nth(MAX_COLUMNS) {
            let before = text.get(..end).unwrap_or("");
            let opened = last(before, &["{{", "{%", "{#"]);
            let closed = last(text.get(..start).unwrap_or(""), &["}}", "%}", "#}"]);
            let is_raw = last(before, &["raw"]).is_some_and(|raw| {
                !before
                    .get(..raw)
                    .is_some_and(|before| before.ends_with("end"))
            });
            if opened.is_some_and(|opened| {
                opened >= start || closed.is_none_or(|closed| closed < opened)
            }) || is_raw
            {
                return Some(start + column..end);
            }
        }
        start = end + 1;
    }
    None
}
