//! Masks for a call before it reaches the disk: secrets by their value, their form and their name, personal data by their form.
//!
//! A placeholder such as `⟦email:3fa2⟧` is the same for the same value, and depends on a secret of the user's, so that nobody can try values
//! until one fits. A text in which everything is replaced stays as it is. Numbers are left alone: a card stands in a text.

use super::escapes::{in_text, views};
use super::json_text::{Edit, Site, map_strings, replaced, string_edits};
use super::placeholders::{DIGITS, placeholders};
use super::recording::Redacted;
use super::secrets::notations::behind_key;
use super::secrets::scanner::{self, Found, in_word, scan_part};
use super::secrets::string_names::{Named, Names};
use crate::base::hash::Hasher;
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A secret of fewer characters would be found in other words: it is one where it is a word of its own, and has a letter and a digit.
const SECRET: usize = 8;
/// One of fewer characters is none.
const SHORT: usize = 4;

/// Replaces what must not be kept.
#[derive(Clone)]
pub struct Redactor {
    /// What placeholders depend on.
    salt: [u8; 32],
    /// The values of secrets, the longest first.
    values: Arc<Vec<Finder<'static>>>,
    /// Whether personal data stay as they are.
    keeps_persons: bool,
    /// What a project wants replaced besides.
    own: Vec<Arc<dyn Find>>,
}

/// Layers of escapes that are read: JSON in a string of JSON in an address.
const LAYERS: usize = 4;

/// Bytes around an escape that are read with it.
const MARGIN: usize = 1024;

/// The depth to which escapes are read.
#[derive(Clone, Copy)]
struct Reach {
    /// Layers of escapes, one within another.
    layers: usize,
    /// Bytes around an escape.
    margin: usize,
}

/// Finds what a project wants replaced besides.
pub trait Find: std::fmt::Debug + Send + Sync {
    /// Every place where it stands, in order; the whole text where nobody can look.
    fn all(&self, text: &str) -> Vec<Range<usize>>;
}

/// What is found by a pattern of the project.
const OWN: &str = "own";

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Replaces these values wherever they stand, besides what has a known form.
    pub fn new(salt: [u8; 32], values: impl IntoIterator<Item = String>) -> Self {
        let has = |value: &str, is: fn(&char) -> bool| value.chars().any(|c| is(&c));
        let is_secret = |value: &String| {
            value.len() >= SECRET
                || value.len() >= SHORT && has(value, char::is_ascii_alphabetic) && has(value, char::is_ascii_digit)
        };
        let mut values: Vec<String> = values.into_iter().map(|value| value.trim().to_owned()).filter(is_secret).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let values = values.iter().map(|value| Finder::new(value).into_owned()).collect();
        Self { salt, values: Arc::new(values), keeps_persons: false, own: Vec::new() }
    }

    /// The same, which replaces secrets alone.
    #[must_use]
    pub fn keeping_persons(self) -> Self {
        Self { keeps_persons: true, ..self }
    }

    /// The same, which replaces personal data too.
    #[must_use]
    pub fn masking_persons(self) -> Self {
        Self { keeps_persons: false, ..self }
    }

    /// The same, which replaces more.
    #[must_use]
    pub fn replacing(self, own: Vec<Arc<dyn Find>>) -> Self {
        Self { own, ..self }
    }

    /// What stands for a value: the same for the same value.
    pub fn placeholder(&self, kind: &str, value: &str) -> String {
        let hash = Hasher::new().field(self.salt).field(kind).field(value).finish().to_string();
        format!("⟦{kind}:{}⟧", hash.get(3..7).unwrap_or_default())
    }

    /// Where a text has what must go, and what that is, in order: as it stands, and as it reads where JSON and addresses stand in it with
    /// their escapes, one within another.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let mut all = self.scan(text);
        let longest = self.values.first().map_or(0, |value| value.needle().len());
        let reach = Reach { layers: LAYERS, margin: MARGIN.max(longest) };
        self.find_escaped(text, reach, &|at| at, &mut all);
        // The sign of an escape goes with the letter that it stands before, or what is left is no JSON any more.
        for (range, _) in &mut all {
            let before = text.get(..range.start).unwrap_or("");
            range.start -= (before.len() - before.trim_end_matches('\\').len()) % 2;
        }
        merged(all)
    }

    /// The same of a text as it reads, and of what reads so in turn.
    fn find_escaped(&self, text: &str, reach: Reach, place: &dyn Fn(usize) -> usize, all: &mut Vec<Found>) {
        if reach.layers == 0 {
            return;
        }
        for view in views(text, reach.margin) {
            let found = self.scan(&view.text).into_iter().map(|(range, kind)| {
                let range = in_text(&view, &range);
                (place(range.start)..place(range.end), kind)
            });
            all.extend(found);
            let reach = Reach { layers: reach.layers - 1, ..reach };
            self.find_escaped(&view.text, reach, &|at| place(view.place(at)), all);
        }
    }

    /// Known values, matches of the project's patterns, and placeholders: no other finding crosses them.
    fn fixed(&self, text: &str) -> Vec<(Range<usize>, Option<&'static str>)> {
        let bytes = text.as_bytes();
        let mut fixed: Vec<(Range<usize>, Option<&'static str>)> = Vec::new();
        let is_letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        for value in self.values.iter() {
            let len = value.needle().len();
            let places = value.find_iter(bytes).map(|at| at..at + len);
            let is_here =
                |range: &Range<usize>| len >= SECRET || !is_letter(range.start.checked_sub(1)) && !is_letter(Some(range.end));
            fixed.extend(places.filter(is_here).map(|range| (range, Some(scanner::SECRET))));
        }
        for own in &self.own {
            fixed.extend(own.all(text).into_iter().filter(|range| !range.is_empty()).map(|range| (range, Some(OWN))));
        }
        if !text.is_ascii() {
            fixed.extend(placeholders(text).filter(|one| one.hash.len() == DIGITS).map(|one| (one.range, None)));
        }
        // What begins first goes; of what begins there, the longest.
        fixed.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        fixed.retain_mut(|(range, _)| {
            range.start = range.start.max(end);
            let is_more = range.start < range.end;
            end = end.max(range.end);
            is_more
        });
        fixed
    }

    /// The ranges to mask in a text as it stands.
    fn scan(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let mut at = 0;
        for (range, kind) in self.fixed(text).into_iter().chain(std::iter::once((text.len()..text.len(), None))) {
            scan_part(text, at..range.start, self.keeps_persons, &mut found);
            at = at.max(range.end);
            found.extend(kind.map(|kind| (range, kind)));
        }
        merged(found)
    }

    /// A text with everything replaced, and how much of each kind.
    pub fn text(&self, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.text_behind("", text)
    }

    /// The same of a text that stands behind a name.
    pub fn text_behind(&self, name: &str, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.replaced(text, self.find_behind(name, text))
    }

    /// The ranges to mask in a text behind a name.
    pub fn find_behind(&self, name: &str, text: &str) -> Vec<Found> {
        Self::named(Some(&Named::Key(name.to_owned())), text, self.find(text))
    }

    /// A text with what was found replaced, and how much of each kind.
    pub(super) fn replaced(&self, text: &str, found: Vec<Found>) -> (String, BTreeMap<&'static str, u64>) {
        let mut counts = BTreeMap::new();
        let edit = |(range, kind): Found| {
            *counts.entry(kind).or_default() += 1;
            let new = self.placeholder(kind, text.get(range.clone()).unwrap_or(""));
            (range, new)
        };
        let edits = found.into_iter().map(edit).collect();
        (replaced(text, edits), counts)
    }

    /// Words of a command with everything replaced: what stands behind an option that takes a secret goes as a whole.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let mut before = String::new();
        let masked = |word: &String| {
            let found = Self::named(Some(&Named::Words(before.clone())), word, self.find(word));
            before.extend([word, " "]);
            self.replaced(word, found).0
        };
        words.iter().map(masked).collect()
    }

    /// A JSON text with the strings in it replaced; every other byte stays. Adds what was replaced, below `root`.
    pub fn json(&self, json: &str, root: &str, redacted: &mut Vec<Redacted>) -> String {
        replaced(json, self.json_edits(json, root, redacted))
    }

    /// The edits of a JSON text.
    pub(super) fn json_edits(&self, json: &str, root: &str, redacted: &mut Vec<Redacted>) -> Vec<Edit> {
        let mut names = Names::new(json);
        string_edits(json, |site, pointer, text| {
            let (changed, counts) = self.string(&mut names, site, pointer, text)?;
            let row = |(kind, count): (&&str, &u64)| Redacted {
                pointer: [root, pointer].concat(),
                kind: (*kind).to_owned(),
                count: *count,
            };
            redacted.extend(counts.iter().map(row));
            Some(changed)
        })
    }

    /// The same of a text whose strings at these pointers stay.
    pub fn json_except(&self, json: &str, pointers: &[&str]) -> String {
        let mut names = Names::new(json);
        map_strings(json, |site, pointer, text| {
            let (changed, _) = self.string(&mut names, site, pointer, text)?;
            (!pointers.contains(&pointer)).then_some(changed)
        })
    }

    /// A string of JSON with everything replaced, and how much of each kind; `None` where nothing is.
    fn string(&self, names: &mut Names, site: Site, pointer: &str, text: &str) -> Option<(String, BTreeMap<&'static str, u64>)> {
        let found = self.find(text);
        let found = if site == Site::Value { Self::named(names.of(pointer, text).as_ref(), text, found) } else { found };
        (!found.is_empty()).then(|| self.replaced(text, found))
    }

    /// The findings in a string, with those that its name adds.
    pub(super) fn named(name: Option<&Named>, text: &str, mut found: Vec<Found>) -> Vec<Found> {
        let ranges = match name {
            None => return found,
            Some(Named::Key(key)) => behind_key(key, text, false),
            Some(Named::Apart(name)) => behind_key(name, text, true),
            Some(Named::Words(words)) => in_word(words, text),
        };
        let has_placeholder = |range: &Range<usize>| text.get(range.clone()).is_none_or(|value| value.contains('⟦'));
        found.extend(ranges.into_iter().filter(|range| !has_placeholder(range)).map(|range| (range, scanner::SECRET)));
        merged(found)
    }
}

/// Sorts findings and merges those that overlap.
pub(super) fn merged(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut found: Vec<Found> = Vec::new();
    for (range, kind) in all {
        match found.last_mut().filter(|(last, _)| range.start < last.end) {
            Some((last, _)) => last.end = last.end.max(range.end),
            None => found.push((range, kind)),
        }
    }
    found
}
