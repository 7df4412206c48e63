//! Texts with `{name}` placeholders: Python's `str.format`, and plain replacement of names.

use super::braces::{ImportedPiece, join_literals};
use super::note::ImportNoteKind;

/// The parts of a text, and its faults by byte offset.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedFstring {
    pub(super) pieces: Vec<ImportedPiece>,
    pub(super) faults: Vec<(usize, ImportNoteKind)>,
}

/// The treatment of braces that contain no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BraceStyle {
    /// `{{` is a literal brace, and a single one is a fault, as in `str.format`.
    Escaped,
    /// They are literal: names are replaced one by one.
    Literal,
}

/// The maximum number of reported faults of one text.
const MAX_FAULTS: usize = 100;

/// Returns true if a text is a valid variable name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Parses a text.
pub(super) fn parse_text(text: &str, braces: BraceStyle) -> ParsedFstring {
    let mut pieces = Vec::new();
    let mut faults = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(['{', '}'])) {
        pieces.push(ImportedPiece::Words(
            text.get(at..at + found).unwrap_or("").to_owned(),
        ));
        at += found;
        let rest = text.get(at..).unwrap_or("");
        let brace = rest.get(..1).unwrap_or("").to_owned();
        if braces == BraceStyle::Escaped && (rest.starts_with("{{") || rest.starts_with("}}")) {
            pieces.push(ImportedPiece::Words(brace));
            at += 2;
            continue;
        }
        let inner = rest.strip_prefix('{').unwrap_or("");
        let name = inner
            .get(
                ..inner
                    .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                    .unwrap_or(inner.len()),
            )
            .unwrap_or("");
        if is_name(name)
            && inner
                .get(name.len()..)
                .is_some_and(|rest| rest.starts_with('}'))
        {
            pieces.push(ImportedPiece::Name(name.to_owned()));
            at += name.len() + 2;
            continue;
        }
        if braces == BraceStyle::Escaped && faults.len() < MAX_FAULTS {
            faults.push((at, fault_note(rest)));
        }
        pieces.push(ImportedPiece::Words(brace));
        at += 1;
    }
    pieces.push(ImportedPiece::Words(
        text.get(at..).unwrap_or("").to_owned(),
    ));
    ParsedFstring {
        pieces: join_literals(pieces),
        faults,
    }
}

fn fault_note(rest: &str) -> ImportNoteKind {
    let head = rest.get(..rest.floor_char_boundary(40)).unwrap_or("");
    let line = head.lines().next().unwrap_or("");
    let shown = line.split_inclusive('}').next().unwrap_or("");
    let why = "only `{name}` is a placeholder; write a literal brace twice".to_owned();
    ImportNoteKind::Unsupported {
        what: format!("`{shown}`"),
        why,
    }
}

/// The names, in the order of their first use.
pub(super) fn piece_names(pieces: &[ImportedPiece]) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let named = |piece: &ImportedPiece| match piece {
        ImportedPiece::Name(name) => Some(name.clone()),
        ImportedPiece::Words(_) => None,
    };
    pieces
        .iter()
        .filter_map(named)
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/import/fstring.rs"]
mod tests;
