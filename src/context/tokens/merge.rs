//! Byte pair encoding of one piece of text: the pair that the tokenizer learned first is joined first, the leftmost of equals,
//! until no two neighbours make a token.
//!
//! Short pieces are searched from end to end for each join; long ones keep their pairs in a heap, so that a piece of any
//! length costs `n log n`. Both give the same tokens. Tokens of a prefix that ends between two tokens are those tokens.

use super::table::{NONE, Table};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Up to here a search through all pairs costs less than a heap.
const SHORT: usize = 96;

/// Room for the joins of a piece, used again for the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Of short pieces: where each token starts, and the rank of it joined with the next.
    parts: Vec<(usize, u32)>,
    /// Of long pieces: where the token that starts here ends; 0 where none starts.
    ends: Vec<usize>,
    /// Of long pieces: where the token before starts.
    before: Vec<usize>,
    /// Of long pieces: the rank of the pair that starts here.
    ranks: Vec<u32>,
    /// Of long pieces: rank and start of pairs in one number, see [`key`].
    pairs: BinaryHeap<Reverse<u64>>,
}

/// Calls `each` with the end of every token of a piece, in order.
pub(super) fn tokens(table: &Table, piece: &[u8], scratch: &mut Scratch, mut each: impl FnMut(usize)) {
    if piece.len() < 2 || table.rank(piece) != NONE {
        if !piece.is_empty() {
            each(piece.len());
        }
    } else if piece.len() <= SHORT {
        short(table, piece, &mut scratch.parts);
        scratch.parts.iter().skip(1).for_each(|part| each(part.0));
    } else {
        long(table, piece, scratch);
        let mut at = 0;
        while let Some(&end) = scratch.ends.get(at)
            && end > at
        {
            each(end);
            at = end;
        }
    }
}

fn rank(table: &Table, piece: &[u8], start: usize, end: usize) -> u32 {
    piece.get(start..end).map_or(NONE, |bytes| table.rank(bytes))
}

/// `parts` ends with the end of the piece.
fn short(table: &Table, piece: &[u8], parts: &mut Vec<(usize, u32)>) {
    parts.clear();
    parts.extend((0..=piece.len()).map(|at| (at, rank(table, piece, at, at + 2))));
    loop {
        let mut least = (NONE, 0);
        for (index, part) in parts.iter().enumerate() {
            if part.1 < least.0 {
                least = (part.1, index);
            }
        }
        let (found, index) = least;
        if found == NONE {
            return;
        }
        parts.remove(index + 1);
        let start = |index: usize| parts.get(index).map_or(usize::MAX, |part| part.0);
        let joined = |index: usize| rank(table, piece, start(index), start(index + 2));
        let own = joined(index);
        let before = index.checked_sub(1).map(joined);
        if let Some(part) = parts.get_mut(index) {
            part.1 = own;
        }
        if let (Some(before), Some(part)) = (before, index.checked_sub(1).and_then(|index| parts.get_mut(index))) {
            part.1 = before;
        }
    }
}

/// Bits of a start in a key: a piece of a tebibyte.
const START_BITS: u32 = 40;

/// The pair that is joined first has the least key: a rank has 18 bits.
fn key(rank: u32, start: usize) -> Reverse<u64> {
    Reverse(u64::from(rank) << START_BITS | start as u64)
}

fn long(table: &Table, piece: &[u8], scratch: &mut Scratch) {
    let Scratch { ends, before, ranks, pairs, .. } = scratch;
    ends.clear();
    ends.extend(1..=piece.len());
    before.clear();
    before.extend((0..piece.len()).map(|at| at.saturating_sub(1)));
    ranks.clear();
    ranks.extend((0..piece.len()).map(|at| rank(table, piece, at, at + 2)));
    // Made of a whole vector, a heap costs linear time.
    let mut first = std::mem::take(pairs).into_vec();
    first.clear();
    first.extend(ranks.iter().enumerate().filter(|(_, rank)| **rank != NONE).map(|(start, rank)| key(*rank, start)));
    *pairs = BinaryHeap::from(first);
    while let Some(Reverse(key)) = pairs.pop() {
        let start = (key & ((1 << START_BITS) - 1)) as usize;
        // A pair is stale when one of its tokens was joined with another: then another pair starts here, or none.
        if ranks.get(start).is_none_or(|rank| u64::from(*rank) != key >> START_BITS) {
            continue;
        }
        let Some(middle) = ends.get(start).copied() else { continue };
        let Some(end) = ends.get(middle).copied() else { continue };
        set(ends, middle, 0);
        set(ranks, middle, NONE);
        set(ends, start, end);
        set(before, end, start);
        let next = ends.get(end).map_or(NONE, |next| rank(table, piece, start, *next));
        renew(ranks, pairs, start, next);
        if let Some(&previous) = before.get(start).filter(|_| start > 0) {
            renew(ranks, pairs, previous, rank(table, piece, previous, end));
        }
    }
}

/// Another pair starts at `start`, or none.
fn renew(ranks: &mut [u32], pairs: &mut BinaryHeap<Reverse<u64>>, start: usize, rank: u32) {
    set(ranks, start, rank);
    if rank != NONE {
        pairs.push(key(rank, start));
    }
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/context/tokens/merge.rs"]
mod tests;
