//! What is asked of a check of a project.

use super::names;
pub use super::partial::Goal;
use crate::base::fs;
use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::rules::check::Identity;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What to check.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The project's folder.
    pub root: &'r Path,
    /// The project.
    pub config: &'r Config,
    /// Files and folders; none: what the project says.
    pub given: &'r [PathBuf],
    /// A text that is checked in place of the file of that name, which need not exist.
    pub stdin: Option<StdinText<'r>>,
    /// Texts that stand for those of files, by the files' names: what a fix has not written yet.
    pub overlay: &'r Overlay,
    /// Threads at most; `None` for one a core.
    pub threads: Option<NonZeroUsize>,
    /// What is wanted.
    pub goal: Goal,
    /// Whether it is recorded what was read.
    pub recording: Recording,
    /// Whether findings need their fingerprints.
    pub identity: Identity,
    /// Findings less grave than this are counted and not kept.
    pub least: Severity,
}

/// Bytes by the name of the file that they stand for.
pub type Overlay = BTreeMap<String, Vec<u8>>;

/// Whether a check records its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// It does not.
    Off,
    /// It does, for a program that waits until they change.
    On,
}

/// A text without a file.
#[derive(Clone, Copy, Debug)]
pub struct StdinText<'h> {
    /// Its name in findings, relative to the project root.
    pub name: &'h str,
    /// Its bytes.
    pub bytes: &'h [u8],
}

/// A given path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not exist", .0.display())]
pub struct NoSuchPath(pub PathBuf);

/// The name that findings give to a path: relative to the project root; as given where it lies outside.
pub fn name_in(root: &Path, path: &Path) -> String {
    names::name_in(root, path)
}

impl Request<'_> {
    /// The text of a file as it is checked.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let decoded = |bytes: &[u8]| decode::decode(bytes).ok().map(Cow::into_owned);
        if let Some(stdin) = self.stdin.filter(|stdin| stdin.name == path) {
            return decoded(stdin.bytes);
        }
        if let Some(bytes) = self.overlay.get(path) {
            return decoded(bytes);
        }
        let mut bytes = Vec::new();
        fs::read_own(&self.root.join(path), self.config.limits.file, &mut bytes).ok()?;
        decoded(&bytes)
    }
}
