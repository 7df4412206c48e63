//! What an agent receives, as segments: who said each text, how long it stays true, what may be cut from it.
//!
//! Plain data. Never counts, never renders, never orders: `fit` decides what stays, renderers decide where it stands.

use super::conversation::Turn;
use crate::base::words::{open_words, words};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Range;

open_words! {
    /// What a segment is. The order is that of the sources, which breaks ties. Written as its word.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum Kind {
        /// The definition of a tool: stands in front of all messages, and is none.
        Tools = "tools",
        /// Who the agent is.
        System = "system",
        /// What is to be done.
        Description = "description",
        /// How.
        Instructions = "instructions",
        /// What a good answer satisfies.
        Criteria = "criteria",
        /// The form of the answer.
        OutputFormat = "output_format",
        /// What the answer must keep to.
        Constraints = "constraints",
        /// A value of the task.
        Input = "input",
        /// The result of the stage before.
        PreviousOutput = "previous_output",
        /// What an earlier step left.
        Accumulated = "accumulated",
        /// A file that is always there.
        File = "file",
        /// A part of the parent's context.
        Inherited = "inherited",
        /// Context that was looked up.
        Fresh = "fresh",
        /// Pairs of input and output to learn from.
        Examples = "examples",
        /// Earlier turns of a conversation.
        History = "history",
        /// What earlier attempts ran into.
        FailureHistory = "failure_history",
    }
    else
    /// A kind of an organisation's own.
    #[cfg_attr(feature = "cli", schemars(skip))]
    Custom(&'static CustomKind)
}

/// A kind of segments that an organisation brings along.
///
/// ```
/// use ctxc::runtime::{CustomKind, Kind, Segment};
///
/// static ALERTS: CustomKind = CustomKind { word: "alerts", title: "Alerts", priority: 2, behind: Kind::Constraints };
///
/// let segment = Segment::new(Kind::Custom(&ALERTS), "", "checkout: 12 % of requests fail");
/// assert_eq!((segment.id.as_str(), segment.priority()), ("alerts", 2));
/// assert!(Kind::Constraints < segment.kind && segment.kind < Kind::Input);
/// ```
#[derive(Debug)]
pub struct CustomKind {
    /// The word in reports: lower-case, unlike those of all other kinds.
    pub word: &'static str,
    /// The heading of such a segment.
    pub title: &'static str,
    /// What is dropped first has the greatest number; 0 and 1 are never cut.
    pub priority: u8,
    /// Its place among segments that hold as long and have the same priority: behind this kind.
    pub behind: Kind,
}

/// By the word alone.
impl PartialEq for CustomKind {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for CustomKind {}

impl Hash for CustomKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.word.hash(state);
    }
}

impl Kind {
    /// The word in manifests and scenarios.
    pub const fn word(self) -> &'static str {
        match (self, self.known()) {
            (Self::Custom(kind), _) => kind.word,
            (_, Some(word)) => word,
            (_, None) => "",
        }
    }

    /// What is dropped first has the greatest number; 0 and 1 are never cut. A segment may have [another](Segment::priority).
    pub const fn priority(self) -> u8 {
        match self {
            Self::Tools | Self::System => 0,
            Self::Description | Self::Instructions | Self::Criteria | Self::OutputFormat => 1,
            Self::Constraints | Self::Input => 2,
            Self::Accumulated | Self::PreviousOutput => 3,
            Self::File | Self::Inherited | Self::Fresh | Self::Examples | Self::History => 4,
            Self::FailureHistory => 5,
            Self::Custom(kind) => kind.priority,
        }
    }

    /// The kind of the kernel's own with a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Its place among the kernel's own kinds, and its word where it is none of those.
    fn place(self) -> (Option<usize>, Option<&'static str>) {
        if let Self::Custom(kind) = self {
            return (kind.behind.place().0, Some(kind.word));
        }
        (Self::ALL.iter().position(|kind| *kind == self), None)
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Of the kernel's own kinds alone: nobody else's are known here.
impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        Self::named(&word).ok_or_else(|| D::Error::unknown_variant(&word, &Self::WORDS))
    }
}

/// The least priority whose segments may be cut or dropped.
pub const FIRST_EXPENDABLE: u8 = 2;
/// The priority of an input that is untrusted: that of all else that others have written.
const FOREIGN: u8 = 4;

words! {
    /// How long a text stays the same from call to call: the longer, the further in front it stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Stability {
        /// As long as the template.
        Fixed = "fixed",
        /// As long as the project's files.
        Project = "project",
        /// For one run of a pipeline or conversation.
        Session = "session",
        /// For one call.
        Call = "call",
    }
}

/// Whether a text may give the agent orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// The author's own.
    #[default]
    Trusted,
    /// From outside: fenced when it is rendered, and never part of what the system says.
    Untrusted,
}

impl Trust {
    /// Whether it may.
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}

/// Where a stretch of a segment's text comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A text of the definition: node and field, such as `/steps/1` and `instructions`, and how many of its lines lie before.
    Template {
        /// The definition.
        task: String,
        /// The node.
        node: String,
        /// The field, such as `instructions`, `constraints/1` or `examples/0/input`.
        field: String,
        /// Lines of the field's text before this stretch.
        line: u32,
    },
    /// A fragment, by name.
    Fragment {
        /// Its name.
        name: String,
        /// Lines of the fragment's text before this stretch.
        line: u32,
    },
    /// A file, relative to the project root.
    File {
        /// Its path.
        path: String,
        /// Lines of the file before this stretch.
        line: u32,
    },
    /// The JSON Schema of an answer, by its file relative to the project root.
    Schema {
        /// Its path.
        path: String,
    },
    /// The value of an input or parameter, by name.
    Input {
        /// Its name.
        name: String,
    },
    /// The result of an earlier step, by its name or node.
    Result {
        /// The step.
        name: String,
    },
    /// What the caller handed in as the parent's context, by the id of its segment.
    Parent {
        /// The segment.
        id: String,
    },
    /// What a source of fresh context found, by its own id.
    Match {
        /// The document.
        id: String,
    },
    /// Earlier attempts.
    History,
    /// The conversation so far.
    Conversation,
    /// Words of ctxc itself: headings, separators, the mark of a cut.
    Frame,
}

/// A stretch of text of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Bytes of the segment's text.
    pub range: Range<usize>,
    /// Where they come from.
    pub origin: Origin,
}

/// A text whose stretches are known. The stretches cover it without gaps, in order. Before a run it may be open: there are places where
/// something will stand that nobody knows yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    text: String,
    stretches: Vec<Stretch>,
    /// Places in the text, in order.
    open: Vec<usize>,
    /// Ranges of the text that others wrote, in order.
    untrusted: Vec<Range<usize>>,
}

impl Traced {
    /// A text of one origin.
    pub fn new(text: impl Into<String>, origin: Origin) -> Self {
        let mut traced = Self::default();
        traced.push(&text.into(), origin);
        traced
    }

    /// Appends a stretch.
    pub fn push(&mut self, text: &str, origin: Origin) {
        if text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.stretches.push(Stretch { range: start..self.text.len(), origin });
    }

    /// Appends another text with its stretches.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        let moved = |stretch: &Stretch| Stretch {
            range: stretch.range.start + start..stretch.range.end + start,
            origin: stretch.origin.clone(),
        };
        self.stretches.extend(other.stretches.iter().map(moved));
        self.open.extend(other.open.iter().map(|at| at + start));
        self.untrusted.extend(other.untrusted.iter().map(|range| range.start + start..range.end + start));
    }

    /// Marks the text from a byte to its end as written by others. With nothing there, it marks the place of a value that is empty or
    /// not known yet.
    pub fn mark_untrusted(&mut self, start: usize) {
        let start = start.min(self.text.len());
        self.untrusted.retain(|range| range.start < start);
        self.untrusted.push(start..self.text.len());
    }

    /// The ranges of the text that others wrote, each in its fence, in order.
    pub fn untrusted(&self) -> &[Range<usize>] {
        &self.untrusted
    }

    /// The author's part of the text.
    #[must_use]
    pub fn without_untrusted(&self) -> Self {
        let mut out = Self::default();
        let mut start = 0;
        for range in &self.untrusted {
            out.append(&self.slice(start..range.start.max(start)));
            start = range.end.max(start);
        }
        out.append(&self.slice(start..self.text.len()));
        out.open.dedup();
        out.untrusted.clear();
        out
    }

    /// The same text as one stretch of one origin.
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        Self { untrusted: self.untrusted.clone(), ..Self::new(self.text.as_str(), origin) }
    }

    /// Says that something will stand here that is not known yet.
    pub fn leave_open(&mut self) {
        if self.open.last() != Some(&self.text.len()) {
            self.open.push(self.text.len());
        }
    }

    /// The places where something will stand that is not known yet, in order.
    pub fn open(&self) -> &[usize] {
        &self.open
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its stretches, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Whether there is no text.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The part in a range of bytes; both ends must be ends of characters, else the nearest before is taken.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = self.text.floor_char_boundary(range.end.min(self.text.len()));
        let start = self.text.floor_char_boundary(range.start.min(end));
        let mut part = Self { text: self.text.get(start..end).unwrap_or("").to_owned(), ..Self::default() };
        part.open.extend(self.open.iter().filter(|at| (start..=end).contains(*at)).map(|at| at - start));
        for range in &self.untrusted {
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to || range.is_empty() && from == to {
                part.untrusted.push(from - start..to - start);
            }
        }
        for stretch in &self.stretches {
            let from = stretch.range.start.max(start);
            let to = stretch.range.end.min(end);
            if from < to {
                let skipped = self.text.get(stretch.range.start..from).unwrap_or("");
                let origin = stretch.origin.clone().down(lines(skipped));
                part.stretches.push(Stretch { range: from - start..to - start, origin });
            }
        }
        part
    }
}

fn lines(text: &str) -> u32 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32
}

impl Origin {
    /// The origin of what stands some lines further down.
    #[must_use]
    pub fn down(mut self, by: u32) -> Self {
        if let Some(line) = self.line() {
            *line += by;
        }
        self
    }

    /// Lines of the text before it, where those are known.
    pub(crate) fn line(&mut self) -> Option<&mut u32> {
        if let Self::Template { line, .. } | Self::Fragment { line, .. } | Self::File { line, .. } = self {
            Some(line)
        } else {
            None
        }
    }
}

/// Where a segment may be cut when it does not fit whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// After any token, from the end.
    #[default]
    Tail,
    /// Only at these bytes, from the end: what is between two of them stays whole.
    TailAt(Vec<usize>),
    /// Only at these bytes, from the front: what came last stays.
    HeadAt(Vec<usize>),
}

/// A block of context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Names it within one context, such as `system`, `input:ticket` or `file:docs/runbook.md`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// What it is called in a heading: the input's name, the file's path. Empty where the kind says everything.
    pub title: String,
    /// Its text.
    pub text: Traced,
    /// How long it stays the same.
    pub stability: Stability,
    /// Whether it may give orders.
    pub trust: Trust,
    /// Set for a trusted text that holds values from outside, each in a fence of its own.
    pub has_untrusted_values: bool,
    /// Where it may be cut.
    pub cut: Cut,
    /// Why it is there, in words: the setting or element that asked for it.
    pub why: String,
    /// Its priority, where that of its kind does not hold: the request itself, what a trusted author wrote around the agent.
    pub priority: Option<u8>,
    /// The most tokens that it may have; what may not be cut is not bound by it.
    pub max_tokens: Option<usize>,
    /// The messages that it is, where it is no text in one; `text` is how they read, one behind the other.
    pub turns: Vec<Turn>,
}

impl Segment {
    /// A segment that a host hands in: it holds for the session, may give orders, may be cut at its end, and is named after its
    /// kind and title.
    pub fn new(kind: Kind, title: impl Into<String>, text: impl Into<String>) -> Self {
        let title = title.into();
        let id = if title.is_empty() { kind.word().to_owned() } else { format!("{}:{title}", kind.word()) };
        let text = Traced::new(text, Origin::Parent { id: id.clone() });
        Self::of(kind, text, "handed in").named(id, title).stable(Stability::Session)
    }

    /// A segment of a template's own: named after its kind, it holds as long as the template, may give orders and may be cut at its end.
    pub fn of(kind: Kind, text: Traced, why: impl Into<String>) -> Self {
        Self {
            id: kind.word().to_owned(),
            kind,
            title: String::new(),
            text,
            stability: Stability::Fixed,
            trust: Trust::Trusted,
            has_untrusted_values: false,
            cut: Cut::Tail,
            why: why.into(),
            priority: None,
            max_tokens: None,
            turns: Vec::new(),
        }
    }

    /// Messages of their own: untrusted where they are a conversation, and without a fence, since a message is a border itself.
    pub fn of_turns(kind: Kind, id: impl Into<String>, turns: Vec<Turn>, origin: Origin, why: impl Into<String>) -> Self {
        let text: String = turns.iter().map(|turn| turn.read().text).collect();
        Self { turns, ..Self::of(kind, Traced::new(text, origin), why).named(id, "") }
    }

    /// Whether it is a message of the conversation.
    pub fn is_turn(&self) -> bool {
        self.kind == Kind::History && !self.turns.is_empty()
    }

    /// Trust of all that an agent reads in it: untrusted, too, where a value inside its text is.
    pub fn overall_trust(&self) -> Trust {
        if self.has_untrusted_values { Trust::Untrusted } else { self.trust }
    }

    /// What is dropped first has the greatest number; 0 and 1 are never cut.
    pub fn priority(&self) -> u8 {
        let of_kind = if (self.kind, self.trust) == (Kind::Input, Trust::Untrusted) { FOREIGN } else { self.kind.priority() };
        self.priority.unwrap_or(of_kind)
    }

    /// Its place among those that hold as long: by priority, then by kind, and of one kind what is untrusted behind what is not.
    pub fn turn(&self) -> (u8, Kind, Trust) {
        (self.priority(), self.kind, self.trust)
    }

    /// The same with a priority of its own.
    #[must_use]
    pub fn prior(self, priority: u8) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// The same under another id, with a title.
    #[must_use]
    pub fn named(self, id: impl Into<String>, title: impl Into<String>) -> Self {
        Self { id: id.into(), title: title.into(), ..self }
    }

    /// The same, from outside: it is fenced and gives no orders.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self { trust: Trust::Untrusted, ..self }
    }

    /// The same, which holds for as long.
    #[must_use]
    pub fn stable(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }
}
