//! A conversation as segments: one for each message, numbered by its position in the conversation.
//!
//! Cuts nothing: `kernel::fold` does that once the available budget is known.

use crate::context::segments::draft::DraftSegment;
use crate::kernel::context::{Kind, Origin, Segment, Stability};
use crate::kernel::conversation::{Speaker, Turn};
use crate::kernel::fold::HistoryLimits;
use crate::registry::body::History;
use std::collections::BTreeSet;

/// Returns the limits of a `<history>` element.
pub(in crate::context) fn limits(element: History) -> HistoryLimits {
    let number = |number: Option<u32>| number.map(|number| number as usize);
    HistoryLimits {
        turns: number(element.turns),
        max_tokens: number(element.max_tokens),
        compacted: element.compacted,
    }
}

/// Describes the conversation that a dry run waits for, with its limits.
fn wanted(element: History) -> String {
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
pub(in crate::context) fn segments(turns: &[Turn]) -> impl Iterator<Item = DraftSegment> {
    turns
        .iter()
        .enumerate()
        .map(|(at, turn)| segment(format!("history:{}", at + 1), turn.clone()))
}

fn segment(id: String, turn: Turn) -> DraftSegment {
    let segment = Segment::of_turns(
        Kind::History,
        id,
        vec![turn],
        Origin::Conversation,
        "<history>",
    );
    DraftSegment::whole(segment.untrusted().stable(Stability::Session))
}

/// Returns the segment of an unknown conversation. Its limits are part of its description.
pub(in crate::context) fn open(element: History) -> DraftSegment {
    DraftSegment {
        unknown: BTreeSet::from([wanted(element)]),
        condition: Some("something was said before"),
        ..segment(
            Kind::History.word().to_owned(),
            Turn::new(Speaker::User, ""),
        )
    }
}
