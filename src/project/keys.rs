//! The keys of `ctxc.toml`: what each takes, and what it is for. The reader suggests from this list where a key is unknown, and checks
//! values against it; the JSON Schema that editors complete by is made from it. There is no second list.

use super::config::{EDITION, Lookup, Templates};
use super::eval::{Drift, Gate};
use super::models::{ProviderKind, TOKENIZERS};
use super::roles::{Budget, KINDS, PROFILES, Tier};
use super::row::{Row, keys};
pub use super::table::{Key, Shape, Table};
use super::table::{key, needed, table};
use crate::scenario::keys::RUNS;
use crate::scenario::table::Group;
use crate::syntax::limits::Limits;
use crate::template::setting::SettingName;

/// Columns that a line of a template can have.
pub const WIDTH: (u64, u64) = (20, 1_000);
/// Spaces of an indent.
pub const INDENT: (u64, u64) = (1, 16);
/// The word for an indent of tabs.
pub const TAB: &str = "tab";
/// Tokens that a budget can name.
pub const TOKENS: (u64, u64) = (1, 1_000_000_000);
/// Tokens that are kept free for an answer.
pub const RESERVE: (u64, u64) = (0, TOKENS.1);
/// US$ that a role may spend, and those for a million tokens.
pub const PRICE: (f64, f64) = (0.0, 1e6);
/// Trials.
pub const TRIALS: (u64, u64) = (1, RUNS);
/// Days until a scenario is stale.
pub const DAYS: (u64, u64) = (1, 36_500);
/// What stale results are.
pub const STALE: [&str; 2] = ["error", "warn"];
/// A part of something that may grow a hundredfold, and no further.
pub const PART: (f64, f64) = (0.0, 100.0);
/// A part of a whole.
pub const RATE: (f64, f64) = (0.0, 1.0);
/// US$ of a run.
pub const DOLLARS: (f64, f64) = (0.0, 1e9);
/// Runs that drift is looked for in.
pub const WINDOW: (u64, u64) = (2, 1000);
/// Batches in a row.
pub const BATCHES: (u64, u64) = (1, 1000);

/// What a limit can be raised to: what spans, counters and the stack can hold.
pub static LIMITS: Table = table("what an input may not exceed", &LIMIT_KEYS);
static LIMIT_KEYS: [Key; 8] = keys(&LIMIT_ROWS);
/// Its rows.
pub static LIMIT_ROWS: [Row<Limits>; 8] = [
    Row::whole("depth", (1, 512), "elements inside each other", |limits, found| limits.depth = found.value as u32),
    Row::whole("attributes", (1, 65_535), "attributes of an element", |limits, found| limits.attributes = found.value as u32),
    Row::whole("namespaces", (1, 1_000), "namespaces of a file", |limits, found| limits.namespaces = found.value as u32),
    Row::whole("file", (1, 1 << 30), "bytes of a file", |limits, found| limits.file = found.value),
    Row::whole("text", (1, 1 << 30), "bytes of a text", |limits, found| limits.text = found.value as u32),
    Row::whole("name", (1, 65_535), "bytes of a name", |limits, found| limits.name = found.value as u32),
    Row::whole("nodes", (1, 100_000_000), "nodes of a file", |limits, found| limits.nodes = found.value as u32),
    Row::whole("diagnostics", (1, 1_000_000), "findings of a file", |limits, found| limits.diagnostics = found.value as u32),
];

/// The four settings.
pub static SETTINGS: Table = Table {
    others: Some(&Shape::Table(&ROW_SETTINGS)),
    ..table("default settings of a type; of a subtype or part, in a table of its own", SETTING_KEYS)
};
/// The same without subtypes.
pub static ROW_SETTINGS: Table = table("default settings of a subtype or part", SETTING_KEYS);

const SETTING_KEYS: &[Key] = &[
    key("inherit_context", Shape::Setting(SettingName::InheritContext), "how much of the parent's context a task gets"),
    key("accumulate_data", Shape::Setting(SettingName::AccumulateData), "whether steps see the results of those before"),
    key("accumulation_format", Shape::Setting(SettingName::AccumulationFormat), "what of a result they see"),
    key("fresh_context", Shape::Setting(SettingName::FreshContext), "whether context is looked up"),
];

/// A type of the project, or subtypes of one of the language.
pub static OPERATOR: Table = Table {
    others: Some(&Shape::Table(&ROW_SETTINGS)),
    ..table(
        "a type of the project; its subtypes in tables of their own",
        &[
            key("base", Shape::Base, "the type of the language that it is built on"),
            key("inherit_context", Shape::Setting(SettingName::InheritContext), "how much of the parent's context a task gets"),
            key("accumulate_data", Shape::Setting(SettingName::AccumulateData), "whether steps see the results of those before"),
            key("accumulation_format", Shape::Setting(SettingName::AccumulationFormat), "what of a result they see"),
            key("fresh_context", Shape::Setting(SettingName::FreshContext), "whether context is looked up"),
        ],
    )
};

/// `[[require]]`.
pub static REQUIRE: Table = table(
    "what must hold for resolved tasks",
    &[
        key("path", Shape::Globs, "the files of the tasks that it is about"),
        key("name", Shape::Globs, "their names"),
        key("operator", Shape::Texts, "their types"),
        key("subtype", Shape::Texts, "their subtypes"),
        key("role", Shape::Texts, "the agent roles that play them"),
        needed(
            "must",
            Shape::Texts,
            "conditions: `has owner`, `fresh_context == disabled`, `manifest_tokens <= 4000`, `model in [\"a\"]`",
        ),
        key("level", Shape::Word(&["hint", "info", "warning", "error"]), "how much it weighs; an error where it is left out"),
        key("reason", Shape::Text, "why, shown with each finding"),
    ],
);

/// A role's system prompt in a file.
pub static SYSTEM: Table = table("a text in a file", &[needed("file", Shape::Text, "its path, relative to the project")]);

/// A role's budget.
pub static BUDGET: Table = table("what a role may use up in a call", &BUDGET_KEYS);
static BUDGET_KEYS: [Key; 2] = keys(&BUDGET_ROWS);
/// Its rows.
pub static BUDGET_ROWS: [Row<Budget>; 2] = [
    Row::whole("tokens", TOKENS, "tokens of its context", |budget, found| budget.tokens = Some(found)),
    Row::number("usd", PRICE, "US$", |budget, found| budget.usd = Some(found)),
];

/// `[roles.NAME]`.
pub static ROLE: Table = Table {
    groups: &[Group::Apart("model", &["tier", "capabilities"])],
    ..table(
        "an agent role",
        &[
            key("template", Shape::Text, "the task that it plays; the one of its own name where the key is left out"),
            key("description", Shape::Text, "what it is for, for people"),
            key("system", Shape::NameOr(&SYSTEM), "who the agent is; takes no values"),
            key("tools", Shape::Set, "tools that it may use; `git_*` for all that begin so"),
            key("blocked_tools", Shape::Set, "tools that are refused even where they are allowed"),
            key("protected_paths", Shape::Globs, "paths that its tools may not touch"),
            key("budget", Shape::Table(&BUDGET), "what it may use up in a call"),
            key("model", Shape::Set, "its models, the first that answers"),
            key("tier", Shape::Word(&Tier::WORDS), "the lowest tier that will do: the cheapest model of it is taken"),
            key("capabilities", Shape::Set, "what its model has to be able to do"),
            key("profile", Shape::Word(&PROFILES), "how its segments look"),
            key("order", Shape::Words(KINDS), "kinds of segments that stand first, in this order"),
        ],
    )
};

/// Prices of a model.
pub static PRICES: Table = table(
    "US$ for a million tokens",
    &[
        needed("input", Shape::Number(PRICE), "read"),
        key("cached_input", Shape::Number(PRICE), "read from the provider's cache"),
        needed("output", Shape::Number(PRICE), "written"),
    ],
);

/// `[models.NAME]`.
pub static MODEL: Table = table(
    "a model",
    &[
        needed("provider", Shape::Text, "who serves it: a name under `[providers]`, or a kind of provider"),
        key("id", Shape::Text, "what its provider calls it; its name here where the key is left out"),
        needed("tier", Shape::Word(&Tier::WORDS), "how able it is, in the project's own judgement"),
        key("capabilities", Shape::Set, "what it can do, in words of the project's own"),
        needed("context_window", Shape::Whole(TOKENS), "tokens that it takes"),
        key("output_reserve", Shape::Whole(RESERVE), "tokens of it that are kept free for the answer"),
        key("tokenizer", Shape::Word(&TOKENIZERS), "who counts its tokens"),
        key("usd_per_million", Shape::Table(&PRICES), "what it costs"),
    ],
);

/// `[providers.NAME]`.
pub static PROVIDER: Table = table(
    "who serves models; no key stands in the file",
    &[
        needed("kind", Shape::Word(&ProviderKind::WORDS), "the interface that it speaks"),
        key("base_url", Shape::Text, "its address, where it is not the usual one"),
        key("api_key_env", Shape::Text, "the environment variable that holds the key"),
    ],
);

/// `[eval.gate]`.
pub static GATE: Table = table("what may not get worse", &GATE_KEYS);
static GATE_KEYS: [Key; 4] = keys(&GATE_ROWS);
/// Its rows.
pub static GATE_ROWS: [Row<Gate>; 4] = [
    Row::number("manifest_tokens", PART, "growth of a manifest, as a part of it", |gate, found| {
        gate.manifest_tokens = found.value;
    }),
    Row::number("pass_rate", RATE, "the least part of cases that pass", |gate, found| gate.pass_rate = Some(found.value)),
    Row::number("tokens", PART, "growth of the tokens of a run", |gate, found| gate.tokens = Some(found.value)),
    Row::number("cost_usd", DOLLARS, "US$ of a run", |gate, found| gate.cost_usd = Some(found.value)),
];

/// `[eval.drift]`.
pub static DRIFT: Table = table("what counts as drift", &DRIFT_KEYS);
static DRIFT_KEYS: [Key; 4] = keys(&DRIFT_ROWS);
/// Its rows.
pub static DRIFT_ROWS: [Row<Drift>; 4] = [
    Row::number("token_inflation", PART, "growth of the mean tokens", |drift, found| drift.token_inflation = found.value),
    Row::whole("window", WINDOW, "runs that are compared", |drift, found| drift.window = found.value as u32),
    Row::number("latency_regression", PART, "growth of the mean time", |drift, found| drift.latency_regression = found.value),
    Row::whole("batches", BATCHES, "batches in a row below the pass rate", |drift, found| drift.batches = found.value as u32),
];

/// `[eval.stability]`.
pub static STABILITY: Table = table(
    "when runs with live models may gate: all of it, or none",
    &[
        needed("reruns", Shape::Whole(TRIALS), "trials of each case"),
        needed("variance", Shape::Number(RATE), "the most that pass rates may differ"),
        needed("cost_usd", Shape::Number(DOLLARS), "US$ that a run may cost"),
        needed("accepters", Shape::Set, "who may accept a baseline"),
    ],
);

/// `[eval]`.
pub static EVAL: Table = table(
    "scenarios and how they are tried",
    &[
        key("scenarios", Shape::Texts, "files and folders of scenarios, and patterns of them; `scenarios` where it is left out"),
        key("runs", Shape::Whole(TRIALS), "trials of a case that says nothing"),
        key("pass", Shape::Whole(TRIALS), "trials of them that must pass"),
        key("plan_path", Shape::Text, "the JSONPath at which an answer has the parts of its plan"),
        key("stale_after_days", Shape::Whole(DAYS), "when a scenario that nobody reviewed is stale"),
        key("stale", Shape::Word(&STALE), "what a stale result is"),
        key("gate", Shape::Table(&GATE), "what may not get worse"),
        key("drift", Shape::Table(&DRIFT), "what counts as drift"),
        key("stability", Shape::Table(&STABILITY), "when runs with live models may gate"),
    ],
);

/// `[project]`.
pub static PROJECT: Table = table(
    "the project",
    &[
        key("name", Shape::Name, "its name"),
        key("version", Shape::Text, "its version"),
        key("description", Shape::Text, "what it is for"),
    ],
);

/// `[templates]`.
pub static TEMPLATES: Table = table("which files are templates", &TEMPLATES_KEYS);
static TEMPLATES_KEYS: [Key; 2] = keys(&TEMPLATES_ROWS);
/// Its rows.
pub static TEMPLATES_ROWS: [Row<Templates>; 2] = [
    Row::globs("include", "those that are", |templates, globs| templates.include = Some(globs).filter(|globs| !globs.is_empty())),
    Row::globs("exclude", "those of them that are not", |templates, globs| templates.exclude = globs),
];

/// `[context]`.
pub static CONTEXT: Table = table("what fresh context is looked up in", &CONTEXT_KEYS);
static CONTEXT_KEYS: [Key; 3] = keys(&CONTEXT_ROWS);
/// Its rows.
pub static CONTEXT_ROWS: [Row<Lookup>; 3] = [
    Row::globs("include", "files that are; all of the project where it is left out", |lookup, globs| {
        lookup.include = Some(globs).filter(|globs| !globs.is_empty());
    }),
    Row::globs("exclude", "those of them that are not", |lookup, globs| lookup.exclude = globs),
    Row::globs("documents", "files taken besides, whatever hides or excludes them", |lookup, globs| lookup.documents = globs),
];

/// `[fmt]`.
pub static FORMAT: Table = table(
    "how `ctxc fmt` lays out templates",
    &[
        key("width", Shape::Whole(WIDTH), "columns of a line"),
        key("indent", Shape::WholeOr(INDENT, TAB), "spaces of a level, or `tab`"),
    ],
);

/// `[allow]`.
pub static ALLOW: Table =
    table("what a project may loosen of a shared file", &[key("loosen", Shape::Texts, "rules, defaults and settings by name")]);

/// `extends`.
pub static EXTENDS: Table = table(
    "a shared file, pinned by its hash",
    &[needed("path", Shape::Text, "its path"), key("hash", Shape::Text, "the hash of its bytes: `b3:…`")],
);

/// The keys at the top of a project file.
pub static TOP: Table = table(
    "the project file of ctxc",
    &[
        key("edition", Shape::Word(&[EDITION]), "the edition of the language"),
        key("extends", Shape::NameOr(&EXTENDS), "a shared file beneath this one: lints, defaults and requirements"),
        key("project", Shape::Table(&PROJECT), "the project"),
        key("templates", Shape::Table(&TEMPLATES), "which files are templates"),
        key("context", Shape::Table(&CONTEXT), "what fresh context is looked up in"),
        key("defaults", Shape::Map(&Shape::Table(&SETTINGS)), "default settings of types: `[defaults.atomic]`"),
        key("operators", Shape::Map(&Shape::Table(&OPERATOR)), "types and subtypes of the project's own"),
        key("lints", Shape::Lints, "how much rules weigh"),
        key("require", Shape::List(&REQUIRE), "what must hold for resolved tasks"),
        key("owners", Shape::Map(&Shape::Text), "who answers for the files of a pattern"),
        key("limits", Shape::Table(&LIMITS), "what an input may not exceed"),
        key("allow", Shape::Table(&ALLOW), "in a shared file: what projects may loosen"),
        key("roles", Shape::Map(&Shape::Table(&ROLE)), "agent roles"),
        key("models", Shape::Map(&Shape::Table(&MODEL)), "models"),
        key("policy", Shape::Later, "of a later release"),
        key("providers", Shape::Map(&Shape::Table(&PROVIDER)), "who serves models"),
        key("eval", Shape::Table(&EVAL), "scenarios and how they are tried"),
        key("history", Shape::Later, "of a later release"),
        key("package", Shape::Later, "of a later release"),
        key("fmt", Shape::Table(&FORMAT), "how `ctxc fmt` lays out templates"),
    ],
);

/// The keys that a shared file may have.
pub const SHARED: [&str; 5] = ["edition", "lints", "defaults", "require", "allow"];
