//! Updates the index: reads only files whose stamp changed, indexes only files whose bytes changed,
//! and removes deleted files.

use super::indexable_files::{IndexCandidate, SkipReason, SkippedFile};
use super::sqlite::{ContentKind, IndexChange, IndexDatabase, IndexDatabaseError, IndexedFile};
use crate::base::fs;
use crate::base::hash::Hash;
use crate::base::secrets::key_files;
use crate::rules::input::read_fault::describe_io_error;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

/// A file that changed less than this time before it was read may change again without a new stamp.
const SETTLING_TIME: i128 = 2_000_000_000;
/// The number of files that may wait to be written while others are read.
const MAX_PENDING_FILES: usize = 32;
/// The number of bytes that identify files written by ctxc.
const HEAD_BYTES: usize = 256;
/// The beginnings of results for other programs, and of a page of a manifest.
const RESULT_SIGNS: [&str; 3] = [
    "<testsuites name=\"ctxc\"",
    "<testsuites name=\"ctxc eval\"",
    "<meta name=\"generator\" content=\"ctxc/",
];

/// The changes that update the index.
#[derive(Debug, Default)]
pub(super) struct RefreshPlan<'c> {
    /// Deleted files.
    deleted: Vec<String>,
    /// Files to read, with the stored facts about them.
    read: Vec<(&'c IndexCandidate, Option<IndexedFile>)>,
}

impl<'c> RefreshPlan<'c> {
    /// Compares the indexed files with those on disk.
    pub(super) fn new(
        indexed: &BTreeMap<String, IndexedFile>,
        on_disk: &'c [IndexCandidate],
    ) -> Self {
        let names: BTreeSet<&str> = on_disk
            .iter()
            .map(|candidate| candidate.name.as_str())
            .collect();
        let deleted = indexed
            .keys()
            .filter(|name| !names.contains(name.as_str()))
            .cloned()
            .collect();
        let is_changed = |candidate: &&IndexCandidate| {
            indexed
                .get(&candidate.name)
                .is_none_or(|file| !file.is_settled || file.stamp != stamp_text(candidate))
        };
        let read = on_disk
            .iter()
            .filter(is_changed)
            .map(|candidate| (candidate, indexed.get(&candidate.name).cloned()))
            .collect();
        Self { deleted, read }
    }

    /// Returns true if the index is up to date.
    pub(super) fn is_empty(&self) -> bool {
        self.deleted.is_empty() && self.read.is_empty()
    }

    /// Carries out the changes, and returns the files that cannot be read.
    pub(super) fn apply(
        &self,
        base: &mut IndexDatabase,
    ) -> Result<Vec<SkippedFile>, IndexDatabaseError> {
        let change = base.begin_change()?;
        for name in &self.deleted {
            change.remove_file(name)?;
        }
        let mut skipped = Vec::new();
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(self.read.len().div_ceil(MAX_PENDING_FILES));
        std::thread::scope(|scope| {
            let (send, receive) = sync_channel(MAX_PENDING_FILES);
            for _ in 0..threads {
                let send = send.clone();
                let next = &next;
                scope.spawn(move || {
                    while let Some((candidate, stored)) =
                        self.read.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        // The receiver is gone once a write has failed.
                        if send
                            .send((*candidate, stored, read_candidate(candidate)))
                            .is_err()
                        {
                            break;
                        }
                    }
                });
            }
            drop(send);
            for (candidate, stored, read) in receive {
                if let Some(reason) = write_file(&change, candidate, stored.as_ref(), read)? {
                    skipped.push(SkippedFile {
                        path: candidate.name.clone(),
                        why: reason,
                    });
                }
            }
            Ok::<(), IndexDatabaseError>(())
        })?;
        change.commit()?;
        Ok(skipped)
    }
}

/// Returns a stamp in its stored form.
fn stamp_text(candidate: &IndexCandidate) -> String {
    let fs::Stamp {
        len,
        modified,
        id,
        changed,
    } = candidate.stamp;
    format!("{len}:{modified}:{id}:{changed}")
}

/// The current state of a file.
struct ReadFile {
    facts: IndexedFile,
    text: String,
}

fn read_candidate(candidate: &IndexCandidate) -> Result<ReadFile, SkipReason> {
    let began = fs::now_nanos();
    let mut bytes = Vec::new();
    let read = fs::read_regular(&candidate.path, candidate.limit, &mut bytes).map_err(|err| {
        if err.kind() == ErrorKind::FileTooLarge {
            SkipReason::TooLarge {
                limit: candidate.limit,
            }
        } else if err.kind() == ErrorKind::NotFound {
            SkipReason::Missing
        } else {
            SkipReason::Unreadable {
                reason: describe_io_error(&err),
            }
        }
    })?;
    let is_settled =
        read == candidate.stamp && read.modified.max(read.changed) < began - SETTLING_TIME;
    let text = decode::decode(&bytes)
        .ok()
        .filter(|text| memchr::memchr(0, text.as_bytes()).is_none());
    let holds = match &text {
        None => ContentKind::Binary,
        Some(text) if is_own(text) => ContentKind::Own,
        Some(text) if key_files::holds_key(text) => ContentKind::Key,
        Some(_) => ContentKind::Text,
    };
    let facts = IndexedFile {
        stamp: stamp_text(candidate),
        is_settled,
        hash: Hash::digest(&bytes).0,
        holds,
    };
    Ok(ReadFile {
        facts,
        text: text.map_or_else(String::new, Cow::into_owned),
    })
}

/// Returns true if a file identifies itself as written by ctxc or for it: a registry, a manifest, a
/// scenario with answers, or results for other programs.
fn is_own(text: &str) -> bool {
    let head = text
        .get(..text.floor_char_boundary(HEAD_BYTES))
        .unwrap_or("");
    if RESULT_SIGNS.iter().any(|sign| head.contains(sign)) {
        return true;
    }
    let before = head.find("ctxc/").and_then(|at| head.get(..at));
    before.is_some_and(|before| {
        before.trim_end_matches([' ', '"', '\'']).ends_with(':') && before.contains("schema")
    }) || is_sample(text)
}

/// Returns true if a file contains samples of imported prompts for `ctxc import --verify`, which
/// include the full expected text.
fn is_sample(text: &str) -> bool {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .filter(|line| line.trim_start().starts_with('{'));
    let value = first.and_then(|line| {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).ok()
    });
    let is_known = |key: &String| ["template", "inputs", "expected"].contains(&key.as_str());
    value.is_some_and(|fields| {
        fields.contains_key("template")
            && fields.contains_key("expected")
            && fields.keys().all(is_known)
    })
}

/// Writes the current state of a file that may be stored already; returns the reason if the file is
/// skipped.
fn write_file(
    change: &IndexChange<'_>,
    candidate: &IndexCandidate,
    stored: Option<&IndexedFile>,
    current: Result<ReadFile, SkipReason>,
) -> Result<Option<SkipReason>, IndexDatabaseError> {
    let name = &candidate.name;
    match current {
        Ok(ReadFile { facts, text: _ })
            if stored.is_some_and(|stored| stored.hash == facts.hash) =>
        {
            change.update_facts(name, &facts)?;
        }
        Ok(ReadFile { facts, text }) => change.store_file(name, &facts, &text)?,
        Err(SkipReason::Missing) => change.remove_file(name)?,
        Err(why) => {
            change.remove_file(name)?;
            return Ok(Some(why));
        }
    }
    Ok(None)
}
