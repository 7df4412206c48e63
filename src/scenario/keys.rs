//! The format of scenarios and suites as key tables. A key that is not here is not read, and
//! appears in no schema and on no page.

use super::expect::answer::ANSWER;
use super::expect::context::CONTEXT_TEST;
use super::frozen::Risk;
use super::message_keys::MESSAGE;
use super::request_source::REQUEST;
use super::table::Group::{Apart, One, Some as AtLeast};
use super::table::Need::Optional;
use super::table::{Key, Need, Shape, Table, Thing, key, needed};
use super::words::MOST;

/// The maximum number of trials of one case.
pub const RUNS: u64 = 1000;
const fn also(
    name: &'static str,
    alias: &'static str,
    shape: Shape,
    need: Need,
    about: &'static str,
) -> Key {
    Key {
        alias: Some(alias),
        need,
        ..key(name, shape, about)
    }
}

/// Keys that scenarios, cases and defaults share.
macro_rules! case_keys {
    ($($first:expr),* $(,)?) => {
        &[
            $($first,)*
            key("description", Shape::Text, "why the case is there, for people"),
            key("role", Shape::Text, "the agent role of the project file that receives the context").names(Thing::Role),
            key("task", Shape::Text, "the task of the registry that receives the context").names(Thing::Task),
            key("node", Shape::Text, "the agent inside the task, by its name (`as` of the step) or its path (`/steps/1`); required if the task has several").names(Thing::Node),
            key("run", Shape::True, "the whole task is run with all its agents; expectations name theirs by `node`"),
            key("request", Shape::Table(&REQUEST), "the request that another program sends, instead of a role or task and its `context`"),
            also("context", "input", Shape::Table(&CONTEXT), Optional, "what the task is given, frozen: its objective, inputs, files and earlier results"),
            key("expect_context", Shape::List(&Shape::Table(&CONTEXT_TEST), 1), "what the context must be; needs no model and no recorded answer"),
            also("expectations", "expected", Shape::List(&Shape::Table(&ANSWER), 1), Optional, "what the answer must be"),
            key("runs", Shape::Whole(1, RUNS), "how often the case is tried; 3 unless the case or the project says otherwise"),
            key("pass_threshold", Shape::Whole(1, RUNS), "trials that must pass; 2 unless the case or the project says otherwise"),
            key("rule", Shape::Table(&RULE), "the rule for trials in full; `runs` and `pass_threshold` are short for its first two keys"),
            key("answers", Shape::List(&Shape::Table(&SCRIPTED), 0), "scripted answers: the first whose `when` matches the request is given"),
            key("tags", Shape::List(&Shape::Text, 0), "words that `--tag` selects by"),
            key("baseline_config_hash", Shape::Text, "the context hash of the last known-good run; `ctxc` writes it"),
            key("frozen_from", Shape::Any, "the run that the case was made from; `ctxc` writes it"),
            key("reviewed", Shape::Date, "the day somebody last read it; a review is due after `[eval] stale_after_days`"),
        ]
    };
}

const CASE_GROUPS: &[super::table::Group] = &[
    One(&["role", "task", "request"]),
    One(&["context", "request"]),
    AtLeast(&["expect_context", "expectations"]),
    Apart("rule", &["runs", "pass_threshold"]),
    // The answer to another program's request is the recorded one.
    Apart("request", &["answers", "node", "run"]),
    // A run of a whole task has no single agent.
    Apart("run", &["node"]),
];

/// A scenario: one file, one case.
pub static SCENARIO: Table = Table {
    what: "a scenario",
    keys: case_keys!(
        key(
            "schema",
            Shape::Word(&[super::model::SCENARIO_SCHEMA]),
            "the format, for other programs; a JSON file without it is not a scenario"
        ),
        needed(
            "name",
            Shape::Text,
            "its name, unique in the project: shown everywhere"
        ),
    ),
    groups: CASE_GROUPS,
};

/// A suite: many cases in one file.
pub static SUITE: Table = Table {
    what: "a suite",
    keys: &[
        key(
            "schema",
            Shape::Word(&[super::model::SUITE_SCHEMA]),
            "the format, for other programs; a JSON file without it is not a suite",
        ),
        needed("id", Shape::Text, "its id: cases are named `SUITE/CASE`"),
        key("name", Shape::Text, "what people call it"),
        key("description", Shape::Text, "what it is for"),
        key("version", Shape::Label, "its version"),
        key(
            "defaults",
            Shape::Table(&DEFAULTS),
            "values for keys that a case leaves out: `context` is filled in key by key; a list such as `expect_context` of a case replaces the whole list here",
        ),
        key("cases", Shape::List(&Shape::Table(&CASE), 1), "its cases"),
        key(
            "cases_from",
            Shape::Text,
            "a table of further cases beside the suite, one a row: `.csv` or `.jsonl`",
        )
        .names(Thing::Beside),
        key(
            "fixtures",
            Shape::Table(&FIXTURES),
            "what memory, retrieval and tools return, unless the case says otherwise",
        ),
    ],
    groups: &[AtLeast(&["cases", "cases_from"])],
};

/// A case of a suite.
pub static CASE: Table = Table {
    what: "a case",
    keys: case_keys!(
        needed("id", Shape::Label, "its id, unique in the suite"),
        key("name", Shape::Text, "what people call it"),
    ),
    groups: CASE_GROUPS,
};

/// `defaults` of a suite.
pub static DEFAULTS: Table = Table {
    what: "`defaults`",
    keys: case_keys!(),
    groups: &[
        Apart("rule", &["runs", "pass_threshold"]),
        Apart("role", &["task"]),
        Apart("run", &["node"]),
    ],
};

/// Keys that the fixtures of a suite and the context of a case share.
const MEMORY: Key = key(
    "memory",
    Shape::Pairs(&FIXTURE),
    "what memory returns, best first; never used as files for a task that describes the files it wants",
);
const RETRIEVAL: Key = key(
    "retrieval",
    Shape::Pairs(&FIXTURE),
    "what retrieval returns, best first: for fresh context, and for files that a task describes",
);

/// `fixtures` of a suite.
pub static FIXTURES: Table = Table {
    what: "`fixtures`",
    keys: &[
        MEMORY,
        RETRIEVAL,
        key(
            "tools",
            Shape::Map(&Shape::Any),
            "what tools return, by their names",
        ),
    ],
    groups: &[],
};

/// `context`.
pub static CONTEXT: Table = Table {
    what: "`context`",
    keys: &[
        key("task_id", Shape::Label, "the id of the frozen task"),
        needed("objective", Shape::Words, "the request; empty where a role is run without one"),
        key("constraints", Shape::List(&Shape::Text, 0), "what the answer must keep to"),
        key(
            "file_context",
            Shape::Map(&Shape::Content),
            "files by path: `src/a.rs: !file a.rs` takes the content from a file beside the scenario",
        )
        .keyed_by(Thing::Path),
        key("previous_output", Shape::Any, "the output of the stage before"),
        key("failure_history", Shape::List(&Shape::Table(&FAILURE), 0), "what earlier attempts ran into, oldest first"),
        key("acceptance_criteria", Shape::List(&Shape::Text, 0), "what a good answer satisfies"),
        key("risk_level", Shape::Word(&Risk::WORDS), "how much is at stake"),
        key("extra", Shape::Map(&Shape::Any), "anything else, kept as it is"),
        key(
            "inputs",
            Shape::Map(&Shape::Frozen),
            "values of the task's parameters; the text `@PATH`, `{file: PATH}` or `!file PATH` takes one from a file beside the scenario",
        )
        .keyed_by(Thing::Parameter),
        key(
            "results",
            Shape::Map(&Shape::Frozen),
            "the results of earlier steps, by their names or paths, to test an agent in the middle of a task",
        )
        .keyed_by(Thing::Step),
        key(
            "history",
            Shape::Chat(&MESSAGE),
            "the conversation so far, oldest first, for a task with `<history>`; a file has one message a line, as `ctxc render --history` takes it",
        ),
        MEMORY,
        RETRIEVAL,
    ],
    groups: &[],
};

static FAILURE: Table = Table {
    what: "an entry of `failure_history`",
    keys: &[
        needed("stage", Shape::Text, "the stage"),
        needed("obstacle", Shape::Text, "what stood in the way"),
        key("note", Shape::Text, "what was learnt"),
    ],
    groups: &[],
};

static FIXTURE: Table = Table {
    what: "a fixture",
    keys: &[
        needed("id", Shape::Text, "its id: a path, a key"),
        needed("text", Shape::Content, "its text"),
    ],
    groups: &[],
};

static RULE: Table = Table {
    what: "`rule`",
    keys: &[
        key("runs", Shape::Whole(1, RUNS), "how often the case is tried"),
        key("pass", Shape::Whole(1, RUNS), "trials that must pass"),
        key(
            "strict",
            Shape::Bool,
            "whether a failure is final: no second stage",
        ),
        key(
            "confirm",
            Shape::Table(&CONFIRM),
            "the second stage of a case that fails the first",
        ),
        key(
            "sequential",
            Shape::Table(&SEQUENTIAL),
            "a sequential test instead of a fixed number of trials",
        ),
    ],
    groups: &[Apart("sequential", &["runs", "pass", "confirm"])],
};

static CONFIRM: Table = Table {
    what: "`confirm`",
    keys: &[
        needed("runs", Shape::Whole(1, RUNS), "trials"),
        needed("pass", Shape::Whole(1, RUNS), "trials that must pass"),
    ],
    groups: &[],
};

static SEQUENTIAL: Table = Table {
    what: "`sequential`",
    keys: &[
        needed("p0", Shape::Number(0.0, 1.0), "a pass rate that is too low"),
        needed("p1", Shape::Number(0.0, 1.0), "a pass rate that is good"),
        needed(
            "alpha",
            Shape::Number(0.0001, 0.5),
            "the chance of accepting a rate that is too low",
        ),
        needed(
            "beta",
            Shape::Number(0.0001, 0.5),
            "the chance of rejecting a rate that is good",
        ),
        needed("max", Shape::Whole(1, RUNS), "the most trials"),
    ],
    groups: &[],
};

/// A script: answers without a scenario.
pub(super) static SCRIPT: Table = Table {
    what: "a script",
    keys: &[needed(
        "answers",
        Shape::List(&Shape::Table(&SCRIPTED), 1),
        "the first whose `when` matches the request is given",
    )],
    groups: &[],
};

static SCRIPTED: Table = Table {
    what: "a scripted answer",
    keys: &[
        key(
            "when",
            Shape::Table(&WHEN),
            "the requests that it answers; default: every request",
        ),
        key(
            "reply",
            Shape::Any,
            "the answer: a text, or JSON; default: nothing",
        ),
        key(
            "tool_calls",
            Shape::List(&Shape::Table(&TOOL_CALL), 0),
            "the tools that are called",
        ),
        key("usage", Shape::Table(&USAGE), "the tokens that it uses"),
        key(
            "exit",
            Shape::Whole(0, 255),
            "the exit code, for the answer of a script; default: 0",
        ),
        key(
            "stderr",
            Shape::Text,
            "what the script writes to standard error",
        ),
        key(
            "killed_by",
            Shape::Word(&["signal", "timeout"]),
            "what ends the script before it exits by itself",
        ),
    ],
    groups: &[
        AtLeast(&["reply", "tool_calls", "exit", "killed_by"]),
        Apart("killed_by", &["reply", "exit"]),
        Apart("tool_calls", &["exit", "stderr", "killed_by"]),
    ],
};

static WHEN: Table = Table {
    what: "`when`",
    keys: &[
        key("has", Shape::Patterns, "patterns that the request must have"),
        key("lacks", Shape::Patterns, "patterns that the request must not have"),
        key(
            "node",
            Shape::Text,
            "the agent or script of a run that it is for, by its name or path; several are given in turn, then the last again",
        )
        .names(Thing::Node),
    ],
    groups: &[],
};

static TOOL_CALL: Table = Table {
    what: "a tool call",
    keys: &[
        needed("name", Shape::Text, "the tool"),
        key("arguments", Shape::Any, "its arguments"),
    ],
    groups: &[],
};

static USAGE: Table = Table {
    what: "`usage`",
    keys: &[
        needed("input", Shape::Whole(0, MOST), "tokens of the request"),
        needed("output", Shape::Whole(0, MOST), "tokens of the answer"),
    ],
    groups: &[],
};
