//! Converts segments to blocks for fitting, and fitted blocks back to text.

use super::fence_marker::FenceMarks;
use super::render::profile::{self, Profile, SegmentFrame};
use crate::kernel::budget::{self, BudgetBlock, Disposition};
use crate::kernel::context::{CutPolicy, Kind, Origin, Segment, TracedText};
use crate::kernel::conversation::Turn;
use crate::kernel::tokens::TokenCounter;

/// Returns the frame of a segment, including the separator behind it, whose tokens count for the
/// segment.
pub(super) fn frame_with_separator(
    profile: Profile,
    segment: &Segment,
    marks: &FenceMarks,
) -> SegmentFrame {
    // The message of a turn is itself a border.
    if !segment.turns.is_empty() {
        return SegmentFrame::default();
    }
    let mut frame = profile::segment_frame(profile, segment, marks);
    if segment.kind != Kind::Tools {
        frame.tail.push_str(profile.separator());
    }
    frame
}

/// Returns the block of a segment in its frame. `others` is the number of tokens that are fitted
/// with it beyond its text: those of the steps merged into the segment, or of its messages.
pub(super) fn fitting_block<'a>(
    segment: &'a Segment,
    frame: &'a SegmentFrame,
    others: usize,
) -> BudgetBlock<'a> {
    BudgetBlock {
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
            segment.text.open_positions()
        } else {
            &[]
        },
        others,
        max_tokens: segment.max_tokens,
        cut: &segment.cut,
        untrusted: segment.text.untrusted(),
    }
}

/// Returns the text of a segment as it is rendered, without the separator behind it.
pub(super) fn rendered_text(
    segment: &Segment,
    frame: &SegmentFrame,
    profile: Profile,
    disposition: &Disposition,
) -> TracedText {
    let mut out = TracedText::new(frame.head.as_str(), Origin::Generated);
    match disposition {
        Disposition::Kept => out.append(&segment.text),
        Disposition::Cut { range, mark } => {
            let part = segment.text.slice(range.clone());
            let is_front = matches!(segment.cut, CutPolicy::HeadAt(_));
            if is_front {
                out.push(mark, Origin::Generated);
            }
            out.append(&part);
            if !is_front {
                out.push(mark, Origin::Generated);
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
        Origin::Generated,
    );
    out
}

/// Returns the tokens of the messages that form a segment, as far as their text is known.
pub(super) fn turn_tokens(segment: &Segment, counter: &dyn TokenCounter) -> usize {
    let mut start = 0;
    let count = |turn: &Turn| {
        let range = start..start + turn.text_form().text.len();
        start = range.end;
        let text = segment.text.slice(range);
        budget::count_open_text(text.text(), text.open_positions().iter().copied(), counter)
            + turn.media_tokens()
    };
    segment.turns.iter().map(count).sum()
}
