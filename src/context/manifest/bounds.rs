//! The figures that every run keeps to: the least and the most tokens of each segment, and of all of them.
//!
//! Never counts. Follows the order in which segments are fitted: where one does not fit whole, it is cut, and nothing after it stays.

use super::model::{Part, Total};
use crate::context::dry_run::Whole;
use crate::kernel::budget::WORTH_CUTTING;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Trust};

/// Writes the least and the most into each segment, and gives those of the whole. With each segment come what it costs where it is there
/// whole, and whether it may be missing for another reason than the budget.
pub(super) fn bound(parts: &mut [(Part, Whole, bool)], budget: Option<usize>) -> Total {
    let fixed = parts.iter().map(|(part, ..)| part.tokens).sum();
    if !parts.iter().any(|(part, _, may_lack)| *may_lack || part.is_variable()) {
        for (part, ..) in parts {
            (part.least, part.bound) = (part.tokens, Some(part.tokens));
        }
        return Total { least: fixed, fixed, bound: Some(fixed) };
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| parts.get(at).map(|(part, ..)| (part.priority, part.trust, part.kind)));
    // The most that is left of the budget, and the least: `None` where what came before may have taken all.
    let mut most_left = budget;
    let mut least_left = budget;
    // What may be kept for the last turn of a conversation, once what is never cut has its room.
    let mut kept = parts.iter().any(|(part, ..)| part.kind == Kind::History).then_some(0);
    // The most that there may be for inputs that others have written, whatever was dropped before them.
    let is_foreign = |part: &Part| (part.trust, part.kind) == (Trust::Untrusted, Kind::Input);
    let mut for_inputs = parts.iter().any(|(part, ..)| is_foreign(part)).then_some(None);
    for at in order {
        let Some((part, whole, may_lack)) = parts.get_mut(at) else { continue };
        if part.priority >= FIRST_EXPENDABLE && kept == Some(0) {
            kept = most_left.map(|left| left / 2);
            least_left = least_left.map(|left| left - left / 2);
        }
        if part.priority >= FIRST_EXPENDABLE && for_inputs == Some(None) {
            for_inputs = Some(most_left);
            least_left = least_left.map(|left| left - left / 2);
        }
        let own = if part.kind == Kind::History { kept } else { for_inputs.flatten().filter(|_| is_foreign(part)) };
        let room = most_left.max(own);
        let is_known = part.kind == Kind::History && !part.is_variable();
        let needed = whole.most.map(|most| if is_known { whole.needs } else { most.max(whole.needs) });
        least_left = least_left.zip(needed).and_then(|(left, needed)| left.checked_sub(needed));
        let is_certain = !*may_lack && (part.priority < FIRST_EXPENDABLE || budget.is_none() || least_left.is_some());
        part.least = if is_certain { whole.least } else { 0 };
        part.bound = match room {
            None => whole.most,
            // It is cut in every run, if there is enough to be cut to; of several some may be whole.
            Some(left) if whole.needs > left => Some(if left > WORTH_CUTTING || whole.is_several { left } else { 0 }),
            Some(left) => Some(whole.most.map_or(left, |most| most.min(left))),
        };
        let needed = if *may_lack { 0 } else { whole.needs };
        most_left = most_left.map(|left| left.saturating_sub(needed));
    }
    let least = parts.iter().map(|(part, ..)| part.least).sum();
    let most = parts.iter().map(|(part, ..)| part.bound).sum::<Option<usize>>();
    let bound = match (most, budget) {
        (Some(most), Some(budget)) => Some(most.min(budget)),
        (most, budget) => most.or(budget),
    };
    Total { least, fixed, bound }
}
