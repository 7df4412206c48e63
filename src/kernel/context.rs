//! The segments of an agent's context: the trust of each text, its stability, and the positions at
//! which it may be cut.
//!
//! Plain data. Never counts, never renders, never orders: `fit` decides which segments stay,
//! renderers decide on their positions.

use super::conversation::Turn;
use crate::base::words::{open_words, words};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Range;

open_words! {
    /// Kinds of segments. The order is that of the sources, which breaks ties. Written as its word.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum Kind {
        /// The definition of a tool: it stands before all messages, and is none itself.
        Tools = "tools",
        /// The identity of the agent: its system text.
        System = "system",
        /// The task to be done.
        Description = "description",
        /// The way to do the task.
        Instructions = "instructions",
        /// The criteria of a good answer.
        Criteria = "criteria",
        /// The form of the answer.
        OutputFormat = "output_format",
        /// The constraints on the answer.
        Constraints = "constraints",
        /// A value of the task.
        Input = "input",
        /// The result of the previous stage.
        PreviousOutput = "previous_output",
        /// The result of an earlier step.
        Accumulated = "accumulated",
        /// A file that is always present.
        File = "file",
        /// A part of the parent's context.
        Inherited = "inherited",
        /// Context that was looked up.
        Fresh = "fresh",
        /// Pairs of input and output to learn from.
        Examples = "examples",
        /// Earlier turns of a conversation.
        History = "history",
        /// The obstacles of earlier attempts.
        FailureHistory = "failure_history",
    }
    else
    /// A kind of an organisation's own.
    #[cfg_attr(feature = "cli", schemars(skip))]
    Custom(&'static CustomKind)
}

/// A kind of segment defined by an organisation.
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
    /// The word in reports: lower-case, and different from those of all other kinds.
    pub word: &'static str,
    /// The heading of a segment of this kind.
    pub title: &'static str,
    /// The priority: the greatest is dropped first; 0 and 1 are never cut.
    pub priority: u8,
    /// Its position among segments of equal stability and priority: after this kind.
    pub behind: Kind,
}

/// Compares the word alone.
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
    pub const fn as_str(self) -> &'static str {
        match (self, self.known()) {
            (Self::Custom(kind), _) => kind.word,
            (_, Some(word)) => word,
            (_, None) => "",
        }
    }

    /// The priority: the greatest is dropped first; 0 and 1 are never cut. A segment may have
    /// [another](Segment::priority).
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

    /// Parses the word of one of the kernel's own kinds.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Its index among the kernel's own kinds, and the word of a custom kind.
    fn sort_key(self) -> (Option<usize>, Option<&'static str>) {
        if let Self::Custom(kind) = self {
            return (kind.behind.sort_key().0, Some(kind.word));
        }
        (Self::ALL.iter().position(|kind| *kind == self), None)
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Accepts only the kernel's own kinds: custom kinds are unknown here.
impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        Self::from_word(&word).ok_or_else(|| D::Error::unknown_variant(&word, &Self::WORDS))
    }
}

/// The lowest priority number whose segments may be cut or dropped.
pub const FIRST_EXPENDABLE: u8 = 2;
/// The priority of an untrusted input, the same as that of all other untrusted text.
const UNTRUSTED_INPUT_PRIORITY: u8 = 4;

words! {
    /// The scope within which a text stays the same from call to call: the wider it is, the further
    /// in front the text stands.
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

/// The trust in a text: only trusted text may give the agent orders.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// The author's own text.
    #[default]
    Trusted,
    /// Text from outside: fenced when it is rendered, and never part of the system text.
    Untrusted,
}

impl Trust {
    /// Returns true if the text may give orders.
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}

/// The origin of a stretch of a segment's text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A text of the definition: node and field, such as `/steps/1` and `instructions`, and the
    /// number of its lines before the stretch.
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
    /// A segment that the caller passed as the parent's context, by its id.
    Parent {
        /// The segment.
        id: String,
    },
    /// A passage from a source of fresh context, by its own id.
    Match {
        /// The document.
        id: String,
    },
    /// Earlier attempts.
    History,
    /// The conversation so far.
    Conversation,
    /// Text of ctxc itself: headings, separators, marks of cuts.
    #[serde(rename = "frame")]
    Generated,
}

/// A part of a text with a single origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Bytes of the segment's text.
    pub range: Range<usize>,
    /// The origin of the bytes.
    pub origin: Origin,
}

/// A text with the origins of its stretches, which cover it in order and without gaps. Before a run
/// the text may be open: at some positions a value will be inserted that is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedText {
    text: String,
    stretches: Vec<Stretch>,
    /// Positions in the text, in order.
    open: Vec<usize>,
    /// Untrusted ranges of the text, in order.
    untrusted: Vec<Range<usize>>,
}

impl TracedText {
    /// A text with a single origin.
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
        self.stretches.push(Stretch {
            range: start..self.text.len(),
            origin,
        });
    }

    /// Appends another text with its stretches.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        let shift_stretch = |stretch: &Stretch| Stretch {
            range: stretch.range.start + start..stretch.range.end + start,
            origin: stretch.origin.clone(),
        };
        self.stretches
            .extend(other.stretches.iter().map(shift_stretch));
        self.open.extend(other.open.iter().map(|at| at + start));
        self.untrusted.extend(
            other
                .untrusted
                .iter()
                .map(|range| range.start + start..range.end + start),
        );
    }

    /// Marks the text from a byte to its end as untrusted. An empty range marks the position of a
    /// value that is empty or not known yet.
    pub fn mark_untrusted(&mut self, start: usize) {
        let start = start.min(self.text.len());
        while self
            .untrusted
            .last()
            .is_some_and(|range| range.start >= start)
        {
            self.untrusted.pop();
        }
        self.untrusted.push(start..self.text.len());
    }

    /// The untrusted ranges of the text, each in its fence, in order.
    pub fn untrusted(&self) -> &[Range<usize>] {
        &self.untrusted
    }

    /// The trusted part of the text.
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

    /// The same text as one stretch with this origin.
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        Self {
            untrusted: self.untrusted.clone(),
            ..Self::new(self.text.as_str(), origin)
        }
    }

    /// Marks the end of the text as a position at which a value will be inserted that is not known
    /// yet.
    pub fn mark_open(&mut self) {
        if self.open.last() != Some(&self.text.len()) {
            self.open.push(self.text.len());
        }
    }

    /// The positions at which values will be inserted that are not known yet, in order.
    pub fn open_positions(&self) -> &[usize] {
        &self.open
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The stretches, in order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Returns true for an empty text.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The part in a range of bytes; an end inside a character is moved to its start.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        self.slice_counting(range, |skipped| {
            line_breaks(self.text.get(skipped).unwrap_or(""))
        })
    }

    /// The lines, each with its line break, in linear time.
    pub fn lines(&self) -> impl Iterator<Item = Self> {
        let breaks: Vec<usize> = memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
        (0..=breaks.len()).map(move |number| {
            let before = number.checked_sub(1).and_then(|last| breaks.get(last));
            let start = before.map_or(0, |at| at + 1);
            let end = breaks.get(number).map_or(self.text.len(), |at| at + 1);
            let index = |place: usize| breaks.partition_point(|at| *at < place);
            self.slice_counting(start..end, |skipped| {
                (index(skipped.end) - index(skipped.start)) as u32
            })
        })
    }

    /// The part in a range of bytes, with a function that counts the line breaks in a range.
    fn slice_counting(
        &self,
        range: Range<usize>,
        count_breaks: impl Fn(Range<usize>) -> u32,
    ) -> Self {
        let end = self
            .text
            .floor_char_boundary(range.end.min(self.text.len()));
        let start = self.text.floor_char_boundary(range.start.min(end));
        let mut part = Self {
            text: self.text.get(start..end).unwrap_or("").to_owned(),
            ..Self::default()
        };
        let open = self.open.partition_point(|at| *at < start);
        let open = self.open.iter().skip(open).take_while(|at| **at <= end);
        part.open.extend(open.map(|at| at - start));
        let first = self.untrusted.partition_point(|range| range.end < start);
        let untrusted = self.untrusted.iter().skip(first);
        for range in untrusted.take_while(|range| range.start <= end) {
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to || range.is_empty() && from == to {
                part.untrusted.push(from - start..to - start);
            }
        }
        let first = self
            .stretches
            .partition_point(|stretch| stretch.range.end <= start);
        let stretches = self.stretches.iter().skip(first);
        for stretch in stretches.take_while(|stretch| stretch.range.start < end) {
            let from = stretch.range.start.max(start);
            let to = stretch.range.end.min(end);
            if from < to {
                let skipped = count_breaks(stretch.range.start..from);
                part.stretches.push(Stretch {
                    range: from - start..to - start,
                    origin: stretch.origin.clone().shifted_by_lines(skipped),
                });
            }
        }
        part
    }
}

fn line_breaks(text: &str) -> u32 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32
}

impl Origin {
    /// The origin of a text that begins `by` lines further down.
    #[must_use]
    pub fn shifted_by_lines(mut self, by: u32) -> Self {
        if let Some(line) = self.line_mut() {
            *line += by;
        }
        self
    }

    /// The number of lines before the stretch, if the origin has one.
    pub(crate) fn line_mut(&mut self) -> Option<&mut u32> {
        if let Self::Template { line, .. } | Self::Fragment { line, .. } | Self::File { line, .. } =
            self
        {
            Some(line)
        } else {
            None
        }
    }
}

/// The positions at which a segment may be cut if it does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CutPolicy {
    /// After any token, from the end.
    #[default]
    Tail,
    /// Only at these bytes, from the end: the text between two of them is never split.
    TailAt(Vec<usize>),
    /// Only at these bytes, from the front: the last parts stay.
    HeadAt(Vec<usize>),
}

/// A block of context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Identifies the segment within one context, such as `system`, `input:ticket` or
    /// `file:docs/runbook.md`.
    pub id: String,
    /// The kind.
    pub kind: Kind,
    /// The name in a heading: the input's name, the file's path. Empty if the kind suffices.
    pub title: String,
    /// The text.
    pub text: TracedText,
    /// The stability.
    pub stability: Stability,
    /// The trust.
    pub trust: Trust,
    /// True for a trusted text that contains untrusted values, each in a fence of its own.
    pub has_untrusted_values: bool,
    /// The positions at which it may be cut.
    pub cut: CutPolicy,
    /// The reason for its presence: the setting or element that requires it.
    pub why: String,
    /// Its priority, if it differs from that of its kind: for the request itself, and for text of a
    /// trusted author around the agent.
    pub priority: Option<u8>,
    /// Its own maximum of tokens; ignored if it may not be cut.
    pub max_tokens: Option<usize>,
    /// Its messages, if it is a list of messages rather than a text in one; `text` is then their
    /// concatenated text form.
    pub turns: Vec<Turn>,
}

impl Segment {
    /// A segment that a host passes in: stable for the session, trusted, cut at its end, and named
    /// after its kind and title.
    pub fn new(kind: Kind, title: impl Into<String>, text: impl Into<String>) -> Self {
        let title = title.into();
        let id = if title.is_empty() {
            kind.as_str().to_owned()
        } else {
            format!("{}:{title}", kind.as_str())
        };
        let text = TracedText::new(text, Origin::Parent { id: id.clone() });
        Self::from_template(kind, text, "handed in")
            .named(id, title)
            .stable(Stability::Session)
    }

    /// A segment of a template: named after its kind, as stable as the template, trusted, cut at
    /// its end.
    pub fn from_template(kind: Kind, text: TracedText, why: impl Into<String>) -> Self {
        Self {
            id: kind.as_str().to_owned(),
            kind,
            title: String::new(),
            text,
            stability: Stability::Fixed,
            trust: Trust::Trusted,
            has_untrusted_values: false,
            cut: CutPolicy::Tail,
            why: why.into(),
            priority: None,
            max_tokens: None,
            turns: Vec::new(),
        }
    }

    /// A segment of messages: without a fence, since a message is a border itself.
    pub fn from_turns(
        kind: Kind,
        id: impl Into<String>,
        turns: Vec<Turn>,
        origin: Origin,
        why: impl Into<String>,
    ) -> Self {
        let text: String = turns.iter().map(|turn| turn.text_form().text).collect();
        Self {
            turns,
            ..Self::from_template(kind, TracedText::new(text, origin), why).named(id, "")
        }
    }

    /// Returns true if it is a message of the conversation.
    pub fn is_turn(&self) -> bool {
        self.kind == Kind::History && !self.turns.is_empty()
    }

    /// The trust of everything in it: untrusted if the segment or a value in its text is.
    pub fn overall_trust(&self) -> Trust {
        if self.has_untrusted_values {
            Trust::Untrusted
        } else {
            self.trust
        }
    }

    /// The priority: the greatest is dropped first; 0 and 1 are never cut.
    pub fn priority(&self) -> u8 {
        let of_kind = if (self.kind, self.trust) == (Kind::Input, Trust::Untrusted) {
            UNTRUSTED_INPUT_PRIORITY
        } else {
            self.kind.priority()
        };
        self.priority.unwrap_or(of_kind)
    }

    /// Its order among segments of equal stability: by priority, then by kind, and within one kind
    /// trusted before untrusted.
    pub fn order_key(&self) -> (u8, Kind, Trust) {
        (self.priority(), self.kind, self.trust)
    }

    /// Sets a priority of its own.
    #[must_use]
    pub fn prior(self, priority: u8) -> Self {
        Self {
            priority: Some(priority),
            ..self
        }
    }

    /// Sets the id and the title.
    #[must_use]
    pub fn named(self, id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            ..self
        }
    }

    /// Marks it as untrusted: it is fenced and gives no orders.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self {
            trust: Trust::Untrusted,
            ..self
        }
    }

    /// Sets the stability.
    #[must_use]
    pub fn stable(self, stability: Stability) -> Self {
        Self { stability, ..self }
    }
}
