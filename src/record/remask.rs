//! Masks over texts that may have been masked before, here or elsewhere: a placeholder stays one, and never becomes part of a value.

use super::json_text::{Edit, replaced};
use super::placeholders::{Placeholder, placeholders};
use super::redact::Redactor;
use std::collections::BTreeSet;
use std::ops::Range;

/// Passes over a text, each of which sees what the one before left.
const PASSES: usize = 4;
/// Whether a placeholder stands for words of which the recording has nothing but their hash, and not for a value that was masked.
fn stands_for_words(kind: &str) -> bool {
    kind.ends_with(" bytes") || matches!(kind, "cut" | "text")
}

/// A text whose placeholders are the same whoever's secret they depend on. Those that stand for words keep their hash: without it, any words of one
/// length would be the same.
pub(super) fn without_hashes(text: &str) -> String {
    let values = placeholders(text).filter(|one| !stands_for_words(one.kind));
    replaced(text, values.map(Placeholder::bare).collect())
}

/// The same of all placeholders.
pub fn without_all_hashes(text: &str) -> String {
    replaced(text, placeholders(text).map(Placeholder::bare).collect())
}

impl Placeholder<'_> {
    /// The placeholder without its hash.
    fn bare(self) -> Edit {
        (self.range, format!("⟦{}⟧", self.kind))
    }
}

/// The places of a text that a redactor masks, and their kinds. A place that cuts through a placeholder takes all of it; one inside of a placeholder is none.
pub(super) fn masked_places(redactor: &Redactor, text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = redactor.find(text);
    if !found.is_empty() && text.contains('⟦') {
        let known: Vec<Range<usize>> = placeholders(text).map(|one| one.range).collect();
        found.retain(|(range, _)| !known.iter().any(|known| known.start <= range.start && range.end <= known.end));
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

/// A text with everything masked that a redactor masks, and nothing that is masked already. The result masks to itself.
pub(super) fn mask(redactor: &Redactor, text: &mut String) {
    for _ in 0..PASSES {
        let found = masked_places(redactor, text);
        if found.is_empty() {
            return;
        }
        *text = redactor.replaced(text, found).0;
    }
}

/// Bytes of a value that one placeholder stands for, at most.
const LONGEST: usize = 4096;
/// Places at which the text behind a placeholder may go on, at most.
const WAYS: usize = 64;

/// Whether a masked text is what another becomes if values in it are masked: all that is no placeholder stands in both, and each placeholder stands for a value
/// that it has the hash of, that is masked today, or that has the form of its kind. So a text compares that was masked by other rules than today's.
pub(super) fn stands_for(masked: &str, clear: &str, redactor: &Redactor) -> bool {
    let known: Vec<Placeholder<'_>> = placeholders(masked).collect();
    let Some(first) = known.first() else { return false };
    let behind = known.last().and_then(|last| masked.get(last.range.end..)).unwrap_or("");
    if masked.get(..first.range.start) != clear.get(..first.range.start) || !clear.ends_with(behind) {
        return false;
    }
    let mut places: Vec<Range<usize>> = masked_places(redactor, clear).into_iter().map(|(range, _)| range).collect();
    places.extend(placeholders(clear).map(|one| one.range));
    // Where what stands behind the placeholders so far may begin.
    let mut reached = BTreeSet::from([first.range.start]);
    for (number, one) in known.iter().enumerate() {
        let end = known.get(number + 1).map_or(masked.len(), |next| next.range.start);
        let literal = masked.get(one.range.end..end).unwrap_or("");
        let is_last = number + 1 == known.len();
        let mut next = BTreeSet::new();
        for at in reached {
            let ends: Vec<usize> = if is_last {
                clear.len().checked_sub(literal.len()).filter(|end| clear.get(*end..) == Some(literal)).into_iter().collect()
            } else {
                let limit = clear.ceil_char_boundary((at + LONGEST + literal.len()).min(clear.len()));
                let rest = clear.get(at..limit).unwrap_or("");
                rest.match_indices(literal).map(|(length, _)| at + length).collect()
            };
            let values = ends.into_iter().filter(|end| *end > at && end - at <= LONGEST).map(|end| at..end);
            for value in values {
                match evidence(one, clear, &value, &places, redactor) {
                    Evidence::Hash => {
                        next = BTreeSet::from([value.end + literal.len()]);
                        break;
                    }
                    Evidence::Form if next.len() < WAYS => drop(next.insert(value.end + literal.len())),
                    Evidence::Form | Evidence::None => {}
                }
            }
        }
        reached = next;
    }
    reached.contains(&clear.len())
}

/// What says that a placeholder stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// It has the hash of the value.
    Hash,
    /// The value is masked today, or has the form of the placeholder's kind.
    Form,
    /// Nothing.
    None,
}

/// What says that a placeholder stands for what a text has at a place; `masked` are the places that are masked today.
fn evidence(one: &Placeholder<'_>, text: &str, range: &Range<usize>, masked: &[Range<usize>], redactor: &Redactor) -> Evidence {
    let value = text.get(range.clone()).unwrap_or("");
    let own = redactor.placeholder(one.kind, value);
    if placeholders(&own).next().is_some_and(|own| own.hash == one.hash) {
        return Evidence::Hash;
    }
    let is_masked = |place: &Range<usize>| place.start <= range.start && range.end <= place.end;
    let is_value = !stands_for_words(one.kind) && (masked.iter().any(is_masked) || has_form(one.kind, value));
    if is_value { Evidence::Form } else { Evidence::None }
}

/// Whether a value has the form of a kind, as far as every value of the kind has one.
fn has_form(kind: &str, value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_of = |signs: &[u8]| value.bytes().all(|byte| byte.is_ascii_digit() || signs.contains(&byte));
    let is_word = !value.contains(char::is_whitespace);
    match kind {
        "email" => is_word && value.contains('@'),
        "phone" => digits >= 7 && is_of(b" +-()./"),
        "card" => digits >= 12 && is_of(b" -"),
        "iban" => digits >= 10 && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' '),
        "secret" => is_word && value.len() >= 8 && digits > 0,
        _ => false,
    }
}
