//! Expectations on segments of a context: the selection, their states, patterns in them and their
//! tokens.

use crate::base::span::Spanned;
use crate::base::words::words;
use crate::kernel::context::Kind;
use crate::scenario::table::Group::{One, Some as AtLeast};
use crate::scenario::table::{Shape, Table, Thing, key, needed};
use crate::scenario::values::{patterns, text, texts};
use crate::scenario::words::MOST;
use crate::syntax::yaml::Node;
use serde::Serialize;

/// The words of `of` in `tokens`.
const COUNTED: &[&str] = &["total", "prefix"];

/// `segment`.
pub(super) static SEGMENT: Table = Table {
    what: "`segment`",
    keys: &[
        key("id", Shape::Text, "the segment with this id, as `ctxc manifest` shows it").names(Thing::Segment),
        key("kind", Shape::Word(&Kind::WORDS), "all segments of a kind"),
        key(
            "source",
            Shape::Text,
            "all segments with text from a source: the path of a file, the name of a fragment, input or step",
        )
        .names(Thing::Source),
        needed("state", Shape::Word(&State::WORDS), "there in full, cut, dropped for lack of room, or not part of this context"),
    ],
    groups: &[One(&["id", "kind", "source"])],
};

/// `segments`.
pub(super) static SEGMENTS: Table = Table {
    what: "`segments`",
    keys: &[needed(
        "exactly",
        Shape::List(&Shape::Text, 0),
        "these segments are in the request in this order, and no others; `history:1..30` is thirty messages of a conversation",
    )
    .names(Thing::Segment)],
    groups: &[],
};

/// The prefix of the ids of conversation messages.
const MESSAGE: &str = "history:";
/// The maximum number of messages in one range.
const LONGEST: usize = 100_000;

/// Reads ids of segments. `history:1..30` stands for the first to the thirtieth message of the
/// conversation.
pub(super) fn ids(node: Option<&Node<'_>>) -> Vec<Spanned<String>> {
    let mut out = Vec::new();
    for id in texts(node) {
        let bounds = id
            .value
            .strip_prefix(MESSAGE)
            .and_then(|range| range.split_once(".."));
        let bounds = bounds
            .and_then(|(from, to)| Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?)));
        match bounds.filter(|(from, to)| from <= to && to - from < LONGEST) {
            Some((from, to)) => out.extend(
                (from..=to).map(|number| Spanned::new(format!("{MESSAGE}{number}"), id.span)),
            ),
            None => out.push(id),
        }
    }
    out
}

/// Shortens ids of segments: consecutive messages become a range.
pub fn ranges<'i>(ids: impl IntoIterator<Item = &'i str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    // The first and the last number of the range that was written last.
    let mut open: Option<(usize, usize)> = None;
    for id in ids {
        let number = id
            .strip_prefix(MESSAGE)
            .and_then(|number| number.parse::<usize>().ok());
        open = match (open, number) {
            (Some((from, to)), Some(number)) if number == to + 1 => {
                out.pop();
                out.push(format!("{MESSAGE}{from}..{number}"));
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
pub fn listed(ids: &[Spanned<String>]) -> String {
    /// The maximum number of listed ids.
    const LISTED: usize = 6;
    let shown = ranges(ids.iter().map(|id| id.value.as_str()));
    match shown.len() {
        0 => "none".to_owned(),
        1..=LISTED => shown
            .iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", "),
        _ => format!("these {}", ids.len()),
    }
}

/// The words of `is` in `trust`.
const TRUSTS: [&str; 2] = ["trusted", "untrusted"];

/// `trust`.
pub(super) static TRUST: Table = Table {
    what: "`trust`",
    keys: &[
        needed("segment", Shape::Text, "the segment with this id").names(Thing::Segment),
        needed(
            "is",
            Shape::Word(&TRUSTS),
            "`trusted`: an author's own words; `untrusted`: from outside, and so fenced",
        ),
    ],
    groups: &[],
};

/// Reads the value of `is`.
pub(super) fn trusted(node: &Node<'_>) -> Option<bool> {
    TRUSTS
        .iter()
        .position(|word| Some(*word) == node.text())
        .map(|at| at == 0)
}

/// Returns the word for a trust value.
pub const fn trust_word(is_trusted: bool) -> &'static str {
    let [trusted, untrusted] = TRUSTS;
    if is_trusted { trusted } else { untrusted }
}

static SELECTOR: Table = Table {
    what: "a choice of segments",
    keys: &[
        key("id", Shape::Text, "the segment with this id").names(Thing::Segment),
        key("kind", Shape::Word(&Kind::WORDS), "all segments of a kind"),
        key(
            "source",
            Shape::Text,
            "all segments with text from a source",
        )
        .names(Thing::Source),
    ],
    groups: &[One(&["id", "kind", "source"])],
};

/// `contains` and `absent`.
pub(super) static PATTERNS: Table = Table {
    what: "a mapping of patterns",
    keys: &[
        key(
            "in",
            Shape::IdOr(&SELECTOR),
            "where: a segment by its id, `{kind: …}`, `{source: …}`, or `whole`, the default",
        )
        .names(Thing::Segment),
        needed(
            "patterns",
            Shape::Patterns,
            "regular expressions, unanchored, case-sensitive",
        ),
    ],
    groups: &[],
};

/// `tokens`.
pub(super) static TOKENS: Table = Table {
    what: "`tokens`",
    keys: &[
        key(
            "of",
            Shape::WordOr(COUNTED, &SELECTOR),
            "everything that is kept (`total`, the default), what a provider's cache can reuse (`prefix`), or segments",
        ),
        key("max", Shape::Whole(0, MOST), "at most"),
        key("min", Shape::Whole(0, MOST), "at least"),
    ],
    groups: &[AtLeast(&["max", "min"])],
};

/// A selection of segments of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Selector {
    /// The segment with an id.
    Id(Spanned<String>),
    /// The segments of a kind.
    Kind(Spanned<Kind>),
    /// The segments with text from a source: the path of a file, or the name of a fragment, input
    /// or step.
    Source(Spanned<String>),
}

impl Selector {
    /// Reads `{id: …}`, `{kind: …}` or `{source: …}`; a text is an id.
    pub(super) fn read(node: &Node<'_>) -> Option<Self> {
        if let Some(id) = text(node).or_else(|| node.get("id").and_then(text)) {
            return Some(Self::Id(id));
        }
        if let Some(kind) = node.get("kind").and_then(text) {
            let found = Kind::named(&kind.value)?;
            return Some(Self::Kind(Spanned::new(found, kind.span)));
        }
        node.get("source").and_then(text).map(Self::Source)
    }

    /// The name by which it selects; `None` for a kind.
    pub fn named(&self) -> Option<Named<'_>> {
        match self {
            Self::Id(id) => Some(Named::Id(id)),
            Self::Source(name) => Some(Named::Source(name)),
            Self::Kind(_) => None,
        }
    }

    /// Describes the selected segments.
    pub fn words(&self) -> String {
        match self {
            Self::Id(id) => format!("segment `{}`", id.value),
            Self::Kind(kind) => format!("segment of kind `{}`", kind.value.word()),
            Self::Source(name) => format!("segment from `{}`", name.value),
        }
    }
}

/// A name by which segments are selected.
#[derive(Clone, Copy, Debug)]
pub enum Named<'e> {
    /// An id.
    Id(&'e Spanned<String>),
    /// The source of their text.
    Source(&'e Spanned<String>),
}

words! {
    /// The state of segments in a context.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum State {
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
pub struct Patterns {
    /// The selected segments, as included; `None` for the whole context.
    pub within: Option<Selector>,
    /// Regular expressions of the crate `regex`, unanchored and case-sensitive.
    pub patterns: Vec<Spanned<String>>,
}

impl Patterns {
    /// Reads patterns with or without `in`.
    pub(super) fn read(node: &Node<'_>) -> Option<Self> {
        if node.entries().is_none() {
            return Some(Self {
                within: None,
                patterns: patterns(node),
            });
        }
        let place = node.get("in").filter(|place| place.text() != Some("whole"));
        let patterns = patterns(node.get("patterns")?);
        Some(Self {
            within: place
                .map(Selector::read)
                .map_or(Some(None), |found| found.map(Some))?,
            patterns,
        })
    }

    /// Describes the searched text.
    pub fn place(&self) -> String {
        self.within
            .as_ref()
            .map_or_else(|| "the context".to_owned(), Selector::words)
    }

    /// Lists the patterns.
    pub fn words(&self) -> String {
        super::answer::list(&self.patterns, "/", "/")
    }
}

/// The tokens that an expectation counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Counted {
    /// All included tokens.
    Total,
    /// The prefix that a provider's cache can reuse.
    Prefix,
    /// Selected segments.
    Segment(Selector),
}

impl Counted {
    /// Reads the value of `of`.
    pub(super) fn read(node: Option<&Node<'_>>) -> Option<Self> {
        let Some(node) = node else {
            return Some(Self::Total);
        };
        match node.text() {
            Some("total") => Some(Self::Total),
            Some("prefix") => Some(Self::Prefix),
            Some(_) => None,
            None => Selector::read(node).map(Self::Segment),
        }
    }

    /// Describes the counted tokens.
    pub fn words(&self) -> String {
        match self {
            Self::Total => "tokens in all".to_owned(),
            Self::Prefix => "tokens of the reusable prefix".to_owned(),
            Self::Segment(which) => format!("tokens of {}", which.words()),
        }
    }
}
