//! Expectations on the answer. A new one is a key, a variant and its arms here, and its check in
//! `eval::answer::check`.

use super::own_check::{COMMAND, OwnCheck, PYTHON};
use super::trajectory::{Matching, TRAJECTORY, Trajectory};
use crate::base::span::{Span, Spanned};
use crate::scenario::frozen::{Frozen, Risk};
use crate::scenario::table::{Group, Key, Shape, Table, Thing, key, names, needed};
use crate::scenario::values::{flag, frozen, number, patterns, text, texts, whole};
use crate::scenario::words::MOST;
use crate::syntax::yaml::Node;
use serde::Serialize;
use serde_json::Value;

/// Description of the key `node` in an entry.
pub(super) const OF_AGENT: &str = "the agent that it is about, if the whole task is run: its name or path; add `@2` for the second time that it is asked";

/// The keys of an expectation, followed by further keys of a list entry.
macro_rules! keys {
    ($($last:expr),*) => {
        [
            key("field_matches", Shape::Table(&FIELD), "the answer is JSON, the path selects something, and the pattern matches each value selected"),
            key("absent", Shape::Patterns, "none of the patterns occurs: in the text, in a value of its JSON, in the arguments of a tool call"),
            key("contains", Shape::Patterns, "each pattern occurs: in the text, or in a value of its JSON"),
            key("max_risk", Shape::Word(&Risk::WORDS), "`$.risk_level`, else `$.risk`, is at or below it"),
            key("decomposes", Shape::Bool, "whether the answer splits the work into two parts or more"),
            key(
                "max_tokens",
                Shape::Whole(1, MOST),
                "the most tokens of request and answer; of the answer, the text and the arguments of tool calls count",
            ),
            key("references_files", Shape::List(&Shape::Text, 1), "each path is mentioned"),
            key("exact", Shape::Any, "the answer equals it as JSON"),
            key("schema", Shape::Schema, "the answer is JSON that the schema accepts"),
            key("calls_tool", Shape::Text, "the tool is called; `*` matches any part of a name"),
            key("never_calls_tool", Shape::Text, "the tool is not called; `*` matches any part of a name: `fs.*`"),
            key("trajectory", Shape::Table(&TRAJECTORY), "all calls of tools in the trial match a list"),
            key(
                "refuses",
                Shape::Bool,
                "whether the model refuses, or its provider withholds the answer; if expected, the other expectations judge what was said with it",
            ),
            key("max_latency_ms", Shape::Whole(1, MOST), "the trial takes no longer; only with live models"),
            key("max_cost_usd", Shape::Number(0.0, 1e9), "the trial costs no more; only with live models"),
            key("judge", Shape::Table(&JUDGE), "the judge gives at least the score on each criterion; not judged yet"),
            key("rubric", Shape::Text, "a criterion in words, for the judge; not judged yet"),
            key("todo", Shape::Text, "an expectation that is still to be written, in words; until then the case is inconclusive"),
            key(
                "command",
                Shape::Or(&Shape::List(&Shape::Text, 1), &COMMAND),
                "the project's own check, as an argument list: it reads the trial and writes a verdict",
            )
            .names(Thing::Argument),
            key("python", Shape::Or(&Shape::Text, &PYTHON), "the project's own check, as `module:function`: it takes the trial and returns a verdict"),
            key(
                "path",
                Shape::Or(&Shape::List(&Shape::Text, 1), &PATH),
                "the agents and scripts that a whole run visits, by their names or paths; a list means exactly these in this order",
            )
            .names(Thing::Node),
            key("ends", Shape::Word(&ENDS), "how a whole run ends; without this expectation it must be `complete`"),
            key("not", Shape::Table(&ANSWER_TEST), "the expectation in it does not hold"),
            key("any_of", Shape::List(&Shape::Table(&ANSWER_TEST), 1), "one of the expectations in it holds"),
            key("all_of", Shape::List(&Shape::Table(&ANSWER_TEST), 1), "all expectations in it hold"),
            $($last,)*
        ]
    };
}

/// One entry of `expectations`.
pub static ANSWER: Table = Table {
    what: "an expectation on the answer",
    keys: &keys!(
        key(
            "gate",
            Shape::Bool,
            "`false`: a failure is reported but does not count"
        ),
        key("node", Shape::Text, OF_AGENT).names(Thing::Node)
    ),
    groups: &[Group::One(&NAMES)],
};

/// The table inside `not`, `any_of` and `all_of`.
pub static ANSWER_TEST: Table = Table {
    what: "an expectation inside another",
    keys: &KEYS,
    groups: &[Group::One(&NAMES)],
};

static KEYS: [Key; 25] = keys!();
static NAMES: [&str; 25] = names(&KEYS);

static FIELD: Table = Table {
    what: "`field_matches`",
    keys: &[
        needed(
            "path",
            Shape::Path,
            "a JSONPath of RFC 9535: `$.risk_level`",
        ),
        needed(
            "pattern",
            Shape::Pattern,
            "a regular expression that each selected value must match",
        ),
    ],
    groups: &[],
};

static PATH: Table = Table {
    what: "`path`",
    keys: &[
        needed(
            "match",
            Shape::Word(&Matching::WORDS),
            "`strict`: these in this order and no others; `unordered`: the same in any order; `superset`: at least these; `subset`: no others",
        ),
        needed(
            "nodes",
            Shape::List(&Shape::Text, 1),
            "agents and scripts, each as often as it runs",
        )
        .names(Thing::Node),
    ],
    groups: &[],
};

/// The possible ends of a run.
const ENDS: [&str; 3] = ["complete", "failed", "blocked"];

static JUDGE: Table = Table {
    what: "`judge`",
    keys: &[
        needed(
            "criteria",
            Shape::List(&Shape::Text, 1),
            "what the judge scores",
        ),
        needed(
            "min_score",
            Shape::Number(0.0, 100.0),
            "the least score on each",
        ),
    ],
    groups: &[],
};

/// One entry of `expectations`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// The condition on the answer.
    pub test: AnswerTest,
    /// True if a failure fails the case; with `gate: false` a failure is only reported.
    pub gate: bool,
}

impl Expectation {
    /// Reads one entry of `expectations`.
    pub(in crate::scenario) fn read(node: &Node<'_>) -> Option<Spanned<Self>> {
        let gate = node.get("gate").and_then(flag).unwrap_or(true);
        let test = AnswerTest::read(node)?;
        let test = match node.get("node").and_then(text) {
            Some(agent) => Spanned::new(
                AnswerTest::OfAgent {
                    node: agent,
                    test: Box::new(test),
                },
                node.span,
            ),
            None => test,
        };
        Some(test.map(|test| Self { test, gate }))
    }
}

/// A condition on an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum AnswerTest {
    /// `field_matches: {path, pattern}`: an RFC 9535 `JSONPath`, and a pattern for each node that
    /// it selects.
    FieldMatches {
        /// The path.
        path: Spanned<String>,
        /// The pattern.
        pattern: Spanned<String>,
    },
    /// `absent: [patterns]`
    Absent(Vec<Spanned<String>>),
    /// `contains: [patterns]`
    Contains(Vec<Spanned<String>>),
    /// `max_risk`
    MaxRisk(Risk),
    /// `decomposes`
    Decomposes(bool),
    /// `max_tokens`: input and output of the trial.
    MaxTokens(u64),
    /// `references_files: [paths]`
    ReferencesFiles(Vec<Spanned<String>>),
    /// `exact`: equal as JSON.
    Exact(Value),
    /// `schema`: a JSON Schema in place, or the path of one.
    Schema(Frozen),
    /// `calls_tool: name`
    CallsTool(Spanned<String>),
    /// `never_calls_tool: name`
    NeverCallsTool(Spanned<String>),
    /// `trajectory: {match, calls}`
    Trajectory(Trajectory),
    /// `refuses`: the model refuses, or its provider withholds the answer.
    Refuses(bool),
    /// `max_latency_ms`
    MaxLatency(u64),
    /// `max_cost_usd`
    MaxCost(f64),
    /// `judge: {criteria, min_score}`
    Judge {
        /// The criteria that the judge scores.
        criteria: Vec<Spanned<String>>,
        /// The minimum score on each.
        min_score: f64,
    },
    /// `rubric`: a criterion in words.
    Rubric(Spanned<String>),
    /// `todo`: an expectation that is still to be written, in words.
    Todo(Spanned<String>),
    /// `command: [argv]`, `python: module:function`
    Own(OwnCheck),
    /// `path`: the agents and scripts that a whole run visits.
    Path(Trajectory),
    /// `ends`: the end of a whole run.
    Ends(String),
    /// An expectation with `node`: a condition on the answer of that agent in a whole run.
    OfAgent {
        /// The agent.
        node: Spanned<String>,
        /// The condition on its answer each time that it is called.
        test: Box<Spanned<AnswerTest>>,
    },
    /// `not: …`
    Not(Box<Spanned<AnswerTest>>),
    /// `any_of: […]`
    AnyOf(Vec<Spanned<AnswerTest>>),
    /// `all_of: […]`
    AllOf(Vec<Spanned<AnswerTest>>),
}

impl AnswerTest {
    /// Reads the condition of an entry. Invalid values were reported before and give `None`.
    fn read(node: &Node<'_>) -> Option<Spanned<Self>> {
        let entry = node
            .entries()?
            .iter()
            .find(|entry| !["gate", "node"].contains(&&*entry.key.value))?;
        let value = &entry.value;
        let inner = |value: &Node<'_>| {
            value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(Self::read)
                .collect()
        };
        let test = match entry.key.value.as_ref() {
            "field_matches" => Self::FieldMatches {
                path: text(value.get("path")?)?,
                pattern: text(value.get("pattern")?)?,
            },
            "absent" => Self::Absent(patterns(value)),
            "contains" => Self::Contains(patterns(value)),
            "max_risk" => Self::MaxRisk(Risk::parse(value.text()?)?),
            "decomposes" => Self::Decomposes(flag(value)?),
            "max_tokens" => Self::MaxTokens(whole(value)?),
            "references_files" => Self::ReferencesFiles(texts(Some(value))),
            "exact" => Self::Exact(value.to_json()),
            // A text is the path of a schema.
            "schema" => Self::Schema(
                value
                    .text()
                    .map_or_else(|| frozen(value).value, |path| Frozen::File(path.to_owned())),
            ),
            "calls_tool" => Self::CallsTool(text(value)?),
            "never_calls_tool" => Self::NeverCallsTool(text(value)?),
            "trajectory" => Self::Trajectory(Trajectory::read(value)?),
            "refuses" => Self::Refuses(flag(value)?),
            "max_latency_ms" => Self::MaxLatency(whole(value)?),
            "max_cost_usd" => Self::MaxCost(number(value)?),
            "judge" => Self::Judge {
                criteria: texts(value.get("criteria")),
                min_score: number(value.get("min_score")?)?,
            },
            "rubric" => Self::Rubric(text(value)?),
            "todo" => Self::Todo(text(value)?),
            "command" => Self::Own(OwnCheck::command(value)),
            "python" => Self::Own(OwnCheck::python(value)?),
            "path" => Self::Path(Trajectory::path(value)?),
            "ends" => Self::Ends(value.text()?.to_owned()),
            "not" => Self::Not(Box::new(Self::read(value)?)),
            "any_of" => Self::AnyOf(inner(value)),
            "all_of" => Self::AllOf(inner(value)),
            _ => return None,
        };
        Some(Spanned::new(test, node.span))
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

    /// True if the expectation can only be judged on a complete answer. An answer that is cut off,
    /// withheld or empty lacks text for another reason.
    pub fn needs_whole_answer(&self) -> bool {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "all others look at what is said, or at what is not called"
        )]
        match self {
            Self::CallsTool(_)
            | Self::Refuses(_)
            | Self::MaxTokens(_)
            | Self::MaxLatency(_)
            | Self::MaxCost(_)
            | Self::Path(_)
            | Self::Ends(_)
            | Self::OfAgent { .. } => false,
            Self::Trajectory(calls) => calls.matching != Matching::Superset,
            Self::AnyOf(inner) | Self::AllOf(inner) => {
                inner.iter().any(|one| one.value.needs_whole_answer())
            }
            _ => true,
        }
    }

    /// The key of a contained expectation that cannot be judged yet, if no other one can decide in
    /// its place.
    pub fn unjudged(&self) -> Option<&'static str> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "all others are judged")]
        match self {
            Self::Judge { .. } => Some("judge"),
            Self::Rubric(_) => Some("rubric"),
            Self::Todo(_) => Some("todo"),
            Self::Not(inner) | Self::OfAgent { test: inner, .. } => inner.value.unjudged(),
            Self::AllOf(inner) => inner.iter().find_map(|one| one.value.unjudged()),
            // An alternative that can be judged may hold.
            Self::AnyOf(inner) => inner
                .iter()
                .map(|one| one.value.unjudged())
                .reduce(Option::and)?,
            _ => None,
        }
    }

    /// A phrase for an expectation on a whole run; `None` if it is on a single answer.
    pub const fn of_run(&self) -> Option<&'static str> {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "all others are about an answer"
        )]
        match self {
            Self::Path(_) => Some("`path`"),
            Self::Ends(_) => Some("`ends`"),
            Self::OfAgent { .. } => Some("an expectation on another agent (`node`)"),
            _ => None,
        }
    }

    /// The patterns that it searches for.
    pub fn patterns(&self) -> Vec<&Spanned<String>> {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation has patterns"
        )]
        match self {
            Self::Absent(patterns) | Self::Contains(patterns) => patterns.iter().collect(),
            Self::FieldMatches { pattern, .. } => vec![pattern],
            Self::Trajectory(expected) => expected
                .calls
                .iter()
                .flat_map(|call| call.patterns.values())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The `JSONPath` that it evaluates on the answer.
    pub fn path(&self) -> Option<&str> {
        if let Self::FieldMatches { path, .. } = self {
            Some(&path.value)
        } else {
            None
        }
    }

    /// The project's own check that it runs.
    pub const fn own(&self) -> Option<&OwnCheck> {
        if let Self::Own(check) = self {
            Some(check)
        } else {
            None
        }
    }

    /// The path of the JSON Schema file that it references.
    pub fn schema_file(&self) -> Option<&str> {
        if let Self::Schema(Frozen::File(path)) = self {
            Some(path)
        } else {
            None
        }
    }

    /// Describes the expectation as reports print it.
    pub fn words(&self) -> String {
        let inside = |inner: &[Spanned<Self>]| {
            inner
                .iter()
                .map(|one| one.value.words())
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::FieldMatches { path, pattern } => {
                format!("{} matches /{}/", path.value, pattern.value)
            }
            Self::Absent(patterns) => {
                format!("the answer does not contain {}", list(patterns, "/", "/"))
            }
            Self::Contains(patterns) => format!("the answer contains {}", list(patterns, "/", "/")),
            Self::MaxRisk(most) => format!("risk at most {}", most.word()),
            Self::Decomposes(true) => "the task is decomposed".to_owned(),
            Self::Decomposes(false) => "the task is not decomposed".to_owned(),
            Self::MaxTokens(most) => format!("at most {most} tokens in and out"),
            Self::ReferencesFiles(paths) => {
                format!("the answer mentions {}", list(paths, "`", "`"))
            }
            Self::Exact(value) => format!("the answer is {}", short(&value.to_string())),
            Self::Schema(Frozen::File(path)) => format!("the answer fits {path}"),
            Self::Schema(Frozen::Value(_)) => "the answer fits the schema".to_owned(),
            Self::CallsTool(name) => format!("calls `{}`", name.value),
            Self::NeverCallsTool(name) => format!("never calls `{}`", name.value),
            Self::Trajectory(expected) => expected.words(),
            Self::Refuses(true) => "the answer is refused".to_owned(),
            Self::Refuses(false) => "the answer is not refused".to_owned(),
            Self::MaxLatency(most) => format!("at most {most} ms"),
            Self::MaxCost(most) => format!("at most US$ {most}"),
            Self::Judge {
                criteria,
                min_score,
            } => format!(
                "a judge gives {min_score} or more for {}",
                list(criteria, "“", "”")
            ),
            Self::Rubric(criterion) => format!("a judge finds “{}”", short(&criterion.value)),
            Self::Todo(what) => format!("to do: “{}”", short(&what.value)),
            Self::Own(check) => format!("{} accepts it", check.words()),
            Self::Path(expected) => format!(
                "the run {}",
                expected.words().replacen("calls", "comes by", 1)
            ),
            Self::Ends(end) => format!("the run is {end}"),
            Self::OfAgent { node, test } => format!("`{}`: {}", node.value, test.value.words()),
            Self::Not(inner) => format!("not ({})", inner.value.words()),
            Self::AnyOf(inner) => format!("any of ({})", inside(inner)),
            Self::AllOf(inner) => format!("all of ({})", inside(inner)),
        }
    }
}

/// Iterates over every condition of a list, including those inside others, in order, each with its
/// span.
pub fn each<'e>(all: &'e [Spanned<Expectation>]) -> impl Iterator<Item = (&'e AnswerTest, Span)> {
    let mut open: Vec<(&'e AnswerTest, _)> = all
        .iter()
        .rev()
        .map(|one| (&one.value.test, one.span))
        .collect();
    std::iter::from_fn(move || {
        let (test, span) = open.pop()?;
        open.extend(test.inner().iter().rev().map(|one| (&one.value, one.span)));
        Some((test, span))
    })
}

/// Returns the beginning of a text on one line.
pub fn short(text: &str) -> String {
    /// The maximum number of characters.
    const SHOWN: usize = 80;
    let end = text
        .char_indices()
        .nth(SHOWN)
        .map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or("").replace('\n', "⏎"))
}

/// Joins texts with commas, each between `open` and `close`.
pub(super) fn list(texts: &[Spanned<String>], open: &str, close: &str) -> String {
    texts
        .iter()
        .map(|text| format!("{open}{}{close}", text.value))
        .collect::<Vec<_>>()
        .join(", ")
}
