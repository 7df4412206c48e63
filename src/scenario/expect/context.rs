//! Expectations on the context. A new one is a key, a variant and its arms here, and its check in
//! `eval::context::check`.

use super::answer::OF_AGENT;
use super::lookup::{LOOKUP, LookupTest};
use super::model::{MODEL, ModelTest};
use super::segments::{
    Counted, Named, PATTERNS, Patterns, SEGMENT, SEGMENTS, Selector, State, TOKENS, TRUST, ids,
    listed, trusted,
};
use super::tools::{TOOLS, ToolTest};
use crate::base::span::Spanned;
use crate::scenario::table::{Group, Key, Shape, Table, Thing, key, names, needed};
use crate::scenario::values::{flag, number, text, texts, whole, word_of};
use crate::syntax::yaml::Node;
use crate::template::setting::{SettingName, Word};
use serde::Serialize;

/// The keys of an expectation, followed by further keys of a list entry.
macro_rules! keys {
    ($($last:expr)?) => {
        [
            key("segment", Shape::Table(&SEGMENT), "what became of a segment"),
            key("segments", Shape::Table(&SEGMENTS), "exactly the segments that the request is made of"),
            key("trust", Shape::Table(&TRUST), "whether a segment may give orders, or comes from outside and is fenced"),
            key("contains", Shape::PatternsOr(&PATTERNS), "each pattern occurs, in one segment or in the whole context"),
            key("absent", Shape::PatternsOr(&PATTERNS), "none of the patterns occurs"),
            key("order", Shape::List(&Shape::Text, 2), "these segments come in this order; others may come between them")
                .names(Thing::Segment),
            key("tokens", Shape::Table(&TOKENS), "an upper or lower limit of tokens"),
            key(
                "prompt_cache",
                Shape::Table(&PROMPT_CACHE),
                "how much of the previous call a provider's prompt cache can reuse, in a scenario with `request`",
            ),
            key("nothing_cut", Shape::Bool, "whether every segment is there in full"),
            key("setting", Shape::Setting, "the resolved value of a context setting: `{name, value, node}`"),
            key(
                "tools",
                Shape::Or(&Shape::List(&Shape::Text, 0), &TOOLS),
                "the tools that it is given; a list means exactly what the role allows, with `!` before what it blocks: `!git_push`",
            ),
            key("model", Shape::Or(&Shape::Text, &MODEL), "the model that would be called, by its name in the project"),
            key("protected_paths", Shape::List(&Shape::Text, 0), "exactly these paths may not be touched, in any order")
                .names(Thing::Path),
            key(
                "lookup",
                Shape::Table(&LOOKUP),
                "what a lookup in the project's files finds; it searches today's files, which no scenario freezes",
            ),
            key(
                "snapshot",
                Shape::True,
                "the request equals the stored one: model, sampling, tools, form of the answer, and every word of the messages; a placeholder such as `⟦email⟧` in it stands for any value of its kind",
            ),
            key("not", Shape::Table(&INNER_TEST), "the expectation in it does not hold"),
            key("any_of", Shape::List(&Shape::Table(&INNER_TEST), 1), "one of the expectations in it holds"),
            key("all_of", Shape::List(&Shape::Table(&INNER_TEST), 1), "all expectations in it hold"),
            $($last,)?
        ]
    };
}

/// One entry of `expect_context`.
pub static CONTEXT_TEST: Table = Table {
    what: "an expectation on the context",
    keys: &keys!(key("node", Shape::Text, OF_AGENT).names(Thing::Node)),
    groups: &[Group::One(&NAMES)],
};

/// The table inside `not`, `any_of` and `all_of`.
static INNER_TEST: Table = Table {
    what: "an expectation inside another",
    keys: &KEYS,
    groups: &[Group::One(&NAMES)],
};

static KEYS: [Key; 18] = keys!();
static NAMES: [&str; 18] = names(&KEYS);

/// `prompt_cache`.
static PROMPT_CACHE: Table = Table {
    what: "`prompt_cache`",
    keys: &[needed(
        "min_reused",
        Shape::Number(0.0, 1.0),
        "the share of tokens of the previous call in its conversation that this call repeats unchanged at its start; 0 where it lost the cache breakpoints of the recorded call",
    )],
    groups: &[],
};

/// Converts a share to percent, rounded down to one decimal.
pub fn percent(share: f64) -> f64 {
    (share * 1000.0).floor() / 10.0
}

/// A condition on the context. Judging it needs no model and no recorded answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ContextExpectation {
    /// `segment: {id|kind|source, state}`
    Segment {
        /// The chosen segments.
        which: Selector,
        /// Their expected state.
        state: State,
    },
    /// `segments: {exactly: [ids]}`: the request contains these segments in this order, and no
    /// others.
    Segments(Vec<Spanned<String>>),
    /// `trust: {segment, is}`
    Trust {
        /// The segment with this id.
        segment: Spanned<String>,
        /// True if it may give instructions.
        is_trusted: bool,
    },
    /// `contains: {in, patterns}`: each pattern occurs.
    Contains(Patterns),
    /// `absent: {in, patterns}`: none of the patterns occurs.
    Absent(Patterns),
    /// `order: [ids]`: these segments occur in this order; others may occur between them.
    Order(Vec<Spanned<String>>),
    /// `tokens: {of, max, min}`
    Tokens {
        /// The tokens that are counted.
        of: Counted,
        /// The upper bound.
        max: Option<Spanned<u64>>,
        /// The lower bound.
        min: Option<Spanned<u64>>,
    },
    /// `prompt_cache: {min_reused}`: the share of the previous call's tokens that this call repeats
    /// at its start.
    PromptCache {
        /// The lower bound, from 0 to 1.
        min_reused: f64,
    },
    /// `nothing_cut: true`: every segment is complete; with `false` some segment was cut or
    /// dropped.
    NothingCut(bool),
    /// `setting: {name, value, node}`: the resolved setting of a node.
    Setting {
        /// The setting.
        name: Spanned<SettingName>,
        /// Its word in templates.
        value: Spanned<String>,
        /// The node; by default that of the case.
        node: Option<Spanned<String>>,
    },
    /// `tools`: exactly these are allowed, in any order.
    Tools(Vec<Spanned<String>>),
    /// `tools: {has, lacks, exactly, schema_of}`
    ToolsOf(ToolTest),
    /// `model`: the model that would be called.
    Model(Spanned<String>),
    /// `model: {name, id, provider, sampling}`
    ModelOf(ModelTest),
    /// `protected_paths`: exactly these must not be changed, in any order.
    ProtectedPaths(Vec<Spanned<String>>),
    /// `lookup: {query, finds, within, lacks}`: a lookup in today's files finds these.
    Lookup(LookupTest),
    /// `snapshot: true`: the rendered request equals the stored one.
    Snapshot,
    /// `not: …`
    Not(Box<Spanned<ContextExpectation>>),
    /// `any_of: […]`
    AnyOf(Vec<Spanned<ContextExpectation>>),
    /// `all_of: […]`
    AllOf(Vec<Spanned<ContextExpectation>>),
    /// An expectation with `node`: a condition on the context of that agent in a whole run.
    OfAgent {
        /// The agent.
        node: Spanned<String>,
        /// The condition on its context each time that it is called.
        test: Box<Spanned<ContextExpectation>>,
    },
}

impl ContextExpectation {
    /// Reads one entry. Invalid values were reported before and give `None`.
    pub(in crate::scenario) fn read(node: &Node<'_>) -> Option<Spanned<Self>> {
        let test = Self::test(node)?;
        let Some(agent) = node.get("node").and_then(text) else {
            return Some(test);
        };
        Some(Spanned::new(
            Self::OfAgent {
                node: agent,
                test: Box::new(test),
            },
            node.span,
        ))
    }

    fn test(node: &Node<'_>) -> Option<Spanned<Self>> {
        let entry = node
            .entries()?
            .iter()
            .find(|entry| entry.key.value != "node")?;
        let value = &entry.value;
        let spanned =
            |number: &Node<'_>| whole(number).map(|found| Spanned::new(found, number.span));
        let inner = |value: &Node<'_>| {
            value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(Self::read)
                .collect()
        };
        let expectation = match entry.key.value.as_ref() {
            "segment" => Self::Segment {
                which: Selector::read(value)?,
                state: State::parse(value.get("state")?.text()?)?,
            },
            "segments" => Self::Segments(ids(value.get("exactly"))),
            "trust" => Self::Trust {
                segment: text(value.get("segment")?)?,
                is_trusted: trusted(value.get("is")?)?,
            },
            "contains" => Self::Contains(Patterns::read(value)?),
            "absent" => Self::Absent(Patterns::read(value)?),
            "order" => Self::Order(ids(Some(value))),
            "tokens" => Self::Tokens {
                of: Counted::read(value.get("of"))?,
                max: value.get("max").and_then(spanned),
                min: value.get("min").and_then(spanned),
            },
            "prompt_cache" => Self::PromptCache {
                min_reused: number(value.get("min_reused")?)?,
            },
            "nothing_cut" => Self::NothingCut(flag(value)?),
            "setting" => {
                let name = value.get("name")?;
                let expected = value.get("value")?;
                Self::Setting {
                    name: Spanned::new(SettingName::parse(name.text()?)?, name.span),
                    value: Spanned::new(word_of(expected)?.into_owned(), expected.span),
                    node: value.get("node").and_then(text),
                }
            }
            "tools" if value.entries().is_some() => Self::ToolsOf(ToolTest::read(value)),
            "tools" => Self::Tools(texts(Some(value))),
            "model" if value.entries().is_some() => Self::ModelOf(ModelTest::read(value)),
            "model" => Self::Model(text(value)?),
            "protected_paths" => Self::ProtectedPaths(texts(Some(value))),
            "lookup" => Self::Lookup(LookupTest::read(value)),
            "snapshot" => flag(value)?.then_some(Self::Snapshot)?,
            "not" => Self::Not(Box::new(Self::read(value)?)),
            "any_of" => Self::AnyOf(inner(value)),
            "all_of" => Self::AllOf(inner(value)),
            _ => return None,
        };
        Some(Spanned::new(expectation, node.span))
    }

    /// Its key in a scenario; `None` if it combines others.
    pub const fn key(&self) -> Option<&'static str> {
        Some(match self {
            Self::Segment { .. } => "segment",
            Self::Segments(_) => "segments",
            Self::Trust { .. } => "trust",
            Self::Contains(_) => "contains",
            Self::Absent(_) => "absent",
            Self::Order(_) => "order",
            Self::Tokens { .. } => "tokens",
            Self::PromptCache { .. } => "prompt_cache",
            Self::NothingCut(_) => "nothing_cut",
            Self::Setting { .. } => "setting",
            Self::Tools(_) | Self::ToolsOf(_) => "tools",
            Self::Model(_) | Self::ModelOf(_) => "model",
            Self::ProtectedPaths(_) => "protected_paths",
            Self::Lookup(_) => "lookup",
            Self::Snapshot => "snapshot",
            Self::OfAgent { test, .. } => return test.value.key(),
            Self::Not(_) | Self::AnyOf(_) | Self::AllOf(_) => return None,
        })
    }

    /// The expectations that this one contains.
    pub fn inner(&self) -> &[Spanned<Self>] {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation holds others"
        )]
        match self {
            Self::Not(inner) | Self::OfAgent { test: inner, .. } => std::slice::from_ref(&**inner),
            Self::AnyOf(inner) | Self::AllOf(inner) => inner,
            _ => &[],
        }
    }

    /// The patterns that it searches for.
    pub fn patterns(&self) -> &[Spanned<String>] {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation has patterns"
        )]
        match self {
            Self::Contains(found) | Self::Absent(found) => &found.patterns,
            _ => &[],
        }
    }

    /// The paths of the JSON Schema files that it references.
    pub fn schema_files(&self) -> impl Iterator<Item = &str> {
        let test = if let Self::ToolsOf(test) = self {
            Some(test)
        } else {
            None
        };
        test.into_iter().flat_map(ToolTest::schema_files)
    }

    /// The names by which it selects segments.
    pub fn named(&self) -> Vec<Named<'_>> {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation is about segments"
        )]
        match self {
            Self::Segment { which, .. }
            | Self::Tokens {
                of: Counted::Segment(which),
                ..
            } => which.named().into_iter().collect(),
            Self::Contains(found) | Self::Absent(found) => {
                found.within.iter().filter_map(Selector::named).collect()
            }
            Self::Order(ids) | Self::Segments(ids) => ids.iter().map(Named::Id).collect(),
            Self::Trust { segment, .. } => vec![Named::Id(segment)],
            _ => Vec::new(),
        }
    }

    /// Describes the expectation as reports print it.
    pub fn words(&self) -> String {
        let list = |inner: &[Spanned<Self>]| {
            inner
                .iter()
                .map(|inner| inner.value.words())
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::Segment { which, state } => format!("{} {}", which.words(), state.word()),
            Self::Segments(ids) => format!("exactly the segments {}", listed(ids)),
            Self::Trust {
                segment,
                is_trusted,
            } => format!("segment `{}` is {}", segment.value, trust_word(*is_trusted)),
            Self::Contains(found) => format!("{} contains {}", found.place(), found.words()),
            Self::Absent(found) => format!("{} does not contain {}", found.place(), found.words()),
            Self::Order(ids) => format!("order {}", listed(ids)),
            Self::Tokens { of, max, min } => {
                let max = max.as_ref().map(|max| format!("at most {}", max.value));
                let min = min.as_ref().map(|min| format!("at least {}", min.value));
                let bounds: Vec<String> = min.into_iter().chain(max).collect();
                format!("{} {}", of.words(), bounds.join(" and "))
            }
            Self::PromptCache { min_reused } => {
                format!("prompt cache reuses at least {} %", percent(*min_reused))
            }
            Self::NothingCut(true) => "nothing cut".to_owned(),
            Self::NothingCut(false) => "something cut".to_owned(),
            Self::Setting { name, value, node } => format!(
                "setting {} is {}",
                setting(name.value, node.as_ref()),
                value.value
            ),
            Self::Tools(names) => format!("tools {}", quoted(names)),
            Self::ToolsOf(test) => test.words(),
            Self::Model(name) => format!("model `{}`", name.value),
            Self::ModelOf(test) => test.words(),
            Self::ProtectedPaths(paths) => format!("protected paths {}", quoted(paths)),
            Self::Lookup(test) => test.words(),
            Self::Snapshot => "snapshot".to_owned(),
            Self::Not(inner) => format!("not ({})", inner.value.words()),
            Self::AnyOf(inner) => format!("any of ({})", list(inner)),
            Self::AllOf(inner) => format!("all of ({})", list(inner)),
            Self::OfAgent { node, test } => format!("`{}`: {}", node.value, test.value.words()),
        }
    }
}

/// Iterates over every expectation of a list, including those inside others, in order.
pub fn each<'e>(
    all: &'e [Spanned<ContextExpectation>],
) -> impl Iterator<Item = &'e Spanned<ContextExpectation>> {
    let mut open: Vec<&'e Spanned<ContextExpectation>> = all.iter().rev().collect();
    std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.value.inner().iter().rev());
        Some(next)
    })
}

pub use super::segments::trust_word;
pub use super::tools::quoted;

/// Describes a setting of a node.
pub fn setting(name: SettingName, node: Option<&Spanned<String>>) -> String {
    node.map_or_else(
        || name.word().to_owned(),
        |node| format!("{} of {}", name.word(), node.value),
    )
}
