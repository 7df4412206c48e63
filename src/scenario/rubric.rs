//! Rubrics: the criteria by which a judge scores an answer, as data with their faults.
//!
//! Reads no file and calls no judge.

use super::check_keys::{self, Completeness};
use super::scenario_fault::{KeyPath, ScenarioFault, ScenarioFaultKind, ScenarioFaultSink};
use super::table::{ScenarioShape, ScenarioTable, optional_key, required_key};
use super::values::{read_number, read_texts};
use crate::base::words::words;
use crate::syntax::yaml::{self, YamlNode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of `schema` in a rubric.
pub const RUBRIC_SCHEMA: &str = "ctxc/rubric/1";
/// The highest score of a criterion that names none.
pub const DEFAULT_MAX_SCORE: u64 = 5;
/// The upper bound of the highest score of a criterion.
const MAX_SCORE: u64 = 100;

words! {
    /// The type of a question about a conversation that was compacted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ProbeKind {
        /// Technical details: errors, values, commands, rules.
        Recall = "recall",
        /// Files that were created, changed or read.
        Artifact = "artifact",
        /// The state of the work and the next step.
        Continuation = "continuation",
        /// Decisions with their reasons and alternatives.
        Decision = "decision",
    }
}

/// A rubric file.
pub static RUBRIC_TABLE: ScenarioTable = ScenarioTable {
    what: "a rubric",
    keys: &[
        optional_key(
            "schema",
            ScenarioShape::Word(&[RUBRIC_SCHEMA]),
            "the format, for other programs",
        ),
        optional_key("name", ScenarioShape::Text, "its displayed name"),
        optional_key(
            "guide",
            ScenarioShape::Text,
            "the text about all criteria that the judge reads first",
        ),
        required_key(
            "criteria",
            ScenarioShape::List(&ScenarioShape::Table(&CRITERION_TABLE), 1),
            "the criteria, each scored apart",
        ),
    ],
    groups: &[],
};

static CRITERION_TABLE: ScenarioTable = ScenarioTable {
    what: "a criterion",
    keys: &[
        required_key(
            "id",
            ScenarioShape::Text,
            "its name, unique in the rubric: `accuracy`",
        ),
        required_key(
            "question",
            ScenarioShape::Text,
            "the question that its score answers",
        ),
        optional_key(
            "weight",
            ScenarioShape::Number(0.001, 1000.0),
            "its share in a mean of criteria, from 0.001 to 1000, 1 by default",
        ),
        optional_key(
            "max",
            ScenarioShape::Whole(1, MAX_SCORE),
            "its highest score, 5 by default; the lowest is 0",
        ),
        optional_key(
            "anchors",
            ScenarioShape::Map(&ScenarioShape::Text),
            "the meaning of some scores: `{0: invented, 5: fully right}`",
        ),
        optional_key(
            "dimension",
            ScenarioShape::Text,
            "the group that its score counts for in `ctxc compaction probe`, its own id by default",
        ),
        optional_key(
            "probes",
            ScenarioShape::List(&ScenarioShape::Word(&ProbeKind::WORDS), 1),
            "the types of probes that it applies to in `ctxc compaction probe`, all by default",
        ),
    ],
    groups: &[],
};

/// The criteria by which a judge scores an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rubric {
    /// The text about all criteria that the judge reads first.
    pub guide: Option<String>,
    /// The criteria, in order.
    pub criteria: Vec<Criterion>,
}

/// A criterion of a rubric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Criterion {
    /// Its name, unique in its rubric.
    pub id: String,
    /// The question that its score answers.
    pub question: String,
    /// Its share in a mean of criteria.
    pub weight: f64,
    /// Its highest score; the lowest is 0.
    pub max_score: u64,
    /// The meaning of some scores.
    pub anchors: BTreeMap<u64, String>,
    /// The group that its score counts for; `None` for a group of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
    /// The types of probes that it applies to; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeKind>,
}

impl Criterion {
    /// A criterion with default weight and scale, and without anchors.
    pub fn new(id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            weight: 1.0,
            max_score: DEFAULT_MAX_SCORE,
            anchors: BTreeMap::new(),
            dimension: None,
            probes: Vec::new(),
        }
    }

    /// The group that its score counts for.
    pub fn dimension(&self) -> &str {
        self.dimension.as_deref().unwrap_or(&self.id)
    }

    /// Returns true if it applies to a type of probes.
    pub fn applies_to(&self, kind: ProbeKind) -> bool {
        self.probes.is_empty() || self.probes.contains(&kind)
    }
}

impl Rubric {
    /// Reads a rubric and all faults of its text. Contains everything that could be understood.
    pub fn read(text: &str) -> (Self, Vec<ScenarioFault>) {
        let (root, faults) = yaml::parse_tree(text);
        let mut sink = ScenarioFaultSink {
            text,
            faults: Vec::new(),
            row: None,
        };
        for fault in faults {
            sink.report(fault.span, ScenarioFaultKind::Yaml(fault.kind));
        }
        check_rubric(&mut sink, &root);
        (read_criteria(&root), sink.faults)
    }
}

/// Returns true if a mapping is a rubric.
pub(super) fn is_rubric(root: &YamlNode<'_>) -> bool {
    root.get("criteria").is_some()
        || root.get("schema").and_then(YamlNode::text) == Some(RUBRIC_SCHEMA)
}

/// Reports the faults of a rubric.
pub(super) fn check_rubric(sink: &mut ScenarioFaultSink<'_>, root: &YamlNode<'_>) {
    check_keys::check_table(
        sink,
        &KeyPath::TOP,
        &RUBRIC_TABLE,
        root,
        Completeness::Complete,
    );
    let list = root.get("criteria").and_then(YamlNode::items);
    let mut ids: Vec<&str> = Vec::new();
    for node in list.unwrap_or_default() {
        if let Some(id) = node.get("id")
            && let Some(text) = id.text()
        {
            if ids.contains(&text) {
                let expected = "an id that no other criterion has".to_owned();
                sink.report_bad_value(&criterion_key("id"), id, expected, None);
            }
            ids.push(text);
        }
        let max = read_max(node);
        let anchors = node.get("anchors").and_then(YamlNode::entries);
        for anchor in anchors.unwrap_or_default() {
            if anchor_score(&anchor.key.value, max).is_none() {
                let kind = ScenarioFaultKind::BadValue {
                    key: "criteria.anchors".to_owned(),
                    found: anchor.key.value.clone().into_owned(),
                    expected: format!("a score from 0 to {max}"),
                    near: None,
                };
                sink.report(anchor.key.span, kind);
            }
        }
    }
}

const fn criterion_key(name: &str) -> KeyPath<'_> {
    KeyPath { parent: None, name }
}

fn read_max(node: &YamlNode<'_>) -> u64 {
    node.get("max")
        .and_then(super::values::read_whole)
        .unwrap_or(DEFAULT_MAX_SCORE)
}

/// The score that the key of an anchor names.
fn anchor_score(key: &str, max: u64) -> Option<u64> {
    key.parse().ok().filter(|score| *score <= max)
}

fn read_criteria(root: &YamlNode<'_>) -> Rubric {
    let text = |node: &YamlNode<'_>, key: &str| node.get(key)?.text().map(str::to_owned);
    let read = |node: &YamlNode<'_>| {
        let max_score = read_max(node);
        let anchors = node.get("anchors").and_then(YamlNode::entries);
        let anchors = anchors.unwrap_or_default().iter().filter_map(|anchor| {
            let score = anchor_score(&anchor.key.value, max_score)?;
            Some((score, anchor.value.text()?.to_owned()))
        });
        Some(Criterion {
            weight: node.get("weight").and_then(read_number).unwrap_or(1.0),
            max_score,
            anchors: anchors.collect(),
            dimension: text(node, "dimension"),
            probes: read_texts(node.get("probes"))
                .iter()
                .filter_map(|word| ProbeKind::parse(&word.value))
                .collect(),
            ..Criterion::new(text(node, "id")?, text(node, "question")?)
        })
    };
    let list = root.get("criteria").and_then(YamlNode::items);
    Rubric {
        guide: text(root, "guide"),
        criteria: list.unwrap_or_default().iter().filter_map(read).collect(),
    }
}
