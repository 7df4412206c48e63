//! A conversation as segments: one for each message, numbered by its position in the conversation.
//!
//! Cuts nothing: `kernel::fold` does that once the available budget is known.

use crate::context::segments::draft::DraftSegment;
use crate::kernel::context::{Kind, Origin, Segment, Stability};
use crate::kernel::conversation::{Speaker, Turn};
use crate::kernel::fold::HistoryLimits;
use crate::registry::body::HistoryLimit;
use std::collections::BTreeSet;

/// Returns the limits of a `<history>` element.
pub(in crate::context) fn history_limits(element: HistoryLimit) -> HistoryLimits {
    let number = |number: Option<u32>| number.map(|number| number as usize);
    HistoryLimits {
        turns: number(element.turns),
        max_tokens: number(element.max_tokens),
        compacted: element.compacted,
    }
}

/// Describes the conversation that a dry run waits for, with its limits.
fn describe_conversation(element: HistoryLimit) -> String {
    let number = |what: &str, number: Option<u32>| number.map(|number| format!("{what} {number}"));
    let compacted = element.compacted.then(|| "compacted".to_owned());
    let asked: Vec<String> = [
        number("turns", element.turns),
        number("max_tokens", element.max_tokens),
        compacted,
    ]
    .into_iter()
    .flatten()
    .collect();
    if asked.is_empty() {
        "conversation".to_owned()
    } else {
        format!("conversation ({})", asked.join(", "))
    }
}

/// Returns the messages of a conversation as segments. They come from users and are untrusted.
pub(in crate::context) fn message_segments(turns: &[Turn]) -> impl Iterator<Item = DraftSegment> {
    turns
        .iter()
        .enumerate()
        .map(|(at, turn)| message_segment(format!("history:{}", at + 1), turn.clone()))
}

fn message_segment(id: String, turn: Turn) -> DraftSegment {
    let segment = Segment::from_turns(
        Kind::History,
        id,
        vec![turn],
        Origin::Conversation,
        "<history>",
    );
    DraftSegment::known(segment.untrusted().stable(Stability::Session))
}

/// Returns the segment of an unknown conversation. Its limits are part of its description.
pub(in crate::context) fn open_conversation(element: HistoryLimit) -> DraftSegment {
    DraftSegment {
        unknown: BTreeSet::from([describe_conversation(element)]),
        condition: Some("something was said before"),
        ..message_segment(
            Kind::History.as_str().to_owned(),
            Turn::new(Speaker::User, ""),
        )
    }
}
