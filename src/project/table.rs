//! The tables of `ctxc.toml`, shared by its reader and the JSON Schema: their keys and the values
//! that these accept.

use crate::scenario::table::{KeyGroup, KeyNeed, NamedThingKind};
use crate::template::setting::SettingName;

/// A table with known keys.
#[derive(Debug)]
pub struct ConfigTable {
    /// A description for readers, as a fragment.
    pub about: &'static str,
    /// Its keys, in the order of messages.
    pub keys: &'static [ConfigKey],
    /// The values of other keys; `None` if no other keys are allowed.
    pub others: Option<&'static ConfigShape>,
    /// Keys that require or exclude each other.
    pub groups: &'static [KeyGroup],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// Its name.
    pub name: &'static str,
    /// The accepted values.
    pub shape: ConfigShape,
    /// True for a key that its table requires.
    pub need: KeyNeed,
    /// Its purpose, as a fragment.
    pub about: &'static str,
    /// The kind of thing that its texts name.
    pub names: NamedThingKind,
    /// The kind of thing that the keys of its table name.
    pub keyed_by: NamedThingKind,
}

impl ConfigKey {
    /// Returns the key with the kind of thing that its texts name.
    pub(super) const fn with_names(self, names: NamedThingKind) -> Self {
        Self { names, ..self }
    }

    /// Returns the key with the kind of thing that the keys of its table name.
    pub(super) const fn with_key_names(self, keyed_by: NamedThingKind) -> Self {
        Self { keyed_by, ..self }
    }
}

/// The values that a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum ConfigShape {
    /// A text.
    Text,
    /// A text with at least one visible character.
    Name,
    /// A text, or a list of them.
    Texts,
    /// A JSON Pointer; `""` is the whole value.
    Pointer,
    /// A JSON Pointer to a part, or a list of pointers and of such tables.
    PointersOr(&'static ConfigTable),
    /// Like `Texts`, but of names; duplicates are reported.
    Set,
    /// Patterns of paths inside the project: one, or a list.
    Globs,
    /// Folders inside the project, level by level: one pattern, or a list.
    Folders,
    /// One of these words, or a list of them.
    Words(&'static [&'static str]),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A value of a setting.
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
    NameOr(&'static ConfigTable),
    /// A name, a list of names, or a table.
    NamesOr(&'static ConfigTable),
    /// A table.
    Table(&'static ConfigTable),
    /// Tables, each under its own `[[…]]`.
    List(&'static ConfigTable),
    /// Arbitrary names, each with such a value.
    Map(&'static ConfigShape),
    /// Lint levels, by the names of rules.
    Lints,
    /// `true` or `false`.
    Bool,
    /// Anything.
    Any,
}

impl ConfigShape {
    /// The table that such a value contains.
    pub const fn table(self) -> Option<&'static ConfigTable> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
        match self {
            Self::Table(table) | Self::List(table) | Self::NameOr(table) | Self::NamesOr(table) => {
                Some(table)
            }
            _ => None,
        }
    }
}

impl ConfigTable {
    /// Returns a key by its name.
    pub fn key(&self, name: &str) -> Option<&'static ConfigKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub fn key_names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// The names of the required keys.
    pub fn required_names(&self) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(|key| key.need == KeyNeed::Required)
            .map(|key| key.name)
    }
}

/// An optional key.
pub(super) const fn optional_key(
    name: &'static str,
    shape: ConfigShape,
    about: &'static str,
) -> ConfigKey {
    ConfigKey {
        name,
        shape,
        need: KeyNeed::Optional,
        about,
        names: NamedThingKind::PlainText,
        keyed_by: NamedThingKind::PlainText,
    }
}

/// A required key.
pub(super) const fn required_key(
    name: &'static str,
    shape: ConfigShape,
    about: &'static str,
) -> ConfigKey {
    ConfigKey {
        need: KeyNeed::Required,
        ..optional_key(name, shape, about)
    }
}

/// A table without other keys or groups.
pub(super) const fn key_table(about: &'static str, keys: &'static [ConfigKey]) -> ConfigTable {
    ConfigTable {
        about,
        keys,
        others: None,
        groups: &[],
    }
}
