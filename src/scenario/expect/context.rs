//! Expectations on the context. A new one is a key, a variant and its arms here, and its check in
//! `eval::context::judge_context`.

use super::answer::AGENT_KEY_HELP;
use super::model::{MODEL_TABLE, ModelTest};
use super::segments::{
    CountedTokens, PATTERNS_TABLE, PatternTest, SEGMENT_TABLE, SEGMENTS_TABLE, SegmentName,
    SegmentSelector, SegmentState, TOKENS_TABLE, TRUST_TABLE, describe_ids, read_ids, read_trust,
};
use super::tools::{TOOLS_TABLE, ToolTest};
use crate::base::span::Spanned;
use crate::scenario::table::KeyGroup::AtLeastOne as AtLeast;
use crate::scenario::table::{
    KeyGroup, NamedThingKind, ScenarioKey, ScenarioShape, ScenarioTable, key_names, optional_key,
    required_key,
};
use crate::scenario::values::{
    read_flag, read_number, read_text, read_texts, read_whole, read_word,
};
use crate::syntax::yaml::YamlNode;
use crate::template::setting::{SettingName, Word};
use serde::Serialize;

pub use super::segments::trust_word;
pub use super::tools::backquoted_names;

/// The keys of an expectation, followed by further keys of a list entry.
macro_rules! keys {
    ($($last:expr)?) => {
        [
            optional_key("segment", ScenarioShape::Table(&SEGMENT_TABLE), "the state of a segment"),
            optional_key("segments", ScenarioShape::Table(&SEGMENTS_TABLE), "exactly the segments that the request is made of"),
            optional_key("trust", ScenarioShape::Table(&TRUST_TABLE), "the trust of a segment: it may give orders, or comes from outside and is fenced"),
            optional_key("contains", ScenarioShape::PatternsOr(&PATTERNS_TABLE), "each pattern occurs, in one segment or in the whole context"),
            optional_key("absent", ScenarioShape::PatternsOr(&PATTERNS_TABLE), "none of the patterns occurs"),
            optional_key("order", ScenarioShape::List(&ScenarioShape::Text, 2), "these segments come in this order; others may come between them")
                .with_names(NamedThingKind::Segment),
            optional_key("tokens", ScenarioShape::Table(&TOKENS_TABLE), "an upper or lower limit of tokens"),
            optional_key(
                "prompt_cache",
                ScenarioShape::Table(&PROMPT_CACHE_TABLE),
                "the share of the previous call that a provider's prompt cache can reuse, in a scenario with `request`",
            ),
            optional_key("nothing_cut", ScenarioShape::Bool, "every segment is present in full; `false`: one is not"),
            optional_key("setting", ScenarioShape::Setting, "the resolved value of a context setting: `{name, value, node}`"),
            optional_key(
                "tools",
                ScenarioShape::Or(&ScenarioShape::List(&ScenarioShape::Text, 0), &TOOLS_TABLE),
                "the tools of the agent; a list contains exactly those that the role allows, with `!` before those that it blocks: `!git_push`",
            ),
            optional_key("model", ScenarioShape::Or(&ScenarioShape::Text, &MODEL_TABLE), "the model that would be called, by its name in the project"),
            optional_key("protected_paths", ScenarioShape::List(&ScenarioShape::Text, 0), "exactly these paths may not be touched, in any order")
                .with_names(NamedThingKind::Path),
            optional_key(
                "lookup",
                ScenarioShape::Table(&LOOKUP_TABLE),
                "the result of a lookup in the project's files; it searches today's files, which no scenario freezes",
            ),
            optional_key(
                "snapshot",
                ScenarioShape::True,
                "the request equals the stored one: model, sampling, tools, form of the answer, and every word of the messages; a placeholder such as `⟦email⟧` in it stands for any value of its kind",
            ),
            optional_key("not", ScenarioShape::Table(&INNER_TEST_TABLE), "the expectation in it does not hold"),
            optional_key("any_of", ScenarioShape::List(&ScenarioShape::Table(&INNER_TEST_TABLE), 1), "one of the expectations in it holds"),
            optional_key("all_of", ScenarioShape::List(&ScenarioShape::Table(&INNER_TEST_TABLE), 1), "all expectations in it hold"),
            $($last,)?
        ]
    };
}

/// One entry of `expect_context`.
pub static CONTEXT_TEST_TABLE: ScenarioTable = ScenarioTable {
    what: "an expectation on the context",
    keys: &keys!(
        optional_key("node", ScenarioShape::Text, AGENT_KEY_HELP).with_names(NamedThingKind::Node)
    ),
    groups: &[KeyGroup::ExactlyOne(&CONTEXT_TEST_NAMES)],
};

/// The table inside `not`, `any_of` and `all_of`.
static INNER_TEST_TABLE: ScenarioTable = ScenarioTable {
    what: "an expectation inside another",
    keys: &CONTEXT_TEST_KEYS,
    groups: &[KeyGroup::ExactlyOne(&CONTEXT_TEST_NAMES)],
};

static CONTEXT_TEST_KEYS: [ScenarioKey; 18] = keys!();
static CONTEXT_TEST_NAMES: [&str; 18] = key_names(&CONTEXT_TEST_KEYS);

/// `prompt_cache`.
static PROMPT_CACHE_TABLE: ScenarioTable = ScenarioTable {
    what: "`prompt_cache`",
    keys: &[required_key(
        "min_reused",
        ScenarioShape::Number(0.0, 1.0),
        "the share of tokens of the previous call in its conversation that this call repeats unchanged at its start; 0 if it lost the cache breakpoints of the recorded call",
    )],
    groups: &[],
};

/// Converts a share to percent, rounded down to one decimal.
pub fn to_percent(share: f64) -> f64 {
    (share * 1000.0).floor() / 10.0
}

/// A condition on the context. Judging it needs no model and no recorded answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ContextExpectation {
    /// `segment: {id|kind|source, state}`
    Segment {
        /// The chosen segments.
        #[serde(rename = "which")]
        selector: SegmentSelector,
        /// Their expected state.
        state: SegmentState,
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
    Contains(PatternTest),
    /// `absent: {in, patterns}`: none of the patterns occurs.
    Absent(PatternTest),
    /// `order: [ids]`: these segments occur in this order; others may occur between them.
    Order(Vec<Spanned<String>>),
    /// `tokens: {of, max, min}`
    Tokens {
        /// The tokens that are counted.
        #[serde(rename = "of")]
        counted: CountedTokens,
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
    pub(in crate::scenario) fn read_entry(node: &YamlNode<'_>) -> Option<Spanned<Self>> {
        let test = Self::read_test(node)?;
        let Some(agent) = node.get("node").and_then(read_text) else {
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

    fn read_test(node: &YamlNode<'_>) -> Option<Spanned<Self>> {
        let entry = node
            .entries()?
            .iter()
            .find(|entry| entry.key.value != "node")?;
        let value = &entry.value;
        let spanned = |number: &YamlNode<'_>| {
            read_whole(number).map(|found| Spanned::new(found, number.span))
        };
        let inner = |value: &YamlNode<'_>| {
            value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(Self::read_entry)
                .collect()
        };
        let expectation = match entry.key.value.as_ref() {
            "segment" => Self::Segment {
                selector: SegmentSelector::read(value)?,
                state: SegmentState::parse(value.get("state")?.text()?)?,
            },
            "segments" => Self::Segments(read_ids(value.get("exactly"))),
            "trust" => Self::Trust {
                segment: read_text(value.get("segment")?)?,
                is_trusted: read_trust(value.get("is")?)?,
            },
            "contains" => Self::Contains(PatternTest::read(value)?),
            "absent" => Self::Absent(PatternTest::read(value)?),
            "order" => Self::Order(read_ids(Some(value))),
            "tokens" => Self::Tokens {
                counted: CountedTokens::read(value.get("of"))?,
                max: value.get("max").and_then(spanned),
                min: value.get("min").and_then(spanned),
            },
            "prompt_cache" => Self::PromptCache {
                min_reused: read_number(value.get("min_reused")?)?,
            },
            "nothing_cut" => Self::NothingCut(read_flag(value)?),
            "setting" => {
                let name = value.get("name")?;
                let expected = value.get("value")?;
                Self::Setting {
                    name: Spanned::new(SettingName::parse(name.text()?)?, name.span),
                    value: Spanned::new(read_word(expected)?.into_owned(), expected.span),
                    node: value.get("node").and_then(read_text),
                }
            }
            "tools" if value.entries().is_some() => Self::ToolsOf(ToolTest::read(value)),
            "tools" => Self::Tools(read_texts(Some(value))),
            "model" if value.entries().is_some() => Self::ModelOf(ModelTest::read(value)),
            "model" => Self::Model(read_text(value)?),
            "protected_paths" => Self::ProtectedPaths(read_texts(Some(value))),
            "lookup" => Self::Lookup(LookupTest::read(value)),
            "snapshot" => read_flag(value)?.then_some(Self::Snapshot)?,
            "not" => Self::Not(Box::new(Self::read_entry(value)?)),
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
    pub fn inner_expectations(&self) -> &[Spanned<Self>] {
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
    pub fn segment_names(&self) -> Vec<SegmentName<'_>> {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation is about segments"
        )]
        match self {
            Self::Segment {
                selector: which, ..
            }
            | Self::Tokens {
                counted: CountedTokens::Segment(which),
                ..
            } => which.segment_name().into_iter().collect(),
            Self::Contains(found) | Self::Absent(found) => found
                .within
                .iter()
                .filter_map(SegmentSelector::segment_name)
                .collect(),
            Self::Order(ids) | Self::Segments(ids) => ids.iter().map(SegmentName::Id).collect(),
            Self::Trust { segment, .. } => vec![SegmentName::Id(segment)],
            _ => Vec::new(),
        }
    }

    /// Describes the expectation as reports print it.
    pub fn describe(&self) -> String {
        let list = |inner: &[Spanned<Self>]| {
            inner
                .iter()
                .map(|inner| inner.value.describe())
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::Segment {
                selector: which,
                state,
            } => format!("{} {}", which.describe(), state.word()),
            Self::Segments(ids) => format!("exactly the segments {}", describe_ids(ids)),
            Self::Trust {
                segment,
                is_trusted,
            } => format!("segment `{}` is {}", segment.value, trust_word(*is_trusted)),
            Self::Contains(found) => {
                format!("{} contains {}", found.describe_place(), found.describe())
            }
            Self::Absent(found) => format!(
                "{} does not contain {}",
                found.describe_place(),
                found.describe()
            ),
            Self::Order(ids) => format!("order {}", describe_ids(ids)),
            Self::Tokens {
                counted: of,
                max,
                min,
            } => {
                let max = max.as_ref().map(|max| format!("at most {}", max.value));
                let min = min.as_ref().map(|min| format!("at least {}", min.value));
                let bounds: Vec<String> = min.into_iter().chain(max).collect();
                format!("{} {}", of.describe(), bounds.join(" and "))
            }
            Self::PromptCache { min_reused } => {
                format!("prompt cache reuses at least {} %", to_percent(*min_reused))
            }
            Self::NothingCut(true) => "nothing cut".to_owned(),
            Self::NothingCut(false) => "something cut".to_owned(),
            Self::Setting { name, value, node } => format!(
                "setting {} is {}",
                describe_setting(name.value, node.as_ref()),
                value.value
            ),
            Self::Tools(names) => format!("tools {}", backquoted_names(names)),
            Self::ToolsOf(test) => test.describe(),
            Self::Model(name) => format!("model `{}`", name.value),
            Self::ModelOf(test) => test.describe(),
            Self::ProtectedPaths(paths) => format!("protected paths {}", backquoted_names(paths)),
            Self::Lookup(test) => test.describe(),
            Self::Snapshot => "snapshot".to_owned(),
            Self::Not(inner) => format!("not ({})", inner.value.describe()),
            Self::AnyOf(inner) => format!("any of ({})", list(inner)),
            Self::AllOf(inner) => format!("all of ({})", list(inner)),
            Self::OfAgent { node, test } => format!("`{}`: {}", node.value, test.value.describe()),
        }
    }
}

/// Iterates over every expectation of a list, including those inside others, in order.
pub fn all_expectations<'e>(
    all: &'e [Spanned<ContextExpectation>],
) -> impl Iterator<Item = &'e Spanned<ContextExpectation>> {
    let mut open: Vec<&'e Spanned<ContextExpectation>> = all.iter().rev().collect();
    std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.value.inner_expectations().iter().rev());
        Some(next)
    })
}

/// Describes a setting of a node.
pub fn describe_setting(name: SettingName, node: Option<&Spanned<String>>) -> String {
    node.map_or_else(
        || name.word().to_owned(),
        |node| format!("{} of {}", name.word(), node.value),
    )
}

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
