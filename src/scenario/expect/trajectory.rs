//! `trajectory`: the calls of tools that a trial makes, held against a list.

use crate::base::span::Spanned;
use crate::base::words::words;
use crate::scenario::table::{Shape, Table, key, needed};
use crate::scenario::values::text;
use crate::syntax::yaml::Node;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static TRAJECTORY: Table = Table {
    what: "`trajectory`",
    keys: &[
        needed(
            "match",
            Shape::Word(&Matching::WORDS),
            "`strict`: these calls in this order and no others; `unordered`: the same in any order; `superset`: at least these; `subset`: no others",
        ),
        needed(
            "calls",
            Shape::List(&Shape::Or(&Shape::Text, &CALL), 1),
            "the calls, each as the name of its tool or as a mapping",
        ),
    ],
    groups: &[],
};

static CALL: Table = Table {
    what: "a call of `trajectory`",
    keys: &[
        needed("name", Shape::Text, "the tool; `*` matches any part of a name"),
        key("arguments", Shape::Map(&Shape::Any), "arguments of the call, each equal as JSON; it may have others"),
        key("patterns", Shape::Map(&Shape::Pattern), "arguments of the call, with a pattern for each"),
    ],
    groups: &[],
};

/// The calls of tools that a trial makes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trajectory {
    /// How they go together.
    pub matching: Matching,
    /// Those that are expected.
    pub calls: Vec<ExpectedCall>,
}

words! {
    /// How the calls of a trial go together with a list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum Matching {
        /// These in this order, and no others.
        Strict = "strict",
        /// These in any order, and no others.
        Unordered = "unordered",
        /// None but these, each at most once.
        Subset = "subset",
        /// These at least, in any order.
        Superset = "superset",
    }
}

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectedCall {
    /// The tool.
    pub name: Spanned<String>,
    /// Arguments and their values.
    pub arguments: BTreeMap<String, Value>,
    /// Arguments and a pattern for each.
    pub patterns: BTreeMap<String, Spanned<String>>,
}

impl Trajectory {
    pub(super) fn read(node: &Node<'_>) -> Option<Self> {
        let calls = node.get("calls")?.items()?.iter().filter_map(ExpectedCall::read).collect();
        Some(Self { matching: Matching::parse(node.get("match")?.text()?)?, calls })
    }

    /// The nodes of a run, in place of calls.
    pub(super) fn path(node: &Node<'_>) -> Option<Self> {
        let items = node.items().or_else(|| node.get("nodes")?.items())?;
        let matching = node.get("match").and_then(Node::text).map_or(Some(Matching::Strict), Matching::parse)?;
        Some(Self { matching, calls: items.iter().filter_map(ExpectedCall::read).collect() })
    }

    /// It in words, as reports name it.
    pub(super) fn words(&self) -> String {
        let calls: Vec<String> = self.calls.iter().map(ExpectedCall::words).collect();
        format!("calls {} ({})", calls.join(", "), self.matching.word())
    }
}

impl ExpectedCall {
    fn read(node: &Node<'_>) -> Option<Self> {
        if let Some(name) = text(node) {
            return Some(Self { name, arguments: BTreeMap::new(), patterns: BTreeMap::new() });
        }
        let entries = |key: &str| node.get(key).and_then(Node::entries).unwrap_or_default().iter();
        let arguments = entries("arguments").map(|entry| (entry.key.value.to_string(), entry.value.to_json()));
        let patterns = entries("patterns").filter_map(|entry| Some((entry.key.value.to_string(), text(&entry.value)?)));
        Some(Self { name: text(node.get("name")?)?, arguments: arguments.collect(), patterns: patterns.collect() })
    }

    /// It in words: the tool, then what it is given.
    pub fn words(&self) -> String {
        let values = self.arguments.iter().map(|(name, value)| format!("`{name}` {value}"));
        let patterns = self.patterns.iter().map(|(name, pattern)| format!("`{name}` matching /{}/", pattern.value));
        let with: Vec<String> = values.chain(patterns).collect();
        let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(" and ")) };
        format!("`{}`{with}", self.name.value)
    }
}
