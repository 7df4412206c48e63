//! Patterns, paths into answers and schemas of cases, each compiled once and shared by all cases
//! and threads.
//!
//! A pattern is bounded in size and linear in the text, so that no scenario can stall a run.

use super::search::CompiledPattern;
use crate::base::span::Spanned;
use crate::scenario::expect::{answer, context};
use crate::scenario::json_schema::{self, JsonSchemaFaultKind};
use crate::scenario::model::ScenarioCase;
use crate::scenario::pattern::JsonPath;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

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
        match self.patterns.get(pattern) {
            Some(Ok(pattern)) => pattern.find(text),
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
    let slip = json_schema::schema_faults(&schema)
        .into_iter()
        .find(|slip| {
            !matches!(
                slip.kind,
                JsonSchemaFaultKind::UnknownKeyword { near: None }
            )
        });
    let Some(slip) = slip else { return Ok(schema) };
    let at = slip.path;
    Err(match slip.kind {
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
