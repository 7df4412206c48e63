//! Entries of a walk, passed to the visiting threads in batches: passing them singly would wake a
//! thread for each entry, which takes longer than to check a file.

use ignore::{DirEntry, WalkState};
use std::sync::mpsc::SyncSender;

/// A directory entry, or the error in its place.
pub(super) type WalkEntry = Result<DirEntry, ignore::Error>;

/// Entries in a batch.
const BATCH_SIZE: usize = 64;

/// The entries that one thread of a walk has found and not passed on yet.
pub(super) struct EntryBatch {
    entries: Vec<WalkEntry>,
    send: SyncSender<Vec<WalkEntry>>,
}

impl EntryBatch {
    /// An empty batch that is sent to `send`.
    pub(super) fn new(send: SyncSender<Vec<WalkEntry>>) -> Self {
        Self {
            entries: Vec::new(),
            send,
        }
    }

    /// Adds an entry, and sends the batch once it is full; ends the walk if no receiver is left.
    pub(super) fn push(&mut self, entry: WalkEntry) -> WalkState {
        self.entries.push(entry);
        if self.entries.len() < BATCH_SIZE {
            WalkState::Continue
        } else {
            self.send_entries()
        }
    }

    fn send_entries(&mut self) -> WalkState {
        self.send
            .send(std::mem::take(&mut self.entries))
            .map_or(WalkState::Quit, |()| WalkState::Continue)
    }
}

impl Drop for EntryBatch {
    fn drop(&mut self) {
        self.send_entries();
    }
}
