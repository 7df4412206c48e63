//! Searches patterns in texts of any size: by a lazily built automaton in one pass, or, if that
//! would be rebuilt too often, by a slower machine with bounded steps. The only module that uses
//! `regex-automata`; a rejection depends only on the pattern and the text.

use crate::record::redact::PatternFinder;
use crate::scenario::pattern;
use regex_automata::Input;
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::Regex;
use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use std::ops::Range;
use std::sync::Arc;

/// The size limit of one compiled pattern in bytes, above that of any pattern that `check` accepts.
const MAX_PATTERN_BYTES: usize = 4 << 20;
/// The cache limit of the automaton of one search, in bytes.
const MAX_CACHE_BYTES: usize = 2 << 20;
/// The number of cache clears after which a search gives up if the automaton handled fewer than
/// `MIN_BYTES_PER_STATE` bytes per state.
const MAX_CACHE_CLEARS: usize = 4;
const MIN_BYTES_PER_STATE: usize = 10;
/// The step limit of the slower machine: its states times the bytes of the text.
const MAX_STEPS: usize = 100_000_000;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct CompiledPattern {
    /// `None` if it would exceed the cache limit of a search.
    automaton: Option<Arc<Regex>>,
    machine: PikeVM,
}

impl CompiledPattern {
    /// Compiles a pattern, or returns the reason why it is invalid.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if let Some(fault) = pattern::find_fault(pattern) {
            return Err(format!(
                "/{pattern}/ is not a valid pattern: {}",
                fault.reason
            ));
        }
        let size = thompson::Config::new().nfa_size_limit(Some(MAX_PATTERN_BYTES));
        let machine = PikeVM::builder().thompson(size.clone()).build(pattern);
        let machine =
            machine.map_err(|error| format!("/{pattern}/ is not a valid pattern: {error}"))?;
        // The automaton supports only ASCII word boundaries; a text with other characters is
        // searched by the machine.
        let lazy = dfa::Config::new()
            .cache_capacity(MAX_CACHE_BYTES)
            .unicode_word_boundary(true);
        let lazy = lazy
            .minimum_cache_clear_count(Some(MAX_CACHE_CLEARS))
            .minimum_bytes_per_state(Some(MIN_BYTES_PER_STATE));
        let automaton = Regex::builder()
            .thompson(size)
            .dfa(lazy)
            .build(pattern)
            .ok()
            .map(Arc::new);
        Ok(Self { automaton, machine })
    }

    /// The first match, or the reason why the text cannot be searched.
    pub(super) fn find(&self, text: &str) -> Result<Option<Range<usize>>, String> {
        self.find_from(text, 0)
    }

    /// The first match at or after a byte offset.
    fn find_from(&self, text: &str, from: usize) -> Result<Option<Range<usize>>, String> {
        let input = || Input::new(text).range(from..);
        if let Some(automaton) = &self.automaton
            && let Ok(found) = automaton.try_search(&mut automaton.create_cache(), &input())
        {
            return Ok(found.map(|found| found.range()));
        }
        let states = self.machine.get_nfa().states().len();
        if states.saturating_mul(text.len()) > MAX_STEPS {
            let bytes = text.len();
            return Err(format!(
                "the pattern is too complex for a text of {bytes} bytes: it has {states} states to try at each"
            ));
        }
        let found = self.machine.find(&mut self.machine.create_cache(), input());
        Ok(found.map(|found| found.range()))
    }
}
impl PatternFinder for CompiledPattern {
    fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at <= text.len() {
            match self.find_from(text, at) {
                Ok(None) => break,
                Ok(Some(range)) => {
                    // An empty match masks nothing.
                    at = if range.is_empty() {
                        text.ceil_char_boundary(range.end + 1).max(range.end + 1)
                    } else {
                        range.end
                    };
                    found.extend(Some(range).filter(|range| !range.is_empty()));
                }
                Err(_) => return std::iter::once(0..text.len()).collect(),
            }
        }
        found
    }
}

/// Compiles the patterns of `[record] mask`, which were validated before.
pub fn compile_masks(patterns: &[String]) -> Vec<Arc<dyn PatternFinder>> {
    patterns
        .iter()
        .filter_map(|pattern| {
            Some(Arc::new(CompiledPattern::new(pattern).ok()?) as Arc<dyn PatternFinder>)
        })
        .collect()
}
