//! Messages: who speaks, what is said, and where each stretch of it comes from. Positions are fixed here.

use super::profile::Profile;
use crate::context::fence_marker;
use crate::kernel::assembler::Speaker;
use crate::kernel::context::{Kind, Origin, Segment, Stability, Traced, Trust};
use crate::kernel::conversation::{Part, Turn};
use std::borrow::Cow;

/// Something said to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What, with where it comes from; how it reads, where it is a turn.
    pub text: Traced,
    /// Its parts, where it is a turn of a conversation or of an example; of a text in one there are none.
    pub parts: Vec<Part>,
    /// The segments in it, in order, by their place in the report.
    pub segments: Vec<usize>,
    /// Bytes after which a provider's cache may end its prefix: where something follows, in this message or the next, that
    /// does not hold as long as anything before it, and behind a conversation that the next call repeats.
    pub breakpoints: Vec<usize>,
}

/// A turn that follows the messages of a context: an answer, or what a tool gave back.
impl From<Turn> for Message {
    fn from(turn: Turn) -> Self {
        let text = Traced::new(turn.read().text, Origin::Frame);
        Self { speaker: turn.speaker, text, parts: turn.parts, segments: Vec::new(), breakpoints: Vec::new() }
    }
}

impl Message {
    /// Whether it is a turn of a conversation or of an example.
    pub fn is_turn(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The text alone.
    pub fn as_str(&self) -> &str {
        self.text.text()
    }
}

/// Who says a segment. What stays the same from call to call, and may give orders, is the system's; the request itself,
/// what is new with the call, and whatever is untrusted is the user's.
pub fn speaker(segment: &Segment) -> Speaker {
    let is_stable = segment.stability < Stability::Session;
    let is_request = matches!(segment.kind, Kind::Description | Kind::Inherited | Kind::History);
    // What a trusted author has the system say around an agent is said by the system to the agent, too.
    let is_around =
        segment.kind == Kind::Inherited && segment.overall_trust().is_trusted() && segment.priority() == Kind::System.priority();
    if !segment.turns.is_empty() {
        // Between whoever asks and the agent: each turn says itself whose it is.
        return Speaker::User;
    }
    let is_system = segment.kind == Kind::System || is_around;
    let may_order = || segment.trust == Trust::Trusted && fence_marker::names(&segment.text).is_empty();
    if is_system || (is_stable && !is_request && may_order()) { Speaker::System } else { Speaker::User }
}

/// A segment as it is rendered.
#[derive(Clone, Debug)]
pub(crate) struct Rendered<'a> {
    /// Its place in the report.
    pub(crate) index: usize,
    /// The segment.
    pub(crate) segment: &'a Segment,
    /// Heading, text with its mark, and fences.
    pub(crate) text: Traced,
    /// The messages that it is, where it is no text in one.
    pub(crate) turns: Cow<'a, [Turn]>,
    /// How long it holds: what the next call may leave out holds for this one.
    pub(crate) holds: Stability,
}

impl Rendered<'_> {
    /// Whether it stands in one message with another one.
    pub(crate) fn joins(&self, other: &Self) -> bool {
        self.turns.is_empty() && other.turns.is_empty() && speaker(self.segment) == speaker(other.segment)
    }
}

/// Joins rendered segments, already in their positions, into messages: one a speaker, and one a turn.
pub(crate) fn messages(rendered: &[Rendered<'_>], profile: Profile) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut least = None;
    let mut before: Option<&Rendered<'_>> = None;
    for part in rendered.iter().filter(|part| part.segment.kind != Kind::Tools) {
        if least.is_some_and(|least| part.holds > least) {
            end_prefix(&mut messages);
        }
        least = least.max(Some(part.holds));
        let joins = before.replace(part).is_some_and(|before| before.joins(part));
        if let (true, Some(message)) = (joins, messages.last_mut()) {
            message.text.push(profile.separator(), Origin::Frame);
            message.text.append(&part.text);
            message.segments.push(part.index);
            continue;
        }
        let message =
            |speaker, text, parts| Message { speaker, text, parts, segments: vec![part.index], breakpoints: Vec::new() };
        match &*part.turns {
            [] => messages.push(message(speaker(part.segment), part.text.clone(), Vec::new())),
            [turn] => messages.push(message(turn.speaker, part.text.clone(), turn.parts.clone())),
            turns => {
                let mut start = 0;
                for turn in turns {
                    let end = start + turn.read().text.len();
                    messages.push(message(turn.speaker, part.text.slice(start..end), turn.parts.clone()));
                    start = end;
                }
            }
        }
    }
    // Behind a conversation something will follow.
    if before.is_some_and(|last| last.segment.is_turn() && least == Some(Stability::Session)) {
        end_prefix(&mut messages);
    }
    messages
}

/// A provider's cache may end its prefix here.
fn end_prefix(messages: &mut [Message]) {
    if let Some(last) = messages.last_mut() {
        last.breakpoints.push(last.text.text().len());
    }
}
