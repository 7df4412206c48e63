//! What a text says of its blocks by their names: `self.title()`, `super()`, put out, filtered or kept. And which names of the statements
//! around a block do not reach into it.

use super::scan::{Kind, Piece};
use super::uses::Tag;
use super::words::{Token, Word, words};
use crate::jinja::parse::parse;
use std::collections::BTreeSet;

/// A block that is asked for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked<'t> {
    /// Its name; `None` for the one that is overridden.
    pub(super) block: Option<&'t str>,
    /// The name under which what it says is kept, where it is not put out.
    pub(super) kept: Option<&'t str>,
    /// The filters that it goes through, as they are written.
    pub(super) filters: &'t str,
}

/// What a tag does with blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Use<'t> {
    /// It asks for one, and does nothing else.
    Whole(Asked<'t>),
    /// It uses what one says in an expression: as it is written.
    Part(String),
}

/// Words that make more of a value than filters do.
const OPERATORS: [&str; 7] = ["and", "else", "if", "in", "is", "not", "or"];

/// Whether a tag asks for a block.
pub(super) fn asked<'t>(text: &'t str, piece: &Piece) -> Option<Use<'t>> {
    let inside = piece.inside(text);
    if !matches!(piece.kind, Kind::Variable | Kind::Statement) || !(inside.contains("self") || inside.contains("super")) {
        return None;
    }
    let tokens = words(text, piece.inner.clone());
    let tag = Tag::new(text, &tokens);
    let is_called = |at: usize| tag.word(at) == "(" && tag.word(at + 1) == ")";
    let found = (0..tokens.len()).find(|at| {
        tag.is_value(*at)
            && (tag.word(*at) == "self" && tag.word(at + 1) == "." || tag.word(*at) == "super" && tag.word(at + 1) == "(")
    })?;
    let (block, end) = if tag.word(found) == "self" { (Some(tag.word(found + 2)), found + 3) } else { (None, found + 1) };
    let kept = (tag.word(0) == "set" && tag.word(2) == "=" && found == 3).then(|| tag.word(1));
    let is_first = if piece.kind == Kind::Variable { found == 0 } else { kept.is_some() };
    let filters = filters(text, &tokens, end + 2, piece);
    match filters.filter(|_| is_first && is_called(end)) {
        Some(filters) => Some(Use::Whole(Asked { block, kept, filters })),
        None => Some(Use::Part(block.map_or_else(|| "super()".to_owned(), |block| format!("self.{block}()")))),
    }
}

/// What stands behind a call, where that is nothing but filters.
fn filters<'t>(text: &'t str, tokens: &[Token], from: usize, piece: &Piece) -> Option<&'t str> {
    let Some(first) = tokens.get(from) else { return Some("") };
    let mut depth = 0_usize;
    for token in tokens.get(from..)? {
        let word = if token.word == Word::Text { "" } else { token.slice(text) };
        match word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "|" | "." => {}
            word if depth == 0 && (token.word != Word::Name || OPERATORS.contains(&word)) => return None,
            _ => {}
        }
    }
    first.is(text, "|").then(|| text.get(first.range.end..piece.inner.end)).flatten().map(str::trim)
}

/// The names that statements around a place bind, by statement: a block does not see them.
#[derive(Debug)]
pub(super) struct Locals {
    scopes: Vec<BTreeSet<String>>,
    /// Whether the place is in a block, whose own names are hidden from others as well.
    is_in_block: bool,
}

const SCOPES: [&str; 6] = ["autoescape", "call", "filter", "for", "macro", "with"];

impl Locals {
    pub(super) fn new(is_in_block: bool) -> Self {
        Self { scopes: vec![BTreeSet::new()], is_in_block }
    }

    /// Goes over a statement.
    pub(super) fn over(&mut self, text: &str, piece: &Piece) {
        let word = piece.word(text);
        if word.strip_prefix("end").is_some_and(|word| SCOPES.contains(&word)) {
            if self.scopes.len() > 1 {
                self.scopes.pop();
            }
            return;
        }
        if word != "set" && !SCOPES.contains(&word) {
            return;
        }
        let tokens = words(text, piece.inner.clone());
        let tag = Tag::new(text, &tokens);
        if word != "set" {
            self.scopes.push(BTreeSet::new());
        }
        let is_own = self.scopes.len() > 1 || self.is_in_block;
        let Some(scope) = self.scopes.last_mut().filter(|_| is_own) else { return };
        let names = tokens.iter().enumerate().skip(1).filter(|(_, token)| token.word == Word::Name);
        match word {
            "for" => {
                scope.extend(names.take_while(|(at, _)| tag.word(*at) != "in").map(|(_, token)| token.slice(text).to_owned()));
                scope.insert("loop".to_owned());
            }
            "set" => scope.extend(targets(text, &tokens)),
            "macro" | "call" => {
                scope.extend(names.filter(|(at, _)| tag.is_entry_of_any(*at)).map(|(_, token)| token.slice(text).to_owned()));
            }
            "with" => {
                scope.extend(names.filter(|(at, _)| tag.word(at + 1) == "=").map(|(_, token)| token.slice(text).to_owned()));
            }
            _ => {}
        }
    }

    /// The first name that a text reads and that does not reach into it.
    pub(super) fn hidden(&self, content: &str) -> Option<String> {
        if self.scopes.iter().all(BTreeSet::is_empty) {
            return None;
        }
        let read = parse(content).variables;
        read.into_iter().find(|name| self.scopes.iter().any(|scope| scope.contains(name)))
    }
}

/// The names that a `set` binds.
pub(super) fn targets(text: &str, tokens: &[Token]) -> Vec<String> {
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.is(text, sign));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        if token.is(text, "=") || token.is(text, "|") {
            break;
        }
        if token.word == Word::Name && !is(at + 1, ".") && !is(at - 1, ".") {
            found.push(token.slice(text).to_owned());
        }
    }
    found
}

/// Whether a `set` keeps all to its `endset`.
pub(super) fn is_kept(text: &str, piece: &Piece) -> bool {
    if piece.word(text) != "set" {
        return false;
    }
    let tokens = words(text, piece.inner.clone());
    let mut depth = 0_usize;
    !tokens.iter().any(|token| {
        if token.word == Word::Sign {
            match token.slice(text) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth == 0 && token.is(text, "=")
    })
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::{Asked, Use, asked};
    use pretty_assertions::assert_eq;

    #[test]
    fn what_asks_for_a_block_and_nothing_else_is_told_from_what_does_more() {
        let of = |text: &'static str| scan(text).first().and_then(|piece| asked(text, piece));
        let whole = |block, kept, filters| Some(Use::Whole(Asked { block, kept, filters }));
        let part = |words: &str| Some(Use::Part(words.to_owned()));
        assert_eq!(of("{{ self.title() }}"), whole(Some("title"), None, ""));
        assert_eq!(of("{{- super()|indent(4, first=not x)|upper -}}"), whole(None, None, "indent(4, first=not x)|upper"));
        assert_eq!(of("{% set t = self.title() | trim %}"), whole(Some("title"), Some("t"), "trim"));
        assert_eq!(of("{{ self.title() ~ '!' }}"), part("self.title()"));
        assert_eq!(of("{{ 'a' if super() }}"), part("super()"));
        assert_eq!(of("{% if self.title() %}"), part("self.title()"));
        assert_eq!(of("{{ x.super() }}{{ 'self.a()' }}"), None);
    }
}
