//! What a table of keys is: the one description of the format that reader, schema and pages are made from.

use crate::syntax::yaml::Node;

/// A mapping with known keys.
#[derive(Debug)]
pub struct Table {
    /// What it is, for people: “a scenario”.
    pub what: &'static str,
    /// Its keys, in the order of pages.
    pub keys: &'static [Key],
    /// What must stand together, or may not.
    pub groups: &'static [Group],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Another name of it.
    pub alias: Option<&'static str>,
    /// What it takes.
    pub shape: Shape,
    /// Whether it has to be there.
    pub need: Need,
    /// What it says; a fragment.
    pub about: &'static str,
    /// The thing that each of its texts names.
    pub names: Thing,
    /// The thing that each key of its mapping names.
    pub keyed_by: Thing,
}

/// The thing that a text of a file names. Whatever renames a thing touches texts of this kind alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// Nothing: words for people, values, ids of other formats.
    Words,
    /// A file, by its path from the folder of the file that names it.
    Beside,
    /// A file, a folder or a pattern of them, by its path from the project's folder.
    Path,
    /// An argument of a command that is run in the project's folder, which may be the path of a file.
    Argument,
    /// A file that a lookup finds, or a passage of one as `PATH#ID`.
    Passage,
    /// A segment by its id: `file:PATH`, `input:NAME`.
    Segment,
    /// A source of text: a file, a fragment, an input or a step.
    Source,
    /// A task.
    Task,
    /// An agent role.
    Role,
    /// An agent or script of the task, by its name or path; `@2` behind it means the second time that it is asked.
    Node,
    /// A parameter of the task.
    Parameter,
    /// An earlier step of the task.
    Step,
}

/// The names of some keys.
#[allow(clippy::indexing_slicing, reason = "evaluated while this is compiled")]
pub(super) const fn names<const N: usize>(keys: &[Key; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = keys[at].name;
        at += 1;
    }
    names
}

/// Whether a key has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It has to.
    Required,
    /// It can be left out.
    Optional,
}

/// How the keys of a table go together.
#[derive(Clone, Copy, Debug)]
pub enum Group {
    /// Exactly one of them.
    One(&'static [&'static str]),
    /// One of them at least.
    Some(&'static [&'static str]),
    /// The first, or some of the others.
    Apart(&'static str, &'static [&'static str]),
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A text of at least one character that is no space.
    Text,
    /// A text, which may be empty.
    Words,
    /// A text or a number, as written.
    Label,
    /// Anything that JSON can say.
    Any,
    /// `true` or `false`.
    Bool,
    /// `true`: to leave the line out says the opposite.
    True,
    /// A whole number in bounds.
    Whole(u64, u64),
    /// A number in bounds.
    Number(f64, f64),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A day: `2026-11-21`.
    Date,
    /// A regular expression.
    Pattern,
    /// A pattern, or a list of them.
    Patterns,
    /// An RFC 9535 path.
    Path,
    /// A text, or a file that holds it.
    Content,
    /// A value, or a file that holds it.
    Frozen,
    /// A list of a table, or a file of such messages, one a line.
    Chat(&'static Table),
    /// A text, nothing, or a list of a table and of texts.
    Said(&'static Table),
    /// A JSON Schema, or the path of one.
    Schema,
    /// An id, or a table.
    IdOr(&'static Table),
    /// Patterns, or a table.
    PatternsOr(&'static Table),
    /// One of some words, or a table.
    WordOr(&'static [&'static str], &'static Table),
    /// Such a value, or a table.
    Or(&'static Shape, &'static Table),
    /// A setting of the language with one of its words.
    Setting,
    /// A list of at least so many.
    List(&'static Shape, usize),
    /// Any keys, each with such a value.
    Map(&'static Shape),
    /// A list of a table, or a mapping of its two parts.
    Pairs(&'static Table),
    /// A table.
    Table(&'static Table),
}

/// A key that may be left out.
pub(super) const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, alias: None, shape, need: Need::Optional, about, names: Thing::Words, keyed_by: Thing::Words }
}

/// A key that has to be there.
pub(super) const fn needed(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { need: Need::Required, ..key(name, shape, about) }
}

impl Key {
    /// The key with the thing that its texts name.
    pub(super) const fn names(self, names: Thing) -> Self {
        Self { names, ..self }
    }

    /// The key with the thing that the keys of its mapping name.
    pub(super) const fn keyed_by(self, keyed_by: Thing) -> Self {
        Self { keyed_by, ..self }
    }
}

impl Table {
    /// A key by its name or its other name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name || key.alias == Some(name))
    }

    /// The names of its keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

/// The value of a key, by whichever of its names.
pub(super) fn find<'n, 't>(table: &Table, node: &'n Node<'t>, name: &str) -> Option<&'n Node<'t>> {
    let entries = node.entries()?;
    let alias = table.key(name).and_then(|key| key.alias);
    entries.iter().find(|entry| entry.key.value == name || Some(entry.key.value.as_ref()) == alias).map(|entry| &entry.value)
}

impl Shape {
    /// The table of a mapping that stands in such a place: in a list, that of its items.
    pub fn table(self) -> Option<&'static Table> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
        match self {
            Self::Table(table)
            | Self::Chat(table)
            | Self::Said(table)
            | Self::IdOr(table)
            | Self::PatternsOr(table)
            | Self::WordOr(_, table)
            | Self::Or(_, table)
            | Self::Pairs(table) => Some(table),
            Self::List(Self::Table(table) | Self::Or(_, table), _) => Some(table),
            _ => None,
        }
    }

    /// Returns whether the value can be a file as `!file PATH` and `{file: PATH}`.
    pub const fn takes_file(self) -> bool {
        matches!(self, Self::Content | Self::Frozen | Self::Chat(_) | Self::Schema)
    }

    /// What is wanted, for people.
    pub const fn wanted(self) -> &'static str {
        match self {
            Self::Text | Self::Words | Self::Date | Self::Pattern | Self::Path => "a text",
            Self::Label => "a text or a number",
            Self::Any => "anything",
            Self::Bool => "`true` or `false`",
            Self::True => "`true`",
            Self::Whole(..) => "a whole number",
            Self::Number(..) => "a number",
            Self::Word(_) => "a word",
            Self::Patterns => "a pattern or a list of patterns",
            Self::Content => "a text, or a file as `{file: PATH}`",
            Self::Frozen => "a value, or a file as `{file: PATH}`",
            Self::Chat(_) => "a list of messages, or a file of them as `@PATH` or `{file: PATH}`",
            Self::Said(_) => "a text, or a list of texts and parts",
            Self::Schema => "the path of a JSON Schema, or a mapping that is one",
            Self::IdOr(_) => "the id of a segment, or a mapping with `id`, `kind` or `source`",
            Self::PatternsOr(_) => "a pattern, a list of patterns, or a mapping with `in` and `patterns`",
            Self::WordOr(..) => "a word, or a mapping with `id`, `kind` or `source`",
            Self::Or(Self::List(..), _) => "a list of texts, or a mapping",
            Self::Or(..) => "a text, or a mapping",
            Self::List(Self::Text, _) => "a list of texts",
            Self::List(..) => "a list",
            Self::Pairs(_) => "a list of `id` and `text`, or a mapping of ids to texts",
            Self::Setting | Self::Map(_) | Self::Table(_) => "a mapping",
        }
    }
}
