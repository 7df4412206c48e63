//! Segments as blocks that are fitted, and as the text that stays of them.

use super::fence_marker::Marks;
use super::render::message::Rendered;
use super::render::profile::{self, Frame, Profile};
use crate::kernel::budget::{Block, Disposition, Fitted};
use crate::kernel::context::{Cut, Kind, Origin, Segment, Traced};

/// A frame with the separator behind it: what a segment costs.
pub(super) fn framed(profile: Profile, segment: &Segment, marks: &Marks) -> Frame {
    let mut frame = profile::frame(profile, segment, marks);
    if segment.kind != Kind::Tools {
        frame.tail.push_str(profile.separator());
    }
    frame
}

/// A segment in its frame, ready to be fitted; with one of a dry run may come the tokens of others that are told with it.
pub(super) fn block<'a>(segment: &'a Segment, frame: &'a Frame, others: usize) -> Block<'a> {
    Block {
        id: &segment.id,
        priority: segment.priority(),
        turn: (segment.kind, segment.trust),
        head: &frame.head,
        text: segment.text.text(),
        tail: &frame.tail,
        open: segment.text.open(),
        others,
        cut: &segment.cut,
    }
}

/// The text of a segment as it is rendered, without the separator behind it.
pub(super) fn text(segment: &Segment, frame: &Frame, profile: Profile, fate: &Disposition) -> Traced {
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
        Disposition::Dropped => {}
    }
    out.push(frame.tail.strip_suffix(profile.separator()).unwrap_or(&frame.tail), Origin::Frame);
    out
}

/// The segments that stay, in their order, as they are rendered.
pub(super) fn rendered<'s>(
    profile: Profile,
    segments: &'s [Segment],
    frames: &[Frame],
    order: &[usize],
    fitted: &[Fitted],
) -> Vec<Rendered<'s>> {
    let one = |&index: &usize| {
        let segment = segments.get(index)?;
        let frame = frames.get(index)?;
        let fitted = fitted.get(index)?;
        let text = text(segment, frame, profile, &fitted.fate);
        (fitted.fate != Disposition::Dropped).then_some(Rendered { index, segment, text })
    };
    order.iter().filter_map(one).collect()
}
