//! Messages: who speaks, what is said, and where each stretch of it comes from. Positions are fixed here.

use super::profile::Profile;
use crate::kernel::assembler::Speaker;
use crate::kernel::context::{Kind, Origin, Segment, Stability, Traced, Trust};

/// Something said to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// What, with where it comes from.
    pub text: Traced,
    /// The segments in it, in order, by their place in the report.
    pub segments: Vec<usize>,
    /// Bytes after which a provider's cache may end its prefix: where something follows, in this message or the next, that
    /// does not hold as long as anything before it.
    pub breakpoints: Vec<usize>,
}

impl Message {
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
        segment.kind == Kind::Inherited && segment.trust == Trust::Trusted && segment.priority() == Kind::System.priority();
    let is_system = segment.kind == Kind::System || is_around;
    if is_system || (is_stable && !is_request && segment.trust == Trust::Trusted) { Speaker::System } else { Speaker::User }
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
}

/// Joins rendered segments, already in their positions, into messages: one a speaker.
pub(crate) fn messages(rendered: &[Rendered<'_>], profile: Profile) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut least = None;
    for part in rendered.iter().filter(|part| part.segment.kind != Kind::Tools) {
        let who = speaker(part.segment);
        if least.is_some_and(|least| part.segment.stability > least)
            && let Some(before) = messages.last_mut()
        {
            before.breakpoints.push(before.text.text().len());
        }
        least = least.max(Some(part.segment.stability));
        if messages.last().is_none_or(|message| message.speaker != who) {
            let text = Traced::default();
            let segments = Vec::new();
            let breakpoints = Vec::new();
            messages.push(Message { speaker: who, text, segments, breakpoints });
        }
        let Some(message) = messages.last_mut() else { continue };
        if !message.segments.is_empty() {
            message.text.push(profile.separator(), Origin::Frame);
        }
        message.text.append(&part.text);
        message.segments.push(part.index);
    }
    messages
}
