//! `ctxc.lock`: the packages that a project uses, each with the hash of every file. Reads and writes
//! text only.

use super::dependencies::PackageSource;
use super::package_section::is_package_name;
use crate::base::contained_path::resolve_beside;
use crate::base::source::{LineIndex, Position};
use crate::base::span::{Span, Spanned};
use semver::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file, beside the project file.
pub const LOCK_FILE: &str = "ctxc.lock";
/// The version of its format.
const FORMAT_VERSION: u32 = 1;
/// Its first line.
const HEADER: &str = "# Written by `ctxc package`; not edited by hand.\n";
/// The digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

/// The content of `ctxc.lock`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The packages, sorted by name.
    pub packages: Vec<LockedPackage>,
}

/// A package as it was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedPackage {
    /// Its name: `acme/rules`.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// Its source as requested; a folder is relative to the project.
    pub source: PackageSource,
    /// The commit of the tag, in hex digits; `None` for a folder.
    pub resolved: Option<String>,
    /// The SHA-256 of the list of its files.
    pub tree: String,
    /// The packages that it requires, sorted.
    pub dependencies: Vec<String>,
    /// The last verification of this version.
    pub verified: Option<Verification>,
    /// The SHA-256 of each file by its path.
    pub files: BTreeMap<String, String>,
}

/// A verification of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// The SHA-256 of the scorecard.
    pub scorecard: String,
    /// The version of ctxc.
    pub ctxc: String,
}

/// A fault of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct LockFault {
    /// Its span.
    pub span: Span,
    /// Its position.
    pub position: Position,
    /// The reason, as a fragment.
    pub reason: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLock<P> {
    version: u32,
    #[serde(default = "Vec::new")]
    package: Vec<P>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPackage {
    name: String,
    version: String,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved: Option<String>,
    tree: String,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verified: Option<Verification>,
    files: BTreeMap<String, String>,
}

impl LockFile {
    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// It is not TOML, not of this format, or contradicts itself.
    pub fn read(text: &str) -> Result<Self, LockFault> {
        let fault = |span: Span, reason: String| LockFault {
            position: LineIndex::new(text).position(text, span.start),
            span,
            reason,
        };
        let written: WrittenLock<toml::Spanned<WrittenPackage>> =
            toml::from_str(text).map_err(|error| {
                let span = error.span().unwrap_or_default();
                let span = Span::from_offsets(span.start, span.end);
                fault(span, error.message().to_owned())
            })?;
        if written.version != FORMAT_VERSION {
            let reason = format!(
                "its format is version {}; this ctxc reads version {FORMAT_VERSION}",
                written.version
            );
            return Err(fault(Span::empty_at(0), reason));
        }
        let mut packages: Vec<LockedPackage> = Vec::new();
        let mut required = Vec::new();
        for entry in written.package {
            let span = Span::from_offsets(entry.span().start, entry.span().end);
            let package = read_package(entry.into_inner())
                .map_err(|reason| fault(span, reason.to_string()))?;
            if packages
                .last()
                .is_some_and(|last| last.name >= package.name)
            {
                let reason = format!("`{}` is not in the order of names", package.name);
                return Err(fault(span, reason));
            }
            required.extend(
                package
                    .dependencies
                    .iter()
                    .map(|name| Spanned::new(name.clone(), span)),
            );
            packages.push(package);
        }
        let lock = Self { packages };
        match required
            .into_iter()
            .find(|name| lock.package(&name.value).is_none())
        {
            Some(name) => Err(fault(
                name.span,
                format!(
                    "it has no package `{}`, which this one requires",
                    name.value
                ),
            )),
            None => Ok(lock),
        }
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let written = WrittenLock {
            version: FORMAT_VERSION,
            package: self.packages.iter().map(write_package).collect(),
        };
        // Plain data with string keys: serialising it cannot fail.
        HEADER.to_owned() + &toml::to_string(&written).unwrap_or_default()
    }

    /// A package by its name.
    pub fn package(&self, name: &str) -> Option<&LockedPackage> {
        let at = self
            .packages
            .binary_search_by(|package| package.name.as_str().cmp(name));
        self.packages.get(at.ok()?)
    }
}

/// A fault of one package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PackageFault {
    #[error("`{0}` is not the name of a package")]
    Name(String),
    #[error("`{0}` is not a version")]
    Version(String),
    #[error("`{0}` is not a source")]
    Source(String),
    #[error("`resolved` is missing or is not a commit")]
    Commit,
    #[error("`{0}` is not a SHA-256")]
    Digest(String),
    #[error("`{0}` is not the path of a file in a package")]
    Path(String),
}

fn read_package(written: WrittenPackage) -> Result<LockedPackage, PackageFault> {
    let names = written.dependencies.iter().chain([&written.name]);
    if let Some(name) = names.into_iter().find(|name| !is_package_name(name)) {
        return Err(PackageFault::Name(name.clone()));
    }
    let version =
        Version::parse(&written.version).map_err(|_| PackageFault::Version(written.version))?;
    let source =
        PackageSource::parse(&written.source).map_err(|_| PackageFault::Source(written.source))?;
    let is_commit = |commit: &String| matches!(commit.len(), 40 | 64) && is_hex(commit);
    let is_sound = match source {
        PackageSource::Path(_) => written.resolved.is_none(),
        PackageSource::Git { .. } => written.resolved.as_ref().is_some_and(is_commit),
    };
    if !is_sound {
        return Err(PackageFault::Commit);
    }
    let digests = written.files.values().chain([&written.tree]);
    let is_digest = |digest: &str| digest.len() == SHA256_DIGITS && is_hex(digest);
    if let Some(digest) = digests.into_iter().find(|digest| !is_digest(digest)) {
        return Err(PackageFault::Digest(digest.clone()));
    }
    let is_inside = |path: &str| {
        !path.contains('\\') && resolve_beside(LOCK_FILE, path).as_deref() == Some(path)
    };
    if let Some(path) = written.files.keys().find(|path| !is_inside(path)) {
        return Err(PackageFault::Path(path.clone()));
    }
    Ok(LockedPackage {
        name: written.name,
        version,
        source,
        resolved: written.resolved,
        tree: written.tree,
        dependencies: written.dependencies,
        verified: written.verified,
        files: written.files,
    })
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn write_package(package: &LockedPackage) -> WrittenPackage {
    WrittenPackage {
        name: package.name.clone(),
        version: package.version.to_string(),
        source: package.source.to_string(),
        resolved: package.resolved.clone(),
        tree: package.tree.clone(),
        dependencies: package.dependencies.clone(),
        verified: package.verified.clone(),
        files: package.files.clone(),
    }
}
