//! The format of scenarios and suites as key tables. A key that is not here is not read, and
//! appears in no schema and on no page.

use super::compaction::COMPACTION_TABLE;
use super::expect::answer::ANSWER_TABLE;
use super::expect::context::CONTEXT_TEST_TABLE;
use super::message_keys::MESSAGE_TABLE;
use super::request_source::REQUEST_TABLE;
use super::table::KeyGroup::{AtLeastOne as AtLeast, ExactlyOne, Exclusive};
use super::table::KeyNeed::Optional;
use super::table::{
    KeyNeed, NamedThingKind, ScenarioKey, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use super::values::{MAX_EXACT_NUMBER, Risk};

/// The maximum number of trials of one case.
pub const MAX_RUNS: u64 = 1000;
/// A minimum that is a share of what is possible.
const SHARE: ScenarioShape = ScenarioShape::Number(0.01, 1.0);
const fn aliased_key(
    name: &'static str,
    alias: &'static str,
    shape: ScenarioShape,
    need: KeyNeed,
    about: &'static str,
) -> ScenarioKey {
    ScenarioKey {
        alias: Some(alias),
        need,
        ..optional_key(name, shape, about)
    }
}

/// Keys that scenarios, cases and defaults share.
macro_rules! case_keys {
    ($($first:expr),* $(,)?) => {
        &[
            $($first,)*
            optional_key("description", ScenarioShape::Text, "the purpose of the case, for people"),
            optional_key("role", ScenarioShape::Text, "the agent role of the project file that receives the context").with_names(NamedThingKind::Role),
            optional_key("task", ScenarioShape::Text, "the task of the registry that receives the context").with_names(NamedThingKind::Task),
            optional_key("node", ScenarioShape::Text, "the agent inside the task, by its name (`as` of the step) or its path (`/steps/1`); required if the task has several").with_names(NamedThingKind::Node),
            optional_key("run", ScenarioShape::True, "run the whole task with all its agents; expectations name their agent by `node`"),
            optional_key("request", ScenarioShape::Table(&REQUEST_TABLE), "the request that another program sends, instead of a role or task and its `context`"),
            optional_key("compaction", ScenarioShape::Table(&COMPACTION_TABLE), "a compaction of a session of a coding agent, instead of a role or task and its `context`; the summary is the answer"),
            aliased_key("context", "input", ScenarioShape::Table(&CONTEXT_TABLE), Optional, "the frozen values of the task: its objective, inputs, files and earlier results"),
            optional_key("expect_context", ScenarioShape::List(&ScenarioShape::Table(&CONTEXT_TEST_TABLE), 1), "expectations on the context; they need no model and no recorded answer"),
            aliased_key("expectations", "expected", ScenarioShape::List(&ScenarioShape::Table(&ANSWER_TABLE), 1), Optional, "expectations on the answer"),
            optional_key("runs", ScenarioShape::Whole(1, MAX_RUNS), "the number of trials; default: that of the project, else 3"),
            optional_key("pass_threshold", ScenarioShape::Whole(1, MAX_RUNS), "trials that must pass; default: that of the project, else 2"),
            optional_key("min_score", SHARE, "the score, from 0.01 to 1, from which a trial passes, whichever expectations hold; default: all of them must hold"),
            optional_key("rule", ScenarioShape::Table(&RULE_TABLE), "the rule for trials in full; `runs` and `pass_threshold` are short for its first two keys"),
            optional_key("answers", ScenarioShape::List(&ScenarioShape::Table(&SCRIPTED_TABLE), 0), "scripted answers: the first whose `when` matches the request is given"),
            optional_key("tags", ScenarioShape::List(&ScenarioShape::Text, 0), "words that `--tag` selects by"),
            optional_key("baseline_config_hash", ScenarioShape::Text, "the context hash of the last known-good run; `ctxc` writes it"),
            optional_key("frozen_from", ScenarioShape::Any, "the run that the case was made from; `ctxc` writes it"),
            optional_key("reviewed", ScenarioShape::Date, "the day of its last review; the next one is due after `[eval] stale_after_days`"),
        ]
    };
}

const CASE_GROUPS: &[super::table::KeyGroup] = &[
    ExactlyOne(&["role", "task", "request", "compaction"]),
    ExactlyOne(&["context", "request", "compaction"]),
    AtLeast(&["expect_context", "expectations"]),
    Exclusive("rule", &["runs", "pass_threshold"]),
    // The answer to another program's request is the recorded one.
    Exclusive("request", &["answers", "node", "run"]),
    // A method of compaction gives the answer.
    Exclusive("compaction", &["answers", "node", "run", "expect_context"]),
    // A run of a whole task has no single agent.
    Exclusive("run", &["node"]),
];

/// A scenario: one file, one case.
pub static SCENARIO_TABLE: ScenarioTable = ScenarioTable {
    what: "a scenario",
    keys: case_keys!(
        optional_key(
            "schema",
            ScenarioShape::Word(&[super::model::SCENARIO_SCHEMA]),
            "the format, for other programs; a JSON file without it is not a scenario"
        ),
        required_key(
            "name",
            ScenarioShape::Text,
            "its name, unique in the project, as shown everywhere"
        ),
    ),
    groups: CASE_GROUPS,
};

/// A suite: many cases in one file.
pub static SUITE_TABLE: ScenarioTable = ScenarioTable {
    what: "a suite",
    keys: &[
        optional_key(
            "schema",
            ScenarioShape::Word(&[super::model::SUITE_SCHEMA]),
            "the format, for other programs; a JSON file without it is not a suite",
        ),
        required_key(
            "id",
            ScenarioShape::Text,
            "its id: cases are named `SUITE/CASE`",
        ),
        optional_key("name", ScenarioShape::Text, "its displayed name"),
        optional_key("description", ScenarioShape::Text, "its purpose"),
        optional_key("version", ScenarioShape::Label, "its version"),
        optional_key(
            "defaults",
            ScenarioShape::Table(&DEFAULTS_TABLE),
            "values for keys that a case leaves out: `context` is filled in key by key; a list such as `expect_context` of a case replaces the whole list here",
        ),
        optional_key(
            "cases",
            ScenarioShape::List(&ScenarioShape::Table(&CASE_TABLE), 1),
            "its cases",
        ),
        optional_key(
            "cases_from",
            ScenarioShape::Text,
            "a table of further cases beside the suite, one a row: `.csv` or `.jsonl`",
        )
        .with_names(NamedThingKind::SiblingFile),
        optional_key(
            "fixtures",
            ScenarioShape::Table(&FIXTURES_TABLE),
            "results of memory, retrieval and tools, unless the case has its own",
        ),
        optional_key(
            "thresholds",
            ScenarioShape::Table(&THRESHOLDS_TABLE),
            "limits for all cases of the suite together",
        ),
    ],
    groups: &[AtLeast(&["cases", "cases_from"])],
};

/// `thresholds` of a suite.
pub static THRESHOLDS_TABLE: ScenarioTable = ScenarioTable {
    what: "`thresholds`",
    keys: &[
        optional_key(
            "min_score",
            SHARE,
            "the minimum mean of the scores of its cases, from 0.01 to 1",
        ),
        optional_key(
            "pass_rate",
            SHARE,
            "the minimum share of its cases that pass, from 0.01 to 1; while it is reached, a case may fail by its answers",
        ),
    ],
    groups: &[AtLeast(&["min_score", "pass_rate"])],
};

/// A case of a suite.
pub static CASE_TABLE: ScenarioTable = ScenarioTable {
    what: "a case",
    keys: case_keys!(
        required_key("id", ScenarioShape::Label, "its id, unique in the suite"),
        optional_key("name", ScenarioShape::Text, "its displayed name"),
    ),
    groups: CASE_GROUPS,
};

/// `defaults` of a suite.
pub static DEFAULTS_TABLE: ScenarioTable = ScenarioTable {
    what: "`defaults`",
    keys: case_keys!(),
    groups: &[
        Exclusive("rule", &["runs", "pass_threshold"]),
        Exclusive("role", &["task"]),
        Exclusive("run", &["node"]),
    ],
};

/// Keys that the fixtures of a suite and the context of a case share.
const MEMORY_KEY: ScenarioKey = optional_key(
    "memory",
    ScenarioShape::Pairs(&FIXTURE_TABLE),
    "results of memory, best first; never used as files for a task that describes its files",
);
const RETRIEVAL_KEY: ScenarioKey = optional_key(
    "retrieval",
    ScenarioShape::Pairs(&FIXTURE_TABLE),
    "results of retrieval, best first: for fresh context, and for files that a task describes",
);

/// `fixtures` of a suite.
pub static FIXTURES_TABLE: ScenarioTable = ScenarioTable {
    what: "`fixtures`",
    keys: &[
        MEMORY_KEY,
        RETRIEVAL_KEY,
        optional_key(
            "tools",
            ScenarioShape::Map(&ScenarioShape::Any),
            "results of tools, by their names",
        ),
    ],
    groups: &[],
};

/// `context`.
pub static CONTEXT_TABLE: ScenarioTable = ScenarioTable {
    what: "`context`",
    keys: &[
        optional_key("task_id", ScenarioShape::Label, "the id of the frozen task"),
        required_key("objective", ScenarioShape::AnyText, "the request; empty if a role is run without one"),
        optional_key("constraints", ScenarioShape::List(&ScenarioShape::Text, 0), "constraints on the answer"),
        optional_key(
            "file_context",
            ScenarioShape::Map(&ScenarioShape::Content),
            "files by path: `src/a.rs: !file a.rs` takes the content from a file beside the scenario",
        )
        .with_key_names(NamedThingKind::Path),
        optional_key("previous_output", ScenarioShape::Any, "the output of the stage before"),
        optional_key("failure_history", ScenarioShape::List(&ScenarioShape::Table(&FAILURE_TABLE), 0), "the obstacles of earlier attempts, oldest first"),
        optional_key("acceptance_criteria", ScenarioShape::List(&ScenarioShape::Text, 0), "criteria of a good answer"),
        optional_key("risk_level", ScenarioShape::Word(&Risk::WORDS), "the level of risk"),
        optional_key("extra", ScenarioShape::Map(&ScenarioShape::Any), "anything else, kept as it is"),
        optional_key(
            "inputs",
            ScenarioShape::Map(&ScenarioShape::Frozen),
            "values of the task's parameters; the text `@PATH`, `{file: PATH}` or `!file PATH` takes one from a file beside the scenario",
        )
        .with_key_names(NamedThingKind::Parameter),
        optional_key(
            "results",
            ScenarioShape::Map(&ScenarioShape::Frozen),
            "the results of earlier steps, by their names or paths, to test an agent in the middle of a task",
        )
        .with_key_names(NamedThingKind::Step),
        optional_key(
            "history",
            ScenarioShape::Messages(&MESSAGE_TABLE),
            "the conversation so far, oldest first, for a task with `<history>`; a file has one message a line, as `ctxc render --history` takes it",
        ),
        MEMORY_KEY,
        RETRIEVAL_KEY,
    ],
    groups: &[],
};

static FAILURE_TABLE: ScenarioTable = ScenarioTable {
    what: "an entry of `failure_history`",
    keys: &[
        required_key("stage", ScenarioShape::Text, "the stage"),
        required_key("obstacle", ScenarioShape::Text, "the obstacle"),
        optional_key("note", ScenarioShape::Text, "the lesson"),
    ],
    groups: &[],
};

static FIXTURE_TABLE: ScenarioTable = ScenarioTable {
    what: "a fixture",
    keys: &[
        required_key("id", ScenarioShape::Text, "its id: a path, a key"),
        required_key("text", ScenarioShape::Content, "its text"),
    ],
    groups: &[],
};

static RULE_TABLE: ScenarioTable = ScenarioTable {
    what: "`rule`",
    keys: &[
        optional_key(
            "runs",
            ScenarioShape::Whole(1, MAX_RUNS),
            "the number of trials",
        ),
        optional_key(
            "pass",
            ScenarioShape::Whole(1, MAX_RUNS),
            "trials that must pass",
        ),
        optional_key(
            "strict",
            ScenarioShape::Bool,
            "`true`: a failure is final, without a second stage",
        ),
        optional_key(
            "confirm",
            ScenarioShape::Table(&CONFIRM_TABLE),
            "the second stage of a case that fails the first",
        ),
        optional_key(
            "sequential",
            ScenarioShape::Table(&SEQUENTIAL_TABLE),
            "a sequential test instead of a fixed number of trials",
        ),
    ],
    groups: &[Exclusive("sequential", &["runs", "pass", "confirm"])],
};

static CONFIRM_TABLE: ScenarioTable = ScenarioTable {
    what: "`confirm`",
    keys: &[
        required_key("runs", ScenarioShape::Whole(1, MAX_RUNS), "trials"),
        required_key(
            "pass",
            ScenarioShape::Whole(1, MAX_RUNS),
            "trials that must pass",
        ),
    ],
    groups: &[],
};

static SEQUENTIAL_TABLE: ScenarioTable = ScenarioTable {
    what: "`sequential`",
    keys: &[
        required_key(
            "p0",
            ScenarioShape::Number(0.0, 1.0),
            "a pass rate that is too low",
        ),
        required_key(
            "p1",
            ScenarioShape::Number(0.0, 1.0),
            "a pass rate that is good",
        ),
        required_key(
            "alpha",
            ScenarioShape::Number(0.0001, 0.5),
            "the chance of accepting a rate that is too low",
        ),
        required_key(
            "beta",
            ScenarioShape::Number(0.0001, 0.5),
            "the chance of rejecting a rate that is good",
        ),
        required_key(
            "max",
            ScenarioShape::Whole(1, MAX_RUNS),
            "the maximum number of trials",
        ),
    ],
    groups: &[],
};

/// A script: answers without a scenario.
pub(super) static SCRIPT_TABLE: ScenarioTable = ScenarioTable {
    what: "a script",
    keys: &[required_key(
        "answers",
        ScenarioShape::List(&ScenarioShape::Table(&SCRIPTED_TABLE), 1),
        "the first whose `when` matches the request is given",
    )],
    groups: &[],
};

static SCRIPTED_TABLE: ScenarioTable = ScenarioTable {
    what: "a scripted answer",
    keys: &[
        optional_key(
            "when",
            ScenarioShape::Table(&WHEN_TABLE),
            "the requests that it answers; default: every request",
        ),
        optional_key(
            "reply",
            ScenarioShape::Any,
            "the answer: a text, or JSON; default: nothing",
        ),
        optional_key(
            "tool_calls",
            ScenarioShape::List(&ScenarioShape::Table(&TOOL_CALL_TABLE), 0),
            "the tools that are called",
        ),
        optional_key(
            "usage",
            ScenarioShape::Table(&USAGE_TABLE),
            "the tokens that it uses",
        ),
        optional_key(
            "exit",
            ScenarioShape::Whole(0, 255),
            "the exit code, for the answer of a script; default: 0",
        ),
        optional_key(
            "stderr",
            ScenarioShape::Text,
            "the standard error output of the script",
        ),
        optional_key(
            "killed_by",
            ScenarioShape::Word(&["signal", "timeout"]),
            "the event that ends the script before it exits by itself",
        ),
    ],
    groups: &[
        AtLeast(&["reply", "tool_calls", "exit", "killed_by"]),
        Exclusive("killed_by", &["reply", "exit"]),
        Exclusive("tool_calls", &["exit", "stderr", "killed_by"]),
    ],
};

static WHEN_TABLE: ScenarioTable = ScenarioTable {
    what: "`when`",
    keys: &[
        optional_key("has", ScenarioShape::Patterns, "patterns that the request must have"),
        optional_key("lacks", ScenarioShape::Patterns, "patterns that the request must not have"),
        optional_key(
            "node",
            ScenarioShape::Text,
            "the agent or script of a run, by its name or path; several answers for it are given in turn, then the last again",
        )
        .with_names(NamedThingKind::Node),
    ],
    groups: &[],
};

static TOOL_CALL_TABLE: ScenarioTable = ScenarioTable {
    what: "a tool call",
    keys: &[
        required_key("name", ScenarioShape::Text, "the tool"),
        optional_key("arguments", ScenarioShape::Any, "its arguments"),
    ],
    groups: &[],
};

static USAGE_TABLE: ScenarioTable = ScenarioTable {
    what: "`usage`",
    keys: &[
        required_key(
            "input",
            ScenarioShape::Whole(0, MAX_EXACT_NUMBER),
            "tokens of the request",
        ),
        required_key(
            "output",
            ScenarioShape::Whole(0, MAX_EXACT_NUMBER),
            "tokens of the answer",
        ),
    ],
    groups: &[],
};
