//! A finding for formats with one text field per finding and for external services: its plain text,
//! and its path relative to the top of the repository, as a percent-encoded URI.

use super::report::CheckReport;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs;
use crate::base::percent::encode_path;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// Returns the message, then the notes, the help and the titles of the fixes, a line each.
pub(super) fn full_message(finding: &Diagnostic) -> String {
    let mut text = finding.message.clone();
    let mut line = |head: &str, body: &str| {
        text.push('\n');
        text.push_str(head);
        text.push_str(body);
    };
    for note in &finding.notes {
        line("note: ", note);
    }
    if let Some(help) = &finding.help {
        line("help: ", help);
    }
    for fix in &finding.fixes {
        line("fix: ", &fix.title);
    }
    text
}

/// Returns a unique fingerprint for every finding: the second of equal ones gets the suffix `-2`,
/// and so on.
pub(super) fn unique_fingerprints(report: &CheckReport) -> Vec<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(report.diagnostics.len());
    for Diagnostic { fingerprint, .. } in &report.diagnostics {
        let count = seen.entry(fingerprint).or_default();
        *count += 1;
        all.push(if *count == 1 {
            fingerprint.clone()
        } else {
            format!("{fingerprint}-{count}")
        });
    }
    all
}

/// Returns an object without keys that are null or an empty list.
pub(super) fn without_empty_keys(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| {
            !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
        });
    }
    object
}

/// The folder of the project in its repository: empty, or a path with a final `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepositoryBase(String);

impl RepositoryBase {
    /// Returns the project's folder relative to the nearest folder with a `.git`; empty without a
    /// repository.
    pub(crate) fn for_project(root: &Path) -> Self {
        let Ok(here) = fs::current_dir() else {
            return Self::default();
        };
        let whole = here.join(root);
        let top = whole
            .ancestors()
            .find(|folder| fs::exists(&folder.join(".git")));
        let below = top
            .and_then(|top| whole.strip_prefix(top).ok())
            .unwrap_or(Path::new(""));
        let mut base = String::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => {
                    base.push_str(&name.to_string_lossy());
                    base.push('/');
                }
                // For `--project ../x` and similar paths, the place in the repository is unknown.
                Component::ParentDir => return Self::default(),
                Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
            }
        }
        Self(base)
    }

    /// Returns the path of a finding, relative to the top of the repository. Standard input keeps
    /// its name.
    pub(super) fn repository_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if self.0.is_empty() || path == "-" || path.starts_with('/') {
            return Cow::Borrowed(path);
        }
        let mut folders: Vec<&str> = self.0.split_terminator('/').collect();
        let mut rest = path;
        while let Some(above) = rest.strip_prefix("../") {
            if folders.pop().is_none() {
                return Cow::Borrowed(path);
            }
            rest = above;
        }
        folders.push(rest);
        Cow::Owned(folders.join("/"))
    }

    /// Returns the path as a URI reference (RFC 3986): everything but unreserved characters and `/`
    /// is percent-encoded.
    pub(super) fn repository_uri(&self, path: &str) -> String {
        let path = self.repository_path(path);
        let mut uri = String::with_capacity(path.len() + 8);
        if path.starts_with('/') {
            uri.push_str("file://");
        }
        encode_path(&path, &mut uri);
        uri
    }
}

/// A base for tests.
#[cfg(test)]
impl From<&str> for RepositoryBase {
    fn from(base: &str) -> Self {
        Self(base.to_owned())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/plain_finding.rs"]
mod tests;
