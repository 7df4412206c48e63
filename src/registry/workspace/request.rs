//! The input of a check of a project, and the names of its files, independent of the current
//! directory.

use crate::base::fs::{self, ReadFs};
use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::rules::check::Fingerprints;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

pub use super::partial::CheckGoal;

/// The input of a check.
#[derive(Clone, Copy)]
pub struct CheckRequest<'r> {
    /// The project's folder.
    pub root: &'r Path,
    /// The project.
    pub config: &'r Config,
    /// Files and folders; if empty, those that the project configures.
    pub given: &'r [PathBuf],
    /// A text that is checked in place of the file with its name, which need not exist.
    pub stdin: Option<StdinFile<'r>>,
    /// Texts in place of those of files, by file name: the changes that a fix has not written yet.
    pub overlay: &'r FileOverlay,
    /// The maximum number of threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// The required result.
    pub goal: CheckGoal,
    /// The switch for recording the inputs that are read.
    pub recording: InputRecording,
    /// The switch for computing fingerprints of findings.
    pub identity: Fingerprints,
    /// The lowest severity of findings that are returned; findings below it are only counted.
    pub min_severity: Severity,
}

/// Bytes by the name of the file that they stand for.
pub type FileOverlay = BTreeMap<String, Vec<u8>>;

/// The switch for recording a check's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRecording {
    /// Inputs are not recorded.
    Off,
    /// Inputs are recorded, for a program that waits until they change.
    On,
}

/// A text without a file.
#[derive(Clone, Copy, Debug)]
pub struct StdinFile<'h> {
    /// Its name in findings, relative to the project root.
    pub name: &'h str,
    /// Its bytes.
    pub bytes: &'h [u8],
}

/// A given path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not exist", .0.display())]
pub struct NoSuchPath(pub PathBuf);

impl CheckRequest<'_> {
    /// The text of a file, as checked.
    pub(super) fn checked_text(&self, path: &str) -> Option<String> {
        let decoded = |bytes: &[u8]| decode::decode(bytes).ok().map(Cow::into_owned);
        if let Some(stdin) = self.stdin.filter(|stdin| stdin.name == path) {
            return decoded(stdin.bytes);
        }
        if let Some(bytes) = self.overlay.get(path) {
            return decoded(bytes);
        }
        let mut bytes = Vec::new();
        let path = self.config.packages.real_path(self.root, path);
        fs::read_regular(&path, self.config.limits.file, &mut bytes).ok()?;
        decoded(&bytes)
    }
}

/// The name of a path: joined to the project's root it denotes the same file, from any current
/// directory. The name of a file outside begins with `..`; it is absolute if the path was given so
/// or if links make `..` lead elsewhere.
pub fn name_in(root: &Path, path: &Path) -> String {
    let here = fs::current_dir().unwrap_or_default();
    let base = normalize_path(&here.join(root));
    let target = normalize_path(&here.join(path));
    let goes_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let name = match target.strip_prefix(&base) {
        Ok(inside) if !goes_up(path) && !goes_up(root) => return with_slashes(inside),
        Ok(inside) => inside.to_path_buf(),
        Err(_) if path.is_absolute() => return with_slashes(path),
        Err(_) => relative_path(&base, &target),
    };
    let real = |path: &Path| fs::RealFs.canonicalize(path).ok();
    if real(&here.join(root).join(&name)) == real(path) {
        with_slashes(&name)
    } else {
        with_slashes(&here.join(path))
    }
}

/// The relative path from a folder to a path outside of it. Both are absolute and without `.` and
/// `..`.
fn relative_path(base: &Path, target: &Path) -> PathBuf {
    let shared = base
        .components()
        .zip(target.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = base.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(target.components().skip(shared)).collect()
}

/// A path without `.` and `..`, without looking at the file system.
fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    out
}

/// A path with `/` between its components.
pub(super) fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}
