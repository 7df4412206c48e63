//! The keys at the top of `ctxc.toml`, and those of default settings; every other table is defined
//! beside its reader. Suggestions for unknown keys and the JSON Schema for editors are both derived
//! from these tables. No second list exists.

use super::dependencies::DEPENDENCY;
use super::eval::EVAL;
use super::extends::EXTENDS;
use super::models::{MODEL, PROVIDER};
use super::package::PACKAGE;
use super::policy::{POLICY, SERVER};
use super::requests::REQUESTS;
use super::require::REQUIRE;
use super::roles::ROLE;
use super::sections::{ALLOW, CONTEXT, FORMAT, HISTORY, LIMITS, PROJECT, RECORD, TEMPLATES};
use super::tool_definitions::TOOLS;
use crate::project::config::DEFAULT_EDITION;
use crate::project::table::{
    ConfigKey, ConfigShape, ConfigTable, key_table, optional_key, required_key,
};
use crate::scenario::table::NamedThingKind;
use crate::template::setting::SettingName;

/// The keys at the top of a project file.
pub static TOP_TABLE: ConfigTable = key_table(
    "the project file of ctxc",
    &[
        optional_key(
            "edition",
            ConfigShape::Word(&[DEFAULT_EDITION]),
            "the edition of the language",
        ),
        optional_key(
            "required-version",
            ConfigShape::Text,
            "the versions of ctxc that may read the project: `>=0.2, <0.4`",
        ),
        optional_key(
            "extends",
            ConfigShape::NamesOr(&EXTENDS),
            "a shared file beneath this one: lints, defaults and requirements; or packages, whose rules apply",
        )
        .with_names(NamedThingKind::Path),
        optional_key(
            "workspace",
            ConfigShape::Table(&WORKSPACE),
            "the projects of one repository",
        ),
        optional_key("project", ConfigShape::Table(&PROJECT), "the project"),
        optional_key(
            "templates",
            ConfigShape::Table(&TEMPLATES),
            "the files that are templates",
        ),
        optional_key(
            "context",
            ConfigShape::Table(&CONTEXT),
            "the files in which fresh context is looked up",
        ),
        optional_key(
            "defaults",
            ConfigShape::Table(&DEFAULTS),
            "default settings of types: `[defaults.atomic]`",
        ),
        optional_key(
            "operators",
            ConfigShape::Map(&ConfigShape::Table(&OPERATOR)),
            "types and subtypes of the project's own",
        ),
        optional_key("lints", ConfigShape::Lints, "the levels of rules"),
        optional_key(
            "require",
            ConfigShape::List(&REQUIRE),
            "requirements on resolved tasks",
        ),
        optional_key(
            "owners",
            ConfigShape::Map(&ConfigShape::Text),
            "the owner of the files of a pattern",
        )
        .with_key_names(NamedThingKind::Path),
        optional_key("limits", ConfigShape::Table(&LIMITS), "limits on input"),
        optional_key(
            "allow",
            ConfigShape::Table(&ALLOW),
            "in a shared file: the rules, defaults and settings that projects may loosen",
        ),
        optional_key(
            "roles",
            ConfigShape::Map(&ConfigShape::Table(&ROLE)),
            "agent roles",
        ),
        optional_key("tools", ConfigShape::Table(&TOOLS), "definitions of tools"),
        optional_key("models", ConfigShape::Table(&MODELS), "models"),
        optional_key(
            "policy",
            ConfigShape::Table(&POLICY),
            "limits on the permissions that a user grants to runs",
        ),
        optional_key(
            "mcp",
            ConfigShape::Map(&ConfigShape::Table(&SERVER)),
            "servers of tools that runs start",
        ),
        optional_key(
            "providers",
            ConfigShape::Map(&ConfigShape::Table(&PROVIDER)),
            "providers of models",
        ),
        optional_key(
            "eval",
            ConfigShape::Table(&EVAL),
            "scenarios and their trials",
        ),
        optional_key(
            "history",
            ConfigShape::Table(&HISTORY),
            "the location of the history of `ctxc eval`",
        ),
        optional_key(
            "record",
            ConfigShape::Table(&RECORD),
            "the stored content of calls",
        ),
        optional_key(
            "requests",
            ConfigShape::Table(&REQUESTS),
            "requests of other programs, and how requests are compared with recorded ones",
        ),
        optional_key(
            "dependencies",
            ConfigShape::Table(&DEPENDENCIES),
            "the packages that the project uses, by their names",
        ),
        optional_key(
            "package",
            ConfigShape::Table(&PACKAGE),
            "the package that the project is published as",
        ),
        optional_key(
            "fmt",
            ConfigShape::Table(&FORMAT),
            "the layout of templates by `ctxc fmt`",
        ),
    ],
);

/// The keys that a shared file may have.
pub(super) const SHARED_KEYS: [&str; 6] = [
    "edition",
    "required-version",
    "lints",
    "defaults",
    "require",
    "allow",
];

/// `[workspace]`.
pub(super) static WORKSPACE: ConfigTable = key_table(
    "the projects of one repository, and the settings that they share",
    &[
        required_key(
            "members",
            ConfigShape::Folders,
            "the folders of the projects: `teams/*`",
        ),
        optional_key(
            "defaults",
            ConfigShape::Map(&ConfigShape::Table(&SETTINGS)),
            "default settings for members with `[defaults] workspace = true`",
        ),
        optional_key(
            "lints",
            ConfigShape::Lints,
            "levels of rules for members with `[lints] workspace = true`",
        ),
        optional_key(
            "models",
            ConfigShape::Map(&ConfigShape::Table(&MODEL)),
            "models for members with `[models] workspace = true`",
        ),
        optional_key(
            "dependencies",
            ConfigShape::Table(&SHARED_DEPENDENCIES),
            "packages for members with `[dependencies] workspace = true`",
        ),
    ],
);

/// `[defaults]`.
static DEFAULTS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&SETTINGS)),
    ..key_table("default settings of types", &[INHERIT])
};

/// `[models]`.
static MODELS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&MODEL)),
    ..key_table("models", &[INHERIT])
};

/// `[dependencies]`.
static DEPENDENCIES: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::NameOr(&DEPENDENCY)),
    ..key_table("the packages that the project uses", &[INHERIT])
};

/// `[workspace.dependencies]`.
static SHARED_DEPENDENCIES: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::NameOr(&DEPENDENCY)),
    ..key_table("the packages that members use", &[])
};

const INHERIT: ConfigKey = optional_key(
    "workspace",
    ConfigShape::Bool,
    "takes over the section of the workspace",
);

/// The four settings.
pub static SETTINGS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&ROW_SETTINGS)),
    ..key_table(
        "default settings of a type; of a subtype or part, in a table of its own",
        SETTING_KEYS,
    )
};

/// The four settings, without tables of subtypes.
pub(super) static ROW_SETTINGS: ConfigTable =
    key_table("default settings of a subtype or part", SETTING_KEYS);

/// A type of the project, or subtypes of one of the language.
pub(super) static OPERATOR: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&ROW_SETTINGS)),
    ..key_table(
        "a type of the project; its subtypes in tables of their own",
        OPERATOR_KEYS,
    )
};

const OPERATOR_KEYS: &[ConfigKey] = &[
    optional_key(
        "base",
        ConfigShape::Base,
        "the type of the language that it is built on",
    ),
    optional_key(
        "inherit_context",
        ConfigShape::Setting(SettingName::InheritContext),
        "the part of the parent's context that a task sees",
    ),
    optional_key(
        "accumulate_data",
        ConfigShape::Setting(SettingName::AccumulateData),
        "carries results of earlier steps along",
    ),
    optional_key(
        "accumulation_format",
        ConfigShape::Setting(SettingName::AccumulationFormat),
        "the form in which results of earlier steps are carried",
    ),
    optional_key(
        "fresh_context",
        ConfigShape::Setting(SettingName::FreshContext),
        "enables the lookup of context",
    ),
];

const SETTING_KEYS: &[ConfigKey] = match OPERATOR_KEYS.split_first() {
    Some((_, settings)) => settings,
    None => &[],
};
