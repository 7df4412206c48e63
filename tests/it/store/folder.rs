//! A folder of files, and an index over it.

use ctxc::internals::project::glob::Globs;
use ctxc::internals::store::{IndexScope, SearchIndex};
use std::path::{Path, PathBuf};

/// A folder of files.
pub(super) struct Folder {
    files: tempfile::TempDir,
    kept: tempfile::TempDir,
}

impl Folder {
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self {
            files: tempfile::tempdir().unwrap(),
            kept: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            folder.put(name, text);
        }
        folder
    }

    pub(super) fn root(&self) -> &Path {
        self.files.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// A path in the folder of the index.
    pub(super) fn kept(&self, name: &str) -> PathBuf {
        let kept = self.kept.path().join("index");
        if name.is_empty() {
            kept
        } else {
            kept.join(name)
        }
    }

    pub(super) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn scope(&self) -> IndexScope {
        IndexScope {
            root: self.root().to_path_buf(),
            cache_folder: Some(self.kept("")),
            ..IndexScope::default()
        }
    }

    pub(super) fn index(&self) -> SearchIndex {
        SearchIndex::new(self.scope())
    }

    /// The ids of the answers of an index that is opened anew.
    pub(super) fn ids(&self, query: &str) -> Vec<String> {
        ids(&self.index(), query)
    }
}

pub(super) fn ids(index: &SearchIndex, query: &str) -> Vec<String> {
    index
        .find_passages(None, query, 8)
        .unwrap()
        .into_iter()
        .map(|found| found.id)
        .collect()
}

pub(super) fn globs(patterns: &[&str]) -> Globs {
    let mut globs = Globs::default();
    for pattern in patterns {
        globs.add_pattern(pattern).unwrap();
    }
    globs
}

/// All data of the answers to a query, byte for byte.
pub(super) fn whole(index: &SearchIndex, query: &str) -> String {
    format!("{:#?}", index.find_passages(None, query, 50).unwrap())
}
