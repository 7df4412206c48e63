//! Names that a page has of a file that it imports as a whole: `lib.greet` becomes `lib_greet`, which stands in the one text. Never looks
//! into that file.

use super::scan::{Kind, Piece};
use super::uses::Tag;
use super::words::{Token, Word, words};
use std::collections::BTreeMap;
use std::ops::Range;

/// What stands before each name of an imported file, by what the page calls the file.
pub(super) type Modules = BTreeMap<String, String>;

/// A name of an imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// What the page calls the file.
    pub(super) module: String,
    /// The name there.
    pub(super) name: String,
    /// Where it stands.
    pub(super) line: u32,
}

/// What a page calls the files that it imports as a whole.
pub(super) fn modules(text: &str, pieces: &[Piece]) -> Modules {
    let imports = pieces.iter().filter(|piece| piece.word(text) == "import");
    let named = imports.filter_map(|piece| {
        let tokens = words(text, piece.inner.clone());
        let at = tokens.iter().position(|token| token.is(text, "as"))?;
        Some(tokens.get(at + 1)?.slice(text).to_owned())
    });
    named.map(|name| (name.clone(), free_prefix(text, &name))).collect()
}

/// A beginning of names that no word of a text has.
pub(super) fn free_prefix(text: &str, name: &str) -> String {
    let mut prefix = format!("{name}_");
    while begins_word(text, &prefix) {
        prefix.push('_');
    }
    prefix
}

fn begins_word(text: &str, prefix: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(prefix).any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with(is_part)))
}

/// Where the root of what a dot stands behind is an imported file.
pub(super) fn is_module(text: &str, tokens: &[Token], dot: usize, modules: &Modules) -> bool {
    let is = |at: Option<usize>, sign: &str| at.and_then(|at| tokens.get(at)).is_some_and(|token| token.is(text, sign));
    let root = dot.checked_sub(1).and_then(|at| tokens.get(at));
    root.is_some_and(|root| root.word == Word::Name && modules.contains_key(root.slice(text)))
        && !is(dot.checked_sub(2), ".")
        && !is(dot.checked_sub(2), "|")
}

/// What a tag has of imported files.
#[derive(Debug, Default)]
pub(super) struct Taken<'t> {
    /// Each name with its place and what is written there.
    pub(super) members: Vec<(&'t str, &'t str, Range<usize>, String)>,
    /// Files that are used otherwise than by their names.
    pub(super) bare: Vec<(&'t str, usize)>,
}

/// Looks for names of imported files in a tag.
pub(super) fn taken<'t>(text: &'t str, piece: &Piece, tokens: &[Token], modules: &Modules) -> Taken<'t> {
    let mut taken = Taken::default();
    if modules.is_empty() || matches!(piece.word(text), "import" | "from") || piece.kind == Kind::Comment {
        return taken;
    }
    let tag = Tag::new(text, tokens);
    for (at, token) in tokens.iter().enumerate() {
        let Some(prefix) = modules.get(token.slice(text)).filter(|_| tag.is_value(at)) else { continue };
        let (dot, name) = (tokens.get(at + 1), tokens.get(at + 2).filter(|name| name.word == Word::Name));
        match name.filter(|_| dot.is_some_and(|dot| dot.is(text, "."))) {
            Some(name) => {
                let written = format!("{prefix}{}", name.slice(text));
                taken.members.push((token.slice(text), name.slice(text), token.range.start..name.range.end, written));
            }
            None => taken.bare.push((token.slice(text), token.range.start)),
        }
    }
    taken
}
