//! Expectations as tables: what can be asked of a context, and of an answer.

use super::table::Group::{One, Some as AtLeast};
use super::table::{Group, Shape, Table, key, needed};
use super::words::{COUNTED, KINDS, MOST, RISKS, STATES};

/// One entry of `expect_context`.
pub static CONTEXT_TEST: Table = Table {
    what: "an expectation on the context",
    keys: &[
        key("segment", Shape::Table(&SEGMENT), "what became of a segment"),
        key("contains", Shape::PatternsOr(&PATTERNS), "each pattern occurs, in one segment or in the whole context"),
        key("absent", Shape::PatternsOr(&PATTERNS), "none of the patterns occurs"),
        key("order", Shape::List(&Shape::Text, 2), "these segments stand in this order; others may stand between them"),
        key("tokens", Shape::Table(&TOKENS), "a ceiling, or a floor, of tokens"),
        key("nothing_cut", Shape::Bool, "whether every segment is there whole"),
        key("setting", Shape::Setting, "the resolved value of a context setting: `{name, value, node}`"),
        key(
            "tools",
            Shape::List(&Shape::Text, 0),
            "exactly these tools are allowed, whatever their order; what the role blocks stands with `!` before it: `!git_push`",
        ),
        key("model", Shape::Text, "the model that would be called"),
        key("protected_paths", Shape::List(&Shape::Text, 0), "exactly these paths may not be touched, whatever their order"),
        key("snapshot", Shape::True, "the rendered request equals the stored one"),
        key("not", Shape::Table(&CONTEXT_TEST), "the expectation in it does not hold"),
        key("any_of", Shape::List(&Shape::Table(&CONTEXT_TEST), 1), "one of the expectations in it holds"),
        key("all_of", Shape::List(&Shape::Table(&CONTEXT_TEST), 1), "all expectations in it hold"),
    ],
    groups: &[One(&[
        "segment",
        "contains",
        "absent",
        "order",
        "tokens",
        "nothing_cut",
        "setting",
        "tools",
        "model",
        "protected_paths",
        "snapshot",
        "not",
        "any_of",
        "all_of",
    ])],
};

static SEGMENT: Table = Table {
    what: "`segment`",
    keys: &[
        key("id", Shape::Text, "the segment with this id, as `ctxc manifest` shows it"),
        key("kind", Shape::Word(KINDS), "all segments of a kind"),
        key(
            "source",
            Shape::Text,
            "all segments with text from a source: the path of a file, the name of a fragment, input or step",
        ),
        needed("state", Shape::Word(STATES), "there and whole, cut, dropped for want of room, or no part of this context"),
    ],
    groups: &[One(&["id", "kind", "source"])],
};

static SELECTOR: Table = Table {
    what: "a choice of segments",
    keys: &[
        key("id", Shape::Text, "the segment with this id"),
        key("kind", Shape::Word(KINDS), "all segments of a kind"),
        key("source", Shape::Text, "all segments with text from a source"),
    ],
    groups: &[One(&["id", "kind", "source"])],
};

static PATTERNS: Table = Table {
    what: "a mapping of patterns",
    keys: &[
        key(
            "in",
            Shape::IdOr(&SELECTOR),
            "where: a segment by its id, `{kind: …}`, `{source: …}`, or `whole`, which holds where it is left out",
        ),
        needed("patterns", Shape::Patterns, "regular expressions, unanchored, case-sensitive"),
    ],
    groups: &[],
};

static TOKENS: Table = Table {
    what: "`tokens`",
    keys: &[
        key(
            "of",
            Shape::WordOr(COUNTED, &SELECTOR),
            "everything that stays (`total`, where it is left out), what a provider's cache can reuse (`prefix`), or segments",
        ),
        key("max", Shape::Whole(0, MOST), "at most"),
        key("min", Shape::Whole(0, MOST), "at least"),
    ],
    groups: &[AtLeast(&["max", "min"])],
};

/// Keys that entries of `expectations` and what they are composed of share.
macro_rules! answer_keys {
    ($($last:expr),* $(,)?) => {
        &[
            key("field_matches", Shape::Table(&FIELD), "the answer is JSON, the path selects something, and the pattern holds for each of it"),
            key("absent", Shape::Patterns, "none of the patterns occurs: in the text, in a value of its JSON, in what a tool is given"),
            key("contains", Shape::Patterns, "each pattern occurs: in the text, or in a value of its JSON"),
            key("max_risk", Shape::Word(RISKS), "`$.risk_level`, else `$.risk`, is at or below it"),
            key("decomposes", Shape::Bool, "whether the answer splits the work into two parts or more"),
            key("max_tokens", Shape::Whole(1, MOST), "tokens of request and answer stay within it; of the answer its text counts and what tools are given"),
            key("references_files", Shape::List(&Shape::Text, 1), "each path is mentioned"),
            key("exact", Shape::Any, "the answer equals it as JSON"),
            key("schema", Shape::Schema, "the answer is JSON that the schema accepts"),
            key("calls_tool", Shape::Text, "the tool is called; `*` stands for any part of a name"),
            key("never_calls_tool", Shape::Text, "the tool is not called; `*` stands for any part of a name: `fs.*`"),
            key("max_latency_ms", Shape::Whole(1, MOST), "the trial takes no longer; only with live models"),
            key("max_cost_usd", Shape::Number(0.0, 1e9), "the trial costs no more; only with live models"),
            key("judge", Shape::Table(&JUDGE), "the judge gives at least the score on each criterion"),
            key("rubric", Shape::Text, "a criterion in words, for the judge"),
            key("command", Shape::List(&Shape::Text, 1), "the project's own check, as a list of its words"),
            key("not", Shape::Table(&ANSWER_TEST), "the expectation in it does not hold"),
            key("any_of", Shape::List(&Shape::Table(&ANSWER_TEST), 1), "one of the expectations in it holds"),
            key("all_of", Shape::List(&Shape::Table(&ANSWER_TEST), 1), "all expectations in it hold"),
            $($last,)*
        ]
    };
}

const ANSWER_GROUPS: &[Group] = &[One(&[
    "field_matches",
    "absent",
    "contains",
    "max_risk",
    "decomposes",
    "max_tokens",
    "references_files",
    "exact",
    "schema",
    "calls_tool",
    "never_calls_tool",
    "max_latency_ms",
    "max_cost_usd",
    "judge",
    "rubric",
    "command",
    "not",
    "any_of",
    "all_of",
])];

/// One entry of `expectations`.
pub static ANSWER: Table = Table {
    what: "an expectation on the answer",
    keys: answer_keys!(key("gate", Shape::Bool, "`false`: reported, never failing")),
    groups: ANSWER_GROUPS,
};

/// What `not`, `any_of` and `all_of` hold.
pub static ANSWER_TEST: Table = Table { what: "an expectation inside another", keys: answer_keys!(), groups: ANSWER_GROUPS };

static FIELD: Table = Table {
    what: "`field_matches`",
    keys: &[
        needed("path", Shape::Path, "a JSONPath of RFC 9535: `$.risk_level`"),
        needed("pattern", Shape::Pattern, "a regular expression for each node that it selects"),
    ],
    groups: &[],
};

static JUDGE: Table = Table {
    what: "`judge`",
    keys: &[
        needed("criteria", Shape::List(&Shape::Text, 1), "what the judge looks at"),
        needed("min_score", Shape::Number(0.0, 100.0), "the least score on each"),
    ],
    groups: &[],
};
