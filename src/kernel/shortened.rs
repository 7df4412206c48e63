//! A message of a conversation with omissions: ends of its texts, images and documents, each
//! replaced by a mark.
//!
//! Parts are replaced by marks, never removed: a call keeps its result.

use super::budget::omission_mark;
use super::conversation::{Part, Speaker, TextSlot, Turn};
use super::grapheme;
use super::tokens::TokenCounter;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// A message with possible omissions.
#[derive(Clone, Debug)]
pub(super) struct ShortenedMessage<'a> {
    id: &'a str,
    /// The remaining message.
    pub(super) turn: Turn,
    /// The text form of the complete message.
    text: &'a str,
    /// Tokens of the remaining message.
    pub(super) tokens: usize,
    /// The omitted bytes of the complete message.
    pub(super) left_out: Vec<Range<usize>>,
    /// The slots of the complete message.
    original_slots: Vec<TextSlot>,
}

/// Tokens of messages.
pub(super) fn total_tokens(messages: &[ShortenedMessage<'_>]) -> usize {
    messages.iter().map(|one| one.tokens).sum()
}

/// Returns true if messages contain text from the user and none of it remains.
pub(super) fn lacks_user_text(messages: &[ShortenedMessage<'_>]) -> bool {
    let users = messages
        .iter()
        .filter(|one| one.turn.speaker == Speaker::User);
    let mut words = users.flat_map(ShortenedMessage::text_slots_kept).peekable();
    words.peek().is_some() && words.all(|stays| !stays)
}

/// Cuts the messages of a unit to `room` tokens, or as far as possible. Calls and their results are
/// removed only if otherwise nothing would remain of the user's text beside them.
pub(super) fn trim_messages<'a>(
    messages: Vec<ShortenedMessage<'a>>,
    room: usize,
    counter: &dyn TokenCounter,
) -> Vec<ShortenedMessage<'a>> {
    let is_mixed = messages
        .iter()
        .any(|one| one.turn.has_user_content() && one.turn.results().next().is_some());
    if !is_mixed {
        return cut_messages(messages, room, counter);
    }
    let short = cut_messages(messages.clone(), room, counter);
    if total_tokens(&short) <= room && !lacks_user_text(&short) {
        return short;
    }
    cut_messages(
        messages
            .into_iter()
            .map(|one| one.without_calls(counter))
            .collect(),
        room,
        counter,
    )
}

/// Removes texts of results first, then images and documents, the largest first, then other texts.
fn cut_messages<'a>(
    mut messages: Vec<ShortenedMessage<'a>>,
    room: usize,
    counter: &dyn TokenCounter,
) -> Vec<ShortenedMessage<'a>> {
    cut_texts(&mut messages, true, room, counter);
    let mut media = Vec::new();
    for (at, one) in messages.iter().enumerate() {
        for (number, slot) in one.matching_slots(|slot| slot.media > 0) {
            media.push((
                !slot.is_result,
                Reverse((slot.media, slot.range.len())),
                at,
                number,
            ));
        }
    }
    media.sort_unstable();
    // Changing and counting a message takes time proportional to its length, so removals are
    // collected until they may suffice.
    let mut min = total_tokens(&messages);
    let mut waiting = SlotCuts::new();
    for (.., at, slot) in media {
        if min <= room {
            apply_cuts(&mut messages, std::mem::take(&mut waiting), counter);
            min = total_tokens(&messages);
        }
        if min <= room {
            break;
        }
        min = min.saturating_sub(
            messages
                .get(at)
                .map_or(0, |one| one.freed_tokens(slot, counter)),
        );
        waiting.entry(at).or_default().insert(slot, 0);
    }
    apply_cuts(&mut messages, waiting, counter);
    cut_texts(&mut messages, false, room, counter);
    messages
}

/// The number of bytes to keep, by message and slot.
type SlotCuts = BTreeMap<usize, BTreeMap<usize, usize>>;

/// Applies cuts to messages, and counts the rest.
fn apply_cuts(messages: &mut [ShortenedMessage<'_>], cuts: SlotCuts, counter: &dyn TokenCounter) {
    for (at, keep) in cuts {
        if let Some(one) = messages.get_mut(at) {
            one.cut_slots(&keep);
            one.recount(counter);
        }
    }
}

/// One of several texts that are cut together.
struct CuttableText<'a> {
    /// The index of its message.
    at: usize,
    slot: usize,
    text: &'a str,
    tokens: usize,
    /// Tokens of the mark that replaces all of it.
    mark: usize,
}

/// Cuts the texts of results, or all others, to a common size. Short texts stay complete, so that a
/// question does not give way to a file pasted beside it.
fn cut_texts(
    messages: &mut [ShortenedMessage<'_>],
    is_result: bool,
    room: usize,
    counter: &dyn TokenCounter,
) {
    let total = total_tokens(messages);
    if total <= room {
        return;
    }
    let mut pieces = Vec::new();
    for (at, one) in messages.iter().enumerate() {
        for (slot, TextSlot { range, .. }) in one.matching_slots(|slot| {
            slot.media == 0 && slot.is_result == is_result && !one.left_out.contains(&slot.range)
        }) {
            let text = one.text.get(range.clone()).unwrap_or("");
            let mark = counter.count(&omission_mark(one.id, text.len()));
            pieces.push(CuttableText {
                at,
                slot,
                text,
                tokens: counter.count(text),
                mark,
            });
        }
    }
    let size = |level: usize| {
        pieces
            .iter()
            .map(|piece| piece.tokens.min(level.max(piece.mark)))
            .sum::<usize>()
    };
    let mut left = (size(usize::MAX) + room).saturating_sub(total);
    let mut reduction: usize = 0;
    // A concatenated text may count a few tokens more than its parts: reduce the size by growing
    // steps until it fits.
    loop {
        let (mut level, mut above) = (0, left);
        while level < above {
            let middle = above - (above - level) / 2;
            if size(middle) <= left {
                level = middle;
            } else {
                above = middle - 1;
            }
        }
        let mut cuts = SlotCuts::new();
        for piece in pieces
            .iter()
            .filter(|piece| piece.tokens > level.max(piece.mark))
        {
            let rest = level.saturating_sub(piece.mark);
            let keep = if rest == 0 {
                0
            } else {
                grapheme::cut_position(piece.text, counter.fit(piece.text, rest))
            };
            cuts.entry(piece.at).or_default().insert(piece.slot, keep);
        }
        apply_cuts(messages, cuts, counter);
        let total = total_tokens(messages);
        if total <= room || level == 0 {
            return;
        }
        reduction = (total - room).max(reduction.saturating_mul(2));
        left = left.saturating_sub(reduction);
    }
}

impl<'a> ShortenedMessage<'a> {
    /// A complete message, with its text form and its tokens.
    pub(super) fn new(id: &'a str, turn: &Turn, text: &'a str, tokens: usize) -> Self {
        Self {
            id,
            turn: turn.clone(),
            text,
            tokens,
            left_out: Vec::new(),
            original_slots: turn.text_form().slots,
        }
    }

    /// Removes the tool results.
    pub(super) fn leave_out_results(&mut self, counter: &dyn TokenCounter) {
        let results = self
            .matching_slots(|slot| slot.is_result)
            .map(|(number, _)| (number, 0))
            .collect();
        self.cut_slots(&results);
        self.recount(counter);
    }

    /// The same message with a mark in place of each result; empty if the message has no content
    /// from the user.
    fn without_calls(mut self, counter: &dyn TokenCounter) -> Self {
        if !self.turn.has_user_content() {
            self.turn.parts.clear();
            self.original_slots.clear();
            self.left_out.push(0..self.text.len());
        }
        let mut whole = Vec::new();
        let mut start = 0;
        for part in &mut self.turn.parts {
            let alone = Turn {
                speaker: Speaker::User,
                parts: vec![part.clone()],
            }
            .text_form();
            let range = start..start + alone.text.len();
            if matches!(part, Part::Result(_)) {
                *part = Part::Text(omission_mark(self.id, range.len()));
                whole.push(TextSlot {
                    range: range.clone(),
                    is_result: true,
                    media: 0,
                });
                self.left_out.push(range.clone());
            } else {
                let shift_slot = |slot: TextSlot| TextSlot {
                    range: start + slot.range.start..start + slot.range.end,
                    ..slot
                };
                whole.extend(alone.slots.into_iter().map(shift_slot));
            }
            start = range.end + 1;
        }
        self.original_slots = whole;
        self.recount(counter);
        self
    }

    /// For each non-empty text that is not part of a tool result: true if any of it remains.
    fn text_slots_kept(&self) -> impl Iterator<Item = bool> {
        let words = |slot: &TextSlot| {
            !self
                .text
                .get(slot.range.clone())
                .unwrap_or("")
                .trim()
                .is_empty()
        };
        let slots =
            self.matching_slots(move |slot| slot.media == 0 && !slot.is_result && words(slot));
        slots.map(|(_, slot)| !self.left_out.contains(&slot.range))
    }

    fn matching_slots(
        &self,
        is_meant: impl Fn(&TextSlot) -> bool,
    ) -> impl Iterator<Item = (usize, &TextSlot)> {
        self.original_slots
            .iter()
            .enumerate()
            .filter(move |(_, slot)| is_meant(slot))
    }

    /// An upper bound of the tokens that the removal of an image or a document frees.
    fn freed_tokens(&self, slot: usize, counter: &dyn TokenCounter) -> usize {
        /// Tokens that merging with the neighbouring texts may save.
        const JOINTS: usize = 2;
        let Some(TextSlot { range, media, .. }) = self.original_slots.get(slot) else {
            return 0;
        };
        let text = self.text.get(range.clone()).unwrap_or("");
        (media + counter.count(text) + JOINTS)
            .saturating_sub(counter.count(&format!("[cut: of {} left out]", self.id)))
    }

    /// Keeps the given number of bytes of each slot's text, unless the mark would be longer than
    /// the omitted part. Only the mark remains of an image or a document.
    fn cut_slots(&mut self, keep: &BTreeMap<usize, usize>) {
        // By the start of a slot: its end, and the omitted range.
        let mut cut = BTreeMap::new();
        for (
            number,
            (
                part,
                TextSlot {
                    range: whole,
                    media,
                    ..
                },
            ),
        ) in self.turn.slots_mut().zip(&self.original_slots).enumerate()
        {
            let Some(keep) = keep.get(&number).copied() else {
                continue;
            };
            match part {
                Part::Text(text) if *media == 0 => {
                    let mark = omission_mark(self.id, whole.len() - keep);
                    if text.len() <= keep + mark.len() {
                        continue;
                    }
                    text.truncate(keep);
                    text.push_str(&mark);
                }
                Part::Media(media) => {
                    *part = Part::Text(format!("[cut: {} of {} left out]", media.title(), self.id));
                }
                Part::Text(_) | Part::Reasoning(_) | Part::Call(_) | Part::Result(_) => continue,
            }
            cut.insert(whole.start, (whole.end, whole.start + keep..whole.end));
        }
        let is_other = |at: usize| {
            cut.range(..=at)
                .next_back()
                .is_none_or(|(_, (end, _))| at >= *end)
        };
        self.left_out.retain(|range| is_other(range.start));
        self.left_out
            .extend(cut.into_values().map(|(_, range)| range));
    }

    /// Counts the remaining tokens if anything is omitted.
    fn recount(&mut self, counter: &dyn TokenCounter) {
        if !self.left_out.is_empty() {
            self.tokens = counter.count(&self.turn.text_form().text) + self.turn.media_tokens();
        }
    }
}
