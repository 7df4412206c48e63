//! Masking of texts that may already contain placeholders, of this project or another: a
//! placeholder stays intact and never becomes part of a masked value.

use super::json_text::{JsonEdit, apply_json_edits};
use super::redact::{Placeholder, Redactor, find_placeholders};
use std::collections::BTreeSet;
use std::ops::Range;

/// The maximum number of passes over a text; each works on the result of the previous one.
const MAX_PASSES: usize = 4;
/// True if a placeholder replaces plain text, of which the recording contains only a hash, and not
/// a masked value.
fn hides_text(kind: &str) -> bool {
    kind.ends_with(" bytes") || matches!(kind, "cut" | "text")
}

/// Returns a text whose placeholders no longer depend on a user's salt. Placeholders for plain text
/// keep their hash: without it, any two texts of one length would be equal.
pub(super) fn without_hashes(text: &str) -> String {
    let values = find_placeholders(text).filter(|one| !hides_text(one.kind));
    apply_json_edits(text, values.map(Placeholder::drop_hash).collect())
}

/// Returns a text without the hashes of all its placeholders.
pub fn without_all_hashes(text: &str) -> String {
    apply_json_edits(
        text,
        find_placeholders(text)
            .map(Placeholder::drop_hash)
            .collect(),
    )
}

impl Placeholder<'_> {
    /// Returns an edit that removes the placeholder's hash.
    fn drop_hash(self) -> JsonEdit {
        (self.range, format!("⟦{}⟧", self.kind))
    }
}

/// Returns the ranges of a text that a redactor masks, with their kinds. A range that cuts through
/// a placeholder is extended over it; a range inside a placeholder is left out.
pub(super) fn find_maskable(redactor: &Redactor, text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found = redactor.find_ranges(text);
    if !found.is_empty() && text.contains('⟦') {
        let known: Vec<Range<usize>> = find_placeholders(text).map(|one| one.range).collect();
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
        found = super::redact::merge_ranges(found);
    }
    found
}

/// Masks everything in a text that a redactor masks and that is not masked yet. Masking the result
/// again changes nothing.
pub(super) fn mask_text(redactor: &Redactor, text: &mut String) {
    for _ in 0..MAX_PASSES {
        let found = find_maskable(redactor, text);
        if found.is_empty() {
            return;
        }
        *text = redactor.replace_ranges(text, found).0;
    }
}

/// The maximum length in bytes of a value that one placeholder stands for.
const MAX_VALUE_BYTES: usize = 4096;
/// The maximum number of candidate positions for the text after a placeholder.
const MAX_CANDIDATE_ENDS: usize = 64;

/// Returns true if a masked text is the result of masking values in a clear one: everything outside
/// the placeholders is equal, and each placeholder stands for a value that has the same hash, that
/// is masked today, or that has the form of its kind. This compares texts that were masked by older
/// rules.
pub(super) fn is_masked_form(masked: &str, clear: &str, redactor: &Redactor) -> bool {
    let known: Vec<Placeholder<'_>> = find_placeholders(masked).collect();
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
    let mut places: Vec<Range<usize>> = find_maskable(redactor, clear)
        .into_iter()
        .map(|(range, _)| range)
        .collect();
    places.extend(find_placeholders(clear).map(|one| one.range));
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
                let limit = clear
                    .ceil_char_boundary((at + MAX_VALUE_BYTES + literal.len()).min(clear.len()));
                let rest = clear.get(at..limit).unwrap_or("");
                rest.match_indices(literal)
                    .map(|(length, _)| at + length)
                    .collect()
            };
            let values = ends
                .into_iter()
                .filter(|end| *end > at && end - at <= MAX_VALUE_BYTES)
                .map(|end| at..end);
            for value in values {
                match find_evidence(one, clear, &value, &places, redactor) {
                    MatchEvidence::Hash => {
                        next = BTreeSet::from([value.end + literal.len()]);
                        break;
                    }
                    MatchEvidence::Form if next.len() < MAX_CANDIDATE_ENDS => {
                        next.insert(value.end + literal.len());
                    }
                    MatchEvidence::Form | MatchEvidence::None => {}
                }
            }
        }
        reached = next;
    }
    reached.contains(&clear.len())
}

/// The evidence that a placeholder stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatchEvidence {
    /// The placeholder has the hash of the value.
    Hash,
    /// The value is masked today, or has the form of the placeholder's kind.
    Form,
    /// No evidence.
    None,
}

/// Returns the evidence that a placeholder stands for a range of a text; `masked` contains the
/// ranges that are masked today.
fn find_evidence(
    one: &Placeholder<'_>,
    text: &str,
    range: &Range<usize>,
    masked: &[Range<usize>],
    redactor: &Redactor,
) -> MatchEvidence {
    let value = text.get(range.clone()).unwrap_or("");
    let own = redactor.placeholder(one.kind, value);
    if find_placeholders(&own)
        .next()
        .is_some_and(|own| own.hash == one.hash)
    {
        return MatchEvidence::Hash;
    }
    let is_masked = |place: &Range<usize>| place.start <= range.start && range.end <= place.end;
    let is_value =
        !hides_text(one.kind) && (masked.iter().any(is_masked) || has_form(one.kind, value));
    if is_value {
        MatchEvidence::Form
    } else {
        MatchEvidence::None
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
