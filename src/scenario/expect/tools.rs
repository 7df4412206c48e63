//! Expectations on the tools that an agent is given.

use crate::base::span::Spanned;
use crate::scenario::table::KeyGroup::AtLeastOne as AtLeast;
use crate::scenario::table::{ScenarioShape, ScenarioTable, optional_key};
use crate::scenario::values::{FrozenValue, read_frozen, read_texts};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// `tools` as a mapping.
pub(super) static TOOLS_TABLE: ScenarioTable = ScenarioTable {
    what: "`tools`",
    keys: &[
        optional_key(
            "has",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "tools that the agent has",
        ),
        optional_key(
            "lacks",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "tools that the agent does not have",
        ),
        optional_key(
            "exactly",
            ScenarioShape::List(&ScenarioShape::Text, 0),
            "the complete tools of the agent, in any order",
        ),
        optional_key(
            "schema_of",
            ScenarioShape::Map(&ScenarioShape::Schema),
            "the parameters of tools by their names: a JSON Schema, or the path of one",
        ),
    ],
    groups: &[AtLeast(&["has", "lacks", "exactly", "schema_of"])],
};

/// `tools: {has, lacks, exactly, schema_of}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolTest {
    /// `has`
    pub has: Vec<Spanned<String>>,
    /// `lacks`
    pub lacks: Vec<Spanned<String>>,
    /// `exactly`
    pub exactly: Option<Vec<Spanned<String>>>,
    /// `schema_of`: the expected schema of each tool.
    pub schema_of: Vec<(Spanned<String>, FrozenValue)>,
}

/// Joins names in backquotes.
pub fn backquoted_names(names: &[Spanned<String>]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        super::answer::join_enclosed(names, "`", "`")
    }
}

impl ToolTest {
    pub(super) fn read(node: &YamlNode<'_>) -> Self {
        // A text is the path of a schema.
        let schema = |value: &YamlNode<'_>| {
            value.text().map_or_else(
                || read_frozen(value).value,
                |path| FrozenValue::File(path.to_owned()),
            )
        };
        let schemas = node
            .get("schema_of")
            .and_then(YamlNode::entries)
            .unwrap_or_default()
            .iter();
        Self {
            has: read_texts(node.get("has")),
            lacks: read_texts(node.get("lacks")),
            exactly: node.get("exactly").map(|exactly| read_texts(Some(exactly))),
            schema_of: schemas
                .map(|entry| {
                    (
                        Spanned::new(entry.key.value.as_ref().to_owned(), entry.key.span),
                        schema(&entry.value),
                    )
                })
                .collect(),
        }
    }

    /// The paths of the schema files.
    pub fn schema_files(&self) -> impl Iterator<Item = &str> {
        self.schema_of.iter().filter_map(|(_, schema)| {
            if let FrozenValue::File(path) = schema {
                Some(path.as_str())
            } else {
                None
            }
        })
    }

    /// Describes the test as reports print it.
    pub fn describe(&self) -> String {
        let some = |word: &str, names: &[Spanned<String>]| {
            (!names.is_empty()).then(|| format!("{word} {}", backquoted_names(names)))
        };
        let exactly = self
            .exactly
            .as_ref()
            .map(|names| format!("exactly {}", backquoted_names(names)));
        let schemas: Vec<_> = self
            .schema_of
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let parts = [
            some("has", &self.has),
            some("lacks", &self.lacks),
            exactly,
            some("the schema of", &schemas),
        ];
        format!(
            "tools: {}",
            parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
        )
    }
}
