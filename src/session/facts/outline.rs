//! The names that a file defines: functions, types, keys and headings, and the lines below each.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of names of a file.
const MAX_NAMES: usize = 500;
/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 60;
/// Minimum length in bytes of a line that identifies its place.
const MIN_LINE_BYTES: usize = 8;
/// Words in front of the one that defines.
const MODIFIERS: &str = " pub export default async static public private protected internal abstract final \
    unsafe override virtual extern declare inline pub(crate) pub(super) local ";
/// Words that define the name behind them.
const DEFINING: &str = " fn def defp defmacro class struct enum trait interface type function func \
    macro_rules! object protocol record fun sub ";
/// Words that define the name behind them at the beginning of a line.
const TOP_LEVEL: &str = " const let var val ";
/// Extensions of files of code.
const CODE_FILES: &str = " rs py js ts tsx jsx mjs cjs go ex exs erl rb java kt swift c h cc cpp hpp cs php sh scala lua zig \
    hs ml dart jl vue svelte proto ";
/// Extensions of files whose lines are keys.
const KEY_FILES: [&str; 6] = ["json", "yaml", "yml", "toml", "ini", "cfg"];

/// A name that a file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinedName {
    /// The name with its kind: `fn parse_block`, `## Limits`.
    pub label: String,
    /// The word by which it is used; empty for a heading.
    pub word: String,
}

impl DefinedName {
    /// Returns true for a heading and for a name of several words, such as `parse_block`; a single one,
    /// such as `path`, helps with no file.
    pub fn is_distinct(&self) -> bool {
        let own = &self.word;
        let mut pairs = own.chars().zip(own.chars().skip(1));
        own.is_empty()
            || own.starts_with(char::is_uppercase)
            || own.trim_matches('_').contains(['_', '-', '/', '.'])
            || pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
    }
}

/// The names of a file in their order.
#[derive(Debug, Default)]
pub struct Outline {
    /// The names.
    pub names: Vec<DefinedName>,
    /// The name above each line, by the hash of the line.
    places: HashMap<u64, usize>,
}

impl Outline {
    /// Adds the text of a file, or of a part of it, without line numbers.
    pub fn add_text(&mut self, path: &str, text: &str) {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let mut above = None;
        for line in text.lines() {
            if let Some(name) = defined_name(line, extension) {
                let known = self.names.iter().position(|other| *other == name);
                above = known.or_else(|| {
                    let is_full = self.names.len() == MAX_NAMES;
                    (!is_full).then(|| {
                        self.names.push(name);
                        self.names.len() - 1
                    })
                });
            }
            if let (Some(above), Some(hash)) = (above, line_hash(line)) {
                self.places.entry(hash).or_insert(above);
            }
        }
    }

    /// Returns the names above the lines of a text that the file has, each once.
    pub fn names_above(&self, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for place in text.lines().filter_map(line_hash) {
            if let Some(name) = self
                .places
                .get(&place)
                .filter(|name| !found.contains(*name))
            {
                found.push(*name);
            }
        }
        found
    }
}

/// Returns the hash of a line without blanks and the marks of a patch; `None` for a short one.
fn line_hash(line: &str) -> Option<u64> {
    let line = line.trim_start_matches(['+', '-']).trim();
    (line.len() >= MIN_LINE_BYTES).then(|| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    })
}

/// Returns the name that a line of a file defines.
fn defined_name(line: &str, extension: &str) -> Option<DefinedName> {
    let own = line.trim();
    let name = |label: &str, word: &str| {
        let is_name =
            word.chars().count() <= MAX_NAME_CHARS && label.chars().count() <= MAX_NAME_CHARS;
        is_name.then(|| DefinedName {
            label: label.to_owned(),
            word: word.to_owned(),
        })
    };
    if matches!(extension, "md" | "markdown" | "rst") {
        let heading = own.trim_start_matches('#');
        let is_heading =
            heading.len() < own.len() && heading.starts_with(' ') && line.starts_with('#');
        return is_heading.then(|| name(own, "")).flatten();
    }
    if KEY_FILES.contains(&extension) {
        let table = own
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let key = own
            .split_once([':', '='])
            .map(|(key, _)| key.trim().trim_matches('"'));
        let is_outer = line.len() - line.trim_start().len() <= 4;
        let word = table.or(key.filter(|_| is_outer))?;
        let is_key = !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-./@".contains(&byte));
        return is_key.then(|| name(word, word)).flatten();
    }
    if !is_listed(CODE_FILES, extension) {
        return None;
    }
    let mut words = own
        .split_whitespace()
        .skip_while(|word| is_listed(MODIFIERS, word))
        .peekable();
    let mut keyword = words.next()?;
    // `const fn` and `const enum` define functions and types.
    if matches!(keyword, "const" | "data")
        && words.peek().is_some_and(|next| is_listed(DEFINING, next))
    {
        keyword = words.next()?;
    }
    let is_outer = !line.starts_with(char::is_whitespace);
    if !(is_listed(DEFINING, keyword) || is_outer && is_listed(TOP_LEVEL, keyword)) {
        return None;
    }
    let rest = own.split_once(keyword)?.1.trim_start();
    // The receiver of a method of Go.
    let rest = match rest.strip_prefix('(') {
        Some(receiver) if keyword == "func" => receiver.split_once(')')?.1.trim_start(),
        _ => rest,
    };
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '?' | '!' | '$'))
        .unwrap_or(rest.len());
    let own = rest.get(..end)?.trim_end_matches('.');
    let word = own.rsplit('.').next().unwrap_or(own);
    let is_word = word.len() >= 2 && word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_word
        .then(|| name(&format!("{keyword} {own}"), word))
        .flatten()
}

fn is_listed(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

#[cfg(test)]
#[path = "../../../tests/unit/session/facts/outline.rs"]
mod tests;
