//! What is wrong with a project file, as data. Worded by the rules of family 5xx, nowhere else.

use super::disqualified::Unfit;
use super::glob::GlobError;
use super::require::Needs;
use super::roles::Tier;
use crate::base::hash::Hash;
use crate::base::span::{Span, Spanned};
use crate::request::schema_fault::SchemaFault;
use crate::scenario::json_schema::Slip;
use crate::settings::layers::RowId;
use crate::settings::operators::Operator;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Index into [`super::config::Config::files`].
    pub file: u16,
    /// The place to look at.
    pub span: Span,
    /// What is wrong.
    pub kind: FaultKind,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Not TOML, in the words of the TOML reader.
    Syntax {
        /// What the TOML reader says.
        message: String,
    },
    /// A key that nothing reads.
    UnknownKey {
        /// The table it stands in; empty at the top.
        table: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        near: Option<String>,
        /// The keys that may stand there.
        valid: Vec<&'static str>,
    },
    /// Keys of another section, whose header is missing above them.
    LostHeader {
        /// The table they stand in.
        table: String,
        /// The keys.
        keys: Vec<String>,
        /// The section that has them all: `models`.
        section: &'static str,
    },
    /// A value of another type than its key wants.
    WrongType {
        /// The key with its table.
        key: String,
        /// What the key wants: “a text”, “a list of texts”.
        expected: &'static str,
        /// What stands there: “a number”.
        found: &'static str,
    },
    /// A value of the right type outside its set.
    BadValue {
        /// The key with its table.
        key: String,
        /// What stands there.
        found: String,
        /// What may stand there, as words or as a phrase.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
    /// A pattern that cannot be read.
    BadGlob {
        /// The pattern.
        pattern: String,
        /// Why.
        error: GlobError,
    },
    /// An edition that this release does not read.
    UnknownEdition {
        /// What stands there.
        found: String,
    },
    /// Defaults for an operator that nobody knows.
    UnknownOperator {
        /// What stands there.
        found: String,
        /// The operator that was probably meant.
        near: Option<String>,
        /// The operators that are known.
        valid: Vec<String>,
    },
    /// Defaults for a subtype or part that its operator does not have.
    UnknownSubtype {
        /// The operator.
        operator: String,
        /// What stands there.
        found: String,
        /// The subtype that was probably meant.
        near: Option<String>,
        /// The subtypes and parts that are known.
        valid: Vec<String>,
    },
    /// An operator or subtype that cannot be declared.
    BadDeclaration {
        /// The row: `atomic`, `atomic.scout`.
        row: String,
        /// Why not.
        why: Refusal,
    },
    /// A row that resolves to a conflict by itself.
    ConflictingDefaults {
        /// The first such row.
        row: RowId,
        /// Further rows that the same two values make conflict.
        others: Vec<RowId>,
        /// The other of the two values, where a project file wrote it.
        other: Option<(u16, Span)>,
    },
    /// A default that its row can never use: the operator has no steps to accumulate.
    DefaultWithoutEffect {
        /// The row's name.
        row: String,
        /// The setting.
        setting: &'static str,
        /// The operator of the language that the row is built on.
        base: Operator,
    },
    /// A name in `[lints]` that is no rule, code or family.
    UnknownRule {
        /// What stands there.
        found: String,
        /// The name that was probably meant.
        near: Option<String>,
    },
    /// A level in `[lints]` that a locked rule cannot take.
    LockedRule {
        /// The rule's name, or the family's.
        rule: String,
        /// The level.
        level: &'static str,
        /// The lowest level that it can take.
        floor: &'static str,
    },
    /// A rule that two lines of `[lints]` set.
    RepeatedRule {
        /// The rule's name.
        rule: &'static str,
        /// The first line.
        first: Span,
    },
    /// A condition of `[[require]]` that cannot be read.
    BadCondition {
        /// The condition.
        found: String,
        /// Why.
        reason: String,
        /// The word that was probably meant.
        near: Option<String>,
    },
    /// A `[[require]]` that demands nothing.
    EmptyRequirement,
    /// A condition over a fact that nobody looked at.
    NotChecked {
        /// The condition.
        condition: String,
        /// What it needs.
        needs: Needs,
    },
    /// A role in a selector that the project does not define.
    UnknownRole {
        /// What stands there.
        found: String,
        /// The role that was probably meant.
        near: Option<String>,
    },
    /// A key that its table cannot do without.
    MissingKey {
        /// The table.
        table: String,
        /// The key.
        key: &'static str,
    },
    /// An entry that stands twice in a list.
    RepeatedEntry {
        /// The key with its table.
        key: String,
        /// The entry.
        entry: String,
        /// The first of them.
        first: Span,
    },
    /// A role that is given a model which the project does not define.
    UnknownModel {
        /// What stands there.
        found: String,
        /// The model that was probably meant.
        near: Option<String>,
        /// The models that are known.
        valid: Vec<String>,
    },
    /// A model of a provider that the project does not define.
    UnknownProvider {
        /// What stands there.
        found: String,
        /// The provider that was probably meant.
        near: Option<String>,
        /// The providers that are known, then the kinds.
        valid: Vec<String>,
    },
    /// A role that no model of the project qualifies for.
    NoModel {
        /// The role.
        role: String,
        /// The lowest tier that would do.
        tier: Option<Tier>,
        /// What it would have to be able to do.
        capabilities: Vec<String>,
        /// The first models with what each lacks, the nearest first.
        refused: Vec<(String, Unfit)>,
        /// A capability that no model has, with one that was probably meant.
        near: Option<(Spanned<String>, String)>,
    },
    /// A model that no role can get.
    UnusedModel {
        /// The model.
        model: String,
    },
    /// A role's budget that its model's window does not hold.
    BudgetOverWindow {
        /// The role.
        role: String,
        /// Its tokens.
        tokens: u64,
        /// The model.
        model: String,
        /// What its window holds beside the answer.
        room: u64,
    },
    /// The file of a role's system prompt cannot be read.
    SystemPrompt {
        /// The role.
        role: String,
        /// The file as written.
        path: String,
        /// Why.
        why: String,
    },
    /// An expression in a role's system prompt, which takes no values.
    PromptValue {
        /// The role.
        role: String,
        /// The expression with its braces.
        written: String,
        /// The prompt's file and the line there, where it has one of its own.
        line: Option<(String, u32)>,
    },
    /// A key's value in a project file. The value itself is never shown.
    KeyInFile {
        /// The provider.
        provider: String,
        /// The key of the table that holds it.
        key: &'static str,
        /// Where it stands, never to be shown.
        at: Span,
    },
    /// A role that is given a model and what a model has to be.
    TwoModels {
        /// The role.
        role: String,
        /// The key that stands beside `model`.
        key: &'static str,
    },
    /// A tool that a role is given and refused.
    ToolBlocked {
        /// The role.
        role: String,
        /// The tool as written in `tools`.
        tool: String,
        /// The entry that blocks all of it, and its place.
        blocked: Spanned<String>,
    },
    /// A role names a tool that nothing defines, in a project that defines tools.
    UnknownTool {
        /// The role.
        role: String,
        /// Its key: `tools`, `blocked_tools` or `tool_choice`.
        key: &'static str,
        /// The name, or how names begin with `*` behind.
        found: String,
        /// The tool that was probably meant.
        near: Option<String>,
        /// The tools that are defined.
        valid: Vec<String>,
    },
    /// A definition of a tool, or a file of them, that cannot be taken.
    BadTool {
        /// The tool, where it has a name.
        tool: Option<String>,
        /// The file that holds it where it is not the project file, and the line; 0 for the file as a whole.
        place: Option<(String, u32)>,
        /// Why.
        why: ToolFault,
    },
    /// A shared file that is not pinned, or whose bytes are others than the pinned ones.
    SharedHash {
        /// The shared file.
        path: String,
        /// The pinned hash as written; `None` where it is missing.
        pinned: Option<String>,
        /// The hash of its text, with line ends as `\n`.
        actual: Hash,
        /// The edit that pins it.
        edit: Option<(Span, String)>,
    },
    /// A shared file that cannot be read.
    SharedUnreadable {
        /// The shared file.
        path: String,
        /// Why.
        reason: String,
    },
    /// `extends` of a package: not available yet.
    SharedPackage {
        /// The package.
        name: String,
    },
    /// A key that a shared file may not have.
    NotShared {
        /// The key.
        key: String,
    },
    /// Something looser than the shared file says.
    Loosened {
        /// What: a rule's name, `defaults.atomic.fresh_context`.
        what: String,
        /// The value here.
        here: String,
        /// The value in the shared file.
        shared: String,
        /// The place in the shared file.
        at: (u16, Span),
        /// The entry of `[allow] loosen` that would permit it.
        entry: String,
    },
}

/// Why an operator or subtype cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is one of the language: its defaults go to `[defaults]`.
    Language,
    /// It is a type of an older dialect, and templates that have it are read as the modern one.
    Legacy {
        /// What it is read as.
        modern: &'static str,
        /// The subtype that comes with it.
        subtype: Option<&'static str>,
    },
    /// `base` is missing.
    NoBase,
    /// The name cannot stand in an attribute without quoting.
    BadName,
    /// Too many rows.
    TooMany,
}

/// Why a definition of a tool cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFault {
    /// Its file cannot be read.
    Unreadable(String),
    /// Its file is not JSON, in the words of the reader.
    Json(String),
    /// Its file has no list of tools.
    Form,
    /// It is one of the provider's own.
    Hosted(String),
    /// It has no name.
    NoName,
    /// Its description is no text.
    NoText,
    /// Its name is none that providers take.
    BadName,
    /// Another of its name is defined there.
    Twice {
        /// The file of the other.
        path: String,
        /// Its line.
        line: u32,
    },
    /// Its parameters are no JSON Schema of type `object`.
    NoObject,
    /// Its parameters have a slip in them.
    Slip(Slip),
    /// Its parameters have a pattern, at this pointer, that looks around or back.
    Pattern(String),
    /// Vendors refuse its parameters.
    Refused(SchemaFault),
}

impl FaultKind {
    /// Whether a row or default hangs on it: passed over, tasks would be resolved without what the project file says.
    pub fn decides_settings(&self) -> bool {
        let is_of_settings = |name: &str| matches!(name, "defaults" | "operators");
        // A section by another name is not read at all.
        if let Self::UnknownKey { near: Some(near), .. } = self
            && is_of_settings(near)
        {
            return true;
        }
        let (Self::UnknownKey { table: place, .. } | Self::WrongType { key: place, .. } | Self::BadValue { key: place, .. }) =
            self
        else {
            return false;
        };
        place.split('.').next().is_some_and(is_of_settings)
    }
}
