//! The keys of `ctxc.toml`: what each takes, and what it is for. The reader names them where a key is none, holds values against their
//! bounds and words, and the JSON Schema that editors complete by is made from them: there is no second list.

use super::config::EDITION;
use super::models::{ProviderKind, TOKENIZERS};
use super::roles::{KINDS, PROFILES, Tier};
use crate::scenario::keys::RUNS;
use crate::scenario::table::{Group, Need};
use crate::template::setting::SettingName;

/// A table with known keys.
#[derive(Debug)]
pub struct Table {
    /// What it is, for people; a fragment.
    pub about: &'static str,
    /// Its keys, in the order of messages.
    pub keys: &'static [Key],
    /// What other keys hold; `None` where there are none.
    pub others: Option<&'static Shape>,
    /// What must stand together, or may not.
    pub groups: &'static [Group],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Whether its table needs it.
    pub need: Need,
    /// What it is for; a fragment.
    pub about: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// A text of at least one character that is no space.
    Name,
    /// A text, or a list of them.
    Texts,
    /// The same of names; what stands there twice is told.
    Set,
    /// Patterns of paths inside the project: one, or a list.
    Globs,
    /// Some of these words: one, or a list.
    Words(&'static [&'static str]),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A setting with its own words.
    Setting(SettingName),
    /// A type of the language.
    Base,
    /// A whole number in bounds.
    Whole((u64, u64)),
    /// A number in bounds.
    Number((f64, f64)),
    /// A whole number in bounds, or a word.
    WholeOr((u64, u64), &'static str),
    /// A name, or a table.
    NameOr(&'static Table),
    /// A table.
    Table(&'static Table),
    /// Tables, each under its own `[[…]]`.
    List(&'static Table),
    /// Any names, each with such a value.
    Map(&'static Shape),
    /// How much rules weigh, by their names.
    Lints,
    /// A table of a later release.
    Later,
}

impl Table {
    /// The names of its keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// The names of the keys that it needs.
    pub fn needed(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name)
    }
}

const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, need: Need::Optional, about }
}

const fn needed(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, need: Need::Required, about }
}

const fn table(about: &'static str, keys: &'static [Key]) -> Table {
    Table { about, keys, others: None, groups: &[] }
}

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
pub static LIMITS: Table = table(
    "what an input may not exceed",
    &[
        key("depth", Shape::Whole((1, 512)), "elements inside each other"),
        key("attributes", Shape::Whole((1, 65_535)), "attributes of an element"),
        key("namespaces", Shape::Whole((1, 1_000)), "namespaces of a file"),
        key("file", Shape::Whole((1, 1 << 30)), "bytes of a file"),
        key("text", Shape::Whole((1, 1 << 30)), "bytes of a text"),
        key("name", Shape::Whole((1, 65_535)), "bytes of a name"),
        key("nodes", Shape::Whole((1, 100_000_000)), "nodes of a file"),
        key("diagnostics", Shape::Whole((1, 1_000_000)), "findings of a file"),
    ],
);

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
pub static BUDGET: Table = table(
    "what a role may use up in a call",
    &[key("tokens", Shape::Whole(TOKENS), "tokens of its context"), key("usd", Shape::Number(PRICE), "US$")],
);

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
pub static GATE: Table = table(
    "what may not get worse",
    &[
        key("manifest_tokens", Shape::Number(PART), "growth of a manifest, as a part of it"),
        key("pass_rate", Shape::Number(RATE), "the least part of cases that pass"),
        key("tokens", Shape::Number(PART), "growth of the tokens of a run"),
        key("cost_usd", Shape::Number(DOLLARS), "US$ of a run"),
    ],
);

/// `[eval.drift]`.
pub static DRIFT: Table = table(
    "what counts as drift",
    &[
        key("token_inflation", Shape::Number(PART), "growth of the mean tokens"),
        key("window", Shape::Whole(WINDOW), "runs that are compared"),
        key("latency_regression", Shape::Number(PART), "growth of the mean time"),
        key("batches", Shape::Whole(BATCHES), "batches in a row below the pass rate"),
    ],
);

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
        key("scenarios", Shape::Texts, "files and folders of scenarios; `scenarios` where it is left out"),
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
pub static TEMPLATES: Table = table(
    "which files are templates",
    &[key("include", Shape::Globs, "those that are"), key("exclude", Shape::Globs, "those of them that are not")],
);

/// `[context]`.
pub static CONTEXT: Table = table(
    "what fresh context is looked up in",
    &[
        key("include", Shape::Globs, "files that are; all of the project where it is left out"),
        key("exclude", Shape::Globs, "those of them that are not"),
        key("documents", Shape::Globs, "files taken besides, whatever hides or excludes them"),
    ],
);

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
