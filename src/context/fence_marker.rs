//! The delimiter that fences untrusted text. No text from outside can contain it.
//!
//! It is derived from the request alone, so the same request has the same delimiter. If a text contains it, the next one is derived from
//! all texts of the context, so that nobody can write a text that contains that one. It consists of digits:
//! tokenizers take them three by three or one by one, so every delimiter costs the same and a dry run can count it.

use super::request::Request;
use super::segments::draft::DraftSegment;
use crate::base::hash::{Hash, Hasher};
use crate::base::json;
use crate::kernel::context::{Origin, Segment, Traced};
use crate::registry::Registry;
use memchr::memmem;

/// The mark of a request.
pub(super) fn first(registry: &Registry, request: &Request<'_>) -> String {
    let mut hasher = Hasher::new();
    hasher.field("ctxc untrusted").field(request.task).field(request.node);
    hasher.field(registry.find(request.task).map_or([0; 32], |task| task.hash().0));
    for (name, value) in request.inputs {
        hasher.field(name).field(json::sorted(value).to_string());
    }
    hasher.field("results");
    for (name, result) in request.results {
        hasher.field(name).field(json::sorted(&result.content).to_string()).field(result.notes.as_deref().unwrap_or("\0"));
    }
    hasher.field("parent");
    for segment in request.parent {
        hasher.field(&segment.id).field(segment.text.text());
    }
    if !request.history.is_empty() {
        hasher.field("history");
    }
    for said in request.history {
        hasher.field(said.speaker.word()).field(&said.text).field(said.answers.as_deref().unwrap_or("\0"));
        for call in &said.calls {
            hasher.field(&call.id).field(&call.name).field(json::sorted(&call.arguments).to_string());
        }
    }
    if let Some(role) = request.role {
        hasher.field("role").field(role.system.as_ref().map_or("", |system| &system.text));
    }
    short(&hasher)
}

/// The mark after one that some text holds.
pub(super) fn next(before: &str, context: &[DraftSegment]) -> String {
    let mut hasher = Hasher::new();
    hasher.field("ctxc untrusted, again").field(before);
    for DraftSegment { segment, .. } in context {
        hasher.field(&segment.id).field(&segment.title).field(segment.text.text());
    }
    short(&hasher)
}

/// One more than the greatest mark: 21 digits, in which some 70 bits of a hash stand.
const END: u128 = 10_u128.pow(21);

fn short(hasher: &Hasher) -> String {
    let Hash(bytes) = hasher.finish();
    let number = bytes.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
    format!("{:021}", number % END)
}

/// Whether a segment holds the mark anywhere but in a fence of ours: then it could close one.
pub(super) fn holds(segment: &Segment, mark: &str) -> bool {
    let text = segment.text.text();
    let stretches = segment.text.stretches();
    let is_ours = |at: usize| {
        let found = stretches.partition_point(|stretch| stretch.range.end <= at);
        stretches.get(found).is_some_and(|stretch| stretch.origin == Origin::Frame && stretch.range.end >= at + mark.len())
    };
    segment.id.contains(mark)
        || segment.title.contains(mark)
        || memmem::find_iter(text.as_bytes(), mark.as_bytes()).any(|at| !is_ours(at))
}

/// A text without its fences.
pub(super) fn bare(text: &Traced) -> String {
    let words = |range: &std::ops::Range<usize>| text.text().get(range.clone()).unwrap_or("");
    let is_fence = |origin: &Origin, words: &str| *origin == Origin::Frame && words.contains("untrusted-");
    let stretches = text.stretches().iter().map(|stretch| (&stretch.origin, words(&stretch.range)));
    stretches.filter(|(origin, words)| !is_fence(origin, words)).map(|(_, words)| words).collect()
}
