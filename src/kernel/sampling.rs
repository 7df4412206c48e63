//! Sampling parameters of a model, such as temperature and seed, under neutral names; each target
//! maps them to the provider's names.

use crate::base::words::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Values of parameters.
pub type Sampling = BTreeMap<Parameter, Value>;

words! {
    /// A sampling parameter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Parameter {
        /// The randomness of the choice between words.
        Temperature = "temperature",
        /// The share of the likeliest words that is considered.
        TopP = "top_p",
        /// The seed of the random choice, so that it can be repeated.
        Seed = "seed",
        /// The amount of reasoning before the answer.
        Effort = "effort",
        /// The texts before which an answer ends.
        Stop = "stop",
        /// The rule for tool calls: automatic, none, required, or a named tool.
        ToolChoice = "tool_choice",
        /// The maximum number of tokens of an answer.
        MaxOutputTokens = "max_output_tokens",
    }
}

/// The bounds of [`Parameter::Temperature`].
pub const TEMPERATURE_BOUNDS: (f64, f64) = (0.0, 2.0);
/// The bounds of [`Parameter::TopP`].
pub const TOP_P_BOUNDS: (f64, f64) = (0.0, 1.0);
/// The bounds of [`Parameter::Seed`], which every provider accepts.
pub const SEED_BOUNDS: (u64, u64) = (0, i32::MAX as u64);
/// The words of [`Parameter::Effort`].
pub const EFFORT_WORDS: [&str; 3] = ["low", "medium", "high"];
/// Maximum number of texts of [`Parameter::Stop`], which every provider accepts.
pub const MAX_STOPS: usize = 4;
/// The words of [`Parameter::ToolChoice`] that are not names of tools.
pub const TOOL_CHOICE_WORDS: [&str; 3] = ["auto", "none", "required"];
/// The bounds of [`Parameter::MaxOutputTokens`].
pub const OUTPUT_TOKEN_BOUNDS: (u64, u64) = (1, 1_000_000_000);

impl Parameter {
    /// A description of the accepted values.
    pub const fn expected_value(self) -> &'static str {
        match self {
            Self::Temperature => "a number from 0 to 2",
            Self::TopP => "a number from 0 to 1",
            Self::Seed => "a whole number from 0 to 2147483647",
            Self::Effort => "`low`, `medium` or `high`",
            Self::Stop => "a text of at least one character",
            Self::ToolChoice => "`auto`, `none`, `required`, or the name of a tool",
            Self::MaxOutputTokens => "a whole number from 1 to 1000000000",
        }
    }

    /// Parses a value as an attribute contains it.
    pub fn parse_value(self, text: &str) -> Option<Value> {
        let within = |(min, max): (f64, f64)| {
            text.parse::<f64>()
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(Value::from)
        };
        let whole = |(min, max): (u64, u64)| {
            text.parse::<u64>()
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(Value::from)
        };
        match self {
            Self::Temperature => within(TEMPERATURE_BOUNDS),
            Self::TopP => within(TOP_P_BOUNDS),
            Self::Seed => whole(SEED_BOUNDS),
            Self::Effort => EFFORT_WORDS.contains(&text).then(|| text.into()),
            Self::Stop => (!text.is_empty()).then(|| vec![text].into()),
            Self::ToolChoice => (!text.trim().is_empty()).then(|| text.into()),
            Self::MaxOutputTokens => whole(OUTPUT_TOKEN_BOUNDS),
        }
    }
}

/// The JSON Schema of parameters with their values.
#[cfg(feature = "cli")]
pub fn sampling_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let property = |name: Parameter| {
        (
            name.word().to_owned(),
            serde_json::json!({"description": name.expected_value()}),
        )
    };
    let properties: serde_json::Map<String, Value> =
        Parameter::ALL.into_iter().map(property).collect();
    schemars::json_schema!({"type": "object", "properties": properties})
}

/// A sampling parameter with its value and origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Sampled {
    /// The name of the parameter.
    pub name: Parameter,
    /// The value of the parameter.
    pub value: Value,
    /// The origin of the value: a task with its node, a role, or a model.
    pub from: String,
}

impl Sampled {
    /// A short description: `temperature 0.2 (role clerk)`.
    pub fn describe(&self) -> String {
        let value = self
            .value
            .as_str()
            .map_or_else(|| self.value.to_string(), str::to_owned);
        format!("{} {value} ({})", self.name.word(), self.from)
    }
}
