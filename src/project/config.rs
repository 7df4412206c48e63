//! The settings of a project as read: layers, lints, requirements, limits, each with its origin.
//! Immutable after reading, except for the set of tested agents, which is filled in later.

use super::dependencies::Dependency;
use super::eval::Eval;
use super::glob::Globs;
use super::lints::Lints;
use super::models::{ModelConfig, ProviderConfig};
use super::package_fault::PackageFault;
use super::package_section::{ExportKind, PackageExport, PackageSection};
use super::packages::{PackageFolder, PackageNames};
use super::project_fault::{ProjectFault, ProjectFaultKind};
use super::require::{Needs, Requirement};
use super::roles::Role;
use super::tools::ProjectTool;
use crate::base::fs::ReadFs;
use crate::base::hash::Hash;
use crate::base::package_name::split_reference;
use crate::base::quoted::name_list;
use crate::base::rule_meta::RuleMeta;
use crate::base::source::{LineIndex, Position};
use crate::base::span::{Span, Spanned};
use crate::kernel::agent_node::TestedAgents;
use crate::settings::layers::Layers;
use crate::settings::provenance::{SettingOrigin, ValuePlace};
use crate::syntax::limits::XmlLimits;
use crate::template::names::DefinitionKind;
use semver::Version;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The edition of the language if `edition` is absent.
pub const DEFAULT_EDITION: &str = "2026";

/// The maximum size of a project file in bytes; a larger one is rejected without reading.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// The input for reading a project file.
#[derive(Clone, Copy)]
pub struct ConfigInput<'a> {
    /// The file's path relative to the project root: `ctxc.toml`.
    pub path: &'a str,
    /// Its text without a byte order mark.
    pub text: &'a str,
    /// The project root, to which `extends` is relative.
    pub root: &'a Path,
    /// The file system of shared files.
    pub files: &'a dyn ReadFs,
    /// All rules that `[lints]` may refer to.
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
    /// `include`; `None` if absent: `templates/` if it exists, otherwise the project's folder.
    pub include: Option<Globs>,
    /// `exclude`.
    pub exclude: Globs,
}

impl Templates {
    /// The folders that are searched for templates; empty for the project's own.
    pub fn folders(&self) -> Vec<String> {
        let written = |globs: &Globs| {
            globs
                .patterns()
                .iter()
                .map(|pattern| super::glob::fixed_prefix(pattern))
                .collect()
        };
        self.include
            .as_ref()
            .map_or_else(|| vec!["templates".to_owned()], written)
    }
}

/// `[context]`: the files in which fresh context is looked up, and the maximum length of an
/// objective.
#[derive(Clone, Debug, Default)]
pub struct LookupSettings {
    /// `include`; `None` if absent: every file of the project.
    pub include: Option<Globs>,
    /// `exclude`.
    pub exclude: Globs,
    /// `documents`: additional files, regardless of ignore rules and `exclude`.
    pub documents: Globs,
    /// `objective_tokens`: the maximum length of a request's objective.
    pub objective_tokens: Option<usize>,
}

/// `[fmt]`.
pub use crate::format::FormatOptions as Format;

/// The whole content of `ctxc.toml`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The project file first, then the shared file; empty without a project file.
    pub files: Vec<ConfigFile>,
    /// `edition`.
    pub edition: &'static str,
    /// `[project] name`.
    pub name: Option<Spanned<String>>,
    /// `[workspace] members`: the folders of the projects of a repository; `None` in a project.
    pub workspace: Option<Globs>,
    /// The sections that the project takes over from its workspace.
    pub inherited: Vec<&'static str>,
    /// `[templates]`.
    pub templates: Templates,
    /// `[context]`: the files in which fresh context is looked up.
    pub context: LookupSettings,
    /// `[fmt]`: the layout of files.
    pub format: Format,
    /// The operator table with the project's rows and defaults.
    pub layers: Layers,
    /// `[lints]`.
    pub lints: Lints,
    /// `[[require]]`, those of a shared file first.
    pub requirements: Vec<Requirement>,
    /// `[limits]`.
    pub limits: XmlLimits,
    /// `[owners]`: the owner of the files of a glob; the last match counts.
    pub owners: Vec<(Globs, String)>,
    /// `[roles.NAME]`.
    pub roles: BTreeMap<String, Role>,
    /// `[tools]`: the tools that the project defines.
    pub tools: Arc<BTreeMap<String, ProjectTool>>,
    /// The valid entries of `[models.NAME]`.
    pub models: BTreeMap<String, ModelConfig>,
    /// The valid entries of `[providers.NAME]`.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// `[eval]`.
    pub eval: Eval,
    /// `[history] path`: the file that stores runs of `eval`, relative to the project.
    pub history: Option<Spanned<String>>,
    /// `[record]`.
    pub record: RecordSettings,
    /// `[policy]`.
    pub policy: Policy,
    /// `[mcp.NAME]`: the commands of tool servers, by their names.
    pub mcp: BTreeMap<String, McpServerConfig>,
    /// `[requests]`.
    pub requests: RequestSettings,
    /// `[dependencies]`: the required packages by name.
    pub dependencies: BTreeMap<String, Dependency>,
    /// The packages that are installed for them.
    pub packages: Packages,
    /// The agents that scenarios test, for `has scenario`; `None` before scenarios are read. See
    /// [`Config::set_tested`].
    pub tested: Option<TestedAgents>,
    /// `[package]`.
    pub package: Option<PackageSection>,
    /// The faults of the file, in the order of files and spans.
    pub faults: Vec<ProjectFault>,
}

/// `[policy]`: restrictions on the permissions that the user gives a run. It grants none itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// `commands`: prefixes of permitted command lines; `None` if every command that the user
    /// permits may run.
    pub commands: Option<Vec<String>>,
    /// `blocked`: texts that no command line may contain.
    pub blocked: Vec<String>,
    /// `env`: variables that commands receive besides the usual ones.
    pub env: Vec<String>,
}

/// `[mcp.NAME]`: a tool server that uses MCP on its standard input and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpServerConfig {
    /// `command`: the program and its arguments.
    pub command: Vec<String>,
    /// `env`: variables that it receives besides the usual ones.
    pub env: Vec<String>,
}

/// A part of a request that is ignored in comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolatilePart {
    /// The JSON Pointer of a value; `""` is the whole request.
    pub place: String,
    /// The pattern of the ignored text at and below that value; `None` for the whole value.
    pub pattern: Option<String>,
}

/// `[record]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSettings {
    /// `content`: the form in which the content of calls is recorded.
    pub content: RecordedContent,
    /// `env`: variables that contain the address of a provider, besides the usual ones.
    pub env: Vec<String>,
    /// `upstream`: the address to which `ctxc record` forwards calls, as `[VENDOR=]URL`; the user
    /// has to permit it.
    pub upstream: Vec<String>,
    /// `mask`: patterns of text that is masked besides secrets and personal data.
    pub mask: Vec<String>,
}

/// `[requests]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSettings {
    /// `blocks`: sections of texts by name, each with the pattern that finds it.
    pub blocks: BTreeMap<String, String>,
    /// `volatile`: the parts of a request that are ignored in a comparison with a recorded one.
    pub volatile: Vec<VolatilePart>,
}

/// The recorded content of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedContent {
    /// The texts, with secrets and personal data masked.
    #[default]
    Redacted,
    /// The texts with personal data; secrets are still masked.
    Full,
    /// Only hashes and figures.
    Shape,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            edition: DEFAULT_EDITION,
            name: None,
            workspace: None,
            inherited: Vec::new(),
            templates: Templates::default(),
            context: LookupSettings::default(),
            format: Format::default(),
            layers: Layers::default(),
            lints: Lints::default(),
            requirements: Vec::new(),
            limits: XmlLimits::default(),
            owners: Vec::new(),
            roles: BTreeMap::new(),
            tools: Arc::default(),
            models: BTreeMap::new(),
            providers: BTreeMap::new(),
            eval: Eval::default(),
            history: None,
            record: RecordSettings::default(),
            policy: Policy::default(),
            mcp: BTreeMap::new(),
            requests: RequestSettings::default(),
            dependencies: BTreeMap::new(),
            packages: Packages::default(),
            tested: None,
            package: None,
            faults: Vec::new(),
        }
    }
}

impl Config {
    /// Returns true if a name is of a package that the project requires and that could not be loaded,
    /// which was reported.
    pub(crate) fn lacks_package_of(&self, name: &str) -> bool {
        split_reference(name).is_some_and(|(package, _)| {
            self.dependencies.contains_key(package) && self.packages.get(package).is_none()
        })
    }

    /// True if the file is not valid TOML, so that its content is unknown.
    pub fn is_broken(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| matches!(fault.kind, ProjectFaultKind::Syntax { .. }))
    }

    /// The path and position of an offset in a project file; `None` for an index of another
    /// project.
    pub fn position(&self, file: u16, offset: u32) -> Option<(Arc<str>, Position)> {
        let file = self.files.get(file as usize)?;
        Some((
            Arc::clone(&file.path),
            file.lines.position(&file.text, offset),
        ))
    }

    /// The position of a value set by a project layer; `None` for every other layer.
    pub fn origin(&self, origin: &SettingOrigin) -> Option<(Arc<str>, Span, Position)> {
        let ValuePlace::Project(file, span) = origin.place else {
            return None;
        };
        let (path, position) = self.position(file, span.start)?;
        Some((path, span, position))
    }

    /// True if a requirement depends on scenarios, so that they have to be read.
    pub fn needs_tested(&self) -> bool {
        let mut conditions = self
            .requirements
            .iter()
            .flat_map(|requirement| &requirement.conditions);
        conditions.any(|condition| condition.value.required_facts() == Some(Needs::Scenarios))
    }

    /// Sets the agents that scenarios test: requirements on them can be checked from then on.
    pub fn set_tested(&mut self, tested: TestedAgents) {
        self.tested = Some(tested);
        self.faults.retain(|fault| {
            !matches!(
                fault.kind,
                ProjectFaultKind::NotChecked {
                    needs: Needs::Scenarios,
                    ..
                }
            )
        });
    }

    /// True if the role's task is `task`.
    pub fn plays(&self, role: &str, task: &str) -> bool {
        self.roles
            .get(role)
            .is_some_and(|role| role.task.value == task)
    }

    /// The owner of a file according to `[owners]`.
    pub fn owner(&self, path: &str) -> Option<&str> {
        self.owners
            .iter()
            .rev()
            .find(|(globs, _)| globs.matches(path))
            .map(|(_, owner)| owner.as_str())
    }
}

/// The packages of a project, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    all: Arc<[InstalledPackage]>,
}

/// A package that a project uses, itself or through another package.
#[derive(Clone, Debug)]
pub struct InstalledPackage {
    /// Its version.
    pub version: Version,
    /// Its names in the project.
    pub names: Arc<PackageNames>,
    /// Its files.
    pub folder: PackageFolder,
    /// Its project file.
    pub config: Arc<Config>,
    /// The span in the project file of the dependency that brings it.
    pub span: Span,
}

impl Packages {
    /// The given packages.
    pub fn new(mut all: Vec<InstalledPackage>) -> Self {
        all.sort_by(|a, b| a.names.package.cmp(&b.names.package));
        Self { all: all.into() }
    }

    /// Returns those with some names.
    #[must_use]
    pub fn retain_named(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let all = self.all.iter();
        let wanted = all.filter(|package| is_wanted(&package.names.package));
        Self {
            all: wanted.cloned().collect(),
        }
    }

    /// All packages, by name.
    #[allow(clippy::iter_without_into_iter, reason = "no loop takes them all")]
    pub fn iter(&self) -> std::slice::Iter<'_, InstalledPackage> {
        self.all.iter()
    }

    /// The package with a name.
    pub fn get(&self, name: &str) -> Option<&InstalledPackage> {
        let at = self
            .all
            .binary_search_by(|package| package.names.package.as_str().cmp(name));
        self.all.get(at.ok()?)
    }

    /// The package that contains a file, by the file's name in findings.
    pub fn of_file(&self, path: &str) -> Option<&InstalledPackage> {
        let (folder, _) = split_reference(path)?;
        let package = self.get(folder.split_once('@')?.0)?;
        (package.folder.prefix == folder).then_some(package)
    }

    /// The package and the export that a name refers to.
    pub fn of_reference<'n>(&self, name: &'n str) -> Option<(&InstalledPackage, &'n str)> {
        let (package, export) = split_reference(name)?;
        Some((self.get(package)?, export))
    }

    /// Returns the path on disk of a file of the project or of a package, by its name in findings.
    pub fn real_path(&self, root: &Path, name: &str) -> PathBuf {
        match (self.of_file(name), split_reference(name)) {
            (Some(package), Some((_, rest))) => package.folder.path(root).join(rest),
            _ => root.join(name),
        }
    }
}

impl InstalledPackage {
    /// Returns true if others may use a definition.
    pub fn exports(&self, kind: ExportKind, name: &str) -> bool {
        self.export_names(kind).any(|own| own == name)
    }

    /// Returns true if others may use a definition, by its full name.
    pub fn exports_definition(&self, kind: DefinitionKind, name: &str) -> bool {
        let (Some(kind), Some((_, name))) =
            (ExportKind::of_definition(kind), split_reference(name))
        else {
            return false;
        };
        self.exports(kind, name)
    }

    /// The exported names of a kind, in the order of the project file.
    pub fn export_names(&self, kind: ExportKind) -> impl Iterator<Item = &str> {
        let section = self.config.package.iter();
        let exports = section.flat_map(|section| &section.exports);
        exports
            .map(|export| &export.value)
            .filter(move |export| export.kind == kind)
            .map(|export| export.name.as_str())
    }

    /// Returns a tool of the package with the name of its file in the project.
    pub fn own_tool(&self, tool: &ProjectTool) -> ProjectTool {
        let path = match self.config.files.first() {
            Some(file) if *file.path == *tool.path => tool.path.clone(),
            _ => format!("{}/{}", self.folder.prefix, tool.path),
        };
        ProjectTool {
            path,
            ..tool.clone()
        }
    }

    /// Returns the fault of a use of something that is not exported.
    pub fn not_exported(&self, export: &PackageExport) -> PackageFault {
        let names: Vec<&str> = self.export_names(export.kind).collect();
        let word = export.kind.word();
        PackageFault::NotExported {
            export: export.to_string(),
            exports: if names.is_empty() {
                format!("it exports no {word}")
            } else {
                format!("its {word}: {}", name_list(&names))
            },
        }
    }
}
