//! Expectations that a judge scores: `judge` and `rubric`.

use crate::base::span::Spanned;
use crate::scenario::table::{
    KeyGroup, NamedThingKind, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use crate::scenario::values::{read_number, read_text, read_texts};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// The name of the role that judges answers.
pub const JUDGE_ROLE: &str = "judge";

/// `judge` as a mapping.
pub(super) static JUDGE_TABLE: ScenarioTable = ScenarioTable {
    what: "`judge`",
    keys: &[
        optional_key(
            "rubric",
            ScenarioShape::Table(&RUBRIC_SOURCE_TABLE),
            "the rubric that has the criteria: a file, or a text that is its guide",
        ),
        optional_key(
            "criteria",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "the criteria that the judge scores, by their ids in the rubric's file; all of it by default. Without a file, each is its own question",
        ),
        required_key(
            "min_score",
            ScenarioShape::Number(0.0, 100.0),
            "the minimum score on each",
        ),
    ],
    groups: &[KeyGroup::AtLeastOne(&["criteria", "rubric"])],
};

static RUBRIC_SOURCE_TABLE: ScenarioTable = ScenarioTable {
    what: "`rubric` of `judge`",
    keys: &[
        optional_key(
            "file",
            ScenarioShape::Text,
            "a rubric beside the scenario: `rubrics/answer.yaml`",
        )
        .with_names(NamedThingKind::SiblingFile),
        optional_key(
            "text",
            ScenarioShape::Text,
            "the guide of the judge, with `criteria` beside it",
        ),
    ],
    groups: &[KeyGroup::ExactlyOne(&["file", "text"])],
};

/// `judge: {rubric, criteria, min_score}`
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeTest {
    /// The rubric that has the criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricSource>,
    /// The criteria that the judge scores; empty for all of the rubric's file.
    pub criteria: Vec<Spanned<String>>,
    /// The minimum score on each.
    pub min_score: f64,
}

/// The origin of criteria.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum RubricSource {
    /// A rubric, by its path beside the scenario.
    File(Spanned<String>),
    /// A guide in words.
    Text(Spanned<String>),
}

impl JudgeTest {
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
        let source = |key: &str| node.get("rubric")?.get(key).and_then(read_text);
        let rubric = source("file")
            .map(RubricSource::File)
            .or_else(|| source("text").map(RubricSource::Text));
        Some(Self {
            rubric,
            criteria: read_texts(node.get("criteria")),
            min_score: read_number(node.get("min_score")?)?,
        })
    }

    /// The path of its rubric, beside the scenario.
    pub fn rubric_file(&self) -> Option<&Spanned<String>> {
        match &self.rubric {
            Some(RubricSource::File(path)) => Some(path),
            Some(RubricSource::Text(_)) | None => None,
        }
    }
}
