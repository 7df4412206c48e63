//! Every template of a selection handed to a function, on any thread; what it gives back comes in the order of names.
//! Decides nothing about what the files hold.

use super::survey::NoSuchPath;
use super::walk::{By, Found, Missing, Plan, Visit};
use crate::base::fs;
use crate::project::config::Config;
use crate::registry::compile::Chosen;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file that was selected.
#[derive(Debug)]
pub struct File<'f> {
    /// Its name in findings.
    pub name: &'f str,
    /// Where it lies.
    pub path: &'f Path,
    /// Whether it was named, or found in a folder.
    pub chosen: Chosen,
    /// What it holds.
    pub bytes: io::Result<&'f [u8]>,
}

/// Where a selection is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Where<'w> {
    /// The project's folder.
    pub root: &'w Path,
    /// The project.
    pub config: &'w Config,
    /// Files and folders; none: what the project says.
    pub given: &'w [PathBuf],
    /// Threads at most; `None` for one a core.
    pub threads: Option<NonZeroUsize>,
}

/// Hands every file to `take`. Each file once, by name.
///
/// # Errors
/// A given path does not exist.
pub fn each<T: Send>(place: Where<'_>, take: &(dyn Fn(&File<'_>) -> Option<T> + Sync)) -> Result<Vec<(String, T)>, NoSuchPath> {
    let Where { root, config, given, threads } = place;
    let templates = &config.templates;
    let plan =
        Plan::new(root, given, templates.include.as_ref(), &templates.exclude).map_err(|Missing(path)| NoSuchPath(path))?;
    let all = Mutex::new(Vec::new());
    let seen = Mutex::new(std::collections::BTreeSet::new());
    plan.run(plan.threads(threads), || Worker {
        limit: config.limits.file,
        take,
        seen: &seen,
        bytes: Vec::new(),
        done: Vec::new(),
        all: &all,
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all)
}

struct Worker<'w, T: Send> {
    limit: u64,
    take: &'w (dyn Fn(&File<'_>) -> Option<T> + Sync),
    /// Names that were handed on: a file that is named and lies in a given folder too is one file.
    seen: &'w Mutex<std::collections::BTreeSet<String>>,
    bytes: Vec<u8>,
    done: Vec<(String, T)>,
    all: &'w Mutex<Vec<(String, T)>>,
}

impl<T: Send> Worker<'_, T> {
    fn hand(&mut self, file: &File<'_>) {
        let is_new = self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(file.name.to_owned());
        if !is_new {
            return;
        }
        if let Some(taken) = (self.take)(file) {
            self.done.push((file.name.to_owned(), taken));
        }
    }
}

impl<T: Send> Visit for Worker<'_, T> {
    fn file(&mut self, found: &Found<'_>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        let read = fs::read_into(found.path, self.limit, &mut bytes);
        let chosen = if found.by == By::Name { Chosen::Named } else { Chosen::Found };
        let bytes_read = read.map(|_| bytes.as_slice());
        self.hand(&File { name: found.name, path: found.path, chosen, bytes: bytes_read });
        self.bytes = bytes;
    }

    fn unreadable(&mut self, name: &str, error: io::Error) {
        self.hand(&File { name, path: Path::new(name), chosen: Chosen::Named, bytes: Err(error) });
    }
}

impl<T: Send> Drop for Worker<'_, T> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.done);
    }
}
