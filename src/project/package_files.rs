//! The files of an installed package, each held against the lock file when it is read. No other file
//! is read through them: not one of the project that uses the package.

use super::package_fault::CHANGED;
use super::packages::{PackageFolder, PackagePlace};
use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::sha256::sha256_hex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The maximum number of entries of such a package that are looked at.
const MAX_ENTRIES: usize = 1 << 17;
/// The maximum depth of folders in a package whose files are not locked.
const MAX_DEPTH: usize = 32;

/// The message for a file that a locked package did not have.
const UNLOCKED: &str = "ctxc.lock does not list it";
/// The files of a package, under their names in findings.
pub struct PackageFiles<'p> {
    folder: &'p PackageFolder,
    /// The folder of the project.
    root: &'p Path,
    /// The files of the project.
    files: &'p dyn ReadFs,
    /// The real path of the package's folder.
    real: OnceLock<Option<PathBuf>>,
    /// The listed files that are no links, with the real paths of their folders.
    listed: HashMap<String, Arc<Path>>,
}

impl<'p> PackageFiles<'p> {
    /// The files of a package that the project in `root` uses.
    pub fn new(folder: &'p PackageFolder, root: &'p Path, files: &'p dyn ReadFs) -> Self {
        Self {
            folder,
            root,
            files,
            real: OnceLock::new(),
            listed: HashMap::new(),
        }
    }

    /// The file system that has the package.
    fn disk(&self) -> &dyn ReadFs {
        match self.folder.place {
            PackagePlace::Project(_) => self.files,
            PackagePlace::Cache(_) => &RealFs,
        }
    }

    /// Returns the real path of a file, with the file system that has it. Neither `..` nor a link
    /// leads out of the package.
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, &dyn ReadFs)> {
        let inside = self.folder.path_inside(path).ok_or_else(outside_error)?;
        if inside.split('/').any(|part| part == "..") {
            return Err(outside_error());
        }
        let (home, files) = (self.folder.path(self.root), self.disk());
        // A locked file is known by its hash, wherever it lies.
        if self.folder.hashes.is_some() {
            return Ok((home.join(inside), files));
        }
        let real = match (self.listed.get(&inside), path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => files.canonicalize(&home.join(&inside))?,
        };
        let home = self.real.get_or_init(|| files.canonicalize(&home).ok());
        if home.as_ref().is_some_and(|home| real.starts_with(home)) {
            Ok((real, files))
        } else {
            Err(outside_error())
        }
    }

    /// Returns the names of the files below some folders of the package, sorted.
    pub fn list(&mut self, folders: &[String]) -> Vec<String> {
        if let Some(hashes) = &self.folder.hashes {
            return hashes.keys().cloned().collect();
        }
        let mut found = Vec::new();
        let mut open: Vec<(String, usize)> = folders.iter().cloned().map(|own| (own, 0)).collect();
        let home = self.folder.path(self.root);
        for _ in 0..MAX_ENTRIES {
            let Some((name, depth)) = open.pop() else {
                break;
            };
            if self.listed.contains_key(&name) {
                found.push(name);
                continue;
            }
            let folder = home.join(&name);
            let below = self.disk().entry_names(&folder);
            if below.is_empty() && depth > 0 {
                found.push(name);
            } else if depth < MAX_DEPTH {
                let inside = |own: String| match &*name {
                    "" => own,
                    _ => format!("{name}/{own}"),
                };
                self.add_plain_files(&folder, &inside);
                let seen = below.into_iter().filter(|own| !own.starts_with('.'));
                open.extend(seen.map(|own| (inside(own), depth + 1)));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// Notes the files of a folder that are no links, so that the links above them are followed once.
    fn add_plain_files(&mut self, folder: &Path, inside: &dyn Fn(String) -> String) {
        let names = self.disk().plain_file_names(folder);
        if let Ok(real) = self.disk().canonicalize(folder) {
            let real: Arc<Path> = real.into();
            let listed = names
                .into_iter()
                .map(|name| (inside(name), Arc::clone(&real)));
            self.listed.extend(listed);
        }
    }
}

fn outside_error() -> io::Error {
    io::Error::other("it lies outside the package's folder")
}

impl ReadFs for PackageFiles<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let (real, files) = self.resolve(path)?;
        let inside = self.folder.path_inside(path);
        let Some((hashes, inside)) = self.folder.hashes.as_ref().zip(inside) else {
            return files.read(&real, limit);
        };
        let Some(locked) = hashes.get(&inside) else {
            return Err(io::Error::other(UNLOCKED));
        };
        let bytes = files.read(&real, limit)?;
        if sha256_hex(&bytes) == *locked {
            Ok(bytes)
        } else {
            Err(io::Error::other(CHANGED))
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let (real, files) = self.resolve(path)?;
        files.stamp(&real)
    }

    fn is_regular(&self, path: &Path) -> bool {
        self.resolve(path)
            .is_ok_and(|(real, files)| files.is_regular(&real))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        // The folder that all names of files are relative to.
        if path.as_os_str().is_empty() {
            return Ok(PathBuf::new());
        }
        self.resolve(path).map(|_| path.to_owned())
    }

    fn is_complete(&self) -> bool {
        self.files.is_complete()
    }
}
