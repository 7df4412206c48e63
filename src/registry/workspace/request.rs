//! The input of a check of a project.

use super::names;
pub use super::partial::CheckGoal;
use crate::base::fs;
use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::rules::check::Fingerprints;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

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

/// The name of a path in findings: relative to the project root; as given if it lies outside.
pub fn name_in(root: &Path, path: &Path) -> String {
    names::name_in(root, path)
}

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
        fs::read_regular(&self.root.join(path), self.config.limits.file, &mut bytes).ok()?;
        decoded(&bytes)
    }
}
