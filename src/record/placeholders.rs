//! Placeholders in texts: what stands where a value was masked.

use std::ops::Range;

/// Characters of the kind of a placeholder.
const KIND: usize = 32;
/// Hex digits of the hash of a placeholder.
pub(super) const DIGITS: usize = 4;

/// A placeholder in a text, such as `⟦email:3fa2⟧`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder<'t> {
    /// Its place.
    pub(super) range: Range<usize>,
    /// The kind of value that it stands for.
    pub(super) kind: &'t str,
    /// Its hash; empty where that was left out.
    pub(super) hash: &'t str,
}

/// The placeholders in a text, in order.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    text.match_indices('⟦').filter_map(|(start, sign)| {
        let rest = text.get(start + sign.len()..)?;
        let inner =
            rest.get(..rest.find(['⟦', '⟧']).filter(|end| rest.get(*end..).is_some_and(|rest| rest.starts_with('⟧')))?)?;
        let (kind, hash) = inner.split_once(':').unwrap_or((inner, ""));
        let is_kind =
            (1..=KIND).contains(&kind.len()) && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _-".contains(&byte));
        let is_hash = hash.len() <= DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let range = start..start + 2 * sign.len() + inner.len();
        (is_kind && is_hash).then_some(Placeholder { range, kind, hash })
    })
}
