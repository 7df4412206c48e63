//! Expectations on the answer. A new one is a key, a variant and its arms here, and its check in
//! `eval::answer::judge_answer`.

use super::judge::{JUDGE_TABLE, JudgeTest, RubricSource};
use super::own_check::{COMMAND_TABLE, OwnCheck, PYTHON_TABLE};
use super::survival::{SURVIVAL_TABLE, SurvivalTest};
use super::trajectory::{Matching, TRAJECTORY_TABLE, Trajectory};
use crate::base::span::{Span, Spanned};
use crate::scenario::table::{
    KeyGroup, NamedThingKind, ScenarioKey, ScenarioShape, ScenarioTable, key_names, optional_key,
    required_key,
};
use crate::scenario::values::{
    FrozenValue, MAX_EXACT_NUMBER, Risk, read_flag, read_frozen, read_number, read_patterns,
    read_text, read_texts, read_whole,
};
use crate::syntax::yaml::YamlNode;
use serde::Serialize;
use serde_json::Value;

/// Description of the key `node` in an entry.
pub(super) const AGENT_KEY_HELP: &str = "the agent concerned, if the whole task is run: its name or path; add `@2` for the second time that it is asked";

/// The keys of an expectation, followed by further keys of a list entry.
macro_rules! keys {
    ($($last:expr),*) => {
        [
            optional_key("field_matches", ScenarioShape::Table(&FIELD_MATCHES_TABLE), "the answer is JSON, the path selects something, and the pattern matches each value selected"),
            optional_key("absent", ScenarioShape::Patterns, "none of the patterns occurs: in the text, in a value of its JSON, in the arguments of a tool call"),
            optional_key("contains", ScenarioShape::Patterns, "each pattern occurs: in the text, or in a value of its JSON"),
            optional_key("max_risk", ScenarioShape::Word(&Risk::WORDS), "`$.risk_level`, else `$.risk`, is at or below it"),
            optional_key("decomposes", ScenarioShape::Bool, "the answer splits the work into two parts or more; `false`: it does not"),
            optional_key(
                "max_tokens",
                ScenarioShape::Whole(1, MAX_EXACT_NUMBER),
                "the maximum number of tokens of request and answer; of the answer, the text and the arguments of tool calls count",
            ),
            optional_key("references_files", ScenarioShape::List(&ScenarioShape::Text, 1), "each path is mentioned"),
            optional_key("exact", ScenarioShape::Any, "the answer equals it as JSON"),
            optional_key("schema", ScenarioShape::Schema, "the answer is JSON that the schema accepts"),
            optional_key("calls_tool", ScenarioShape::Text, "the tool is called; `*` matches any part of a name"),
            optional_key("never_calls_tool", ScenarioShape::Text, "the tool is not called; `*` matches any part of a name: `fs.*`"),
            optional_key("trajectory", ScenarioShape::Table(&TRAJECTORY_TABLE), "all calls of tools in the trial match a list"),
            optional_key(
                "refuses",
                ScenarioShape::Bool,
                "the model refuses, or its provider withholds the answer; `false`: neither. If a refusal is expected, the other expectations judge the text that comes with it",
            ),
            optional_key("max_latency_ms", ScenarioShape::Whole(1, MAX_EXACT_NUMBER), "the trial takes no longer; only with live models"),
            optional_key("max_cost_usd", ScenarioShape::Number(0.0, 1e9), "the trial costs no more; only with live models"),
            optional_key("judge", ScenarioShape::Table(&JUDGE_TABLE), "the judge gives at least the score on each criterion; it counts once the judge is trusted"),
            optional_key("rubric", ScenarioShape::Text, "a criterion in words, which the judge finds to hold; it counts once the judge is trusted"),
            optional_key("survives", ScenarioShape::Table(&SURVIVAL_TABLE), "the compaction keeps at least these shares of the facts, in a scenario with `compaction`"),
            optional_key("todo", ScenarioShape::Text, "an expectation that is still to be written, in words; until then the case is inconclusive"),
            optional_key(
                "command",
                ScenarioShape::Or(&ScenarioShape::List(&ScenarioShape::Text, 1), &COMMAND_TABLE),
                "the project's own check, as an argument list: it reads the trial and writes a verdict",
            )
            .with_names(NamedThingKind::Argument),
            optional_key("python", ScenarioShape::Or(&ScenarioShape::Text, &PYTHON_TABLE), "the project's own check, as `module:function`: it takes the trial and returns a verdict"),
            optional_key(
                "path",
                ScenarioShape::Or(&ScenarioShape::List(&ScenarioShape::Text, 1), &PATH_TABLE),
                "the agents and scripts that a whole run visits, by their names or paths; a list means exactly these in this order",
            )
            .with_names(NamedThingKind::Node),
            optional_key("ends", ScenarioShape::Word(&RUN_ENDS), "the end of a whole run; without this expectation it must be `complete`"),
            optional_key("not", ScenarioShape::Table(&ANSWER_TEST_TABLE), "the expectation in it does not hold"),
            optional_key("any_of", ScenarioShape::List(&ScenarioShape::Table(&ANSWER_TEST_TABLE), 1), "one of the expectations in it holds"),
            optional_key("all_of", ScenarioShape::List(&ScenarioShape::Table(&ANSWER_TEST_TABLE), 1), "all expectations in it hold"),
            $($last,)*
        ]
    };
}

/// One entry of `expectations`.
pub static ANSWER_TABLE: ScenarioTable = ScenarioTable {
    what: "an expectation on the answer",
    keys: &keys!(
        optional_key(
            "gate",
            ScenarioShape::Bool,
            "`false`: a failure is reported but does not count"
        ),
        optional_key(
            "weight",
            ScenarioShape::Number(0.001, 1000.0),
            "its share in the score of a trial, from 0.001 to 1000, 1 by default; `gate: false` leaves it out"
        ),
        optional_key("node", ScenarioShape::Text, AGENT_KEY_HELP).with_names(NamedThingKind::Node)
    ),
    groups: &[
        KeyGroup::ExactlyOne(&ANSWER_TEST_NAMES),
        KeyGroup::Exclusive("gate", &["weight"]),
    ],
};

/// The table inside `not`, `any_of` and `all_of`.
pub static ANSWER_TEST_TABLE: ScenarioTable = ScenarioTable {
    what: "an expectation inside another",
    keys: &ANSWER_TEST_KEYS,
    groups: &[KeyGroup::ExactlyOne(&ANSWER_TEST_NAMES)],
};

static ANSWER_TEST_KEYS: [ScenarioKey; 26] = keys!();
static ANSWER_TEST_NAMES: [&str; 26] = key_names(&ANSWER_TEST_KEYS);

static FIELD_MATCHES_TABLE: ScenarioTable = ScenarioTable {
    what: "`field_matches`",
    keys: &[
        required_key(
            "path",
            ScenarioShape::Path,
            "a JSONPath of RFC 9535: `$.risk_level`",
        ),
        required_key(
            "pattern",
            ScenarioShape::Pattern,
            "a regular expression that each selected value must match",
        ),
    ],
    groups: &[],
};

static PATH_TABLE: ScenarioTable = ScenarioTable {
    what: "`path`",
    keys: &[
        required_key(
            "match",
            ScenarioShape::Word(&Matching::WORDS),
            "`strict`: these in this order and no others; `unordered`: the same in any order; `superset`: at least these; `subset`: no others",
        ),
        required_key(
            "nodes",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "agents and scripts, each as often as it runs",
        )
        .with_names(NamedThingKind::Node),
    ],
    groups: &[],
};

/// The possible ends of a run.
const RUN_ENDS: [&str; 3] = ["complete", "failed", "blocked"];

/// One entry of `expectations`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerExpectation {
    /// The condition on the answer.
    pub test: AnswerTest,
    /// True if a failure fails the case; with `gate: false` a failure is only reported.
    pub gate: bool,
    /// Its weight in the score of a trial, if one is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

impl AnswerExpectation {
    /// Its weight in the score of a trial; 0 if it only informs.
    pub fn score_weight(&self) -> f64 {
        if self.gate {
            self.weight.unwrap_or(1.0)
        } else {
            0.0
        }
    }

    /// Reads one entry of `expectations`.
    pub(in crate::scenario) fn read_entry(node: &YamlNode<'_>) -> Option<Spanned<Self>> {
        let gate = node.get("gate").and_then(read_flag).unwrap_or(true);
        let weight = node.get("weight").and_then(read_number);
        let test = AnswerTest::read_test(node)?;
        let test = match node.get("node").and_then(read_text) {
            Some(agent) => Spanned::new(
                AnswerTest::OfAgent {
                    node: agent,
                    test: Box::new(test),
                },
                node.span,
            ),
            None => test,
        };
        Some(test.map(|test| Self { test, gate, weight }))
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
    Schema(FrozenValue),
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
    /// `judge: {rubric, criteria, min_score}`
    Judge(JudgeTest),
    /// `rubric`: a criterion in words.
    Rubric(Spanned<String>),
    /// `survives: {CLASS: share}`
    Survives(SurvivalTest),
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
    fn read_test(node: &YamlNode<'_>) -> Option<Spanned<Self>> {
        let entry = node
            .entries()?
            .iter()
            .find(|entry| !["gate", "weight", "node"].contains(&&*entry.key.value))?;
        let value = &entry.value;
        let inner = |value: &YamlNode<'_>| {
            value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(Self::read_test)
                .collect()
        };
        let test = match entry.key.value.as_ref() {
            "field_matches" => Self::FieldMatches {
                path: read_text(value.get("path")?)?,
                pattern: read_text(value.get("pattern")?)?,
            },
            "absent" => Self::Absent(read_patterns(value)),
            "contains" => Self::Contains(read_patterns(value)),
            "max_risk" => Self::MaxRisk(Risk::parse(value.text()?)?),
            "decomposes" => Self::Decomposes(read_flag(value)?),
            "max_tokens" => Self::MaxTokens(read_whole(value)?),
            "references_files" => Self::ReferencesFiles(read_texts(Some(value))),
            "exact" => Self::Exact(value.to_json()),
            // A text is the path of a schema.
            "schema" => Self::Schema(value.text().map_or_else(
                || read_frozen(value).value,
                |path| FrozenValue::File(path.to_owned()),
            )),
            "calls_tool" => Self::CallsTool(read_text(value)?),
            "never_calls_tool" => Self::NeverCallsTool(read_text(value)?),
            "trajectory" => Self::Trajectory(Trajectory::read(value)?),
            "refuses" => Self::Refuses(read_flag(value)?),
            "max_latency_ms" => Self::MaxLatency(read_whole(value)?),
            "max_cost_usd" => Self::MaxCost(read_number(value)?),
            "judge" => Self::Judge(JudgeTest::read(value)?),
            "rubric" => Self::Rubric(read_text(value)?),
            "survives" => Self::Survives(SurvivalTest::read(value)),
            "todo" => Self::Todo(read_text(value)?),
            "command" => Self::Own(OwnCheck::read_command(value)),
            "python" => Self::Own(OwnCheck::read_python(value)?),
            "path" => Self::Path(Trajectory::read_path(value)?),
            "ends" => Self::Ends(value.text()?.to_owned()),
            "not" => Self::Not(Box::new(Self::read_test(value)?)),
            "any_of" => Self::AnyOf(inner(value)),
            "all_of" => Self::AllOf(inner(value)),
            _ => return None,
        };
        Some(Spanned::new(test, node.span))
    }

    /// The expectations that this one contains.
    pub fn inner_tests(&self) -> &[Spanned<Self>] {
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
    pub fn unjudged_key(&self) -> Option<&'static str> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "all others are judged")]
        match self {
            Self::Judge(_) => Some("judge"),
            Self::Rubric(_) => Some("rubric"),
            Self::Todo(_) => Some("todo"),
            Self::Not(inner) | Self::OfAgent { test: inner, .. } => inner.value.unjudged_key(),
            Self::AllOf(inner) => inner.iter().find_map(|one| one.value.unjudged_key()),
            // An alternative that can be judged may hold.
            Self::AnyOf(inner) => inner
                .iter()
                .map(|one| one.value.unjudged_key())
                .reduce(Option::and)?,
            _ => None,
        }
    }

    /// A phrase for an expectation on a whole run; `None` if it is on a single answer.
    pub const fn describe_run_test(&self) -> Option<&'static str> {
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
    pub const fn own_check(&self) -> Option<&OwnCheck> {
        if let Self::Own(check) = self {
            Some(check)
        } else {
            None
        }
    }

    /// The expectation of a judge by a rubric.
    pub const fn judge_test(&self) -> Option<&JudgeTest> {
        if let Self::Judge(test) = self {
            Some(test)
        } else {
            None
        }
    }

    /// True if the judge of the project scores it.
    pub const fn needs_judge(&self) -> bool {
        matches!(self, Self::Judge(_) | Self::Rubric(_))
    }

    /// The path of the JSON Schema file that it references.
    pub fn schema_file(&self) -> Option<&str> {
        if let Self::Schema(FrozenValue::File(path)) = self {
            Some(path)
        } else {
            None
        }
    }

    /// Describes the expectation as reports print it.
    pub fn describe(&self) -> String {
        let inside = |inner: &[Spanned<Self>]| {
            inner
                .iter()
                .map(|one| one.value.describe())
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::FieldMatches { path, pattern } => {
                format!("{} matches /{}/", path.value, pattern.value)
            }
            Self::Absent(patterns) => {
                format!(
                    "the answer does not contain {}",
                    join_enclosed(patterns, "/", "/")
                )
            }
            Self::Contains(patterns) => {
                format!("the answer contains {}", join_enclosed(patterns, "/", "/"))
            }
            Self::MaxRisk(most) => format!("risk at most {}", most.word()),
            Self::Decomposes(true) => "the task is decomposed".to_owned(),
            Self::Decomposes(false) => "the task is not decomposed".to_owned(),
            Self::MaxTokens(most) => format!("at most {most} tokens in and out"),
            Self::ReferencesFiles(paths) => {
                format!("the answer mentions {}", join_enclosed(paths, "`", "`"))
            }
            Self::Exact(value) => format!("the answer is {}", one_line_excerpt(&value.to_string())),
            Self::Schema(FrozenValue::File(path)) => format!("the answer fits {path}"),
            Self::Schema(FrozenValue::Value(_)) => "the answer fits the schema".to_owned(),
            Self::CallsTool(name) => format!("calls `{}`", name.value),
            Self::NeverCallsTool(name) => format!("never calls `{}`", name.value),
            Self::Trajectory(expected) => expected.describe(),
            Self::Refuses(true) => "the answer is refused".to_owned(),
            Self::Refuses(false) => "the answer is not refused".to_owned(),
            Self::MaxLatency(most) => format!("at most {most} ms"),
            Self::MaxCost(most) => format!("at most US$ {most}"),
            Self::Judge(test) => describe_judge(test),
            Self::Rubric(criterion) => {
                format!("a judge finds “{}”", one_line_excerpt(&criterion.value))
            }
            Self::Survives(test) => test.describe(),
            Self::Todo(what) => format!("to do: “{}”", one_line_excerpt(&what.value)),
            Self::Own(check) => format!("{} accepts it", check.describe()),
            Self::Path(expected) => format!(
                "the run {}",
                expected.describe().replacen("calls", "comes by", 1)
            ),
            Self::Ends(end) => format!("the run is {end}"),
            Self::OfAgent { node, test } => format!("`{}`: {}", node.value, test.value.describe()),
            Self::Not(inner) => format!("not ({})", inner.value.describe()),
            Self::AnyOf(inner) => format!("any of ({})", inside(inner)),
            Self::AllOf(inner) => format!("all of ({})", inside(inner)),
        }
    }
}

fn describe_judge(test: &JudgeTest) -> String {
    let what = match (&test.rubric, test.criteria.is_empty()) {
        (Some(RubricSource::File(path)), true) => format!("each criterion of {}", path.value),
        (Some(RubricSource::Text(guide)), true) => {
            format!("“{}”", one_line_excerpt(&guide.value))
        }
        (_, _) => join_enclosed(&test.criteria, "“", "”"),
    };
    format!("a judge gives {} or more for {what}", test.min_score)
}

/// Iterates over every condition of a list, including those inside others, in order, each with its
/// span.
pub fn all_tests<'e>(
    all: &'e [Spanned<AnswerExpectation>],
) -> impl Iterator<Item = (&'e AnswerTest, Span)> {
    let mut open: Vec<(&'e AnswerTest, _)> = all
        .iter()
        .rev()
        .map(|one| (&one.value.test, one.span))
        .collect();
    std::iter::from_fn(move || {
        let (test, span) = open.pop()?;
        open.extend(
            test.inner_tests()
                .iter()
                .rev()
                .map(|one| (&one.value, one.span)),
        );
        Some((test, span))
    })
}

/// Returns the beginning of a text on one line.
pub fn one_line_excerpt(text: &str) -> String {
    /// The maximum number of characters.
    const MAX_CHARS: usize = 80;
    let end = text
        .char_indices()
        .nth(MAX_CHARS)
        .map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or("").replace('\n', "⏎"))
}

/// Joins texts with commas, each between `open` and `close`.
pub(super) fn join_enclosed(texts: &[Spanned<String>], open: &str, close: &str) -> String {
    texts
        .iter()
        .map(|text| format!("{open}{}{close}", text.value))
        .collect::<Vec<_>>()
        .join(", ")
}
