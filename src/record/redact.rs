//! Masks calls before they are written to disk: secrets by value, form and name, personal data by
//! form.
//!
//! A placeholder such as `⟦email:3fa2⟧` is the same for equal values and depends on the user's
//! salt, so that its value cannot be found by trial. Masking a masked text changes nothing. Numbers
//! of JSON are left alone: a card number is always in a text.

use super::escapes::{text_range, unescaped_views};
use super::json_text::{JsonEdit, StringSite, apply_json_edits, map_strings, string_edits};
use super::recording::MaskedCount;
use super::secrets::notations::key_value_ranges;
use super::secrets::scanner::{self, MaskMatch, scan_part, word_matches};
use super::secrets::string_names::{StringName, StringNames};
use crate::base::hash::Hasher;
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The minimum length of a secret that is found within words. A shorter one must be a word of its
/// own, with a letter and a digit.
const MIN_SECRET_LENGTH: usize = 8;
/// The minimum length of any secret.
const MIN_SHORT_SECRET_LENGTH: usize = 4;

/// Replaces secrets and personal data by placeholders.
#[derive(Clone)]
pub struct Redactor {
    /// The salt of the placeholders.
    salt: [u8; 32],
    /// The values of secrets, longest first.
    values: Arc<Vec<Finder<'static>>>,
    /// True if personal data stay as they are.
    keeps_personal_data: bool,
    /// The project's own patterns.
    patterns: Vec<Arc<dyn PatternFinder>>,
}

/// The maximum number of nested escape layers that are decoded: JSON in a JSON string in a URL.
const MAX_ESCAPE_LAYERS: usize = 4;

/// The number of bytes around an escape that are searched with it.
const ESCAPE_MARGIN: usize = 1024;

/// The depth to which escapes are decoded.
#[derive(Clone, Copy)]
struct EscapeDepth {
    /// Layers of escapes, one within another.
    layers: usize,
    /// Bytes around an escape.
    margin: usize,
}

/// Finds the matches of a project's own pattern.
pub trait PatternFinder: std::fmt::Debug + Send + Sync {
    /// Returns every match, in order; the whole text if the pattern cannot be applied.
    fn find_all(&self, text: &str) -> Vec<Range<usize>>;
}

/// The kind of values found by a project's own pattern.
const OWN_KIND: &str = "own";

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Creates a redactor that masks these values, and all values with a known form.
    pub fn new(salt: [u8; 32], values: impl IntoIterator<Item = String>) -> Self {
        let has = |value: &str, is: fn(&char) -> bool| value.chars().any(|c| is(&c));
        let is_secret = |value: &String| {
            value.len() >= MIN_SECRET_LENGTH
                || value.len() >= MIN_SHORT_SECRET_LENGTH
                    && has(value, char::is_ascii_alphabetic)
                    && has(value, char::is_ascii_digit)
        };
        let mut values: Vec<String> = values
            .into_iter()
            .map(|value| value.trim().to_owned())
            .filter(is_secret)
            .collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let values = values
            .iter()
            .map(|value| Finder::new(value).into_owned())
            .collect();
        Self {
            salt,
            values: Arc::new(values),
            keeps_personal_data: false,
            patterns: Vec::new(),
        }
    }

    /// Leaves personal data unmasked.
    #[must_use]
    pub fn keep_personal_data(self) -> Self {
        Self {
            keeps_personal_data: true,
            ..self
        }
    }

    /// Masks personal data as well.
    #[must_use]
    pub fn mask_personal_data(self) -> Self {
        Self {
            keeps_personal_data: false,
            ..self
        }
    }

    /// Adds the project's own patterns.
    #[must_use]
    pub fn with_patterns(self, own: Vec<Arc<dyn PatternFinder>>) -> Self {
        Self {
            patterns: own,
            ..self
        }
    }

    /// Returns the placeholder of a value: equal values have equal placeholders.
    pub fn placeholder(&self, kind: &str, value: &str) -> String {
        let hash = Hasher::new()
            .add_field(self.salt)
            .add_field(kind)
            .add_field(value)
            .finish()
            .to_string();
        format!("⟦{kind}:{}⟧", hash.get(3..7).unwrap_or_default())
    }

    /// Finds the ranges of a text to mask, with their kinds, in order: in the text as written, and
    /// with the escapes of JSON and URLs decoded, up to some nested layers.
    pub fn find_ranges(&self, text: &str) -> Vec<MaskMatch> {
        let mut all = self.scan_text(text);
        let longest = self.values.first().map_or(0, |value| value.needle().len());
        let reach = EscapeDepth {
            layers: MAX_ESCAPE_LAYERS,
            margin: ESCAPE_MARGIN.max(longest),
        };
        self.find_escaped(text, reach, &|at| at, &mut all);
        // A backslash before a masked character is masked too: the rest would be invalid JSON.
        for (range, _) in &mut all {
            let before = text.get(..range.start).unwrap_or("");
            range.start -= (before.len() - before.trim_end_matches('\\').len()) % 2;
        }
        merge_ranges(all)
    }

    /// Finds the ranges to mask in the decoded parts of a text, recursively.
    fn find_escaped(
        &self,
        text: &str,
        reach: EscapeDepth,
        place: &dyn Fn(usize) -> usize,
        all: &mut Vec<MaskMatch>,
    ) {
        if reach.layers == 0 {
            return;
        }
        for view in unescaped_views(text, reach.margin) {
            let found = self.scan_text(&view.text).into_iter().map(|(range, kind)| {
                let range = text_range(&view, &range);
                (place(range.start)..place(range.end), kind)
            });
            all.extend(found);
            let reach = EscapeDepth {
                layers: reach.layers - 1,
                ..reach
            };
            self.find_escaped(&view.text, reach, &|at| place(view.text_offset(at)), all);
        }
    }

    /// Returns known values, matches of the project's patterns, and placeholders: no other finding
    /// crosses them.
    fn fixed_ranges(&self, text: &str) -> Vec<(Range<usize>, Option<&'static str>)> {
        let bytes = text.as_bytes();
        let mut fixed: Vec<(Range<usize>, Option<&'static str>)> = Vec::new();
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_alphanumeric)
        };
        for value in self.values.iter() {
            let len = value.needle().len();
            let places = value.find_iter(bytes).map(|at| at..at + len);
            let is_here = |range: &Range<usize>| {
                len >= MIN_SECRET_LENGTH
                    || !is_letter(range.start.checked_sub(1)) && !is_letter(Some(range.end))
            };
            fixed.extend(
                places
                    .filter(is_here)
                    .map(|range| (range, Some(scanner::SECRET_KIND))),
            );
        }
        for own in &self.patterns {
            fixed.extend(
                own.find_all(text)
                    .into_iter()
                    .filter(|range| !range.is_empty())
                    .map(|range| (range, Some(OWN_KIND))),
            );
        }
        if !text.is_ascii() {
            fixed.extend(
                find_placeholders(text)
                    .filter(|one| one.hash.len() == HASH_DIGITS)
                    .map(|one| (one.range, None)),
            );
        }
        // The first to begin wins; of several that begin together, the longest.
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

    /// Finds the ranges to mask in a text as written.
    fn scan_text(&self, text: &str) -> Vec<MaskMatch> {
        let mut found = Vec::new();
        let mut at = 0;
        for (range, kind) in self
            .fixed_ranges(text)
            .into_iter()
            .chain(std::iter::once((text.len()..text.len(), None)))
        {
            scan_part(text, at..range.start, self.keeps_personal_data, &mut found);
            at = at.max(range.end);
            found.extend(kind.map(|kind| (range, kind)));
        }
        merge_ranges(found)
    }

    /// Masks a text; also counts the masked values of each kind.
    pub fn mask_text(&self, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.mask_named_text("", text)
    }

    /// Masks a text that is the value of a name; also counts the masked values of each kind.
    pub fn mask_named_text(&self, name: &str, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.replace_ranges(text, self.find_named_ranges(name, text))
    }

    /// Finds the ranges to mask in a text that is the value of a name.
    pub fn find_named_ranges(&self, name: &str, text: &str) -> Vec<MaskMatch> {
        Self::add_named_ranges(
            Some(&StringName::Key(name.to_owned())),
            text,
            self.find_ranges(text),
        )
    }

    /// Masks ranges of a text; also counts the masked values of each kind.
    pub(super) fn replace_ranges(
        &self,
        text: &str,
        found: Vec<MaskMatch>,
    ) -> (String, BTreeMap<&'static str, u64>) {
        let mut counts = BTreeMap::new();
        let edit = |(range, kind): MaskMatch| {
            *counts.entry(kind).or_default() += 1;
            let new = self.placeholder(kind, text.get(range.clone()).unwrap_or(""));
            (range, new)
        };
        let edits = found.into_iter().map(edit).collect();
        (apply_json_edits(text, edits), counts)
    }

    /// Masks the words of a command: the value of an option that takes a secret is masked whole.
    pub fn mask_words(&self, words: &[String]) -> Vec<String> {
        let mut before = String::new();
        let masked = |word: &String| {
            let found = Self::add_named_ranges(
                Some(&StringName::Words(before.clone())),
                word,
                self.find_ranges(word),
            );
            before.extend([word, " "]);
            self.replace_ranges(word, found).0
        };
        words.iter().map(masked).collect()
    }

    /// Masks the strings of a JSON text; every other byte stays. Adds the masked values to
    /// `redacted`, with pointers below `root`.
    pub fn mask_json(&self, json: &str, root: &str, redacted: &mut Vec<MaskedCount>) -> String {
        apply_json_edits(json, self.json_edits(json, root, redacted))
    }

    /// Returns the edits that mask a JSON text.
    pub(super) fn json_edits(
        &self,
        json: &str,
        root: &str,
        redacted: &mut Vec<MaskedCount>,
    ) -> Vec<JsonEdit> {
        let mut names = StringNames::new(json);
        string_edits(json, |site, pointer, text| {
            let (changed, counts) = self.mask_string(&mut names, site, pointer, text)?;
            let row = |(kind, count): (&&str, &u64)| MaskedCount {
                pointer: [root, pointer].concat(),
                kind: (*kind).to_owned(),
                count: *count,
            };
            redacted.extend(counts.iter().map(row));
            Some(changed)
        })
    }

    /// Masks a JSON text, except the strings at these pointers.
    pub fn mask_json_except(&self, json: &str, pointers: &[&str]) -> String {
        let mut names = StringNames::new(json);
        map_strings(json, |site, pointer, text| {
            let (changed, _) = self.mask_string(&mut names, site, pointer, text)?;
            (!pointers.contains(&pointer)).then_some(changed)
        })
    }

    /// Masks a JSON string; also counts the masked values of each kind. `None` if nothing is
    /// masked.
    fn mask_string(
        &self,
        names: &mut StringNames,
        site: StringSite,
        pointer: &str,
        text: &str,
    ) -> Option<(String, BTreeMap<&'static str, u64>)> {
        let found = self.find_ranges(text);
        let found = if site == StringSite::Value {
            Self::add_named_ranges(names.name_string(pointer, text).as_ref(), text, found)
        } else {
            found
        };
        (!found.is_empty()).then(|| self.replace_ranges(text, found))
    }

    /// Adds the ranges that a string's name marks as secret.
    pub(super) fn add_named_ranges(
        name: Option<&StringName>,
        text: &str,
        mut found: Vec<MaskMatch>,
    ) -> Vec<MaskMatch> {
        let ranges = match name {
            None => return found,
            Some(StringName::Key(key)) => key_value_ranges(key, text, false),
            Some(StringName::Apart(name)) => key_value_ranges(name, text, true),
            Some(StringName::Words(words)) => word_matches(words, text),
        };
        let has_placeholder = |range: &Range<usize>| {
            text.get(range.clone())
                .is_none_or(|value| value.contains('⟦'))
        };
        found.extend(
            ranges
                .into_iter()
                .filter(|range| !has_placeholder(range))
                .map(|range| (range, scanner::SECRET_KIND)),
        );
        merge_ranges(found)
    }
}

/// Sorts ranges and merges those that overlap.
pub(super) fn merge_ranges(mut all: Vec<MaskMatch>) -> Vec<MaskMatch> {
    all.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut found: Vec<MaskMatch> = Vec::new();
    for (range, kind) in all {
        match found.last_mut().filter(|(last, _)| range.start < last.end) {
            Some((last, _)) => last.end = last.end.max(range.end),
            None => found.push((range, kind)),
        }
    }
    found
}

/// The maximum length of a placeholder's kind.
const MAX_KIND_LENGTH: usize = 32;
/// The number of hex digits in a placeholder's hash.
pub(super) const HASH_DIGITS: usize = 4;

/// A placeholder in a text, such as `⟦email:3fa2⟧`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder<'t> {
    /// Its range in the text.
    pub(super) range: Range<usize>,
    /// The kind of value that it stands for.
    pub(super) kind: &'t str,
    /// Its hash; empty if left out.
    pub(super) hash: &'t str,
}

/// Finds the placeholders in a text, in order.
pub(super) fn find_placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    text.match_indices('⟦').filter_map(|(start, sign)| {
        let rest = text.get(start + sign.len()..)?;
        let inner = rest.get(
            ..rest
                .find(['⟦', '⟧'])
                .filter(|end| rest.get(*end..).is_some_and(|rest| rest.starts_with('⟧')))?,
        )?;
        let (kind, hash) = inner.split_once(':').unwrap_or((inner, ""));
        let is_kind = (1..=MAX_KIND_LENGTH).contains(&kind.len())
            && kind
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(&byte));
        let is_hash =
            hash.len() <= HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let range = start..start + 2 * sign.len() + inner.len();
        (is_kind && is_hash).then_some(Placeholder { range, kind, hash })
    })
}
