//! The keys at the top of `ctxc.toml`, and those of default settings; every other table is defined
//! beside its reader. Suggestions for unknown keys and the JSON Schema for editors are both derived
//! from these tables. No second list exists.

use super::eval::EVAL;
use super::extends::EXTENDS;
use super::models::{MODEL, PROVIDER};
use super::policy::{POLICY, SERVER};
use super::requests::REQUESTS;
use super::require::REQUIRE;
use super::roles::ROLE;
use super::sections::{ALLOW, CONTEXT, FORMAT, HISTORY, LIMITS, PROJECT, RECORD, TEMPLATES};
use super::tools::TOOLS;
use crate::project::config::EDITION;
use crate::project::table::{Key, Shape, Table, key, table};
use crate::scenario::table::Thing;
use crate::template::setting::SettingName;

/// The keys at the top of a project file.
pub static TOP: Table = table(
    "the project file of ctxc",
    &[
        key(
            "edition",
            Shape::Word(&[EDITION]),
            "the edition of the language",
        ),
        key(
            "extends",
            Shape::NameOr(&EXTENDS),
            "a shared file beneath this one: lints, defaults and requirements",
        )
        .names(Thing::Path),
        key("project", Shape::Table(&PROJECT), "the project"),
        key(
            "templates",
            Shape::Table(&TEMPLATES),
            "which files are templates",
        ),
        key(
            "context",
            Shape::Table(&CONTEXT),
            "what fresh context is looked up in",
        ),
        key(
            "defaults",
            Shape::Map(&Shape::Table(&SETTINGS)),
            "default settings of types: `[defaults.atomic]`",
        ),
        key(
            "operators",
            Shape::Map(&Shape::Table(&OPERATOR)),
            "types and subtypes of the project's own",
        ),
        key("lints", Shape::Lints, "how much rules weigh"),
        key(
            "require",
            Shape::List(&REQUIRE),
            "what must hold for resolved tasks",
        ),
        key(
            "owners",
            Shape::Map(&Shape::Text),
            "who answers for the files of a pattern",
        )
        .keyed_by(Thing::Path),
        key(
            "limits",
            Shape::Table(&LIMITS),
            "what an input may not exceed",
        ),
        key(
            "allow",
            Shape::Table(&ALLOW),
            "in a shared file: what projects may loosen",
        ),
        key("roles", Shape::Map(&Shape::Table(&ROLE)), "agent roles"),
        key("tools", Shape::Table(&TOOLS), "definitions of tools"),
        key("models", Shape::Map(&Shape::Table(&MODEL)), "models"),
        key(
            "policy",
            Shape::Table(&POLICY),
            "what runs may do of what their user permits",
        ),
        key(
            "mcp",
            Shape::Map(&Shape::Table(&SERVER)),
            "servers of tools that runs start",
        ),
        key(
            "providers",
            Shape::Map(&Shape::Table(&PROVIDER)),
            "who serves models",
        ),
        key(
            "eval",
            Shape::Table(&EVAL),
            "scenarios and how they are tried",
        ),
        key(
            "history",
            Shape::Table(&HISTORY),
            "where runs of `ctxc eval` are kept",
        ),
        key("record", Shape::Table(&RECORD), "what is kept of answers"),
        key(
            "requests",
            Shape::Table(&REQUESTS),
            "requests of other programs, and how requests are compared with recorded ones",
        ),
        key("package", Shape::Later, "of a later release"),
        key(
            "fmt",
            Shape::Table(&FORMAT),
            "how `ctxc fmt` lays out templates",
        ),
    ],
);

/// The keys that a shared file may have.
pub(super) const SHARED: [&str; 5] = ["edition", "lints", "defaults", "require", "allow"];

/// The four settings.
pub static SETTINGS: Table = Table {
    others: Some(&Shape::Table(&ROW_SETTINGS)),
    ..table(
        "default settings of a type; of a subtype or part, in a table of its own",
        SETTING_KEYS,
    )
};

/// The four settings, without tables of subtypes.
pub(super) static ROW_SETTINGS: Table =
    table("default settings of a subtype or part", SETTING_KEYS);

/// A type of the project, or subtypes of one of the language.
pub(super) static OPERATOR: Table = Table {
    others: Some(&Shape::Table(&ROW_SETTINGS)),
    ..table(
        "a type of the project; its subtypes in tables of their own",
        OPERATOR_KEYS,
    )
};

const OPERATOR_KEYS: &[Key] = &[
    key(
        "base",
        Shape::Base,
        "the type of the language that it is built on",
    ),
    key(
        "inherit_context",
        Shape::Setting(SettingName::InheritContext),
        "how much of the parent's context a task gets",
    ),
    key(
        "accumulate_data",
        Shape::Setting(SettingName::AccumulateData),
        "whether steps see the results of those before",
    ),
    key(
        "accumulation_format",
        Shape::Setting(SettingName::AccumulationFormat),
        "what of a result they see",
    ),
    key(
        "fresh_context",
        Shape::Setting(SettingName::FreshContext),
        "whether context is looked up",
    ),
];

const SETTING_KEYS: &[Key] = match OPERATOR_KEYS.split_first() {
    Some((_, settings)) => settings,
    None => &[],
};
