//! Expectations on a lookup in the files of the project as they are now.

use super::tools::backquoted_names;
use crate::base::span::Spanned;
use crate::scenario::table::KeyGroup::AtLeastOne as AtLeast;
use crate::scenario::table::{NamedThingKind, ScenarioShape, ScenarioTable, optional_key};
use crate::scenario::values::{read_text, read_texts, read_whole};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// The number of matches that a lookup returns.
const MAX_MATCHES: u64 = 8;

/// `lookup`.
pub(super) static LOOKUP_TABLE: ScenarioTable = ScenarioTable {
    what: "`lookup`",
    keys: &[
        optional_key(
            "query",
            ScenarioShape::Text,
            "the query, in words; default: that of the scenario's agent",
        ),
        optional_key(
            "finds",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "each of these is found: a file, or a passage by its id, as `ctxc search` shows it",
        )
        .with_names(NamedThingKind::Passage),
        optional_key(
            "within",
            ScenarioShape::Whole(1, MAX_MATCHES),
            "among this many of the best matches; default: all 8",
        ),
        optional_key(
            "lacks",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "none of these is found",
        )
        .with_names(NamedThingKind::Passage),
    ],
    groups: &[AtLeast(&["finds", "lacks"])],
};

/// `lookup: {query, finds, within, lacks}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LookupTest {
    /// `query`
    pub query: Option<Spanned<String>>,
    /// `finds`
    pub finds: Vec<Spanned<String>>,
    /// `within`
    pub within: usize,
    /// `lacks`
    pub lacks: Vec<Spanned<String>>,
}

impl LookupTest {
    pub(super) fn read(node: &YamlNode<'_>) -> Self {
        let within = node
            .get("within")
            .and_then(read_whole)
            .unwrap_or(MAX_MATCHES);
        Self {
            query: node.get("query").and_then(read_text),
            finds: read_texts(node.get("finds")),
            within: usize::try_from(within).unwrap_or(usize::MAX),
            lacks: read_texts(node.get("lacks")),
        }
    }

    /// Describes the test as reports print it.
    pub(super) fn describe(&self) -> String {
        let some = |word: &str, names: &[Spanned<String>]| {
            (!names.is_empty()).then(|| format!("{word} {}", backquoted_names(names)))
        };
        let all: Vec<String> = [some("finds", &self.finds), some("lacks", &self.lacks)]
            .into_iter()
            .flatten()
            .collect();
        format!("lookup {}", all.join(" and "))
    }
}
