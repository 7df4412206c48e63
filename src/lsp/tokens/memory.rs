//! Token counters that remember what they have counted, by the hash of the text.

use crate::base::hash::{Hash, Hasher};
use crate::context::options::Options;
use crate::context::options::{Counters, ModelSettings};
use crate::context::tokens;
use crate::kernel::tokens::{Bytes, TokenCounter};
use crate::project::config::Config;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts that are remembered; with more of them all are forgotten.
const MOST: usize = 1 << 14;

pub(in crate::lsp) fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every counter by its name, each with a memory: models say who counts for them.
#[derive(Debug)]
pub(in crate::lsp) struct Memories(BTreeMap<&'static str, Memory>, Memory);

impl Memories {
    pub(in crate::lsp) fn new() -> Self {
        let named = tokens::names().filter_map(|name| Some((name, Memory::of(tokens::counter(name)?))));
        let first = tokens::counter(tokens::DEFAULT).unwrap_or_else(|| Arc::new(Bytes));
        Self(named.collect(), Memory::of(first))
    }

    /// How contexts of a project are assembled, as the command line does.
    pub(in crate::lsp) fn options<'a>(&'a self, config: &'a Config) -> Options<'a> {
        let models = Some(ModelSettings {
            models: &config.models,
            roles: &config.roles,
            counters: self,
            profile: None,
            objective_tokens: config.context.objective_tokens,
        });
        Options { counter: &self.1, models, ..Options::default() }
    }
}

impl Counters for Memories {
    fn named(&self, name: &str) -> Option<&dyn TokenCounter> {
        // What most ask for is remembered in one place.
        let other = self.0.get(name).filter(|_| name != tokens::DEFAULT)?;
        Some(other)
    }
}

/// A counter that remembers what it has counted.
#[derive(Debug)]
pub(in crate::lsp) struct Memory {
    counter: Arc<dyn TokenCounter>,
    known: Mutex<HashMap<Hash, usize>>,
}

impl Memory {
    fn of(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, known: Mutex::default() }
    }

    fn remembered(&self, hash: Hash, count: impl FnOnce() -> usize) -> usize {
        if let Some(known) = locked(&self.known).get(&hash) {
            return *known;
        }
        let count = count();
        let mut known = locked(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, count);
        count
    }
}

impl TokenCounter for Memory {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn is_exact(&self) -> bool {
        self.counter.is_exact()
    }

    fn count(&self, text: &str) -> usize {
        self.remembered(Hash::of(text.as_bytes()), || self.counter.count(text))
    }

    fn least(&self, pieces: &[&str]) -> usize {
        let mut hasher = Hasher::new();
        for piece in pieces {
            hasher.field(piece);
        }
        self.remembered(hasher.finish(), || self.counter.least(pieces))
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        self.counter.fit(text, limit)
    }
}
