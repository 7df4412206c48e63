//! Expectations on the tools that an agent is given.

use crate::base::span::Spanned;
use crate::scenario::frozen::Frozen;
use crate::scenario::table::Group::Some as AtLeast;
use crate::scenario::table::{Shape, Table, key};
use crate::scenario::values::{frozen, texts};
use crate::syntax::yaml::Node;
use serde::Serialize;

/// `tools` as a mapping.
pub(super) static TOOLS: Table = Table {
    what: "`tools`",
    keys: &[
        key(
            "has",
            Shape::List(&Shape::Text, 1),
            "these are among the tools that it is given",
        ),
        key(
            "lacks",
            Shape::List(&Shape::Text, 1),
            "it is given none of these",
        ),
        key(
            "exactly",
            Shape::List(&Shape::Text, 0),
            "it is given these and no others, in any order",
        ),
        key(
            "schema_of",
            Shape::Map(&Shape::Schema),
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
    pub schema_of: Vec<(Spanned<String>, Frozen)>,
}

/// Joins names in backquotes.
pub fn quoted(names: &[Spanned<String>]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        super::answer::list(names, "`", "`")
    }
}

impl ToolTest {
    pub(super) fn read(node: &Node<'_>) -> Self {
        // A text is the path of a schema.
        let schema = |value: &Node<'_>| {
            value
                .text()
                .map_or_else(|| frozen(value).value, |path| Frozen::File(path.to_owned()))
        };
        let schemas = node
            .get("schema_of")
            .and_then(Node::entries)
            .unwrap_or_default()
            .iter();
        Self {
            has: texts(node.get("has")),
            lacks: texts(node.get("lacks")),
            exactly: node.get("exactly").map(|exactly| texts(Some(exactly))),
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
            if let Frozen::File(path) = schema {
                Some(path.as_str())
            } else {
                None
            }
        })
    }

    /// Describes the test as reports print it.
    pub fn words(&self) -> String {
        let some = |word: &str, names: &[Spanned<String>]| {
            (!names.is_empty()).then(|| format!("{word} {}", quoted(names)))
        };
        let exactly = self
            .exactly
            .as_ref()
            .map(|names| format!("exactly {}", quoted(names)));
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
