//! The history of a conversation that is written as a whole: compared with a later one, it shows
//! which messages stayed.

use crate::base::hash::Hash;
use crate::kernel::conversation::Turn;
use std::collections::{HashMap, VecDeque};

/// The messages of a conversation as it is now, by their contents.
#[derive(Debug, Default)]
pub(super) struct MessageHistory {
    /// The content and the number of each message.
    messages: Vec<HistoryEntry>,
    /// The number of the next message.
    count: usize,
}

#[derive(Debug)]
struct HistoryEntry {
    content: Hash,
    number: usize,
}

/// The comparison of a history with a later one.
#[derive(Debug, Default)]
pub(super) struct HistoryChange {
    /// The numbers of the messages that both have, in order.
    pub(super) retained: Vec<usize>,
    /// The messages that only the later one has.
    pub(super) added: Vec<AddedMessage>,
    /// The number of messages that only the earlier one had.
    pub(super) dropped: usize,
    /// True if the later one has fewer messages.
    pub(super) is_shorter: bool,
    /// True if the later one begins as the earlier one.
    pub(super) is_continuation: bool,
}

/// A message that only the later history has.
#[derive(Debug)]
pub(super) struct AddedMessage {
    /// The message.
    pub(super) turn: Turn,
    /// True if messages of the earlier history follow it.
    pub(super) is_before_retained: bool,
}

impl MessageHistory {
    /// The number of the next message.
    pub(super) const fn next_number(&self) -> usize {
        self.count
    }

    /// Leaves a number to a message outside the history.
    pub(super) const fn skip_number(&mut self) {
        self.count += 1;
    }

    /// Adds a message at the end.
    pub(super) fn add(&mut self, turn: &Turn) {
        let content = content_hash(turn);
        let number = self.count;
        self.messages.push(HistoryEntry { content, number });
        self.count += 1;
    }

    /// Removes the messages from a number on.
    pub(super) fn rewind(&mut self, number: usize) {
        let end = self
            .messages
            .partition_point(|message| message.number < number);
        self.messages.truncate(end);
    }

    /// Removes all messages but some, whose numbers are in ascending order.
    pub(super) fn keep(&mut self, retained: &[usize]) {
        self.messages
            .retain(|message| retained.binary_search(&message.number).is_ok());
    }

    /// Replaces the history by a later one. The caller adds the added messages that it keeps.
    pub(super) fn replace(&mut self, turns: Vec<Turn>) -> HistoryChange {
        let mut numbers: HashMap<Hash, VecDeque<usize>> = HashMap::new();
        for message in &self.messages {
            numbers
                .entry(message.content)
                .or_default()
                .push_back(message.number);
        }
        let mut change = HistoryChange {
            is_shorter: turns.len() < self.messages.len(),
            ..HistoryChange::default()
        };
        let mut before_last = 0;
        for turn in turns {
            match numbers
                .get_mut(&content_hash(&turn))
                .and_then(VecDeque::pop_front)
            {
                Some(number) => {
                    change.retained.push(number);
                    before_last = change.added.len();
                }
                None => change.added.push(AddedMessage {
                    turn,
                    is_before_retained: false,
                }),
            }
        }
        for added in change.added.iter_mut().take(before_last) {
            added.is_before_retained = true;
        }
        change.is_continuation = change.added.iter().all(|added| !added.is_before_retained)
            && self
                .messages
                .iter()
                .zip(&change.retained)
                .all(|(message, number)| message.number == *number);
        change.dropped = self.messages.len() - change.retained.len();
        change.retained.sort_unstable();
        self.keep(&change.retained);
        change
    }
}

fn content_hash(turn: &Turn) -> Hash {
    Hash::digest(format!("{turn:?}").as_bytes())
}
