//! Expectations on the answer. A new one is a key, a variant and its arms here, and how it is judged in `eval::answer::check`.

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

/// What `node` is in an entry.
pub(super) const OF_AGENT: &str =
    "the agent that it is about, if the whole task is run: its name or path; add `@2` for the second time that it is asked";

/// The keys, and what an entry of the list may say besides.
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
        key("gate", Shape::Bool, "`false`: a failure is reported but does not count"),
        key("node", Shape::Text, OF_AGENT).names(Thing::Node)
    ),
    groups: &[Group::One(&NAMES)],
};

/// What `not`, `any_of` and `all_of` hold.
pub static ANSWER_TEST: Table = Table { what: "an expectation inside another", keys: &KEYS, groups: &[Group::One(&NAMES)] };

static KEYS: [Key; 25] = keys!();
static NAMES: [&str; 25] = names(&KEYS);

static FIELD: Table = Table {
    what: "`field_matches`",
    keys: &[
        needed("path", Shape::Path, "a JSONPath of RFC 9535: `$.risk_level`"),
        needed("pattern", Shape::Pattern, "a regular expression that each selected value must match"),
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
        needed("nodes", Shape::List(&Shape::Text, 1), "agents and scripts, each as often as it runs").names(Thing::Node),
    ],
    groups: &[],
};

/// How a run can end.
const ENDS: [&str; 3] = ["complete", "failed", "blocked"];

static JUDGE: Table = Table {
    what: "`judge`",
    keys: &[
        needed("criteria", Shape::List(&Shape::Text, 1), "what the judge scores"),
        needed("min_score", Shape::Number(0.0, 100.0), "the least score on each"),
    ],
    groups: &[],
};

/// What the answer must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// What is asked.
    pub test: AnswerTest,
    /// Whether it can fail the case: `gate: false` only reports.
    pub gate: bool,
}

impl Expectation {
    /// Reads one entry of `expectations`.
    pub(in crate::scenario) fn read(node: &Node<'_>) -> Option<Spanned<Self>> {
        let gate = node.get("gate").and_then(flag).unwrap_or(true);
        let test = AnswerTest::read(node)?;
        let test = match node.get("node").and_then(text) {
            Some(agent) => Spanned::new(AnswerTest::OfAgent { node: agent, test: Box::new(test) }, node.span),
            None => test,
        };
        Some(test.map(|test| Self { test, gate }))
    }
}

/// What is asked of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum AnswerTest {
    /// `field_matches: {path, pattern}`: an RFC 9535 `JSONPath`, and a pattern for each node that it selects.
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
        /// What the judge looks at.
        criteria: Vec<Spanned<String>>,
        /// The least score on each.
        min_score: f64,
    },
    /// `rubric`: a criterion in words.
    Rubric(Spanned<String>),
    /// `todo`: what is still to be written, in words.
    Todo(Spanned<String>),
    /// `command: [argv]`, `python: module:function`
    Own(OwnCheck),
    /// `path`: the agents and scripts that a whole run comes by.
    Path(Trajectory),
    /// `ends`: how a whole run ends.
    Ends(String),
    /// An expectation with `node`: it is about the answer of that agent of a whole run.
    OfAgent {
        /// The agent.
        node: Spanned<String>,
        /// What it must answer, each time that it is asked.
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
    /// Reads what an entry asks. What cannot be taken was reported, and is left out.
    fn read(node: &Node<'_>) -> Option<Spanned<Self>> {
        let entry = node.entries()?.iter().find(|entry| !["gate", "node"].contains(&&*entry.key.value))?;
        let value = &entry.value;
        let inner = |value: &Node<'_>| value.items().unwrap_or_default().iter().filter_map(Self::read).collect();
        let test = match entry.key.value.as_ref() {
            "field_matches" => Self::FieldMatches { path: text(value.get("path")?)?, pattern: text(value.get("pattern")?)? },
            "absent" => Self::Absent(patterns(value)),
            "contains" => Self::Contains(patterns(value)),
            "max_risk" => Self::MaxRisk(Risk::parse(value.text()?)?),
            "decomposes" => Self::Decomposes(flag(value)?),
            "max_tokens" => Self::MaxTokens(whole(value)?),
            "references_files" => Self::ReferencesFiles(texts(Some(value))),
            "exact" => Self::Exact(value.to_json()),
            // A text is the path of a schema.
            "schema" => Self::Schema(value.text().map_or_else(|| frozen(value).value, |path| Frozen::File(path.to_owned()))),
            "calls_tool" => Self::CallsTool(text(value)?),
            "never_calls_tool" => Self::NeverCallsTool(text(value)?),
            "trajectory" => Self::Trajectory(Trajectory::read(value)?),
            "refuses" => Self::Refuses(flag(value)?),
            "max_latency_ms" => Self::MaxLatency(whole(value)?),
            "max_cost_usd" => Self::MaxCost(number(value)?),
            "judge" => Self::Judge { criteria: texts(value.get("criteria")), min_score: number(value.get("min_score")?)? },
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

    /// The expectations that it is composed of.
    pub fn inner(&self) -> &[Spanned<Self>] {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation holds others")]
        match self {
            Self::Not(inner) | Self::OfAgent { test: inner, .. } => std::slice::from_ref(&**inner),
            Self::AnyOf(inner) | Self::AllOf(inner) => inner,
            _ => &[],
        }
    }

    /// Whether it says something of an answer only where that is whole: one that is cut, withheld or empty lacks words for another reason.
    pub fn needs_whole_answer(&self) -> bool {
        #[allow(clippy::wildcard_enum_match_arm, reason = "all others look at what is said, or at what is not called")]
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
            Self::AnyOf(inner) | Self::AllOf(inner) => inner.iter().any(|one| one.value.needs_whole_answer()),
            _ => true,
        }
    }

    /// The key of the expectation in it that nothing can judge yet, where no other one can decide instead.
    pub fn unjudged(&self) -> Option<&'static str> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "all others are judged")]
        match self {
            Self::Judge { .. } => Some("judge"),
            Self::Rubric(_) => Some("rubric"),
            Self::Todo(_) => Some("todo"),
            Self::Not(inner) | Self::OfAgent { test: inner, .. } => inner.value.unjudged(),
            Self::AllOf(inner) => inner.iter().find_map(|one| one.value.unjudged()),
            // One of them that is judged can hold.
            Self::AnyOf(inner) => inner.iter().map(|one| one.value.unjudged()).reduce(Option::and)?,
            _ => None,
        }
    }

    /// What it says of a whole run, in words; `None` where it says nothing of one.
    pub const fn of_run(&self) -> Option<&'static str> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "all others are about an answer")]
        match self {
            Self::Path(_) => Some("`path`"),
            Self::Ends(_) => Some("`ends`"),
            Self::OfAgent { .. } => Some("an expectation on another agent (`node`)"),
            _ => None,
        }
    }

    /// The patterns that it looks for.
    pub fn patterns(&self) -> Vec<&Spanned<String>> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation has patterns")]
        match self {
            Self::Absent(patterns) | Self::Contains(patterns) => patterns.iter().collect(),
            Self::FieldMatches { pattern, .. } => vec![pattern],
            Self::Trajectory(expected) => expected.calls.iter().flat_map(|call| call.patterns.values()).collect(),
            _ => Vec::new(),
        }
    }

    /// The path into the answer that it follows.
    pub fn path(&self) -> Option<&str> {
        if let Self::FieldMatches { path, .. } = self { Some(&path.value) } else { None }
    }

    /// The check of the project's own that it runs.
    pub const fn own(&self) -> Option<&OwnCheck> {
        if let Self::Own(check) = self { Some(check) } else { None }
    }

    /// The file of a JSON Schema that it names.
    pub fn schema_file(&self) -> Option<&str> {
        if let Self::Schema(Frozen::File(path)) = self { Some(path) } else { None }
    }

    /// It in words, as reports name it.
    pub fn words(&self) -> String {
        let inside = |inner: &[Spanned<Self>]| inner.iter().map(|one| one.value.words()).collect::<Vec<_>>().join("; ");
        match self {
            Self::FieldMatches { path, pattern } => format!("{} matches /{}/", path.value, pattern.value),
            Self::Absent(patterns) => format!("the answer does not contain {}", list(patterns, "/", "/")),
            Self::Contains(patterns) => format!("the answer contains {}", list(patterns, "/", "/")),
            Self::MaxRisk(most) => format!("risk at most {}", most.word()),
            Self::Decomposes(true) => "the task is decomposed".to_owned(),
            Self::Decomposes(false) => "the task is not decomposed".to_owned(),
            Self::MaxTokens(most) => format!("at most {most} tokens in and out"),
            Self::ReferencesFiles(paths) => format!("the answer mentions {}", list(paths, "`", "`")),
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
            Self::Judge { criteria, min_score } => format!("a judge gives {min_score} or more for {}", list(criteria, "“", "”")),
            Self::Rubric(criterion) => format!("a judge finds “{}”", short(&criterion.value)),
            Self::Todo(what) => format!("to do: “{}”", short(&what.value)),
            Self::Own(check) => format!("{} accepts it", check.words()),
            Self::Path(expected) => format!("the run {}", expected.words().replacen("calls", "comes by", 1)),
            Self::Ends(end) => format!("the run is {end}"),
            Self::OfAgent { node, test } => format!("`{}`: {}", node.value, test.value.words()),
            Self::Not(inner) => format!("not ({})", inner.value.words()),
            Self::AnyOf(inner) => format!("any of ({})", inside(inner)),
            Self::AllOf(inner) => format!("all of ({})", inside(inner)),
        }
    }
}

/// Every test of a list with those that others are composed of, each with its place, in their order.
pub fn each<'e>(all: &'e [Spanned<Expectation>]) -> impl Iterator<Item = (&'e AnswerTest, Span)> {
    let mut open: Vec<(&'e AnswerTest, _)> = all.iter().rev().map(|one| (&one.value.test, one.span)).collect();
    std::iter::from_fn(move || {
        let (test, span) = open.pop()?;
        open.extend(test.inner().iter().rev().map(|one| (&one.value, one.span)));
        Some((test, span))
    })
}

/// The beginning of a text, on one line.
pub fn short(text: &str) -> String {
    /// Characters that are shown.
    const SHOWN: usize = 80;
    let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or("").replace('\n', "⏎"))
}

/// Texts with something before and behind each.
pub(super) fn list(texts: &[Spanned<String>], open: &str, close: &str) -> String {
    texts.iter().map(|text| format!("{open}{}{close}", text.value)).collect::<Vec<_>>().join(", ")
}
