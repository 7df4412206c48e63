//! `trajectory`: compares the tool calls of a trial with a list.

use crate::base::span::Spanned;
use crate::base::words::words;
use crate::scenario::table::{ScenarioShape, ScenarioTable, optional_key, required_key};
use crate::scenario::values::read_text;
use crate::syntax::yaml::YamlNode;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) static TRAJECTORY_TABLE: ScenarioTable = ScenarioTable {
    what: "`trajectory`",
    keys: &[
        required_key(
            "match",
            ScenarioShape::Word(&Matching::WORDS),
            "`strict`: these calls in this order and no others; `unordered`: the same in any order; `superset`: at least these; `subset`: no others",
        ),
        required_key(
            "calls",
            ScenarioShape::List(
                &ScenarioShape::Or(&ScenarioShape::Text, &EXPECTED_CALL_TABLE),
                1,
            ),
            "the calls, each as the name of its tool or as a mapping",
        ),
    ],
    groups: &[],
};

static EXPECTED_CALL_TABLE: ScenarioTable = ScenarioTable {
    what: "a call of `trajectory`",
    keys: &[
        required_key(
            "name",
            ScenarioShape::Text,
            "the tool; `*` matches any part of a name",
        ),
        optional_key(
            "arguments",
            ScenarioShape::Map(&ScenarioShape::Any),
            "arguments of the call, each equal as JSON; it may have others",
        ),
        optional_key(
            "patterns",
            ScenarioShape::Map(&ScenarioShape::Pattern),
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
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
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
    pub(super) fn read_path(node: &YamlNode<'_>) -> Option<Self> {
        let items = node.items().or_else(|| node.get("nodes")?.items())?;
        let matching = node
            .get("match")
            .and_then(YamlNode::text)
            .map_or(Some(Matching::Strict), Matching::parse)?;
        Some(Self {
            matching,
            calls: items.iter().filter_map(ExpectedCall::read).collect(),
        })
    }

    /// Describes the calls as reports print them.
    pub(super) fn describe(&self) -> String {
        let calls: Vec<String> = self.calls.iter().map(ExpectedCall::describe).collect();
        format!("calls {} ({})", calls.join(", "), self.matching.word())
    }
}

impl ExpectedCall {
    fn read(node: &YamlNode<'_>) -> Option<Self> {
        if let Some(name) = read_text(node) {
            return Some(Self {
                name,
                arguments: BTreeMap::new(),
                patterns: BTreeMap::new(),
            });
        }
        let entries = |key: &str| {
            node.get(key)
                .and_then(YamlNode::entries)
                .unwrap_or_default()
                .iter()
        };
        let arguments =
            entries("arguments").map(|entry| (entry.key.value.to_string(), entry.value.to_json()));
        let patterns = entries("patterns")
            .filter_map(|entry| Some((entry.key.value.to_string(), read_text(&entry.value)?)));
        Some(Self {
            name: read_text(node.get("name")?)?,
            arguments: arguments.collect(),
            patterns: patterns.collect(),
        })
    }

    /// Describes the tool and its arguments.
    pub fn describe(&self) -> String {
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
