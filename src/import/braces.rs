//! Writes text parts and variables as a text of the language: with `{{name}}` if that can express
//! them, else in Jinja.

use super::prompt_model::PlaceholderSyntax;
use crate::template::expression::{self, Expression, scan_plain};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ImportedPiece {
    /// Literal text.
    Words(String),
    /// A variable, or a path into one.
    Name(String),
}

/// The parts as a text, with its syntax.
pub(super) fn write_pieces(pieces: &[ImportedPiece]) -> (String, PlaceholderSyntax) {
    let plain = plain_text(pieces);
    if parses_into(&plain, pieces) {
        (plain, PlaceholderSyntax::Plain)
    } else {
        (jinja_text(pieces), PlaceholderSyntax::Jinja)
    }
}

fn plain_text(pieces: &[ImportedPiece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            ImportedPiece::Words(words) => out.push_str(&words.replace("{{", "\\{{")),
            ImportedPiece::Name(name) => out.extend(["{{", name, "}}"]),
        }
    }
    out
}

/// Returns true if a plain text parses into exactly these parts.
fn parses_into(text: &str, pieces: &[ImportedPiece]) -> bool {
    let mut read: Vec<ImportedPiece> = Vec::new();
    let push_words = |read: &mut Vec<ImportedPiece>, words: &str| match read.last_mut() {
        Some(ImportedPiece::Words(before)) => before.push_str(words),
        Some(ImportedPiece::Name(_)) | None => read.push(ImportedPiece::Words(words.to_owned())),
    };
    for piece in scan_plain(text, 0) {
        match piece {
            expression::ScanItem::Text(span) => push_words(&mut read, span.slice(text)),
            expression::ScanItem::Escaped(_) => push_words(&mut read, "{{"),
            expression::ScanItem::Expression(found)
                if matches!(found.value, Expression::Path(_)) =>
            {
                let inner = found
                    .span
                    .slice(text)
                    .trim_start_matches('{')
                    .trim_end_matches('}');
                read.push(ImportedPiece::Name(inner.to_owned()));
            }
            expression::ScanItem::Expression(_) | expression::ScanItem::Fault(_) => return false,
        }
    }
    read == pieces
}

/// The parts as a Jinja text; literal braces that Jinja would interpret are written as values.
fn jinja_text(pieces: &[ImportedPiece]) -> String {
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            ImportedPiece::Words(words) => {
                let is_before_name = matches!(pieces.get(at + 1), Some(ImportedPiece::Name(_)));
                push_literal(&mut out, words, is_before_name);
            }
            ImportedPiece::Name(name) => out.extend(["{{ ", name, " }}"]),
        }
    }
    // Jinja removes the last line break.
    if out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Appends literal text to a Jinja text. `is_before_tag`: a tag follows.
pub(super) fn push_literal(out: &mut String, words: &str, is_before_tag: bool) {
    let mut chars = words.chars().peekable();
    while let Some(c) = chars.next() {
        let is_opening = c == '{'
            && chars
                .peek()
                .map_or(is_before_tag, |next| matches!(next, '{' | '%' | '#'));
        if is_opening {
            out.push_str("{{ \"{\" }}");
        } else {
            out.push(c);
        }
    }
}

/// The variables of a plain text, in the order of their first use.
pub(super) fn plain_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for piece in scan_plain(text, 0) {
        if let expression::ScanItem::Expression(found) = piece
            && let Expression::Path(path) = &found.value
            && seen.insert(path.root.value.to_string())
        {
            names.push(path.root.value.to_string());
        }
    }
    names
}

/// Joins adjacent literal texts.
pub(super) fn join_literals(pieces: impl IntoIterator<Item = ImportedPiece>) -> Vec<ImportedPiece> {
    let mut all: Vec<ImportedPiece> = Vec::new();
    for piece in pieces {
        match (all.last_mut(), piece) {
            (_, ImportedPiece::Words(words)) if words.is_empty() => {}
            (Some(ImportedPiece::Words(before)), ImportedPiece::Words(words)) => {
                before.push_str(&words);
            }
            (_, piece) => all.push(piece),
        }
    }
    all
}

#[cfg(test)]
#[path = "../../tests/unit/import/braces.rs"]
mod tests;
