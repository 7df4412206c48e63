//! Faults of a project file, as data. Their messages are written by the rules of family 5xx,
//! nowhere else.

use super::glob::GlobError;
use super::package_fault::PackageFault;
use super::require::Needs;
use super::roles::Tier;
use super::routing::Disqualification;
use crate::base::hash::Hash;
use crate::base::span::{Span, Spanned};
use crate::request::schema_fault::ToolSchemaFault;
use crate::scenario::json_schema::JsonSchemaFault;
use crate::settings::layers::RowId;
use crate::settings::operators::Operator;

/// A fault of a project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFault {
    /// Index into [`super::config::Config::files`].
    pub file: u16,
    /// The span that the finding points at.
    pub span: Span,
    /// The kind of fault.
    pub kind: ProjectFaultKind,
}

/// The kinds of faults of a project file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProjectFaultKind {
    /// Not valid TOML.
    Syntax {
        /// The message of the TOML parser.
        message: String,
    },
    /// An unknown key.
    UnknownKey {
        /// The table that contains it; empty at the top level.
        table: String,
        /// The key.
        key: String,
        /// The known key with the most similar name.
        near: Option<String>,
        /// The valid keys.
        valid: Vec<&'static str>,
    },
    /// Keys of another section without its header.
    LostHeader {
        /// The table that contains them.
        table: String,
        /// The keys.
        keys: Vec<String>,
        /// The section that has all of them: `models`.
        section: &'static str,
    },
    /// A value of the wrong type.
    WrongType {
        /// The key with its table.
        key: String,
        /// The expected type: “a text”, “a list of texts”.
        expected: &'static str,
        /// The actual type: “a number”.
        found: &'static str,
    },
    /// A value of the right type that is not allowed.
    BadValue {
        /// The key with its table.
        key: String,
        /// The actual value.
        found: String,
        /// The allowed values, as words or as a phrase.
        expected: String,
        /// The allowed value closest to the actual one.
        near: Option<String>,
    },
    /// A pattern that cannot be parsed.
    BadGlob {
        /// The pattern.
        pattern: String,
        /// The reason.
        error: GlobError,
    },
    /// An edition that this release does not support.
    UnknownEdition {
        /// The actual value.
        found: String,
    },
    /// A section that cannot be taken over from a workspace.
    NoWorkspace {
        /// The section.
        name: &'static str,
        /// The reason.
        reason: String,
    },
    /// A key beside or inside `[workspace]` that belongs to its members.
    NotOfWorkspace {
        /// The key.
        key: String,
    },
    /// A version of the program that the project does not allow.
    WrongVersion {
        /// The allowed versions, as written.
        required: String,
    },
    /// Defaults for an unknown operator.
    UnknownOperator {
        /// The actual name.
        found: String,
        /// The operator with the most similar name.
        near: Option<String>,
        /// The known operators.
        valid: Vec<String>,
    },
    /// Defaults for a subtype or part that its operator does not have.
    UnknownSubtype {
        /// The operator.
        operator: String,
        /// The actual name.
        found: String,
        /// The subtype with the most similar name.
        near: Option<String>,
        /// The known subtypes and parts.
        valid: Vec<String>,
    },
    /// An operator or subtype that cannot be declared.
    BadDeclaration {
        /// The row: `atomic`, `atomic.scout`.
        row: String,
        /// The reason.
        why: DeclarationRefusal,
    },
    /// A row that by itself resolves to a conflict.
    ConflictingDefaults {
        /// The first such row.
        row: RowId,
        /// Further rows with a conflict of the same two values.
        others: Vec<RowId>,
        /// The place of the other value, if a project file contains it.
        other: Option<(u16, Span)>,
    },
    /// A default that its row can never use, because the operator has no steps to accumulate.
    DefaultWithoutEffect {
        /// The row's name.
        row: String,
        /// The setting.
        setting: &'static str,
        /// The operator of the language that the row is built on.
        base: Operator,
    },
    /// A name in `[lints]` that is not a rule, code or family.
    UnknownRule {
        /// The actual name.
        found: String,
        /// The known name with the most similar spelling.
        near: Option<String>,
    },
    /// A level in `[lints]` that is not allowed for a locked rule.
    LockedRule {
        /// The rule's name, or the family's.
        rule: String,
        /// The level.
        level: &'static str,
        /// The lowest allowed level.
        floor: &'static str,
    },
    /// A rule that is set twice in `[lints]`.
    RepeatedRule {
        /// The rule's name.
        rule: &'static str,
        /// The span of the first entry.
        first: Span,
    },
    /// A condition of `[[require]]` that cannot be parsed.
    BadCondition {
        /// The condition.
        found: String,
        /// The reason.
        reason: String,
        /// The known word with the most similar spelling.
        near: Option<String>,
    },
    /// A `[[require]]` without conditions.
    EmptyRequirement,
    /// A condition over a fact that was not determined.
    NotChecked {
        /// The condition.
        condition: String,
        /// The facts that it depends on.
        needs: Needs,
    },
    /// A selector with a role that the project does not define.
    UnknownRole {
        /// The actual name.
        found: String,
        /// The role with the most similar name.
        near: Option<String>,
    },
    /// A required key that is missing.
    MissingKey {
        /// The table.
        table: String,
        /// The key.
        key: &'static str,
    },
    /// A duplicate entry in a list.
    RepeatedEntry {
        /// The key with its table.
        key: String,
        /// The entry.
        entry: String,
        /// The span of the first one.
        first: Span,
    },
    /// A role with a model that the project does not define.
    UnknownModel {
        /// The actual name.
        found: String,
        /// The model with the most similar name.
        near: Option<String>,
        /// The known models.
        valid: Vec<String>,
    },
    /// A model with a provider that the project does not define.
    UnknownProvider {
        /// The actual name.
        found: String,
        /// The provider with the most similar name.
        near: Option<String>,
        /// The known providers, followed by the kinds.
        valid: Vec<String>,
    },
    /// A role whose requirements no model of the project meets.
    NoModel {
        /// The role.
        role: String,
        /// The required tier.
        tier: Option<Tier>,
        /// The required capabilities.
        capabilities: Vec<String>,
        /// The first models with the requirements that each does not meet, the closest first.
        refused: Vec<(String, Disqualification)>,
        /// A capability that no model has, with the most similar one.
        near: Option<(Spanned<String>, String)>,
    },
    /// A model that no role can use.
    UnusedModel {
        /// The model.
        model: String,
    },
    /// A role's budget that exceeds its model's window.
    BudgetOverWindow {
        /// The role.
        role: String,
        /// Its tokens.
        tokens: u64,
        /// The model.
        model: String,
        /// The tokens that the window holds besides the answer.
        room: u64,
    },
    /// The file of a role's system prompt cannot be read.
    SystemPrompt {
        /// The role.
        role: String,
        /// The file as written.
        path: String,
        /// The reason.
        why: String,
    },
    /// An expression in a role's system prompt, which cannot contain values.
    PromptValue {
        /// The role.
        role: String,
        /// The expression with its braces.
        written: String,
        /// The prompt's file and the line there, if it has a file of its own.
        line: Option<(String, u32)>,
    },
    /// The value of an API key in a project file. The value itself is never printed.
    KeyInFile {
        /// The provider.
        provider: String,
        /// The key of the table that holds it.
        key: &'static str,
        /// Its span, whose text must never be printed.
        at: Span,
    },
    /// A role with both a model and requirements for a model.
    TwoModels {
        /// The role.
        role: String,
        /// The key beside `model`.
        key: &'static str,
    },
    /// A tool that a role both lists and blocks.
    ToolBlocked {
        /// The role.
        role: String,
        /// The tool as written in `tools`.
        tool: String,
        /// The entry that blocks the whole of it, with its span.
        blocked: Spanned<String>,
    },
    /// A role refers to an undefined tool, in a project that defines tools.
    UnknownTool {
        /// The role.
        role: String,
        /// Its key: `tools`, `blocked_tools` or `tool_choice`.
        key: &'static str,
        /// The name, or a prefix of names followed by `*`.
        found: String,
        /// The tool with the most similar name.
        near: Option<String>,
        /// The defined tools.
        valid: Vec<String>,
    },
    /// An invalid definition of a tool, or an invalid file of definitions.
    BadTool {
        /// The tool, where it has a name.
        tool: Option<String>,
        /// The file that contains it, if it is not the project file, and the line; 0 for the file
        /// as a whole.
        place: Option<(String, u32)>,
        /// The reason.
        why: ToolFault,
    },
    /// A shared file that is not pinned, or differs from its pinned hash.
    SharedHash {
        /// The shared file.
        path: String,
        /// The pinned hash as written; `None` if it is missing.
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
        /// The reason.
        reason: String,
    },
    /// A package, or something of it, that cannot be used.
    Package {
        /// The package.
        name: String,
        /// The reason.
        why: PackageFault,
    },
    /// A key that a shared file may not have.
    NotShared {
        /// The key.
        key: String,
    },
    /// A value that is more permissive than that of the shared file.
    Loosened {
        /// The relaxed item: a rule's name, `defaults.atomic.fresh_context`.
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

/// The reason why an operator or subtype cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclarationRefusal {
    /// It is part of the language: its defaults belong in `[defaults]`.
    Language,
    /// It is a type of an older dialect, which templates use for the modern one.
    Legacy {
        /// The modern type.
        modern: &'static str,
        /// The subtype that is set with it.
        subtype: Option<&'static str>,
    },
    /// `base` is missing.
    NoBase,
    /// The name would require quoting in an attribute.
    BadName,
    /// The table has too many rows.
    TooMany,
}

/// The reason why a definition of a tool is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFault {
    /// Its file cannot be read.
    Unreadable(String),
    /// Its file is not JSON; the message of the JSON parser.
    Json(String),
    /// Its file has no list of tools.
    Form,
    /// It is a tool of the provider's own.
    Hosted(String),
    /// It has no name.
    NoName,
    /// Its description is not a text.
    NoText,
    /// Its name is not accepted by providers.
    BadName,
    /// Another tool of the same name is defined.
    Twice {
        /// The file of the other definition.
        path: String,
        /// Its line.
        line: u32,
    },
    /// Its parameters are not a JSON Schema of type `object`.
    NoObject,
    /// Its parameters contain a mistake.
    BadSchema(JsonSchemaFault),
    /// Its parameters contain a pattern, at this pointer, with lookaround or a backreference.
    Pattern(String),
    /// Vendors reject its parameters.
    Refused(ToolSchemaFault),
}

impl ProjectFaultKind {
    /// True if a package with this fault in its project file cannot be used.
    pub fn breaks_package(&self) -> bool {
        let is_broken = matches!(
            self,
            Self::Syntax { .. }
                | Self::WrongVersion { .. }
                | Self::UnknownEdition { .. }
                | Self::BadTool { .. }
                | Self::SystemPrompt { .. }
                | Self::NoWorkspace { .. }
                | Self::SharedHash { .. }
                | Self::SharedUnreadable { .. }
                | Self::Package { .. }
        );
        is_broken || self.decides_settings()
    }

    /// True if the fault decides a row or default. If it is ignored, tasks are resolved without
    /// values that the project file contains.
    pub fn decides_settings(&self) -> bool {
        let is_of_settings = |name: &str| matches!(name, "defaults" | "operators");
        // A section with a misspelled name is not read at all.
        if let Self::UnknownKey {
            near: Some(near), ..
        } = self
            && is_of_settings(near)
        {
            return true;
        }
        let (Self::UnknownKey { table: place, .. }
        | Self::WrongType { key: place, .. }
        | Self::BadValue { key: place, .. }) = self
        else {
            return false;
        };
        place.split('.').next().is_some_and(is_of_settings)
    }
}
