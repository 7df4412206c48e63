//! Converts segments to blocks for fitting, and fitted blocks back to text.

use super::fence_marker::Marks;
use super::render::profile::{self, Frame, Profile};
use crate::kernel::budget::{self, Block, Disposition};
use crate::kernel::context::{Cut, Kind, Origin, Segment, Traced};
use crate::kernel::conversation::Turn;
use crate::kernel::tokens::TokenCounter;

/// Returns the frame of a segment, including the separator behind it, whose tokens count for the
/// segment.
pub(super) fn framed(profile: Profile, segment: &Segment, marks: &Marks) -> Frame {
    // The message of a turn is itself a border.
    if !segment.turns.is_empty() {
        return Frame::default();
    }
    let mut frame = profile::frame(profile, segment, marks);
    if segment.kind != Kind::Tools {
        frame.tail.push_str(profile.separator());
    }
    frame
}

/// Returns the block of a segment in its frame. `others` is the number of tokens that are fitted
/// with it beyond its text: those of the steps merged into the segment, or of its messages.
pub(super) fn block<'a>(segment: &'a Segment, frame: &'a Frame, others: usize) -> Block<'a> {
    Block {
        id: &segment.id,
        priority: segment.priority(),
        turn: (segment.trust, segment.kind),
        head: &frame.head,
        text: if segment.turns.is_empty() {
            segment.text.text()
        } else {
            ""
        },
        tail: &frame.tail,
        open: if segment.turns.is_empty() {
            segment.text.open()
        } else {
            &[]
        },
        others,
        most: segment.max_tokens,
        cut: &segment.cut,
        untrusted: segment.text.untrusted(),
    }
}

/// Returns the text of a segment as it is rendered, without the separator behind it.
pub(super) fn text(
    segment: &Segment,
    frame: &Frame,
    profile: Profile,
    fate: &Disposition,
) -> Traced {
    let mut out = Traced::new(frame.head.as_str(), Origin::Frame);
    match fate {
        Disposition::Kept => out.append(&segment.text),
        Disposition::Cut { range, mark } => {
            let part = segment.text.slice(range.clone());
            let is_front = matches!(segment.cut, Cut::HeadAt(_));
            if is_front {
                out.push(mark, Origin::Frame);
            }
            out.append(&part);
            if !is_front {
                out.push(mark, Origin::Frame);
            }
        }
        // The text that stays of a message is part of the conversation.
        Disposition::Dropped | Disposition::Shortened { .. } => {}
    }
    out.push(
        frame
            .tail
            .strip_suffix(profile.separator())
            .unwrap_or(&frame.tail),
        Origin::Frame,
    );
    out
}

/// Returns the tokens of the messages that form a segment, as far as their text is known.
pub(super) fn turn_tokens(segment: &Segment, counter: &dyn TokenCounter) -> usize {
    let mut start = 0;
    let count = |turn: &Turn| {
        let range = start..start + turn.read().text.len();
        start = range.end;
        let text = segment.text.slice(range);
        budget::tokens(text.text(), text.open().iter().copied(), counter) + turn.media_tokens()
    };
    segment.turns.iter().map(count).sum()
}
