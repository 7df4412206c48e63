//! The trait `ContextAssembler`, which turns the segments of a context into an agent's input and
//! reports the disposition of each.
//!
//! The report contains every segment that was passed in, with its tokens and its disposition.

use super::budget::Disposition;
use super::context::{Kind, Segment, Trust};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

pub use super::conversation::Speaker;

/// The disposition of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentReport {
    /// The segment with its complete text.
    pub segment: Segment,
    /// Its index among the kept segments, from 0; `None` if it was dropped.
    pub position: Option<usize>,
    /// Its disposition.
    pub disposition: Disposition,
    /// Tokens of the complete segment, heading and fences included; `None` if no count was needed.
    pub full_tokens: Option<usize>,
    /// Tokens of the kept part.
    pub kept_tokens: Option<usize>,
    /// The reason for the disposition.
    pub reason: String,
}

/// A segment of the context around an agent that it does not receive, because its text is unknown
/// before the agent has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Deferred {
    /// The id that the segment would have.
    pub id: String,
    /// The inputs that it needs; of more than 32, a manifest contains the first and their number
    /// alone.
    pub needs: Vec<String>,
}

impl Deferred {
    /// The reason why it is missing; a lower-case fragment.
    pub fn reason(&self) -> String {
        let needs: Vec<String> = self.needs.iter().map(|name| format!("`{name}`")).collect();
        let verb = if needs.len() == 1 { "is" } else { "are" };
        format!(
            "needs {}, which {verb} not there before this agent has run",
            needs.join(", ")
        )
    }
}

/// Assembles segments into an agent's input.
pub trait ContextAssembler {
    /// The assembled input.
    type Output;
    /// The reason for a failure.
    type Error;

    /// Assembles the segments.
    fn assemble(&self, segments: Vec<Segment>) -> Result<Self::Output, Self::Error>;
}

/// The order of segments: tools first; then by speaker; the author's `system` before all else; then
/// examples that are turns; then the kinds of `first`, in that order; then the most stable first,
/// then by priority, then by source. The result lists indices of `segments`.
pub fn order_segments<S: Borrow<Segment>>(
    segments: &[S],
    speaker: impl Fn(&Segment) -> Speaker,
    first: &[Kind],
) -> Vec<usize> {
    let place = |segment: &Segment| {
        let rank_in_first = first
            .iter()
            .position(|kind| *kind == segment.kind)
            .unwrap_or(first.len());
        // The agent's identity frames all other text, so it comes before everything else.
        let is_after_system = segment.kind != Kind::System || segment.trust == Trust::Untrusted;
        // The request comes after the examples, so that an example never has the last word.
        let is_no_example = segment.kind != Kind::Examples || segment.turns.is_empty();
        (
            segment.kind != Kind::Tools,
            speaker(segment),
            is_after_system,
            is_no_example,
            rank_in_first,
            segment.stability,
            segment.order_key(),
        )
    };
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_cached_key(|&at| segments.get(at).map(|segment| place(segment.borrow())));
    order
}
