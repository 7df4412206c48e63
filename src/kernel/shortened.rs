//! A message of a conversation of which something is left out: ends of its texts, images and documents, each with a mark in its place.
//!
//! Parts are marked, never removed: a call keeps its result.

use super::budget::{Block, missing, tail};
use super::context::{Cut, Kind, Trust};
use super::conversation::{Part, Slot, Turn, TurnText};
use super::tokens::TokenCounter;
use std::cmp::Reverse;
use std::ops::Range;

/// A message of which something may be left out.
#[derive(Clone, Debug)]
pub(super) struct Shortened<'a> {
    id: &'a str,
    /// What stays of it.
    pub(super) turn: Turn,
    read: TurnText,
    /// Tokens of what stays.
    pub(super) tokens: usize,
    /// What is left out, in bytes of the whole message.
    pub(super) left_out: Vec<Range<usize>>,
    /// Its parts before anything was left out.
    whole: Vec<Slot>,
}

/// Tokens of messages.
pub(super) fn tokens(messages: &[Shortened<'_>]) -> usize {
    messages.iter().map(|one| one.tokens).sum()
}

/// Messages cut to so many tokens, or as far as they can be: texts of results first, then images and documents, then other texts; of
/// each the largest first.
pub(super) fn trim<'a>(mut messages: Vec<Shortened<'a>>, room: usize, counter: &dyn TokenCounter) -> Vec<Shortened<'a>> {
    let mut order = Vec::new();
    for (at, one) in messages.iter().enumerate() {
        for (number, Slot { range, is_result, media }) in one.whole.iter().enumerate() {
            let class = match (*media > 0, *is_result) {
                (false, true) => 0,
                (true, true) => 1,
                (true, false) => 2,
                (false, false) => 3,
            };
            order.push((class, Reverse((*media, range.len())), at, number));
        }
    }
    order.sort_unstable();
    for (.., at, slot) in order {
        let total = tokens(&messages);
        let Some(one) = messages.get_mut(at).filter(|_| total > room) else { break };
        let left = (room + one.tokens).checked_sub(total).and_then(|left| left.checked_sub(one.turn.media_tokens()));
        let keep = left.and_then(|left| one.fit(slot, left, counter));
        one.leave_out(slot, keep.unwrap_or(0), counter);
    }
    messages
}

impl<'a> Shortened<'a> {
    /// A message that is whole yet, with its tokens.
    pub(super) fn of(id: &'a str, turn: &Turn, tokens: usize) -> Self {
        let read = turn.read();
        Self { id, turn: turn.clone(), tokens, left_out: Vec::new(), whole: read.slots.clone(), read }
    }

    /// Leaves out what tools gave back.
    pub(super) fn leave_out_results(&mut self, counter: &dyn TokenCounter) {
        for slot in 0..self.whole.len() {
            if self.whole.get(slot).is_some_and(|slot| slot.is_result) {
                self.leave_out(slot, 0, counter);
            }
        }
    }

    /// Bytes of a text that fit into so many tokens with the rest of its message.
    fn fit(&self, slot: usize, left: usize, counter: &dyn TokenCounter) -> Option<usize> {
        let slot = self.read.slots.get(slot).filter(|slot| slot.media == 0)?;
        let text = |range: Range<usize>| self.read.text.get(range).unwrap_or("");
        let block = Block {
            id: self.id,
            priority: Kind::History.priority(),
            turn: (Kind::History, Trust::Untrusted),
            head: text(0..slot.range.start),
            text: text(slot.range.clone()),
            tail: text(slot.range.end..self.read.text.len()),
            open: &[],
            others: 0,
            most: None,
            cut: &Cut::Tail,
        };
        tail(&block, left, counter).map(|(range, ..)| range.end)
    }

    /// Keeps so many bytes of a text, unless the mark of what is left out were longer than that. Of an image or a document the mark alone stays.
    fn leave_out(&mut self, slot: usize, keep: usize, counter: &dyn TokenCounter) {
        let (Some(part), Some(Slot { range: whole, media, .. })) = (self.turn.slot_mut(slot), self.whole.get(slot)) else {
            return;
        };
        match part {
            Part::Text(text) if *media == 0 => {
                let mark = missing(self.id, whole.len() - keep);
                if text.len() <= keep + mark.len() {
                    return;
                }
                text.truncate(keep);
                text.push_str(&mark);
            }
            Part::Media(media) => *part = Part::Text(format!("[cut: {} of {} left out]", media.title(), self.id)),
            Part::Text(_) | Part::Reasoning(_) | Part::Call(_) | Part::Result(_) => return,
        }
        self.left_out.retain(|range| !whole.contains(&range.start));
        self.left_out.push(whole.start + keep..whole.end);
        self.read = self.turn.read();
        self.tokens = counter.count(&self.read.text) + self.turn.media_tokens();
    }
}
