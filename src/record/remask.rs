//! Masking of texts that may already contain placeholders, of this project or another: a
//! placeholder stays intact and never becomes part of a masked value.

use super::json_text::{Edit, replaced};
use super::placeholders::{Placeholder, placeholders};
use super::redact::Redactor;
use std::collections::BTreeSet;
use std::ops::Range;

/// The maximum number of passes over a text; each works on the result of the previous one.
const PASSES: usize = 4;
/// True if a placeholder stands for plain text of which the recording keeps only a hash, not for a
/// masked value.
fn stands_for_words(kind: &str) -> bool {
    kind.ends_with(" bytes") || matches!(kind, "cut" | "text")
}

/// Returns a text whose placeholders no longer depend on a user's salt. Placeholders for plain text
/// keep their hash: without it, any two texts of one length would be equal.
pub(super) fn without_hashes(text: &str) -> String {
    let values = placeholders(text).filter(|one| !stands_for_words(one.kind));
    replaced(text, values.map(Placeholder::bare).collect())
}

/// Returns a text without the hashes of all its placeholders.
pub fn without_all_hashes(text: &str) -> String {
    replaced(text, placeholders(text).map(Placeholder::bare).collect())
}

impl Placeholder<'_> {
    /// Returns an edit that removes the placeholder's hash.
    fn bare(self) -> Edit {
        (self.range, format!("⟦{}⟧", self.kind))
    }
}

/// Returns the ranges of a text that a redactor masks, with their kinds. A range that cuts through
/// a placeholder is extended over it; a range inside a placeholder is left out.
pub(super) fn masked_places(redactor: &Redactor, text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = redactor.find(text);
    if !found.is_empty() && text.contains('⟦') {
        let known: Vec<Range<usize>> = placeholders(text).map(|one| one.range).collect();
        found.retain(|(range, _)| {
            !known
                .iter()
                .any(|known| known.start <= range.start && range.end <= known.end)
        });
        for (range, _) in &mut found {
            for known in &known {
                if known.start < range.end && range.start < known.end {
                    *range = range.start.min(known.start)..range.end.max(known.end);
                }
            }
        }
        found = super::redact::merged(found);
    }
    found
}

/// Masks everything in a text that a redactor masks and that is not masked yet. Masking the result
/// again changes nothing.
pub(super) fn mask(redactor: &Redactor, text: &mut String) {
    for _ in 0..PASSES {
        let found = masked_places(redactor, text);
        if found.is_empty() {
            return;
        }
        *text = redactor.replaced(text, found).0;
    }
}

/// The maximum length in bytes of a value that one placeholder stands for.
const LONGEST: usize = 4096;
/// The maximum number of candidate positions for the text after a placeholder.
const WAYS: usize = 64;

/// Returns true if a masked text is the result of masking values in a clear one: everything outside
/// the placeholders is equal, and each placeholder stands for a value that has the same hash, that
/// is masked today, or that has the form of its kind. This compares texts that were masked by older
/// rules.
pub(super) fn stands_for(masked: &str, clear: &str, redactor: &Redactor) -> bool {
    let known: Vec<Placeholder<'_>> = placeholders(masked).collect();
    let Some(first) = known.first() else {
        return false;
    };
    let behind = known
        .last()
        .and_then(|last| masked.get(last.range.end..))
        .unwrap_or("");
    if masked.get(..first.range.start) != clear.get(..first.range.start) || !clear.ends_with(behind)
    {
        return false;
    }
    let mut places: Vec<Range<usize>> = masked_places(redactor, clear)
        .into_iter()
        .map(|(range, _)| range)
        .collect();
    places.extend(placeholders(clear).map(|one| one.range));
    // The offsets at which the text after the placeholders so far may begin.
    let mut reached = BTreeSet::from([first.range.start]);
    for (number, one) in known.iter().enumerate() {
        let end = known
            .get(number + 1)
            .map_or(masked.len(), |next| next.range.start);
        let literal = masked.get(one.range.end..end).unwrap_or("");
        let is_last = number + 1 == known.len();
        let mut next = BTreeSet::new();
        for at in reached {
            let ends: Vec<usize> = if is_last {
                clear
                    .len()
                    .checked_sub(literal.len())
                    .filter(|end| clear.get(*end..) == Some(literal))
                    .into_iter()
                    .collect()
            } else {
                let limit =
                    clear.ceil_char_boundary((at + LONGEST + literal.len()).min(clear.len()));
                let rest = clear.get(at..limit).unwrap_or("");
                rest.match_indices(literal)
                    .map(|(length, _)| at + length)
                    .collect()
            };
            let values = ends
                .into_iter()
                .filter(|end| *end > at && end - at <= LONGEST)
                .map(|end| at..end);
            for value in values {
                match evidence(one, clear, &value, &places, redactor) {
                    Evidence::Hash => {
                        next = BTreeSet::from([value.end + literal.len()]);
                        break;
                    }
                    Evidence::Form if next.len() < WAYS => {
                        drop(next.insert(value.end + literal.len()));
                    }
                    Evidence::Form | Evidence::None => {}
                }
            }
        }
        reached = next;
    }
    reached.contains(&clear.len())
}

/// The evidence that a placeholder stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// The placeholder has the hash of the value.
    Hash,
    /// The value is masked today, or has the form of the placeholder's kind.
    Form,
    /// No evidence.
    None,
}

/// Returns the evidence that a placeholder stands for a range of a text; `masked` contains the
/// ranges that are masked today.
fn evidence(
    one: &Placeholder<'_>,
    text: &str,
    range: &Range<usize>,
    masked: &[Range<usize>],
    redactor: &Redactor,
) -> Evidence {
    let value = text.get(range.clone()).unwrap_or("");
    let own = redactor.placeholder(one.kind, value);
    if placeholders(&own)
        .next()
        .is_some_and(|own| own.hash == one.hash)
    {
        return Evidence::Hash;
    }
    let is_masked = |place: &Range<usize>| place.start <= range.start && range.end <= place.end;
    let is_value =
        !stands_for_words(one.kind) && (masked.iter().any(is_masked) || has_form(one.kind, value));
    if is_value {
        Evidence::Form
    } else {
        Evidence::None
    }
}

/// Returns true if a value has the form of a kind, for kinds with a recognisable form.
fn has_form(kind: &str, value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_of = |signs: &[u8]| {
        value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || signs.contains(&byte))
    };
    let is_word = !value.contains(char::is_whitespace);
    match kind {
        "email" => is_word && value.contains('@'),
        "phone" => digits >= 7 && is_of(b" +-()./"),
        "card" => digits >= 12 && is_of(b" -"),
        "iban" => {
            digits >= 10
                && value
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b' ')
        }
        "secret" => is_word && value.len() >= 8 && digits > 0,
        _ => false,
    }
}
