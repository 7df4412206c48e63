//! The interface `ContextAssembler`: turns the segments of a context into what an agent receives, and reports what happened to each.
//!
//! The report names every segment that came in, with its tokens and its disposition.

use super::budget::Disposition;
use super::context::{Kind, Segment, Trust};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

pub use super::conversation::Speaker;

/// What became of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentReport {
    /// The segment; its text is the whole one.
    pub segment: Segment,
    /// Where it stands among those that stayed, from 0; `None` where it was dropped.
    pub position: Option<usize>,
    /// What became of it.
    pub fate: Disposition,
    /// Tokens of the whole, heading and fences included; `None` where nothing had to be counted.
    pub full_tokens: Option<usize>,
    /// Tokens of what stayed.
    pub kept_tokens: Option<usize>,
    /// Why.
    pub reason: String,
}

/// A segment of the context around an agent that it does not receive: its words cannot be known before the agent has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Deferred {
    /// The id that it would have.
    pub id: String,
    /// The inputs that it needs; of more than 32, a manifest names the first and their number alone.
    pub needs: Vec<String>,
}

impl Deferred {
    /// Why it is not there; a lower-case fragment.
    pub fn reason(&self) -> String {
        let needs: Vec<String> = self.needs.iter().map(|name| format!("`{name}`")).collect();
        let verb = if needs.len() == 1 { "is" } else { "are" };
        format!("needs {}, which {verb} not there before this agent has run", needs.join(", "))
    }
}

/// Makes of segments what an agent receives.
pub trait ContextAssembler {
    /// What it makes.
    type Output;
    /// Why it cannot.
    type Error;

    /// Assembles.
    fn assemble(&self, segments: Vec<Segment>) -> Result<Self::Output, Self::Error>;
}

/// Where each segment stands: tools first; then by speaker; the author's `system` in front of all; then examples
/// that are turns; then the kinds of `first`, in that order; then the most stable first, then by priority, then by source. The result lists indices of `segments`.
pub fn positions<S: Borrow<Segment>>(segments: &[S], speaker: impl Fn(&Segment) -> Speaker, first: &[Kind]) -> Vec<usize> {
    let place = |segment: &Segment| {
        let asked = first.iter().position(|kind| *kind == segment.kind).unwrap_or(first.len());
        // Who the agent is frames all that is said to it: nothing else may be read before.
        let is_behind = segment.kind != Kind::System || segment.trust == Trust::Untrusted;
        // What is asked of the agent stands behind what shows how to answer: the last word is never an example's.
        let is_asked = segment.kind != Kind::Examples || segment.turns.is_empty();
        (segment.kind != Kind::Tools, speaker(segment), is_behind, is_asked, asked, segment.stability, segment.turn())
    };
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_cached_key(|&at| segments.get(at).map(|segment| place(segment.borrow())));
    order
}
