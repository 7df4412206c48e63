//! Counts of tokens kept from run to run, in `.ctxc/cache/tokens-NAME`, by the hash of the text: where nothing changed, no
//! table is read.
//!
//! Sealed, since a count can decide a verdict: what is damaged, too large, of another version of the program or written by
//! somebody else is dropped. The file holds no more than [`MOST`] counts, those of the last run first. Only exact counters are worth it; an estimate costs less
//! than a look.

use crate::base::fs;
use crate::base::hash::{Hash, Hasher};
use crate::cli::error::{CliError, Result};
use crate::cli::seal;
use crate::context::tokens;
use crate::kernel::tokens::TokenCounter;
use crate::registry::store::cache_folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a file begins with; a count is that of the version that made it.
const MAGIC: &[u8] = concat!("ctxc token counts 1, written by ctxc ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// Counts in a file: 576 KiB.
const MOST: usize = 1 << 14;
const DIGEST: usize = 32;
/// A hash and a count in four bytes.
const RECORD: usize = DIGEST + 4;
/// With the seal.
const LIMIT: u64 = (MAGIC.len() + MOST * RECORD + DIGEST) as u64;

/// A counter that remembers.
#[derive(Debug)]
pub(super) struct Counts {
    counter: Arc<dyn TokenCounter>,
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the file held.
    old: BTreeMap<[u8; DIGEST], u32>,
    /// What this run asked for.
    used: BTreeMap<[u8; DIGEST], u32>,
    /// Whether the file lacks something.
    has_news: bool,
}

impl Counts {
    /// The counter with what earlier runs of the project in `root` counted by it.
    pub(super) fn open(counter: Arc<dyn TokenCounter>, root: &Path) -> Self {
        let mut state = State::default();
        if counter.is_exact() {
            let mut bytes = Vec::new();
            let file = root.join(".ctxc/cache").join(file_name(&*counter));
            if fs::read_own(&file, LIMIT, &mut bytes).is_ok() {
                let body = seal::open(&file_name(&*counter), &bytes);
                state.old = body.and_then(decode).unwrap_or_default();
            }
        }
        Self { counter, root: root.to_owned(), state: Mutex::new(state) }
    }

    /// Keeps what was counted. A folder that takes no files costs the next run its head start, not this one its result.
    pub(super) fn save(&self) {
        let state = self.state();
        if state.has_news {
            let name = file_name(&*self.counter);
            let Some(sealed) = seal::seal(&name, encode(&state)) else { return };
            let write = || fs::write_cache(&cache_folder(&self.root)?.join(name), &sealed);
            let _: std::io::Result<()> = write();
        }
    }

    fn remembered(&self, hash: impl FnOnce() -> Hash, count: impl FnOnce() -> usize) -> usize {
        if !self.counter.is_exact() {
            return count();
        }
        let Hash(hash) = hash();
        let known = {
            let state = self.state();
            state.used.get(&hash).or_else(|| state.old.get(&hash)).copied()
        };
        let count = known.map_or_else(count, |count| count as usize);
        // More than four thousand million tokens are counted anew each time.
        if let Ok(count) = u32::try_from(count) {
            let mut state = self.state();
            state.has_news |= known.is_none();
            state.used.insert(hash, count);
        }
        count
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenCounter for Counts {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn is_exact(&self) -> bool {
        self.counter.is_exact()
    }

    fn count(&self, text: &str) -> usize {
        self.remembered(|| Hash::of(text.as_bytes()), || self.counter.count(text))
    }

    fn least(&self, pieces: &[&str]) -> usize {
        let hash = || {
            let mut hasher = Hasher::new();
            for piece in pieces {
                hasher.field(piece);
            }
            hasher.finish()
        };
        self.remembered(hash, || self.counter.least(pieces))
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        self.counter.fit(text, limit)
    }
}

/// The counter of a name.
pub(super) fn named(name: &str) -> Result<Arc<dyn TokenCounter>> {
    tokens::counter(name).ok_or_else(|| {
        let error = CliError::usage(format!("there is no tokenizer `{name}`"));
        match tokens::nearest(name) {
            Some(near) => error.did_you_mean(Some(near)),
            None => error.hint(format!("tokenizers: {}", tokens::names().collect::<Vec<_>>().join(", "))),
        }
    })
}

fn file_name(counter: &dyn TokenCounter) -> String {
    format!("tokens-{}", counter.name())
}

fn encode(state: &State) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let older = state.old.iter().filter(|(hash, _)| !state.used.contains_key(*hash));
    for (hash, count) in state.used.iter().chain(older).take(MOST) {
        out.extend_from_slice(hash);
        out.extend_from_slice(&count.to_le_bytes());
    }
    out
}

fn decode(body: &[u8]) -> Option<BTreeMap<[u8; DIGEST], u32>> {
    let (records, rest) = body.strip_prefix(MAGIC)?.as_chunks::<RECORD>();
    if !rest.is_empty() {
        return None;
    }
    let split = |record: &[u8; RECORD]| {
        let (hash, count) = record.split_first_chunk::<DIGEST>()?;
        Some((*hash, u32::from_le_bytes(count.try_into().ok()?)))
    };
    records.iter().map(split).collect()
}
