//! Placeholders in texts, which replace masked values.

use std::ops::Range;

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
