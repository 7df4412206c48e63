//! `ctxc.lock`: the packages that a project uses, each with the hash of every file. Reads and writes
//! text only.

use super::dependencies::PackageSource;
use super::package_section::is_package_name;
use crate::base::contained_path::resolve_beside;
use crate::base::source::{LineIndex, Position};
use crate::base::span::Span;
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPackage {
    /// Its name: `acme/rules`.
    pub name: String,
    /// Its version.
    #[serde(with = "as_text")]
    pub version: Version,
    /// Its source as requested; a folder is relative to the project.
    #[serde(with = "as_text")]
    pub source: PackageSource,
    /// The commit of the tag, in hex digits; `None` for a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The SHA-256 of the list of its files.
    pub tree: String,
    /// The packages that it requires, sorted.
    pub dependencies: Vec<String>,
    /// The last verification of this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Values that are written as texts.
mod as_text {
    use crate::project::dependencies::mask_credentials;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(super) fn serialize<S: Serializer>(value: &impl Display, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'d, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'d>,
    {
        let text = String::deserialize(from)?;
        text.parse()
            .map_err(|why| D::Error::custom(format_args!("`{}`: {why}", mask_credentials(&text))))
    }
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
        let mut markers = text.match_indices("<<<<<<< ").map(|(at, _)| at);
        let is_at_start = |at: &usize| *at == 0 || text.as_bytes().get(*at - 1) == Some(&b'\n');
        if let Some(at) = markers.find(is_at_start) {
            let reason =
                "it has a merge conflict: take one side of it, and run `ctxc package update`";
            return Err(fault(Span::from_offsets(at, at), reason.to_owned()));
        }
        let written: WrittenLock<toml::Spanned<LockedPackage>> =
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
        let mut lock = Self::default();
        let mut spans = Vec::new();
        for entry in written.package {
            let span = Span::from_offsets(entry.span().start, entry.span().end);
            let package = entry.into_inner();
            check_package(&package).map_err(|reason| fault(span, reason))?;
            let last = lock.packages.last();
            if last.is_some_and(|last| last.name >= package.name) {
                let reason = format!("`{}` is not in the order of names", package.name);
                return Err(fault(span, reason));
            }
            lock.packages.push(package);
            spans.push(span);
        }
        for (package, span) in lock.packages.iter().zip(spans) {
            let mut required = package.dependencies.iter();
            if let Some(name) = required.find(|name| lock.package(name).is_none()) {
                let reason = format!("it has no package `{name}`, which this one requires");
                return Err(fault(span, reason));
            }
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let written = WrittenLock {
            version: FORMAT_VERSION,
            package: self.packages.iter().collect(),
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

/// Returns an error for a package with a value that no program writes.
fn check_package(package: &LockedPackage) -> Result<(), String> {
    let mut names = package.dependencies.iter().chain([&package.name]);
    if let Some(name) = names.find(|name| !is_package_name(name)) {
        return Err(format!("`{name}` is not the name of a package"));
    }
    let is_commit = |commit: &String| matches!(commit.len(), 40 | 64) && is_hex(commit);
    let is_sound = match package.source {
        PackageSource::Path(_) => package.resolved.is_none(),
        PackageSource::Git { .. } => package.resolved.as_ref().is_some_and(is_commit),
    };
    if !is_sound {
        return Err("`resolved` is missing or is not a commit".to_owned());
    }
    let mut digests = package.files.values().chain([&package.tree]);
    let is_digest = |digest: &String| digest.len() == SHA256_DIGITS && is_hex(digest);
    if let Some(digest) = digests.find(|digest| !is_digest(digest)) {
        return Err(format!("`{digest}` is not a SHA-256"));
    }
    let is_inside = |path: &String| {
        !path.contains('\\') && resolve_beside(LOCK_FILE, path).as_ref() == Some(path)
    };
    match package.files.keys().find(|path| !is_inside(path)) {
        Some(path) => Err(format!("`{path}` is not the path of a file in a package")),
        None => Ok(()),
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
