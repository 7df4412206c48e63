//! `trajectory`: compares the tool calls of a trial with a list.

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
        needed(
            "name",
            Shape::Text,
            "the tool; `*` matches any part of a name",
        ),
        key(
            "arguments",
            Shape::Map(&Shape::Any),
            "arguments of the call, each equal as JSON; it may have others",
        ),
        key(
            "patterns",
            Shape::Map(&Shape::Pattern),
            "arguments of the call, with a pattern for each",
        ),
    ],
    groups: &[],
};

/// The expected tool calls of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trajectory {
    /// The comparison with the actual calls.
    pub matching: Matching,
    /// The expected calls.
    pub calls: Vec<ExpectedCall>,
}

words! {
    /// The comparison of actual calls with a list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum Matching {
        /// These calls in this order, and no others.
        Strict = "strict",
        /// These calls in any order, and no others.
        Unordered = "unordered",
        /// No calls but these, each at most once.
        Subset = "subset",
        /// At least these calls, in any order.
        Superset = "superset",
    }
}

/// One expected call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectedCall {
    /// The tool.
    pub name: Spanned<String>,
    /// Argument names with their exact values.
    pub arguments: BTreeMap<String, Value>,
    /// Argument names with a pattern for each.
    pub patterns: BTreeMap<String, Spanned<String>>,
}

impl Trajectory {
    pub(super) fn read(node: &Node<'_>) -> Option<Self> {
        let calls = node
            .get("calls")?
            .items()?
            .iter()
            .filter_map(ExpectedCall::read)
            .collect();
        Some(Self {
            matching: Matching::parse(node.get("match")?.text()?)?,
            calls,
        })
    }

    /// Reads the nodes of a run, which take the place of calls.
    pub(super) fn path(node: &Node<'_>) -> Option<Self> {
        let items = node.items().or_else(|| node.get("nodes")?.items())?;
        let matching = node
            .get("match")
            .and_then(Node::text)
            .map_or(Some(Matching::Strict), Matching::parse)?;
        Some(Self {
            matching,
            calls: items.iter().filter_map(ExpectedCall::read).collect(),
        })
    }

    /// Describes the calls as reports print them.
    pub(super) fn words(&self) -> String {
        let calls: Vec<String> = self.calls.iter().map(ExpectedCall::words).collect();
        format!("calls {} ({})", calls.join(", "), self.matching.word())
    }
}

impl ExpectedCall {
    fn read(node: &Node<'_>) -> Option<Self> {
        if let Some(name) = text(node) {
            return Some(Self {
                name,
                arguments: BTreeMap::new(),
                patterns: BTreeMap::new(),
            });
        }
        let entries = |key: &str| {
            node.get(key)
                .and_then(Node::entries)
                .unwrap_or_default()
                .iter()
        };
        let arguments =
            entries("arguments").map(|entry| (entry.key.value.to_string(), entry.value.to_json()));
        let patterns = entries("patterns")
            .filter_map(|entry| Some((entry.key.value.to_string(), text(&entry.value)?)));
        Some(Self {
            name: text(node.get("name")?)?,
            arguments: arguments.collect(),
            patterns: patterns.collect(),
        })
    }

    /// Describes the tool and its arguments.
    pub fn words(&self) -> String {
        let values = self
            .arguments
            .iter()
            .map(|(name, value)| format!("`{name}` {value}"));
        let patterns = self
            .patterns
            .iter()
            .map(|(name, pattern)| format!("`{name}` matching /{}/", pattern.value));
        let with: Vec<String> = values.chain(patterns).collect();
        let with = if with.is_empty() {
            String::new()
        } else {
            format!(" with {}", with.join(" and "))
        };
        format!("`{}`{with}", self.name.value)
    }
}
