//! The packages that a project uses, as they are installed. Reads nothing.

use super::config::Config;
use super::package_section::{ExportKind, PackageExport};
use super::tools::ProjectTool;
use crate::base::contained_path::{normalize_path, slash_path};
use crate::base::quoted::name_list;
use crate::base::span::Span;
use crate::template::keywords::Trust;
use crate::template::names::DefinitionKind;
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The names that the templates of a package define and use.
#[derive(Clone, Debug)]
pub struct PackageNames {
    /// The name of the package: `acme/rules`.
    pub package: String,
    /// The packages that it may refer to.
    pub dependencies: BTreeSet<String>,
    /// The trust in its texts.
    pub trust: Trust,
}

/// The folder of an installed package.
#[derive(Clone, Debug)]
pub struct PackageFolder {
    /// Its name in findings and in the registry: `acme/rules@1.2.0`.
    pub prefix: String,
    /// Its place.
    pub place: PackagePlace,
    /// The SHA-256 of each file by its path; `None` if edits count at once.
    pub hashes: Option<BTreeMap<String, String>>,
}

/// The place of a package's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackagePlace {
    /// A folder relative to the project.
    Project(String),
    /// A folder of the user's cache.
    Cache(PathBuf),
}

/// The reason why a package, or something of it, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageFault {
    /// The lock file cannot be read.
    #[error("ctxc.lock cannot be read: {0}")]
    BadLock(String),
    /// The lock file does not have it.
    #[error("ctxc.lock does not have it")]
    NotLocked,
    /// The lock file has it from another source.
    #[error("ctxc.lock has it from {0}")]
    OtherSource(String),
    /// No folder has its files.
    #[error("it is not installed")]
    NotInstalled,
    /// Its project file is not that of this package.
    #[error("{path} {reason}")]
    NotPackage {
        /// The path of its project file.
        path: String,
        /// The reason, after the path.
        reason: String,
    },
    /// It has errors.
    #[error("it has {count}, first: {first}")]
    Errors {
        /// Their number, in words.
        count: String,
        /// The place and the message of the first.
        first: String,
    },
    /// No dependency has this name.
    #[error("it is not among the [dependencies]")]
    Unknown,
    /// It does not export this.
    #[error("it does not export `{export}`; {exports}")]
    NotExported {
        /// The export, such as `roles/planner`.
        export: String,
        /// A list of its exports of this kind.
        exports: String,
    },
    /// Its texts come from outside.
    #[error("its texts come from outside, and a role's text is trusted")]
    Outside,
}

impl PackageFault {
    /// Returns the way out.
    pub fn help(&self) -> &'static str {
        match self {
            Self::BadLock(_) => "`ctxc package update` writes it anew",
            Self::NotLocked | Self::OtherSource(_) => "run `ctxc package update`",
            Self::NotInstalled => {
                "run `ctxc package update`; `ctxc package vendor` keeps packages in the project"
            }
            Self::NotPackage { .. } => "name the folder or tag of the package itself",
            Self::Errors { .. } => {
                "run `ctxc check` in the package; `ctxc package update` restores changed files"
            }
            Self::Unknown => "`ctxc package add SOURCE` adds it",
            Self::NotExported { .. } => "everything else is private to the package",
            Self::Outside => "set `trust = \"author\"` on the dependency, or write the role here",
        }
    }
}

impl PackageNames {
    /// Returns the name in the project of a definition of this package.
    pub fn own_name(&self, name: &str) -> String {
        format!("{}/{name}", self.package)
    }

    /// Returns the name in the project of a definition that this package refers to.
    pub fn full_name(&self, written: &str) -> String {
        match split_reference(written) {
            Some((package, _)) if self.dependencies.contains(package) => written.to_owned(),
            _ => self.own_name(written),
        }
    }
}

/// Splits `acme/rules/triage` into the package and its definition.
pub fn split_reference(name: &str) -> Option<(&str, &str)> {
    let first = name.find('/')?;
    let second = first + 1 + name.get(first + 1..)?.find('/')?;
    Some((name.get(..second)?, name.get(second + 1..)?))
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

impl PackageFolder {
    /// Returns its path on disk.
    pub fn path(&self, root: &Path) -> PathBuf {
        match &self.place {
            PackagePlace::Project(folder) => root.join(folder),
            PackagePlace::Cache(folder) => folder.clone(),
        }
    }

    /// Returns its path in the project if it lies there.
    pub fn folder_in_project(&self) -> Option<String> {
        match &self.place {
            PackagePlace::Project(folder) => {
                normalize_path(Path::new(folder)).map(|folder| slash_path(&folder))
            }
            PackagePlace::Cache(_) => None,
        }
    }

    /// Returns the path within the folder of a file, by its name in findings.
    pub fn path_inside(&self, path: &Path) -> Option<String> {
        path.strip_prefix(&self.prefix).ok().map(slash_path)
    }
}
