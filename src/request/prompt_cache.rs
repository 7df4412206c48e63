//! Compares a call with the previous one: the prefix that a provider's prompt cache can reuse, and
//! the first change that ends it.

use super::segments::RequestSegment;
use super::threads::is_shared;
use crate::base::words::words;
use crate::kernel::tokens::TokenCounter;

/// The maximum number of characters of a change that are shown.
const MAX_EXCERPT_CHARS: usize = 60;

/// The comparison of a call with the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixReuse {
    /// Tokens of the call.
    pub tokens: usize,
    /// Tokens of the prefix that the calls share.
    pub reused: usize,
    /// Tokens of the previous call that this one could have reused; 0 if the prefix is intact.
    pub lost: usize,
    /// The change that ended the prefix.
    pub broken_by: Option<PrefixBreak>,
}

/// The first place where a call differs from the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixBreak {
    /// The id of the segment: of this call, or of the previous one if the segment was removed.
    pub segment: String,
    /// The byte of the segment where the difference begins.
    pub offset: usize,
    /// The earlier text.
    pub before: String,
    /// The later text.
    pub after: String,
    /// The kind of change.
    pub cause: BreakCause,
    /// The pointer to the segment in the body; `None` if it was removed.
    pub pointer: Option<String>,
}

words! {
    /// The kind of change of a segment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BreakCause {
        /// Its text changed.
        Changed = "changed",
        /// Its position changed.
        Moved = "moved",
        /// It was removed.
        Removed = "removed",
        /// A segment was inserted before it.
        Added = "added",
        /// It is unchanged, but the cache entry has expired.
        Expired = "expired",
    }
}

/// Compares a call with the previous one of its conversation.
pub fn compare_calls(
    before: &[RequestSegment],
    current: &[RequestSegment],
    counter: &dyn TokenCounter,
) -> PrefixReuse {
    measure_reuse(&before.iter().collect::<Vec<_>>(), current, counter)
}

/// Compares the first call of a conversation with another conversation of the same agent: only
/// tools and system text are expected to match.
pub fn compare_agent(
    before: &[RequestSegment],
    current: &[RequestSegment],
    counter: &dyn TokenCounter,
) -> PrefixReuse {
    measure_reuse(
        &before
            .iter()
            .filter(|segment| is_shared(segment))
            .collect::<Vec<_>>(),
        current,
        counter,
    )
}

fn is_same(a: &RequestSegment, b: &RequestSegment) -> bool {
    a.speaker == b.speaker && a.wire == b.wire
}

fn measure_reuse(
    before: &[&RequestSegment],
    current: &[RequestSegment],
    counter: &dyn TokenCounter,
) -> PrefixReuse {
    let tokens = current.iter().map(|segment| segment.tokens(counter)).sum();
    let common = before
        .iter()
        .zip(current)
        .take_while(|(a, b)| is_same(a, b))
        .count();
    let mut reused: usize = current
        .iter()
        .take(common)
        .map(|segment| segment.tokens(counter))
        .sum();
    let Some(old) = before.get(common) else {
        return PrefixReuse {
            tokens,
            reused,
            lost: 0,
            broken_by: None,
        };
    };
    let new = current.get(common);
    let is_last = common + 1 == before.len();
    if let Some(new) = new
        && is_last
        && old.speaker == new.speaker
        && old.is_text
        && new.is_text
        && new.wire.starts_with(old.wire.as_str())
    {
        // The text was extended.
        reused += old.tokens(counter);
        return PrefixReuse {
            tokens,
            reused,
            lost: 0,
            broken_by: None,
        };
    }
    let found = explain_break(
        old,
        before.get(common + 1..).unwrap_or_default(),
        new,
        current.get(common + 1..).unwrap_or_default(),
    );
    if let Some(new) = new.filter(|new| found.cause == BreakCause::Changed && new.is_text) {
        reused += counter.count(new.wire.get(..found.offset).unwrap_or_default());
    }
    let had: usize = before.iter().map(|segment| segment.tokens(counter)).sum();
    PrefixReuse {
        tokens,
        reused,
        lost: had.saturating_sub(reused),
        broken_by: Some(found),
    }
}

fn explain_break(
    old: &RequestSegment,
    old_rest: &[&RequestSegment],
    new: Option<&RequestSegment>,
    new_rest: &[RequestSegment],
) -> PrefixBreak {
    let whole = |segment: &RequestSegment, cause| PrefixBreak {
        segment: segment.id.clone(),
        offset: 0,
        before: excerpt(&old.wire, 0),
        after: new.map(|new| excerpt(&new.wire, 0)).unwrap_or_default(),
        cause,
        pointer: Some(segment.pointer.clone()),
    };
    let removed = || PrefixBreak {
        pointer: None,
        ..whole(old, BreakCause::Removed)
    };
    let Some(new) = new else { return removed() };
    let comes_later = new_rest.iter().any(|one| is_same(one, old));
    let came_later = old_rest.iter().any(|one| is_same(one, new));
    match (comes_later, came_later) {
        (true, true) => whole(new, BreakCause::Moved),
        (true, false) => whole(new, BreakCause::Added),
        (false, true) => removed(),
        // Another call or another speaker: the earlier segment was removed.
        (false, false) if old.name() != new.name() || old.speaker != new.speaker => removed(),
        (false, false) => {
            let offset = old
                .wire
                .bytes()
                .zip(new.wire.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let offset = old
                .wire
                .floor_char_boundary(offset)
                .min(new.wire.floor_char_boundary(offset));
            PrefixBreak {
                segment: new.id.clone(),
                offset,
                before: excerpt(&old.wire, offset),
                after: excerpt(&new.wire, offset),
                cause: BreakCause::Changed,
                pointer: Some(new.pointer.clone()),
            }
        }
    }
}

/// Returns the beginning of the text at an offset.
fn excerpt(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).unwrap_or_default();
    match rest.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", rest.get(..end).unwrap_or_default()),
        None => rest.to_owned(),
    }
}
