//! A project as read: layers, lints, requirements, limits, each with the place it came from. Immutable once read, except for
//! the set of tested agents, which is filled in later.

use super::eval::Eval;
use super::fault::{Fault, FaultKind};
use super::glob::Globs;
use super::lints::Lints;
use super::models::{Model, Provider};
use super::require::{Needs, Requirement};
use super::roles::Role;
use crate::base::fs::ReadFs;
use crate::base::hash::Hash;
use crate::base::rule_meta::RuleMeta;
use crate::base::source::{LineIndex, Position};
use crate::base::span::{Span, Spanned};
use crate::kernel::agent_node::Tested;
use crate::settings::layers::Layers;
use crate::settings::provenance::{Origin, Place};
use crate::syntax::limits::Limits;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The edition of the language where `edition` is absent.
pub const EDITION: &str = "2026";

/// Bytes of a project file: a larger one is refused unread.
pub const FILE_LIMIT: u64 = 1 << 20;

/// What the project file is read from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The file's path relative to the project root: `ctxc.toml`.
    pub path: &'a str,
    /// Its text without a byte order mark.
    pub text: &'a str,
    /// The project root, which `extends` is relative to.
    pub root: &'a Path,
    /// Where shared files are read from.
    pub files: &'a dyn ReadFs,
    /// Every rule that `[lints]` may name.
    pub rules: &'a [&'static RuleMeta],
}

/// A project file, or a shared file that it extends.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Relative to the project root.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: LineIndex,
    /// The hash of its bytes.
    pub hash: Hash,
}

/// `[templates]`.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    /// `include`; `None` where absent: `templates/` if there is one, else the project's folder.
    pub include: Option<Globs>,
    /// `exclude`.
    pub exclude: Globs,
}

impl Templates {
    /// The folders in which templates are looked for; empty for the project's own.
    pub fn folders(&self) -> Vec<String> {
        let written = |globs: &Globs| globs.written().iter().map(|pattern| super::path_patterns::fixed(pattern)).collect();
        self.include.as_ref().map_or_else(|| vec!["templates".to_owned()], written)
    }
}

/// `[context]`: what fresh context is looked up in, and how long an objective may be.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// `include`; `None` where absent: every file of the project.
    pub include: Option<Globs>,
    /// `exclude`.
    pub exclude: Globs,
    /// `documents`: files taken besides, whatever hides or excludes them.
    pub documents: Globs,
    /// `objective_tokens`: what the objective of a request may have.
    pub objective_tokens: Option<usize>,
}

/// `[fmt]`.
pub use crate::format::Options as Format;

/// A section of a later release: accepted, and kept as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Index into [`Config::files`].
    pub file: u16,
    /// The key's place.
    pub span: Span,
    /// The value's place; for a section, its header.
    pub value: Span,
}

/// Everything that `ctxc.toml` says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The project file first, then the shared file; empty without a project file.
    pub files: Vec<ConfigFile>,
    /// `edition`.
    pub edition: &'static str,
    /// `[project] name`.
    pub name: Option<Spanned<String>>,
    /// `[templates]`.
    pub templates: Templates,
    /// `[context]`: what fresh context is looked up in.
    pub context: Lookup,
    /// `[fmt]`: how files are laid out.
    pub format: Format,
    /// The operator table with the project's rows and defaults.
    pub layers: Layers,
    /// `[lints]`.
    pub lints: Lints,
    /// `[[require]]`, those of a shared file first.
    pub requirements: Vec<Requirement>,
    /// `[limits]`.
    pub limits: Limits,
    /// `[owners]`: who answers for the files of a glob; the last match counts.
    pub owners: Vec<(Globs, String)>,
    /// `[roles.NAME]`.
    pub roles: BTreeMap<String, Role>,
    /// `[models.NAME]`, those that can be taken.
    pub models: BTreeMap<String, Model>,
    /// `[providers.NAME]`, those that can be taken.
    pub providers: BTreeMap<String, Provider>,
    /// `[eval]`.
    pub eval: Eval,
    /// `[history] path`: the file that runs of `eval` are kept in, relative to the project.
    pub history: Option<Spanned<String>>,
    /// `[record]`.
    pub record: Record,
    /// `[policy]`.
    pub policy: Policy,
    /// `[mcp.NAME]`: the commands that serve tools, by their names.
    pub mcp: BTreeMap<String, Server>,
    /// `[requests]`.
    pub requests: Requests,
    /// The agents that scenarios test, for `has scenario`; `None` where nobody looked. See [`Config::test`].
    pub tested: Option<Tested>,
    /// Sections of later releases by name.
    pub reserved: BTreeMap<String, Reserved>,
    /// What is wrong with the file, in the order of files and spans.
    pub faults: Vec<Fault>,
}

/// `[policy]`: what a run may do of what its user permits. It permits nothing by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `commands`: how the lines of commands begin that may run; `None` where every one that the user permits may.
    pub commands: Option<Vec<String>>,
    /// `blocked`: what no line of a command may have in it.
    pub blocked: Vec<String>,
    /// `env`: variables that commands see besides the usual ones.
    pub env: Vec<String>,
}

/// `[mcp.NAME]`: a server of tools that speaks MCP on its standard input and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// `command`: the program and its arguments.
    pub command: Vec<String>,
    /// `env`: variables that it sees besides the usual ones.
    pub env: Vec<String>,
}

/// What is left out of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolatilePart {
    /// The JSON Pointer of a value; `""` is the whole request.
    pub place: String,
    /// What is left out of the texts at and below that place; `None` for all of the value.
    pub pattern: Option<String>,
}

/// `[record]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// `content`: whether the words of calls are kept.
    pub content: Content,
    /// `env`: variables that hold the address of a provider, besides the usual ones.
    pub env: Vec<String>,
    /// `upstream`: where `ctxc record` sends calls on, as `[VENDOR=]URL`; the user has to permit it.
    pub upstream: Vec<String>,
    /// `mask`: patterns of what is replaced besides secrets and personal data.
    pub mask: Vec<String>,
}

/// `[requests]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// `blocks`: sections of texts by their names, each with the pattern that it is found by.
    pub blocks: BTreeMap<String, String>,
    /// `volatile`: what is left out of a request where it is compared with a recorded one.
    pub volatile: Vec<VolatilePart>,
}

/// What is kept of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Their words, with secrets and personal data replaced.
    #[default]
    Redacted,
    /// The same with personal data as they are; secrets are replaced all the same.
    Full,
    /// Hashes and figures alone.
    Shape,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            edition: EDITION,
            name: None,
            templates: Templates::default(),
            context: Lookup::default(),
            format: Format::default(),
            layers: Layers::default(),
            lints: Lints::default(),
            requirements: Vec::new(),
            limits: Limits::default(),
            owners: Vec::new(),
            roles: BTreeMap::new(),
            models: BTreeMap::new(),
            providers: BTreeMap::new(),
            eval: Eval::default(),
            history: None,
            record: Record::default(),
            policy: Policy::default(),
            mcp: BTreeMap::new(),
            requests: Requests::default(),
            tested: None,
            reserved: BTreeMap::new(),
            faults: Vec::new(),
        }
    }
}

impl Config {
    /// Whether its file is not valid TOML, so that nobody knows what it would say.
    pub fn is_broken(&self) -> bool {
        self.faults.iter().any(|fault| matches!(fault.kind, FaultKind::Syntax { .. }))
    }

    /// The path and position of a place in a project file; `None` for an index of another project.
    pub fn position(&self, file: u16, offset: u32) -> Option<(Arc<str>, Position)> {
        let file = self.files.get(file as usize)?;
        Some((Arc::clone(&file.path), file.lines.position(&file.text, offset)))
    }

    /// Where a project layer set a value; `None` for every other layer.
    pub fn origin(&self, origin: &Origin) -> Option<(Arc<str>, Span, Position)> {
        let Place::Project(file, span) = origin.place else { return None };
        let (path, position) = self.position(file, span.start)?;
        Some((path, span, position))
    }

    /// Whether some requirement is about scenarios, so that they have to be read.
    pub fn wants_tested(&self) -> bool {
        let mut conditions = self.requirements.iter().flat_map(|requirement| &requirement.conditions);
        conditions.any(|condition| condition.value.needs() == Some(Needs::Scenarios))
    }

    /// Takes what scenarios test: requirements on them can be judged from here on.
    pub fn test(&mut self, tested: Tested) {
        self.tested = Some(tested);
        self.faults.retain(|fault| !matches!(fault.kind, FaultKind::NotChecked { needs: Needs::Scenarios, .. }));
    }

    /// Whether a role plays a task.
    pub fn plays(&self, role: &str, task: &str) -> bool {
        self.roles.get(role).is_some_and(|role| role.task.value == task)
    }

    /// Who answers for a file, by `[owners]`.
    pub fn owner(&self, path: &str) -> Option<&str> {
        self.owners.iter().rev().find(|(globs, _)| globs.matches(path)).map(|(_, owner)| owner.as_str())
    }
}
