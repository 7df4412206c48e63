//! Entries of a walk, passed to the visiting threads in batches: passing them singly would wake a
//! thread for each entry, which takes longer than to check a file.

use ignore::{DirEntry, WalkState};
use std::sync::mpsc::SyncSender;

/// A directory entry, or the error in its place.
pub(super) type Entry = Result<DirEntry, ignore::Error>;

/// Entries in a batch.
const FULL: usize = 64;

/// The entries that one thread of a walk has found and not passed on yet.
pub(super) struct Batch {
    entries: Vec<Entry>,
    send: SyncSender<Vec<Entry>>,
}

impl Batch {
    /// An empty batch that is sent to `send`.
    pub(super) fn new(send: SyncSender<Vec<Entry>>) -> Self {
        Self {
            entries: Vec::new(),
            send,
        }
    }

    /// Adds an entry, and sends the batch once it is full; ends the walk if no receiver is left.
    pub(super) fn add(&mut self, entry: Entry) -> WalkState {
        self.entries.push(entry);
        if self.entries.len() < FULL {
            WalkState::Continue
        } else {
            self.hand_over()
        }
    }

    fn hand_over(&mut self) -> WalkState {
        self.send
            .send(std::mem::take(&mut self.entries))
            .map_or(WalkState::Quit, |()| WalkState::Continue)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.hand_over();
    }
}
