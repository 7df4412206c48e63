//! Patterns of cases and of the project, compiled once and shared by all cases and threads: paths
//! into answers, schemas, masks, and `[requests] volatile`.
//!
//! A pattern is bounded in size and searched in texts of any size: by a lazily built automaton in one pass, or, if that
//! would be rebuilt too often, by a slower machine with bounded steps. The only module that uses
//! `regex-automata`; a rejection depends only on the pattern and the text.

use crate::base::span::Spanned;
use crate::project::config::{Config, VolatilePart};
use crate::record::redact::PatternFinder;
use crate::record::volatile::{PatternSearch, VolatileMatcher, VolatileParts};
use crate::scenario::expect::{answer, context};
use crate::scenario::json_schema::{self, JsonSchemaFaultKind};
use crate::scenario::model::ScenarioCase;
use crate::scenario::pattern::{self, JsonPath};
use regex_automata::Input;
use regex_automata::hybrid::dfa;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::pikevm::PikeVM;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A pattern that selects names.
#[derive(Clone, Debug)]
pub struct NameSelector(CompiledPattern);

impl NameSelector {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub fn new(pattern: &str) -> Result<Self, String> {
        CompiledPattern::new(pattern).map(Self)
    }

    /// Returns true if the pattern occurs in a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.find(name).is_ok_and(|found| found.is_some())
    }
}

/// The compiled patterns and paths of a set of cases. An invalid one is stored as its error.
#[derive(Debug, Default)]
pub struct CompiledPatterns {
    patterns: BTreeMap<String, Result<CompiledPattern, String>>,
    paths: BTreeMap<String, Result<JsonPath, String>>,
}

impl CompiledPatterns {
    /// Compiles the patterns and paths of cases. `plan` is the path of the parts of a decomposed
    /// task.
    pub fn compile_for<'c>(cases: impl IntoIterator<Item = &'c ScenarioCase>, plan: &str) -> Self {
        let mut compiled = Self::default();
        compiled.add_path(plan);
        for case in cases {
            for expectation in context::all_expectations(&case.expect_context) {
                compiled.add_patterns(expectation.value.patterns());
            }
            for (test, _) in answer::all_tests(&case.expectations) {
                test.path()
                    .into_iter()
                    .for_each(|path| compiled.add_path(path));
                compiled.add_patterns(test.patterns());
            }
            for scripted in &case.answers {
                for pattern in scripted.value.has.iter().chain(&scripted.value.lacks) {
                    compiled.add_pattern(&pattern.value);
                }
            }
        }
        compiled
    }

    fn add_patterns<'p>(&mut self, patterns: impl IntoIterator<Item = &'p Spanned<String>>) {
        for pattern in patterns {
            self.add_pattern(&pattern.value);
        }
    }

    fn add_pattern(&mut self, pattern: &str) {
        if !self.patterns.contains_key(pattern) {
            self.patterns
                .insert(pattern.to_owned(), CompiledPattern::new(pattern));
        }
    }

    fn add_path(&mut self, path: &str) {
        if !self.paths.contains_key(path) {
            let parsed = JsonPath::parse(path).map_err(|at| format!("the fault is at byte {at}"));
            self.paths.insert(path.to_owned(), parsed);
        }
    }

    /// The first occurrence of a pattern.
    ///
    /// # Errors
    /// The reason why the pattern cannot be compiled, or cannot be searched in this text.
    pub(super) fn find_pattern(
        &self,
        pattern: &str,
        text: &str,
    ) -> Result<Option<Range<usize>>, String> {
        self.search(pattern)?.find(text, 0)
    }

    /// Begins a search of a pattern in several texts.
    ///
    /// # Errors
    /// The reason why the pattern cannot be compiled.
    pub(super) fn search(&self, pattern: &str) -> Result<TextSearch<'_>, String> {
        match self.patterns.get(pattern) {
            Some(Ok(pattern)) => Ok(pattern.search()),
            Some(Err(why)) => Err(why.clone()),
            None => Err(format!("/{pattern}/ was not compiled")),
        }
    }

    /// The values that a path selects, each with its place.
    ///
    /// # Errors
    /// The reason why the path is invalid.
    pub(super) fn select_path<'v>(
        &self,
        path: &str,
        value: &'v Value,
    ) -> Result<Vec<(String, &'v Value)>, String> {
        match self.paths.get(path) {
            Some(Ok(parsed)) => parsed
                .select(value)
                .map_err(|error| format!("`{path}` is too complex: {error}")),
            Some(Err(why)) => Err(format!("`{path}` is not a valid JSONPath: {why}")),
            None => Err(format!("`{path}` was not read")),
        }
    }
}

/// Returns the schema of a file, unless it contains a slip: the misspelt constraint would always
/// hold, and its negation always fail. An unknown keyword that resembles none is allowed as an
/// extension.
///
/// # Errors
/// The first slip.
pub(super) fn check_schema(path: &str, schema: Value) -> Result<Value, String> {
    let fault = json_schema::schema_faults(&schema)
        .into_iter()
        .find(|fault| {
            !matches!(
                fault.kind,
                JsonSchemaFaultKind::UnknownKeyword { near: None }
            )
        });
    let Some(fault) = fault else {
        return Ok(schema);
    };
    let at = fault.path;
    Err(match fault.kind {
        JsonSchemaFaultKind::UnknownKeyword { near } => {
            format!(
                "{path} has a slip: `{at}` is not a keyword{}",
                near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
            )
        }
        JsonSchemaFaultKind::BadValue { expected, near } => {
            let found = schema
                .pointer(&at)
                .map_or_else(String::new, Value::to_string);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("{path} has a slip: `{at}` is {found}; expected {expected}{near}")
        }
    })
}

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
        self.search().find(text, 0)
    }

    fn search(&self) -> TextSearch<'_> {
        TextSearch {
            pattern: self,
            cache: None,
        }
    }
}

/// A search of one pattern in several texts.
pub(super) struct TextSearch<'p> {
    pattern: &'p CompiledPattern,
    /// The states that the automaton built in the last text.
    cache: Option<Cache>,
}

impl TextSearch<'_> {
    /// The first match at or after a byte offset, or the reason why the text cannot be searched.
    pub(super) fn find(&mut self, text: &str, from: usize) -> Result<Option<Range<usize>>, String> {
        let input = || Input::new(text).range(from..);
        let CompiledPattern { automaton, machine } = self.pattern;
        let states = machine.get_nfa().states().len();
        let is_rejectable = states.saturating_mul(text.len()) > MAX_STEPS;
        if let Some(automaton) = automaton {
            // The texts before must not decide if this one is rejected.
            let reused = self.cache.take().filter(|_| !is_rejectable);
            let mut cache = reused.unwrap_or_else(|| automaton.create_cache());
            if let Ok(found) = automaton.try_search(&mut cache, &input()) {
                self.cache = Some(cache);
                return Ok(found.map(|found| found.range()));
            }
        }
        if is_rejectable {
            let bytes = text.len();
            return Err(format!(
                "the pattern is too complex for a text of {bytes} bytes: it has {states} states to try at each"
            ));
        }
        let found = machine.find(&mut machine.create_cache(), input());
        Ok(found.map(|found| found.range()))
    }
}

impl PatternFinder for CompiledPattern {
    fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        let mut search = self.search();
        while at <= text.len() {
            match search.find(text, at) {
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

/// The parts of requests that a project ignores in comparisons with recorded ones. A text too
/// complex for a pattern is compared whole.
pub fn compile_volatile(config: &Config) -> VolatileParts {
    let part = |VolatilePart { place, pattern }: &VolatilePart| {
        let find = match pattern {
            None => None,
            // An invalid pattern was reported when the project was loaded.
            Some(pattern) => {
                let pattern = CompiledPattern::new(pattern).ok()?;
                let find: PatternSearch =
                    Arc::new(move |text: &str| pattern.find(text).ok().flatten());
                Some(find)
            }
        };
        let words = pattern.as_ref().map_or_else(
            || format!("`{place}`"),
            |pattern| format!("/{pattern}/ in `{place}`"),
        );
        Some(VolatileMatcher {
            place: place.clone(),
            find,
            source_text: words,
            seen: Arc::default(),
        })
    };
    VolatileParts(config.requests.volatile.iter().filter_map(part).collect())
}
