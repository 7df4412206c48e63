//! Messages: speaker, text, and the origin of each stretch of the text. Fixes the positions of
//! segments.

use super::profile::Profile;
use crate::context::fence_marker;
use crate::kernel::assembler::Speaker;
use crate::kernel::context::{Kind, Origin, Segment, Stability, TracedText, Trust};
use crate::kernel::conversation::{Part, Turn};
use std::borrow::Cow;

/// A message to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The speaker.
    pub speaker: Speaker,
    /// The text with its origins; for a turn, its readable form.
    pub text: TracedText,
    /// The parts of a turn of a conversation or of an example; empty for any other message.
    pub parts: Vec<Part>,
    /// The indices of its segments in the report, in order.
    pub segments: Vec<usize>,
    /// Offsets in bytes after which a provider's cache may end its prefix: before a segment that is
    /// less stable than all text before it, in this message or the next, and behind a conversation
    /// that the next call repeats.
    pub breakpoints: Vec<usize>,
}

/// A turn that follows the messages of a context: an answer, or a tool result.
impl From<Turn> for Message {
    fn from(turn: Turn) -> Self {
        let text = TracedText::new(turn.text_form().text, Origin::Generated);
        Self {
            speaker: turn.speaker,
            text,
            parts: turn.parts,
            segments: Vec::new(),
            breakpoints: Vec::new(),
        }
    }
}

impl Message {
    /// Returns true for a turn of a conversation or of an example.
    pub fn is_turn(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The text alone.
    pub fn as_str(&self) -> &str {
        self.text.text()
    }
}

/// Returns the speaker of a segment. Trusted text that stays the same from call to call belongs to
/// the system; the request itself, text that is new in the call, and untrusted text belong to the
/// user.
pub fn speaker_of(segment: &Segment) -> Speaker {
    let is_stable = segment.stability < Stability::Session;
    let is_request = matches!(
        segment.kind,
        Kind::Description | Kind::Inherited | Kind::History
    );
    // Inherited system text of a trusted author stays system text.
    let is_around = segment.kind == Kind::Inherited
        && segment.overall_trust().is_trusted()
        && segment.priority() == Kind::System.priority();
    if !segment.turns.is_empty() {
        // Only a default: each turn carries its own speaker.
        return Speaker::User;
    }
    let is_system = segment.kind == Kind::System || is_around;
    let may_order =
        || segment.trust == Trust::Trusted && fence_marker::fence_names(&segment.text).is_empty();
    if is_system || (is_stable && !is_request && may_order()) {
        Speaker::System
    } else {
        Speaker::User
    }
}

/// A segment as it is rendered.
#[derive(Clone, Debug)]
pub(crate) struct RenderedSegment<'a> {
    /// Its index in the report.
    pub(crate) index: usize,
    /// The segment.
    pub(crate) segment: &'a Segment,
    /// Heading, text with its mark, and fences.
    pub(crate) text: TracedText,
    /// The messages that it consists of; empty for a text.
    pub(crate) turns: Cow<'a, [Turn]>,
    /// Its effective stability, which is lower if the next call may omit it.
    pub(crate) stability: Stability,
}

impl RenderedSegment<'_> {
    /// Returns true if both segments belong to the same message.
    pub(crate) fn shares_message(&self, other: &Self) -> bool {
        self.turns.is_empty()
            && other.turns.is_empty()
            && speaker_of(self.segment) == speaker_of(other.segment)
    }
}

/// Joins rendered segments, already in order, into messages: one for each run of a speaker, and one
/// for each turn.
pub(crate) fn join_messages(rendered: &[RenderedSegment<'_>], profile: Profile) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut least = None;
    let mut before: Option<&RenderedSegment<'_>> = None;
    for part in rendered
        .iter()
        .filter(|part| part.segment.kind != Kind::Tools)
    {
        if least.is_some_and(|least| part.stability > least) {
            end_prefix(&mut messages);
        }
        least = least.max(Some(part.stability));
        let joins = before
            .replace(part)
            .is_some_and(|before| before.shares_message(part));
        if let (true, Some(message)) = (joins, messages.last_mut()) {
            message.text.push(profile.separator(), Origin::Generated);
            message.text.append(&part.text);
            message.segments.push(part.index);
            continue;
        }
        let message = |speaker, text, parts| Message {
            speaker,
            text,
            parts,
            segments: vec![part.index],
            breakpoints: Vec::new(),
        };
        match &*part.turns {
            [] => messages.push(message(
                speaker_of(part.segment),
                part.text.clone(),
                Vec::new(),
            )),
            [turn] => messages.push(message(turn.speaker, part.text.clone(), turn.parts.clone())),
            turns => {
                let mut start = 0;
                for turn in turns {
                    let end = start + turn.text_form().text.len();
                    messages.push(message(
                        turn.speaker,
                        part.text.slice(start..end),
                        turn.parts.clone(),
                    ));
                    start = end;
                }
            }
        }
    }
    // The conversation will continue.
    if before.is_some_and(|last| last.segment.is_turn() && least == Some(Stability::Session)) {
        end_prefix(&mut messages);
    }
    messages
}

/// Marks the end of the last message as a possible end of a cache prefix.
fn end_prefix(messages: &mut [Message]) {
    if let Some(last) = messages.last_mut() {
        last.breakpoints.push(last.text.text().len());
    }
}
