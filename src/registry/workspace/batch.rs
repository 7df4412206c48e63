//! What a walk finds, handed over to those who visit it many entries at a time: one at a time, each entry would wake a thread, which
//! takes longer than to check a file.

use ignore::{DirEntry, WalkState};
use std::sync::mpsc::SyncSender;

/// An entry, or why there is none.
pub(super) type Entry = Result<DirEntry, ignore::Error>;

/// Entries in a batch.
const FULL: usize = 64;

/// What one thread of a walk has found and not handed over yet.
pub(super) struct Batch {
    entries: Vec<Entry>,
    send: SyncSender<Vec<Entry>>,
}

impl Batch {
    /// An empty one, handed over there.
    pub(super) fn new(send: SyncSender<Vec<Entry>>) -> Self {
        Self { entries: Vec::new(), send }
    }

    /// Takes an entry, and hands all over where there are enough; nobody left to take them ends the walk.
    pub(super) fn add(&mut self, entry: Entry) -> WalkState {
        self.entries.push(entry);
        if self.entries.len() < FULL { WalkState::Continue } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> WalkState {
        self.send.send(std::mem::take(&mut self.entries)).map_or(WalkState::Quit, |()| WalkState::Continue)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.hand_over();
    }
}
