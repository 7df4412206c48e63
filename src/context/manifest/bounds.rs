//! The bounds that every run stays within: the lower and upper bound of the tokens of each segment,
//! and of all segments together.
//!
//! Never counts tokens. Follows the order in which segments are fitted: those that are never cut,
//! then trusted ones, then untrusted ones. A segment that does not fit whole is cut, and every
//! later one of the same trust is dropped.

use super::model::{Part, Total};
use crate::context::dry_run::WholeCost;
use crate::kernel::budget::WORTH_CUTTING;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Trust};

/// The remaining room of a budget.
#[derive(Clone, Copy, Debug)]
struct RemainingRoom {
    /// The upper bound; `None` without a budget.
    upper: Option<usize>,
    /// The lower bound; `None` if earlier segments may have used all of it.
    lower: Option<usize>,
}

/// A segment, its cost if it is present and uncut, and a flag that it may be absent for another
/// reason than the budget.
type BoundedSegment = (Part, WholeCost, bool);

/// Sets the bounds of each segment, and returns those of the total. `untrusted_reserve` is the part
/// of the budget that is reserved for untrusted text.
pub(super) fn bound_segments(
    parts: &mut [BoundedSegment],
    budget: Option<usize>,
    untrusted_reserve: usize,
) -> Total {
    let fixed = parts.iter().map(|(part, ..)| part.tokens).sum();
    if !parts
        .iter()
        .any(|(part, _, may_lack)| *may_lack || part.is_variable())
    {
        for (part, ..) in parts {
            (part.least, part.bound) = (part.tokens, Some(part.tokens));
        }
        return Total {
            least: fixed,
            fixed,
            estimate: None,
            bound: Some(fixed),
        };
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| {
        parts
            .get(at)
            .map(|(part, ..)| (part.priority, part.trust, part.kind))
    });
    let of = |parts: &[BoundedSegment], is_meant: fn(&BoundedSegment) -> bool| -> Vec<usize> {
        order
            .iter()
            .copied()
            .filter(|at| parts.get(*at).is_some_and(is_meant))
            .collect()
    };
    let is_never_cut = |(part, ..): &BoundedSegment| part.priority < FIRST_EXPENDABLE;
    let never_cut = of(parts, is_never_cut);
    let others = of(parts, |(part, whole, _)| {
        part.priority >= FIRST_EXPENDABLE && whole.is_untrusted
    });
    let trusted = of(parts, |(part, whole, _)| {
        part.priority >= FIRST_EXPENDABLE && !whole.is_untrusted
    });
    let after = bound_in_order(
        parts,
        &never_cut,
        RemainingRoom {
            upper: budget,
            lower: budget,
        },
    );
    let room = room_of_trusted(
        parts.iter().filter(|part| is_never_cut(part)),
        budget,
        untrusted_reserve,
    );
    let rest = bound_in_order(parts, &trusted, room);
    // Untrusted segments get the room that trusted ones leave of the whole budget.
    let certain = trusted
        .iter()
        .filter_map(|at| parts.get(*at))
        .filter(|(part, whole, _)| part.least > 0 || whole.needs == 0);
    let certain: usize = certain.map(|(_, whole, _)| whole.needs).sum();
    let taken = room
        .upper
        .map(|most| most - rest.lower.unwrap_or(0).min(most));
    let left = RemainingRoom {
        upper: after.upper.map(|left| left.saturating_sub(certain)),
        lower: after
            .lower
            .zip(taken)
            .and_then(|(left, taken)| left.checked_sub(taken)),
    };
    bound_untrusted(parts, &others, left);
    let least = parts.iter().map(|(part, ..)| part.least).sum();
    let most = parts
        .iter()
        .map(|(part, ..)| part.bound)
        .sum::<Option<usize>>();
    let bound = match (most, budget) {
        (Some(most), Some(budget)) => Some(most.min(budget)),
        (most, budget) => most.or(budget),
    };
    Total {
        least,
        fixed,
        estimate: None,
        bound,
    }
}

/// Returns the room of trusted texts that can be cut: the budget without the trusted part of the
/// texts that are never cut, and without the room reserved for untrusted text.
fn room_of_trusted<'p>(
    never_cut: impl Iterator<Item = &'p BoundedSegment>,
    budget: Option<usize>,
    untrusted_reserve: usize,
) -> RemainingRoom {
    let (mut least, mut most) = (0, Some(0));
    for (part, whole, may_lack) in never_cut {
        least += if *may_lack { 0 } else { whole.trusted };
        let own = if whole.is_untrusted {
            // The trusted part of a text with unknown values is itself unknown.
            (!part.is_variable()).then_some(whole.trusted)
        } else {
            whole
                .most
                .map(|most| most.max(whole.needs).max(whole.trusted))
        };
        most = most.zip(own).map(|(most, own)| most + own);
    }
    let room = |taken: usize| {
        let left = budget?.saturating_sub(taken);
        Some(left - untrusted_reserve.min(left / 2))
    };
    RemainingRoom {
        upper: room(least),
        lower: most.and_then(room),
    }
}

/// Bounds segments that are fitted one after the other, and returns the room that they leave.
fn bound_in_order(
    parts: &mut [BoundedSegment],
    order: &[usize],
    mut left: RemainingRoom,
) -> RemainingRoom {
    for at in order {
        if let Some(bounded) = parts.get_mut(*at) {
            left = bound_segment(bounded, left, None);
        }
    }
    left
}

/// Bounds untrusted segments, among which a conversation and inputs have reserved room.
fn bound_untrusted(parts: &mut [BoundedSegment], order: &[usize], mut left: RemainingRoom) {
    let is_input =
        |(part, ..): &BoundedSegment| (part.trust, part.kind) == (Trust::Untrusted, Kind::Input);
    let is_conversation = |(part, ..): &BoundedSegment| part.kind == Kind::History;
    let has = |is_meant: fn(&BoundedSegment) -> bool| {
        order.iter().filter_map(|at| parts.get(*at)).any(is_meant)
    };
    let mut kept = None;
    if has(is_conversation) {
        kept = left.upper.map(|left| left / 2);
        left.lower = left.lower.map(|left| left - left / 2);
    }
    // Inputs keep their room even if earlier segments were dropped.
    let mut for_inputs = None;
    if has(is_input) {
        for_inputs = left.upper;
        left.lower = left.lower.map(|left| left - left / 2);
    }
    for at in order {
        if let Some(bounded) = parts.get_mut(*at) {
            let own = if is_conversation(bounded) {
                kept
            } else {
                for_inputs.filter(|_| is_input(bounded))
            };
            left = bound_segment(bounded, left, own);
        }
    }
}

/// Bounds a segment by the remaining or its reserved room, and returns the room after it.
fn bound_segment(
    (part, whole, may_lack): &mut BoundedSegment,
    left: RemainingRoom,
    own: Option<usize>,
) -> RemainingRoom {
    let room = left.upper.max(own);
    let is_known = part.kind == Kind::History && !part.is_variable();
    let needed = whole.most.map(|most| {
        if is_known {
            whole.needs
        } else {
            most.max(whole.needs)
        }
    });
    let least = left
        .lower
        .zip(needed)
        .and_then(|(left, needed)| left.checked_sub(needed));
    let is_certain =
        !*may_lack && (part.priority < FIRST_EXPENDABLE || room.is_none() || least.is_some());
    part.least = if is_certain { whole.least } else { 0 };
    part.bound = match room {
        None => whole.most,
        // It is cut in every run, if the room is worth cutting to; of several merged segments some
        // may stay whole.
        Some(left) if whole.needs > left => Some(if left > WORTH_CUTTING || whole.is_several {
            left
        } else {
            0
        }),
        Some(left) => Some(whole.most.map_or(left, |most| most.min(left))),
    };
    let needed = if *may_lack { 0 } else { whole.needs };
    RemainingRoom {
        upper: left.upper.map(|left| left.saturating_sub(needed)),
        lower: least,
    }
}
