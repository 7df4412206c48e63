//! Paths for external services: relative to the top of the repository, URIs percent-encoded. No
//! path is absolute unless it was given as absolute.

use crate::base::fs;
use crate::base::percent::encode_path;
use std::borrow::Cow;
use std::path::{Component, Path};

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
#[path = "../../../tests/unit/cli/render/place.rs"]
mod tests;
