//! The types of key tables, the one description of the format from which reader, schema and pages
//! are made.

use crate::syntax::yaml::YamlNode;

/// A table of the keys of a mapping.
#[derive(Debug)]
pub struct ScenarioTable {
    /// Its description for people: “a scenario”.
    pub what: &'static str,
    /// Its keys, in the order of the pages.
    pub keys: &'static [ScenarioKey],
    /// Keys that must or must not occur together.
    pub groups: &'static [KeyGroup],
}

/// A row of a key table.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioKey {
    /// Its name.
    pub name: &'static str,
    /// Its alias.
    pub alias: Option<&'static str>,
    /// The shape of its value.
    pub shape: ScenarioShape,
    /// States if it is required.
    pub need: KeyNeed,
    /// Its description, a fragment.
    pub about: &'static str,
    /// The kind of thing that each text of its value names.
    pub names: NamedThingKind,
    /// The kind of thing that each key of its mapping names.
    pub keyed_by: NamedThingKind,
}

/// The kind of thing that a text of a file names. A rename changes only texts of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedThingKind {
    /// No name: words for people, values, ids of other formats.
    PlainText,
    /// A file, by its path from the folder of the file with the text.
    SiblingFile,
    /// A file, a folder or a pattern of them, by its path from the project's folder.
    Path,
    /// An argument of a command that is run in the project's folder, which may be the path of a
    /// file.
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
    /// An agent or script of the task, by its name or path; `@2` after it means its second call.
    Node,
    /// A parameter of the task.
    Parameter,
    /// An earlier step of the task.
    Step,
}

/// Returns the names of some keys.
#[allow(clippy::indexing_slicing, reason = "evaluated while this is compiled")]
pub(super) const fn key_names<const N: usize>(keys: &[ScenarioKey; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = keys[at].name;
        at += 1;
    }
    names
}

/// States if a key is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNeed {
    /// The key is required.
    Required,
    /// The key can be omitted.
    Optional,
}

/// A constraint on keys of a table.
#[derive(Clone, Copy, Debug)]
pub enum KeyGroup {
    /// Exactly one of the keys.
    ExactlyOne(&'static [&'static str]),
    /// At least one of the keys.
    AtLeastOne(&'static [&'static str]),
    /// Either the first key, or any of the others.
    Exclusive(&'static str, &'static [&'static str]),
}

/// The shape of a key's value.
#[derive(Clone, Copy, Debug)]
pub enum ScenarioShape {
    /// A text with at least one character that is not a space.
    Text,
    /// A text, which may be empty.
    AnyText,
    /// A text or a number, as written.
    Label,
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Bool,
    /// `true` only; the opposite is to omit the key.
    True,
    /// A whole number in bounds.
    Whole(u64, u64),
    /// A number in bounds.
    Number(f64, f64),
    /// A share from 0 to 1, or `all`.
    Share,
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
    /// A list of a table's mappings, or a file of such messages, one a line.
    Messages(&'static ScenarioTable),
    /// A text, nothing, or a list of texts and a table's mappings.
    MessageContent(&'static ScenarioTable),
    /// A JSON Schema, or the path of one.
    Schema,
    /// An id, or a table.
    IdOr(&'static ScenarioTable),
    /// Patterns, or a table.
    PatternsOr(&'static ScenarioTable),
    /// One of some words, or a table.
    WordOr(&'static [&'static str], &'static ScenarioTable),
    /// A value of the shape, or a table.
    Or(&'static ScenarioShape, &'static ScenarioTable),
    /// A setting of the language with one of its words.
    Setting,
    /// A list with a minimum length.
    List(&'static ScenarioShape, usize),
    /// A mapping with any keys, whose values have the shape.
    Map(&'static ScenarioShape),
    /// A list of a table's mappings, or a mapping of its first key to its second.
    Pairs(&'static ScenarioTable),
    /// A table.
    Table(&'static ScenarioTable),
}

/// Returns an optional key.
pub(super) const fn optional_key(
    name: &'static str,
    shape: ScenarioShape,
    about: &'static str,
) -> ScenarioKey {
    ScenarioKey {
        name,
        alias: None,
        shape,
        need: KeyNeed::Optional,
        about,
        names: NamedThingKind::PlainText,
        keyed_by: NamedThingKind::PlainText,
    }
}

/// Returns a required key.
pub(super) const fn required_key(
    name: &'static str,
    shape: ScenarioShape,
    about: &'static str,
) -> ScenarioKey {
    ScenarioKey {
        need: KeyNeed::Required,
        ..optional_key(name, shape, about)
    }
}

impl ScenarioKey {
    /// Sets the kind of thing that its texts name.
    pub(super) const fn with_names(self, names: NamedThingKind) -> Self {
        Self { names, ..self }
    }

    /// Sets the kind of thing that the keys of its mapping name.
    pub(super) const fn with_key_names(self, keyed_by: NamedThingKind) -> Self {
        Self { keyed_by, ..self }
    }
}

impl ScenarioTable {
    /// Returns a key by its name or alias.
    pub fn key(&self, name: &str) -> Option<&'static ScenarioKey> {
        self.keys
            .iter()
            .find(|key| key.name == name || key.alias == Some(name))
    }

    /// Returns the names of its keys.
    pub fn key_names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().map(|key| key.name)
    }
}

/// Returns the value of a key, written by its name or alias.
pub(super) fn find_value<'n, 't>(
    table: &ScenarioTable,
    node: &'n YamlNode<'t>,
    name: &str,
) -> Option<&'n YamlNode<'t>> {
    let entries = node.entries()?;
    let alias = table.key(name).and_then(|key| key.alias);
    entries
        .iter()
        .find(|entry| entry.key.value == name || Some(entry.key.value.as_ref()) == alias)
        .map(|entry| &entry.value)
}

impl ScenarioShape {
    /// Returns the table of a mapping of this shape; for a list, that of its items.
    pub fn inner_table(self) -> Option<&'static ScenarioTable> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
        match self {
            Self::Table(table)
            | Self::Messages(table)
            | Self::MessageContent(table)
            | Self::IdOr(table)
            | Self::PatternsOr(table)
            | Self::WordOr(_, table)
            | Self::Or(_, table)
            | Self::Pairs(table) => Some(table),
            Self::List(Self::Table(table) | Self::Or(_, table), _) => Some(table),
            _ => None,
        }
    }

    /// Returns true if the value can be a file as `!file PATH` or `{file: PATH}`.
    pub const fn takes_file(self) -> bool {
        matches!(
            self,
            Self::Content | Self::Frozen | Self::Messages(_) | Self::Schema
        )
    }

    /// Describes the shape for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Text | Self::AnyText | Self::Date | Self::Pattern | Self::Path => "a text",
            Self::Label => "a text or a number",
            Self::Any => "anything",
            Self::Bool => "`true` or `false`",
            Self::True => "`true`",
            Self::Whole(..) => "a whole number",
            Self::Number(..) => "a number",
            Self::Share => "a share from 0 to 1, or `all`",
            Self::Word(_) => "a word",
            Self::Patterns => "a pattern or a list of patterns",
            Self::Content => "a text, or a file as `{file: PATH}`",
            Self::Frozen => "a value, or a file as `{file: PATH}`",
            Self::Messages(_) => {
                "a list of messages, or a file of them as `@PATH` or `{file: PATH}`"
            }
            Self::MessageContent(_) => "a text, or a list of texts and parts",
            Self::Schema => "the path of a JSON Schema, or a mapping that is one",
            Self::IdOr(_) => "the id of a segment, or a mapping with `id`, `kind` or `source`",
            Self::PatternsOr(_) => {
                "a pattern, a list of patterns, or a mapping with `in` and `patterns`"
            }
            Self::WordOr(..) => "a word, or a mapping",
            Self::Or(Self::List(..), _) => "a list of texts, or a mapping",
            Self::Or(..) => "a text, or a mapping",
            Self::List(Self::Text, _) => "a list of texts",
            Self::List(..) => "a list",
            Self::Pairs(_) => "a list of `id` and `text`, or a mapping of ids to texts",
            Self::Setting | Self::Map(_) | Self::Table(_) => "a mapping",
        }
    }
}
