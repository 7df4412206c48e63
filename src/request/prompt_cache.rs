//! What a provider's prompt cache can reuse of a call, and the first bytes that keep it from more: a comparison with the call before.

use super::segments::Segment;
use super::threads::is_shared;
use crate::base::words::words;
use crate::kernel::tokens::TokenCounter;

/// Bytes of a change that are shown.
const SHOWN: usize = 60;

/// A call beside the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// Tokens of the call.
    pub tokens: usize,
    /// Tokens in front that the call before had, too.
    pub reused: usize,
    /// Tokens that the call before had and this one could have reused; 0 where nothing broke.
    pub lost: usize,
    /// What broke the prefix.
    pub broken_by: Option<Break>,
}

/// The first place where a call is another one than the call before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The segment: of this call, or of the one before where it was taken out.
    pub segment: String,
    /// The byte in it from which on it differs.
    pub offset: usize,
    /// What stood there.
    pub before: String,
    /// What stands there.
    pub after: String,
    /// What happened to it.
    pub cause: Cause,
    /// Where the segment stands in the body; `None` where it was taken out.
    pub pointer: Option<String>,
}

words! {
    /// What happened to a segment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        /// It has other words.
        Changed = "changed",
        /// It stood at another place.
        Moved = "moved",
        /// It is not there any more.
        Removed = "removed",
        /// Something stands in front of it that was not there.
        Added = "added",
        /// It is the same, and the cache has forgotten it.
        Expired = "expired",
    }
}

/// Compares a call with the one before it in its conversation.
pub fn compare(before: &[Segment], now: &[Segment], counter: &dyn TokenCounter) -> Reuse {
    reuse(&before.iter().collect::<Vec<_>>(), now, counter)
}

/// Compares the first call of a conversation with another conversation of its agent: tools and system text alone are to be the same.
pub fn compare_agent(before: &[Segment], now: &[Segment], counter: &dyn TokenCounter) -> Reuse {
    reuse(&before.iter().filter(|segment| is_shared(segment)).collect::<Vec<_>>(), now, counter)
}

fn same(a: &Segment, b: &Segment) -> bool {
    a.speaker == b.speaker && a.wire == b.wire
}

fn reuse(before: &[&Segment], now: &[Segment], counter: &dyn TokenCounter) -> Reuse {
    let tokens = now.iter().map(|segment| segment.tokens(counter)).sum();
    let common = before.iter().zip(now).take_while(|(a, b)| same(a, b)).count();
    let mut reused: usize = now.iter().take(common).map(|segment| segment.tokens(counter)).sum();
    let Some(old) = before.get(common) else { return Reuse { tokens, reused, lost: 0, broken_by: None } };
    let new = now.get(common);
    let is_last = common + 1 == before.len();
    if let Some(new) = new
        && is_last
        && old.speaker == new.speaker
        && old.is_text
        && new.is_text
        && new.wire.starts_with(old.wire.as_str())
    {
        // It was written on.
        reused += old.tokens(counter);
        return Reuse { tokens, reused, lost: 0, broken_by: None };
    }
    let found = explain(old, before.get(common + 1..).unwrap_or_default(), new, now.get(common + 1..).unwrap_or_default());
    if let Some(new) = new.filter(|new| found.cause == Cause::Changed && new.is_text) {
        reused += counter.count(new.wire.get(..found.offset).unwrap_or_default());
    }
    let had: usize = before.iter().map(|segment| segment.tokens(counter)).sum();
    Reuse { tokens, reused, lost: had.saturating_sub(reused), broken_by: Some(found) }
}

fn explain(old: &Segment, old_rest: &[&Segment], new: Option<&Segment>, new_rest: &[Segment]) -> Break {
    let whole = |segment: &Segment, cause| Break {
        segment: segment.id.clone(),
        offset: 0,
        before: excerpt(&old.wire, 0),
        after: new.map(|new| excerpt(&new.wire, 0)).unwrap_or_default(),
        cause,
        pointer: Some(segment.pointer.clone()),
    };
    let removed = || Break { pointer: None, ..whole(old, Cause::Removed) };
    let Some(new) = new else { return removed() };
    let comes_later = new_rest.iter().any(|one| same(one, old));
    let came_later = old_rest.iter().any(|one| same(one, new));
    match (comes_later, came_later) {
        (true, true) => whole(new, Cause::Moved),
        (true, false) => whole(new, Cause::Added),
        (false, true) => removed(),
        // Another call, or somebody else's words: what stood here is gone.
        (false, false) if old.name() != new.name() || old.speaker != new.speaker => removed(),
        (false, false) => {
            let offset = old.wire.bytes().zip(new.wire.bytes()).take_while(|(a, b)| a == b).count();
            let offset = old.wire.floor_char_boundary(offset).min(new.wire.floor_char_boundary(offset));
            Break {
                segment: new.id.clone(),
                offset,
                before: excerpt(&old.wire, offset),
                after: excerpt(&new.wire, offset),
                cause: Cause::Changed,
                pointer: Some(new.pointer.clone()),
            }
        }
    }
}

/// What stands at a place, and a little of what follows.
fn excerpt(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).unwrap_or_default();
    match rest.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", rest.get(..end).unwrap_or_default()),
        None => rest.to_owned(),
    }
}
