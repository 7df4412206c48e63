//! Expectations on segments of a context: the selection, their states, patterns in them and their
//! tokens.

use crate::base::span::Spanned;
use crate::base::words::words;
use crate::kernel::context::Kind;
use crate::scenario::table::KeyGroup::{AtLeastOne as AtLeast, ExactlyOne};
use crate::scenario::table::{
    NamedThingKind, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use crate::scenario::values::{MAX_EXACT_NUMBER, read_patterns, read_text, read_texts};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// The words of `of` in `tokens`.
const COUNTED_WORDS: &[&str] = &["total", "prefix"];

/// `segment`.
pub(super) static SEGMENT_TABLE: ScenarioTable = ScenarioTable {
    what: "`segment`",
    keys: &[
        optional_key("id", ScenarioShape::Text, "the segment with this id, as `ctxc manifest` shows it").with_names(NamedThingKind::Segment),
        optional_key("kind", ScenarioShape::Word(&Kind::WORDS), "all segments of a kind"),
        optional_key(
            "source",
            ScenarioShape::Text,
            "all segments with text from a source: the path of a file, the name of a fragment, input or step",
        )
        .with_names(NamedThingKind::Source),
        required_key("state", ScenarioShape::Word(&SegmentState::WORDS), "present in full, cut, dropped for lack of budget, or not part of this context"),
    ],
    groups: &[ExactlyOne(&["id", "kind", "source"])],
};

/// `segments`.
pub(super) static SEGMENTS_TABLE: ScenarioTable = ScenarioTable {
    what: "`segments`",
    keys: &[required_key(
        "exactly",
        ScenarioShape::List(&ScenarioShape::Text, 0),
        "these segments are in the request in this order, and no others; `history:1..30` is thirty messages of a conversation",
    )
    .with_names(NamedThingKind::Segment)],
    groups: &[],
};

/// The prefix of the ids of conversation messages.
const MESSAGE_ID_PREFIX: &str = "history:";
/// The maximum number of messages in one range.
const MAX_RANGE_LENGTH: usize = 100_000;

/// Reads ids of segments. `history:1..30` stands for the first to the thirtieth message of the
/// conversation.
pub(super) fn read_ids(node: Option<&YamlNode<'_>>) -> Vec<Spanned<String>> {
    let mut out = Vec::new();
    for id in read_texts(node) {
        let bounds = id
            .value
            .strip_prefix(MESSAGE_ID_PREFIX)
            .and_then(|range| range.split_once(".."));
        let bounds = bounds
            .and_then(|(from, to)| Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?)));
        match bounds.filter(|(from, to)| from <= to && to - from < MAX_RANGE_LENGTH) {
            Some((from, to)) => out.extend(
                (from..=to)
                    .map(|number| Spanned::new(format!("{MESSAGE_ID_PREFIX}{number}"), id.span)),
            ),
            None => out.push(id),
        }
    }
    out
}

/// Shortens ids of segments: consecutive messages become a range.
pub fn collapse_ids<'i>(ids: impl IntoIterator<Item = &'i str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    // The first and the last number of the range that was written last.
    let mut open: Option<(usize, usize)> = None;
    for id in ids {
        let number = id
            .strip_prefix(MESSAGE_ID_PREFIX)
            .and_then(|number| number.parse::<usize>().ok());
        open = match (open, number) {
            (Some((from, to)), Some(number)) if number == to + 1 => {
                out.pop();
                out.push(format!("{MESSAGE_ID_PREFIX}{from}..{number}"));
                Some((from, number))
            }
            (_, number) => {
                out.push(id.to_owned());
                number.map(|number| (number, number))
            }
        };
    }
    out
}

/// Lists ids of segments; a long list is replaced by their number.
pub fn describe_ids(ids: &[Spanned<String>]) -> String {
    /// The maximum number of listed ids.
    const MAX_LISTED_IDS: usize = 6;
    let shown = collapse_ids(ids.iter().map(|id| id.value.as_str()));
    match shown.len() {
        0 => "none".to_owned(),
        1..=MAX_LISTED_IDS => shown
            .iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", "),
        _ => format!("these {}", ids.len()),
    }
}

/// The words of `is` in `trust`.
const TRUST_WORDS: [&str; 2] = ["trusted", "untrusted"];

/// `trust`.
pub(super) static TRUST_TABLE: ScenarioTable = ScenarioTable {
    what: "`trust`",
    keys: &[
        required_key("segment", ScenarioShape::Text, "the segment with this id")
            .with_names(NamedThingKind::Segment),
        required_key(
            "is",
            ScenarioShape::Word(&TRUST_WORDS),
            "`trusted`: an author's own text; `untrusted`: from outside, and so fenced",
        ),
    ],
    groups: &[],
};

/// Reads the value of `is`.
pub(super) fn read_trust(node: &YamlNode<'_>) -> Option<bool> {
    TRUST_WORDS
        .iter()
        .position(|word| Some(*word) == node.text())
        .map(|at| at == 0)
}

/// Returns the word for a trust value.
pub const fn trust_word(is_trusted: bool) -> &'static str {
    let [trusted, untrusted] = TRUST_WORDS;
    if is_trusted { trusted } else { untrusted }
}

static SELECTOR_TABLE: ScenarioTable = ScenarioTable {
    what: "a choice of segments",
    keys: &[
        optional_key("id", ScenarioShape::Text, "the segment with this id")
            .with_names(NamedThingKind::Segment),
        optional_key(
            "kind",
            ScenarioShape::Word(&Kind::WORDS),
            "all segments of a kind",
        ),
        optional_key(
            "source",
            ScenarioShape::Text,
            "all segments with text from a source",
        )
        .with_names(NamedThingKind::Source),
    ],
    groups: &[ExactlyOne(&["id", "kind", "source"])],
};

/// `contains` and `absent`.
pub(super) static PATTERNS_TABLE: ScenarioTable = ScenarioTable {
    what: "a mapping of patterns",
    keys: &[
        optional_key(
            "in",
            ScenarioShape::IdOr(&SELECTOR_TABLE),
            "the searched text: a segment by its id, `{kind: …}`, `{source: …}`, or `whole`, the default",
        )
        .with_names(NamedThingKind::Segment),
        required_key(
            "patterns",
            ScenarioShape::Patterns,
            "regular expressions, unanchored, case-sensitive",
        ),
    ],
    groups: &[],
};

/// `tokens`.
pub(super) static TOKENS_TABLE: ScenarioTable = ScenarioTable {
    what: "`tokens`",
    keys: &[
        optional_key(
            "of",
            ScenarioShape::WordOr(COUNTED_WORDS, &SELECTOR_TABLE),
            "all kept segments (`total`, the default), the prefix that a provider's cache can reuse (`prefix`), or chosen segments",
        ),
        optional_key("max", ScenarioShape::Whole(0, MAX_EXACT_NUMBER), "at most"),
        optional_key("min", ScenarioShape::Whole(0, MAX_EXACT_NUMBER), "at least"),
    ],
    groups: &[AtLeast(&["max", "min"])],
};

/// A selection of segments of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum SegmentSelector {
    /// The segment with an id.
    Id(Spanned<String>),
    /// The segments of a kind.
    Kind(Spanned<Kind>),
    /// The segments with text from a source: the path of a file, or the name of a fragment, input
    /// or step.
    Source(Spanned<String>),
}

impl SegmentSelector {
    /// Reads `{id: …}`, `{kind: …}` or `{source: …}`; a text is an id.
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
        if let Some(id) = read_text(node).or_else(|| node.get("id").and_then(read_text)) {
            return Some(Self::Id(id));
        }
        if let Some(kind) = node.get("kind").and_then(read_text) {
            let found = Kind::from_word(&kind.value)?;
            return Some(Self::Kind(Spanned::new(found, kind.span)));
        }
        node.get("source").and_then(read_text).map(Self::Source)
    }

    /// The name by which it selects; `None` for a kind.
    pub fn segment_name(&self) -> Option<SegmentName<'_>> {
        match self {
            Self::Id(id) => Some(SegmentName::Id(id)),
            Self::Source(name) => Some(SegmentName::Source(name)),
            Self::Kind(_) => None,
        }
    }

    /// Describes the selected segments.
    pub fn describe(&self) -> String {
        match self {
            Self::Id(id) => format!("segment `{}`", id.value),
            Self::Kind(kind) => format!("segment of kind `{}`", kind.value.as_str()),
            Self::Source(name) => format!("segment from `{}`", name.value),
        }
    }
}

/// A name by which segments are selected.
#[derive(Clone, Copy, Debug)]
pub enum SegmentName<'e> {
    /// An id.
    Id(&'e Spanned<String>),
    /// The source of their text.
    Source(&'e Spanned<String>),
}

words! {
    /// The state of segments in a context.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum SegmentState {
        /// Included in full.
        Kept = "kept",
        /// Included in part.
        Cut = "cut",
        /// Omitted for lack of room.
        Dropped = "dropped",
        /// Not part of this context.
        Absent = "absent",
    }
}

/// Patterns and the text in which they are searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatternTest {
    /// The selected segments, as included; `None` for the whole context.
    pub within: Option<SegmentSelector>,
    /// Regular expressions of the crate `regex`, unanchored and case-sensitive.
    pub patterns: Vec<Spanned<String>>,
}

impl PatternTest {
    /// Reads patterns with or without `in`.
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
        if node.entries().is_none() {
            return Some(Self {
                within: None,
                patterns: read_patterns(node),
            });
        }
        let place = node.get("in").filter(|place| place.text() != Some("whole"));
        let patterns = read_patterns(node.get("patterns")?);
        Some(Self {
            within: place
                .map(SegmentSelector::read)
                .map_or(Some(None), |found| found.map(Some))?,
            patterns,
        })
    }

    /// Describes the searched text.
    pub fn describe_place(&self) -> String {
        self.within
            .as_ref()
            .map_or_else(|| "the context".to_owned(), SegmentSelector::describe)
    }

    /// Lists the patterns.
    pub fn describe(&self) -> String {
        super::answer::join_enclosed(&self.patterns, "/", "/")
    }
}

/// The tokens that an expectation counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum CountedTokens {
    /// All included tokens.
    Total,
    /// The prefix that a provider's cache can reuse.
    Prefix,
    /// Selected segments.
    Segment(SegmentSelector),
}

impl CountedTokens {
    /// Reads the value of `of`.
    pub(super) fn read(node: Option<&YamlNode<'_>>) -> Option<Self> {
        let Some(node) = node else {
            return Some(Self::Total);
        };
        match node.text() {
            Some("total") => Some(Self::Total),
            Some("prefix") => Some(Self::Prefix),
            Some(_) => None,
            None => SegmentSelector::read(node).map(Self::Segment),
        }
    }

    /// Describes the counted tokens.
    pub fn describe(&self) -> String {
        match self {
            Self::Total => "tokens in all".to_owned(),
            Self::Prefix => "tokens of the reusable prefix".to_owned(),
            Self::Segment(which) => format!("tokens of {}", which.describe()),
        }
    }
}
