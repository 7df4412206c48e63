//! Expectations on the model that would be called.

use crate::base::span::Spanned;
use crate::kernel::sampling::{
    EFFORT_WORDS, OUTPUT_TOKEN_BOUNDS, Parameter, SEED_BOUNDS, Sampling, TEMPERATURE_BOUNDS,
    TOP_P_BOUNDS,
};
use crate::scenario::table::KeyGroup::AtLeastOne as AtLeast;
use crate::scenario::table::{ScenarioShape, ScenarioTable, optional_key};
use crate::scenario::values::read_text;
use crate::syntax::yaml::YamlNode;
use serde::Serialize;
use serde_json::Value;

/// `model` as a mapping.
pub(super) static MODEL_TABLE: ScenarioTable = ScenarioTable {
    what: "`model`",
    keys: &[
        optional_key("name", ScenarioShape::Text, "its name in the project"),
        optional_key("id", ScenarioShape::Text, "its name at its provider"),
        optional_key(
            "provider",
            ScenarioShape::Text,
            "its provider, by the project's name for it",
        ),
        optional_key(
            "sampling",
            ScenarioShape::Table(&SAMPLING_TABLE),
            "its sampling parameters: these and no others",
        ),
    ],
    groups: &[AtLeast(&["name", "id", "provider", "sampling"])],
};

static SAMPLING_TABLE: ScenarioTable = ScenarioTable {
    what: "`sampling`",
    keys: &[
        optional_key(
            "temperature",
            ScenarioShape::Number(TEMPERATURE_BOUNDS.0, TEMPERATURE_BOUNDS.1),
            "the randomness of the choice between words",
        ),
        optional_key(
            "top_p",
            ScenarioShape::Number(TOP_P_BOUNDS.0, TOP_P_BOUNDS.1),
            "the share of the likeliest words that is considered",
        ),
        optional_key(
            "seed",
            ScenarioShape::Whole(SEED_BOUNDS.0, SEED_BOUNDS.1),
            "the seed of its random choices",
        ),
        optional_key(
            "effort",
            ScenarioShape::Word(&EFFORT_WORDS),
            "the amount of reasoning before the answer",
        ),
        optional_key(
            "stop",
            ScenarioShape::Any,
            "the text before which an answer ends, or a list of them",
        ),
        optional_key(
            "tool_choice",
            ScenarioShape::Text,
            "`auto`, `none`, `required`, or the tool that it has to call",
        ),
        optional_key(
            "max_output_tokens",
            ScenarioShape::Whole(OUTPUT_TOKEN_BOUNDS.0, OUTPUT_TOKEN_BOUNDS.1),
            "the maximum number of tokens of an answer",
        ),
    ],
    groups: &[],
};

/// `model: {name, id, provider, sampling}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelTest {
    /// `name`
    pub name: Option<Spanned<String>>,
    /// `id`
    pub id: Option<Spanned<String>>,
    /// `provider`
    pub provider: Option<Spanned<String>>,
    /// `sampling`
    pub sampling: Option<Sampling>,
}

impl ModelTest {
    pub(super) fn read(node: &YamlNode<'_>) -> Self {
        let part = |name: &str| node.get(name).and_then(read_text);
        let value = |found: Value| {
            if found.is_string() {
                Value::Array(vec![found])
            } else {
                found
            }
        };
        let sampling = node
            .get("sampling")
            .and_then(YamlNode::entries)
            .map(|entries| {
                let one = |entry: &crate::syntax::yaml::YamlEntry<'_>| {
                    let parameter = Parameter::parse(&entry.key.value)?;
                    let found = entry.value.to_json();
                    Some((
                        parameter,
                        if parameter == Parameter::Stop {
                            value(found)
                        } else {
                            found
                        },
                    ))
                };
                entries.iter().filter_map(one).collect()
            });
        Self {
            name: part("name"),
            id: part("id"),
            provider: part("provider"),
            sampling,
        }
    }

    /// Describes the test as reports print it.
    pub fn describe(&self) -> String {
        let part = |word: &str, found: &Option<Spanned<String>>| {
            found
                .as_ref()
                .map(|found| format!("{word} `{}`", found.value))
        };
        let sampling = self
            .sampling
            .as_ref()
            .map(|found| format!("sampling {}", describe_sampling(found)));
        let parts = [
            part("name", &self.name),
            part("id", &self.id),
            part("provider", &self.provider),
            sampling,
        ];
        format!(
            "model: {}",
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        )
    }
}

/// Lists parameters with their values.
pub fn describe_sampling(sampling: &Sampling) -> String {
    if sampling.is_empty() {
        return "none".to_owned();
    }
    sampling
        .iter()
        .map(|(name, value)| format!("{} {value}", name.word()))
        .collect::<Vec<_>>()
        .join(", ")
}
