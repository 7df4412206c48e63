//! A conversation as segments: one a message, under its number in the conversation as it was handed in.
//!
//! Cuts nothing: `kernel::fold` does, when it is known how much room there is.

use crate::context::segments::draft::DraftSegment;
use crate::kernel::context::{Kind, Origin, Segment, Stability};
use crate::kernel::conversation::{Speaker, Turn};
use crate::kernel::fold::HistoryLimits;
use crate::registry::body::History;
use std::collections::BTreeSet;

/// What an element asks for.
pub(in crate::context) fn limits(element: History) -> HistoryLimits {
    let number = |number: Option<u32>| number.map(|number| number as usize);
    HistoryLimits { turns: number(element.turns), max_tokens: number(element.max_tokens), compacted: element.compacted }
}

/// What is waited for: the conversation, or as much of it as is asked for.
fn wanted(element: History) -> String {
    let number = |what: &str, number: Option<u32>| number.map(|number| format!("{what} {number}"));
    let compacted = element.compacted.then(|| "compacted".to_owned());
    let asked: Vec<String> =
        [number("turns", element.turns), number("max_tokens", element.max_tokens), compacted].into_iter().flatten().collect();
    if asked.is_empty() { "conversation".to_owned() } else { format!("conversation ({})", asked.join(", ")) }
}

/// The messages of a conversation. It is the users', and gives no orders.
pub(in crate::context) fn segments(turns: &[Turn]) -> impl Iterator<Item = DraftSegment> {
    turns.iter().enumerate().map(|(at, turn)| segment(format!("history:{}", at + 1), turn.clone()))
}

fn segment(id: String, turn: Turn) -> DraftSegment {
    let segment = Segment::of_turns(Kind::History, id, vec![turn], Origin::Conversation, "<history>");
    DraftSegment::whole(segment.untrusted().stable(Stability::Session))
}

/// A conversation of which nothing is known yet. How much of it there will be is a part of what it will be.
pub(in crate::context) fn open(element: History) -> DraftSegment {
    DraftSegment {
        unknown: BTreeSet::from([wanted(element)]),
        condition: Some("something was said before"),
        ..segment(Kind::History.word().to_owned(), Turn::new(Speaker::User, ""))
    }
}
