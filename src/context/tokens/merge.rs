//! Byte pair encoding of one piece of text: the pair that the tokenizer learned first is joined
//! first, the leftmost among equals, until no two neighbours form a token.
//!
//! Short pieces are searched linearly for each join; long ones keep their pairs in a heap, so that
//! a piece of any length costs `n log n`. Both methods give the same tokens. The tokens of a prefix
//! that ends between two tokens are the tokens before that place.

use super::table::{NO_RANK, TokenTable};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum length for which a linear search is cheaper than a heap.
const MAX_LINEAR_LENGTH: usize = 96;

/// Buffers for the joins of a piece, reused for the next one.
#[derive(Debug, Default)]
pub(super) struct MergeBuffers {
    /// Short pieces: the start of each token, and the rank of its pair with the next.
    parts: Vec<(usize, u32)>,
    /// Long pieces: the end of the token that starts at an offset; 0 if none starts there.
    ends: Vec<usize>,
    /// Long pieces: the start of the previous token.
    before: Vec<usize>,
    /// Long pieces: the rank of the pair that starts at an offset.
    ranks: Vec<u32>,
    /// Long pieces: rank and start of pairs, packed by [`pair_key`].
    pairs: BinaryHeap<Reverse<u64>>,
}

/// Calls `each` with the end of every token of a piece, in order.
pub(super) fn each_token(
    table: &TokenTable,
    piece: &[u8],
    scratch: &mut MergeBuffers,
    mut each: impl FnMut(usize),
) {
    if piece.len() < 2 || table.rank(piece) != NO_RANK {
        if !piece.is_empty() {
            each(piece.len());
        }
    } else if piece.len() <= MAX_LINEAR_LENGTH {
        join_short(table, piece, &mut scratch.parts);
        scratch.parts.iter().skip(1).for_each(|part| each(part.0));
    } else {
        join_long(table, piece, scratch);
        let mut at = 0;
        while let Some(&end) = scratch.ends.get(at)
            && end > at
        {
            each(end);
            at = end;
        }
    }
}

fn pair_rank(table: &TokenTable, piece: &[u8], start: usize, end: usize) -> u32 {
    piece
        .get(start..end)
        .map_or(NO_RANK, |bytes| table.rank(bytes))
}

/// Joins a short piece; the last of `parts` is the end of the piece.
fn join_short(table: &TokenTable, piece: &[u8], parts: &mut Vec<(usize, u32)>) {
    parts.clear();
    parts.extend((0..=piece.len()).map(|at| (at, pair_rank(table, piece, at, at + 2))));
    loop {
        let mut least = (NO_RANK, 0);
        for (index, part) in parts.iter().enumerate() {
            if part.1 < least.0 {
                least = (part.1, index);
            }
        }
        let (found, index) = least;
        if found == NO_RANK {
            return;
        }
        parts.remove(index + 1);
        let start = |index: usize| parts.get(index).map_or(usize::MAX, |part| part.0);
        let joined = |index: usize| pair_rank(table, piece, start(index), start(index + 2));
        let own = joined(index);
        let before = index.checked_sub(1).map(joined);
        if let Some(part) = parts.get_mut(index) {
            part.1 = own;
        }
        if let (Some(before), Some(part)) = (
            before,
            index.checked_sub(1).and_then(|index| parts.get_mut(index)),
        ) {
            part.1 = before;
        }
    }
}

/// The number of bits of a start in a key, enough for a piece of a tebibyte.
const START_BITS: u32 = 40;

/// Packs a pair so that the pair to join first has the smallest key: a rank has 18 bits.
fn pair_key(rank: u32, start: usize) -> Reverse<u64> {
    Reverse(u64::from(rank) << START_BITS | start as u64)
}

fn join_long(table: &TokenTable, piece: &[u8], scratch: &mut MergeBuffers) {
    let MergeBuffers {
        ends,
        before,
        ranks,
        pairs,
        ..
    } = scratch;
    ends.clear();
    ends.extend(1..=piece.len());
    before.clear();
    before.extend((0..piece.len()).map(|at| at.saturating_sub(1)));
    ranks.clear();
    ranks.extend((0..piece.len()).map(|at| pair_rank(table, piece, at, at + 2)));
    // Building the heap from a whole vector takes linear time.
    let mut first = std::mem::take(pairs).into_vec();
    first.clear();
    first.extend(
        ranks
            .iter()
            .enumerate()
            .filter(|(_, rank)| **rank != NO_RANK)
            .map(|(start, rank)| pair_key(*rank, start)),
    );
    *pairs = BinaryHeap::from(first);
    while let Some(Reverse(key)) = pairs.pop() {
        let start = (key & ((1 << START_BITS) - 1)) as usize;
        // A pair is stale once one of its tokens was joined with another.
        if ranks
            .get(start)
            .is_none_or(|rank| u64::from(*rank) != key >> START_BITS)
        {
            continue;
        }
        let Some(middle) = ends.get(start).copied() else {
            continue;
        };
        let Some(end) = ends.get(middle).copied() else {
            continue;
        };
        set_at(ends, middle, 0);
        set_at(ranks, middle, NO_RANK);
        set_at(ends, start, end);
        set_at(before, end, start);
        let next = ends
            .get(end)
            .map_or(NO_RANK, |next| pair_rank(table, piece, start, *next));
        set_pair(ranks, pairs, start, next);
        if let Some(&previous) = before.get(start).filter(|_| start > 0) {
            set_pair(
                ranks,
                pairs,
                previous,
                pair_rank(table, piece, previous, end),
            );
        }
    }
}

/// Replaces the pair that starts at `start`; [`NO_RANK`] removes it.
fn set_pair(ranks: &mut [u32], pairs: &mut BinaryHeap<Reverse<u64>>, start: usize, rank: u32) {
    set_at(ranks, start, rank);
    if rank != NO_RANK {
        pairs.push(pair_key(rank, start));
    }
}

fn set_at<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/context/tokens/merge.rs"]
mod tests;
