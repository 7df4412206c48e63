//! Expectations, from trees. Says nothing: what cannot be taken was reported, and is left out.

use super::model::{AnswerTest, ContextExpectation, Counted, Expectation, Frozen, Patterns, Risk, Selector, State};
use super::values::{flag, frozen, number, text, texts, whole, word_of};
use super::words::RISKS;
use crate::base::span::Spanned;
use crate::kernel::context::Kind;
use crate::syntax::yaml::{Node, Value};
use crate::template::setting::{SettingName, Word};

impl Risk {
    /// Every risk, least first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        debug_assert_eq!(RISKS.len(), Self::ALL.len(), "each risk has a word");
        Self::ALL.into_iter().find(|risk| risk.word() == word)
    }
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Kept, Self::Cut, Self::Dropped, Self::Absent];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Cut => "cut",
            Self::Dropped => "dropped",
            Self::Absent => "absent",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A pattern, or a list of them.
pub(super) fn patterns(node: &Node<'_>) -> Vec<Spanned<String>> {
    match &node.value {
        Value::List(_) => texts(Some(node)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => text(node).into_iter().collect(),
    }
}

/// `{id: …}`, `{kind: …}` or `{source: …}`; a text is an id.
fn selector(node: &Node<'_>) -> Option<Selector> {
    if let Some(id) = text(node) {
        return Some(Selector::Id(id));
    }
    if let Some(id) = node.get("id").and_then(text) {
        return Some(Selector::Id(id));
    }
    if let Some(kind) = node.get("kind").and_then(text) {
        let found = Kind::ALL.into_iter().find(|found| found.word() == kind.value)?;
        return Some(Selector::Kind(Spanned::new(found, kind.span)));
    }
    node.get("source").and_then(text).map(Selector::Source)
}

/// Patterns with or without `in`.
fn within(node: &Node<'_>) -> Option<Patterns> {
    if node.entries().is_none() {
        return Some(Patterns { within: None, patterns: patterns(node) });
    }
    let place = node.get("in").filter(|place| place.text() != Some("whole"));
    let patterns = patterns(node.get("patterns")?);
    Some(Patterns { within: place.map(selector).map_or(Some(None), |found| found.map(Some))?, patterns })
}

fn spanned(number: &Node<'_>) -> Option<Spanned<u64>> {
    whole(number).map(|found| Spanned::new(found, number.span))
}

/// One entry of `expect_context`.
pub(super) fn context_test(node: &Node<'_>) -> Option<Spanned<ContextExpectation>> {
    let entry = node.entries()?.first()?;
    let value = &entry.value;
    let inner = |value: &Node<'_>| value.items().unwrap_or_default().iter().filter_map(context_test).collect();
    let expectation = match entry.key.value.as_ref() {
        "segment" => ContextExpectation::Segment { which: selector(value)?, state: State::parse(value.get("state")?.text()?)? },
        "contains" => ContextExpectation::Contains(within(value)?),
        "absent" => ContextExpectation::Absent(within(value)?),
        "order" => ContextExpectation::Order(texts(Some(value))),
        "tokens" => ContextExpectation::Tokens {
            of: counted(value.get("of"))?,
            max: value.get("max").and_then(spanned),
            min: value.get("min").and_then(spanned),
        },
        "nothing_cut" => ContextExpectation::NothingCut(flag(value)?),
        "setting" => setting(value)?,
        "tools" => ContextExpectation::Tools(texts(Some(value))),
        "model" => ContextExpectation::Model(text(value)?),
        "protected_paths" => ContextExpectation::ProtectedPaths(texts(Some(value))),
        "snapshot" => flag(value)?.then_some(ContextExpectation::Snapshot)?,
        "not" => ContextExpectation::Not(Box::new(context_test(value)?)),
        "any_of" => ContextExpectation::AnyOf(inner(value)),
        "all_of" => ContextExpectation::AllOf(inner(value)),
        _ => return None,
    };
    Some(Spanned::new(expectation, node.span))
}

fn counted(node: Option<&Node<'_>>) -> Option<Counted> {
    let Some(node) = node else { return Some(Counted::Total) };
    match node.text() {
        Some("total") => Some(Counted::Total),
        Some("prefix") => Some(Counted::Prefix),
        Some(_) => None,
        None => selector(node).map(Counted::Segment),
    }
}

fn setting(node: &Node<'_>) -> Option<ContextExpectation> {
    let name = node.get("name")?;
    let value = node.get("value")?;
    Some(ContextExpectation::Setting {
        name: Spanned::new(SettingName::parse(name.text()?)?, name.span),
        value: Spanned::new(word_of(value)?.into_owned(), value.span),
        node: node.get("node").and_then(text),
    })
}

/// One entry of `expectations`.
pub(super) fn answer(node: &Node<'_>) -> Option<Spanned<Expectation>> {
    let gate = node.get("gate").and_then(flag).unwrap_or(true);
    answer_test(node).map(|test| test.map(|test| Expectation { test, gate }))
}

fn answer_test(node: &Node<'_>) -> Option<Spanned<AnswerTest>> {
    let entry = node.entries()?.iter().find(|entry| entry.key.value != "gate")?;
    let value = &entry.value;
    let inner = |value: &Node<'_>| value.items().unwrap_or_default().iter().filter_map(answer_test).collect();
    let test = match entry.key.value.as_ref() {
        "field_matches" => AnswerTest::FieldMatches { path: text(value.get("path")?)?, pattern: text(value.get("pattern")?)? },
        "absent" => AnswerTest::Absent(patterns(value)),
        "contains" => AnswerTest::Contains(patterns(value)),
        "max_risk" => AnswerTest::MaxRisk(Risk::parse(value.text()?)?),
        "decomposes" => AnswerTest::Decomposes(flag(value)?),
        "max_tokens" => AnswerTest::MaxTokens(whole(value)?),
        "references_files" => AnswerTest::ReferencesFiles(texts(Some(value))),
        "exact" => AnswerTest::Exact(value.to_json()),
        "schema" => AnswerTest::Schema(schema(value)),
        "calls_tool" => AnswerTest::CallsTool(text(value)?),
        "never_calls_tool" => AnswerTest::NeverCallsTool(text(value)?),
        "max_latency_ms" => AnswerTest::MaxLatency(whole(value)?),
        "max_cost_usd" => AnswerTest::MaxCost(number(value)?),
        "judge" => AnswerTest::Judge { criteria: texts(value.get("criteria")), min_score: number(value.get("min_score")?)? },
        "rubric" => AnswerTest::Rubric(text(value)?),
        "command" => AnswerTest::Command(texts(Some(value))),
        "not" => AnswerTest::Not(Box::new(answer_test(value)?)),
        "any_of" => AnswerTest::AnyOf(inner(value)),
        "all_of" => AnswerTest::AllOf(inner(value)),
        _ => return None,
    };
    Some(Spanned::new(test, node.span))
}

/// A text is the path of a schema.
fn schema(node: &Node<'_>) -> Frozen {
    match node.text() {
        Some(path) => Frozen::File(path.to_owned()),
        None => frozen(node).value,
    }
}
