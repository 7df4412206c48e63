//! One release of a package, as read from its source.

use super::archive::PackedFile;
use super::file_choice::select_files;
use super::file_name::{NameFault, NameTable};
use super::git::{FetchedTree, GitFault};
use super::resolve::Requirements;
use crate::base::contained_path::resolve_beside;
use crate::base::fs::MemoryFs;
use crate::base::hidden_text::hidden_runs;
use crate::base::number::format_size;
use crate::base::sha256::{sha256_hex, tree_digest};
use crate::project::config::{Config, ConfigInput, VERSION};
use crate::project::dependencies::{PackageSource, split_version};
use crate::project::lock_file::LockedPackage;
use crate::project::package_section::extended_file;
use crate::project::project_fault::ProjectFaultKind;
use semver::Version;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The project file of a package.
const PROJECT_FILE: &str = "ctxc.toml";

/// A release of a package.
#[derive(Clone, Debug)]
pub struct PackageRelease {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// The commit that it was read from; `None` for a folder.
    pub commit: Option<String>,
    /// The sources of the packages that it requires, by name.
    pub dependencies: BTreeMap<String, PackageSource>,
    /// Its files, sorted by path.
    pub files: Vec<PackedFile>,
}

/// The reason why there is no release at a source.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseFault {
    /// A folder that cannot be read.
    #[error("{0}")]
    Folder(String),
    /// A tag that may not be fetched.
    #[error("it was not fetched yet, and `--offline` fetches nothing")]
    NotFetched,
    /// A tag with another commit than before.
    #[error("the tag was moved: it was commit {before}, and is {now}")]
    Moved {
        /// Its commit when it was locked or fetched.
        before: String,
        /// Its commit now.
        now: String,
    },
    /// Releases with more bytes than the limit.
    #[error(
        "the packages up to this one have more than {} together, the limit; require fewer or smaller ones",
        format_size(*.0)
    )]
    TooLarge(u64),
    /// A release that cannot be stored.
    #[error("the folder of packages cannot be written: {0}")]
    Store(#[from] io::Error),
    /// No project file.
    #[error("it has no ctxc.toml at its top")]
    NoProject,
    /// A project that is no package.
    #[error("its ctxc.toml has no `[package]` with a name and a version")]
    NoPackage,
    /// A release for another version of this program.
    #[error("it is for ctxc {0}, and this is {VERSION}")]
    OtherProgram(String),
    /// A package of another name.
    #[error("it is the package `{found}`, not `{required}`")]
    OtherName {
        /// Its name.
        found: String,
        /// The required name.
        required: String,
    },
    /// A tag that names another version.
    #[error(
        "its [package] has version {found}, expected {expected} as in the tag: a lock could not tell its releases apart; name the tag of a release, or ask its owner for one that fits"
    )]
    OtherVersion {
        /// Its version.
        found: Version,
        /// The version in the tag.
        expected: Version,
    },
    /// A file whose name is not safe on every system.
    #[error("{path}: {fault}")]
    Name {
        /// Its name, with escapes.
        path: String,
        /// The reason.
        fault: NameFault,
    },
    /// A text with characters that hide instructions.
    #[error(
        "{0}: models read this character, and no editor displays it; ask its owner for a release without it, or require a copy by `path:` that your `[lints]` permits"
    )]
    HiddenText(String),
    /// A branch instead of a tag.
    #[error("it is a branch, whose content changes; name the tag of a release")]
    Branch,
    /// A file that cannot be fetched. The address stands before it.
    #[error("{}", .0.reason)]
    Git(#[from] GitFault),
}

impl PackageRelease {
    /// A release from the settings of its project and its files.
    pub fn new(config: &Config, mut files: Vec<PackedFile>) -> Result<Self, ReleaseFault> {
        for fault in &config.faults {
            if let ProjectFaultKind::WrongVersion { required } = &fault.kind {
                return Err(ReleaseFault::OtherProgram(required.clone()));
            }
        }
        let section = config.package.as_ref().ok_or(ReleaseFault::NoPackage)?;
        files.sort();
        let dependencies = config.dependencies.iter();
        Ok(Self {
            name: section.name.value.clone(),
            version: section.version.value.clone(),
            commit: None,
            dependencies: dependencies
                .map(|(name, own)| (name.clone(), own.source.value.clone()))
                .collect(),
            files,
        })
    }

    /// Reads the release in a fetched revision.
    pub fn from_tree(tree: &FetchedTree) -> Result<Self, ReleaseFault> {
        if !tree.is_tag {
            return Err(ReleaseFault::Branch);
        }
        let mut settings = tree.read_files(&[PROJECT_FILE])?;
        let project = settings.first();
        let shared = project.and_then(|file| extended_file(&String::from_utf8_lossy(&file.bytes)));
        if let Some(shared) = shared.and_then(|path| resolve_beside(PROJECT_FILE, &path)) {
            settings.extend(tree.read_files(&[&shared])?);
        }
        let config = read_settings(&settings)?;
        let chosen = select_files(&config, tree.paths());
        let mut names = NameTable::default();
        for path in &chosen {
            names
                .add(path.as_bytes())
                .map_err(|fault| ReleaseFault::Name {
                    path: path.escape_debug().to_string(),
                    fault,
                })?;
        }
        let files = tree.read_files(&chosen)?;
        if let Some(place) = find_hidden_text(&files) {
            return Err(ReleaseFault::HiddenText(place));
        }
        Ok(Self {
            commit: Some(tree.commit.clone()),
            ..Self::new(&config, files)?
        })
    }

    /// Reads the release in files that were stored earlier.
    pub fn from_files(files: Vec<PackedFile>) -> Result<Self, ReleaseFault> {
        Self::new(&read_settings(&files)?, files)
    }

    /// Returns the release if its version is the one in its tag. A tag without a version fits all.
    ///
    /// # Errors
    /// The tag names another version.
    pub fn require_version(self, tag: &str) -> Result<Self, ReleaseFault> {
        match split_version(tag) {
            Some((_, expected)) if expected != self.version => Err(ReleaseFault::OtherVersion {
                found: self.version,
                expected,
            }),
            _ => Ok(self),
        }
    }

    /// The part that resolution depends on.
    pub fn requirements(&self) -> Requirements {
        Requirements {
            version: self.version.clone(),
            dependencies: self.dependencies.clone(),
        }
    }

    /// The entry of the lock file.
    pub fn lock(&self, source: PackageSource) -> LockedPackage {
        let files = file_digests(&self.files);
        LockedPackage {
            name: self.name.clone(),
            version: self.version.clone(),
            source,
            resolved: self.commit.clone(),
            tree: digest_of(&files),
            dependencies: self.dependencies.keys().cloned().collect(),
            verified: None,
            files,
        }
    }
}

/// Returns the place of the first character that a model reads and no editor displays.
pub fn find_hidden_text(files: &[PackedFile]) -> Option<String> {
    files.iter().find_map(|file| {
        let text = std::str::from_utf8(&file.bytes).ok()?;
        let run = hidden_runs(text).find(|run| run.is_critical)?;
        let line = text.get(..run.range.start)?.matches('\n').count() + 1;
        let character = u32::from(run.first);
        Some(format!("{}:{line}: U+{character:04X}", file.path))
    })
}

/// The SHA-256 of each file by its path.
pub fn file_digests(files: &[PackedFile]) -> BTreeMap<String, String> {
    let digest = |file: &PackedFile| (file.path.clone(), sha256_hex(&file.bytes));
    files.iter().map(digest).collect()
}

/// The hash of the list of files with their hashes.
pub fn digest_of(files: &BTreeMap<String, String>) -> String {
    let lines = files
        .iter()
        .map(|(path, hash)| (path.as_str(), hash.as_str()));
    tree_digest(lines)
}

fn read_settings(files: &[PackedFile]) -> Result<Config, ReleaseFault> {
    let root = Path::new("package");
    let mut memory = MemoryFs::new();
    for file in files {
        memory.insert(root.join(&file.path), file.bytes.as_slice());
    }
    let own = files.iter().find(|file| file.path == PROJECT_FILE);
    let own = own.ok_or(ReleaseFault::NoProject)?;
    // `check` finds all other faults where the package is used.
    Ok(Config::read(&ConfigInput {
        path: PROJECT_FILE,
        text: &String::from_utf8_lossy(&own.bytes),
        root,
        files: &memory,
        rules: &[],
    }))
}
