//! Expectations on the model that would be called.

use crate::base::span::Spanned;
use crate::kernel::sampling::{EFFORT, OUTPUT, Parameter, SEED, Sampling, TEMPERATURE, TOP_P};
use crate::scenario::table::Group::Some as AtLeast;
use crate::scenario::table::{Shape, Table, key};
use crate::scenario::values::text;
use crate::syntax::yaml::Node;
use serde::Serialize;
use serde_json::Value;

/// `model` as a mapping.
pub(super) static MODEL: Table = Table {
    what: "`model`",
    keys: &[
        key("name", Shape::Text, "its name in the project"),
        key("id", Shape::Text, "what its provider calls it"),
        key(
            "provider",
            Shape::Text,
            "who serves it, by the project's name for it",
        ),
        key(
            "sampling",
            Shape::Table(&SAMPLING),
            "its sampling parameters: these and no others",
        ),
    ],
    groups: &[AtLeast(&["name", "id", "provider", "sampling"])],
};

static SAMPLING: Table = Table {
    what: "`sampling`",
    keys: &[
        key(
            "temperature",
            Shape::Number(TEMPERATURE.0, TEMPERATURE.1),
            "how far it may stray from the likeliest words",
        ),
        key(
            "top_p",
            Shape::Number(TOP_P.0, TOP_P.1),
            "the share of the likeliest words that it chooses from",
        ),
        key(
            "seed",
            Shape::Whole(SEED.0, SEED.1),
            "the seed of its random choices",
        ),
        key("effort", Shape::Word(&EFFORT), "how long it thinks first"),
        key(
            "stop",
            Shape::Any,
            "the text before which an answer ends, or a list of them",
        ),
        key(
            "tool_choice",
            Shape::Text,
            "`auto`, `none`, `required`, or the tool that it has to call",
        ),
        key(
            "max_output_tokens",
            Shape::Whole(OUTPUT.0, OUTPUT.1),
            "the most tokens of an answer",
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
    pub(super) fn read(node: &Node<'_>) -> Self {
        let part = |name: &str| node.get(name).and_then(text);
        let value = |found: Value| {
            if found.is_string() {
                Value::Array(vec![found])
            } else {
                found
            }
        };
        let sampling = node.get("sampling").and_then(Node::entries).map(|entries| {
            let one = |entry: &crate::syntax::yaml::Entry<'_>| {
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
    pub fn words(&self) -> String {
        let part = |word: &str, found: &Option<Spanned<String>>| {
            found
                .as_ref()
                .map(|found| format!("{word} `{}`", found.value))
        };
        let sampling = self
            .sampling
            .as_ref()
            .map(|found| format!("sampling {}", listed(found)));
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
pub fn listed(sampling: &Sampling) -> String {
    if sampling.is_empty() {
        return "none".to_owned();
    }
    sampling
        .iter()
        .map(|(name, value)| format!("{} {value}", name.word()))
        .collect::<Vec<_>>()
        .join(", ")
}
