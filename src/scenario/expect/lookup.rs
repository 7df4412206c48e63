//! Expectations on a lookup in the files of the project as they are now.

use super::tools::quoted;
use crate::base::span::Spanned;
use crate::scenario::table::Group::Some as AtLeast;
use crate::scenario::table::{Shape, Table, Thing, key};
use crate::scenario::values::{text, texts, whole};
use crate::syntax::yaml::Node;
use serde::Serialize;

/// The number of matches that a lookup returns.
const MATCHES: u64 = 8;

/// `lookup`.
pub(super) static LOOKUP: Table = Table {
    what: "`lookup`",
    keys: &[
        key(
            "query",
            Shape::Text,
            "what is looked up, in words; default: what the agent of this scenario asks",
        ),
        key(
            "finds",
            Shape::List(&Shape::Text, 1),
            "each of these is found: a file, or a passage by its id, as `ctxc search` shows it",
        )
        .names(Thing::Passage),
        key(
            "within",
            Shape::Whole(1, MATCHES),
            "among this many of the best matches; default: all 8",
        ),
        key(
            "lacks",
            Shape::List(&Shape::Text, 1),
            "none of these is found",
        )
        .names(Thing::Passage),
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
    pub(super) fn read(node: &Node<'_>) -> Self {
        let within = node.get("within").and_then(whole).unwrap_or(MATCHES);
        Self {
            query: node.get("query").and_then(text),
            finds: texts(node.get("finds")),
            within: usize::try_from(within).unwrap_or(usize::MAX),
            lacks: texts(node.get("lacks")),
        }
    }

    /// Describes the test as reports print it.
    pub(super) fn words(&self) -> String {
        let some = |word: &str, names: &[Spanned<String>]| {
            (!names.is_empty()).then(|| format!("{word} {}", quoted(names)))
        };
        let all: Vec<String> = [some("finds", &self.finds), some("lacks", &self.lacks)]
            .into_iter()
            .flatten()
            .collect();
        format!("lookup {}", all.join(" and "))
    }
}
