//! What a table of `ctxc.toml` is to its reader and to the JSON Schema: keys, and what each takes.

use crate::scenario::table::{Group, Need, Thing};
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
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Whether its table needs it.
    pub need: Need,
    /// What it is for; a fragment.
    pub about: &'static str,
    /// The thing that each of its texts names.
    pub names: Thing,
    /// The thing that each key of its table names.
    pub keyed_by: Thing,
}

impl Key {
    /// The key with the thing that its texts name.
    pub(super) const fn names(self, names: Thing) -> Self {
        Self { names, ..self }
    }

    /// The key with the thing that the keys of its table name.
    pub(super) const fn keyed_by(self, keyed_by: Thing) -> Self {
        Self { keyed_by, ..self }
    }
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
    /// The JSON Pointer of a place; `""` is the whole.
    Pointer,
    /// The JSON Pointer of a part, or a list of them and of such tables.
    PointersOr(&'static Table),
    /// The same as `Texts`, of names; duplicates are reported.
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
    /// `true` or `false`.
    Bool,
    /// Anything.
    Any,
    /// A table of a later release.
    Later,
}

impl Shape {
    /// The table that stands in such a place.
    pub const fn table(self) -> Option<&'static Table> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
        match self {
            Self::Table(table) | Self::List(table) | Self::NameOr(table) => Some(table),
            _ => None,
        }
    }
}

impl Table {
    /// A key by its name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// The names of the keys that it needs.
    pub fn needed(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name)
    }
}

/// A key.
pub(super) const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, need: Need::Optional, about, names: Thing::Words, keyed_by: Thing::Words }
}

/// A key that its table needs.
pub(super) const fn needed(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { need: Need::Required, ..key(name, shape, about) }
}

/// A table of which nothing else is said.
pub(super) const fn table(about: &'static str, keys: &'static [Key]) -> Table {
    Table { about, keys, others: None, groups: &[] }
}
