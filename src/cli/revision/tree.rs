//! The files of a commit as a file system that is only read: its top is `/`, its links lead nowhere but to files in it.

use super::git::Git;
use super::objects::Objects;
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::cli::error::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links on one way.
const LINKS: usize = 40;
/// Bytes of a link.
const LINK: u64 = 4096;

/// The file that names filters.
const ATTRIBUTES: &str = ".gitattributes";

/// The files of a commit.
#[derive(Debug)]
pub(super) struct Tree {
    entries: BTreeMap<String, Entry>,
    objects: Objects,
    /// Files that go through a filter on their way to the work tree, and are there as this commit has them: where they are.
    filtered: BTreeMap<String, PathBuf>,
    /// Files that go through one, and are others in the work tree.
    unfiltered: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    id: String,
    is_program: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Link,
    /// Another repository, of which there is nothing but its commit.
    Module,
}

/// A part of a tree whose files are not in the tree at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// Another repository.
    Submodule,
    /// A link.
    Link,
}

impl Tree {
    /// The files of a commit.
    pub(super) fn of(git: &Git, commit: &str) -> Result<Self> {
        let (filtered, unfiltered) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { entries: entries(&git.list(commit)?), objects: Objects::of(git.clone()), filtered, unfiltered })
    }

    /// The same, where files that go through a filter, as those of Git LFS do, are read from the work tree at `top` if they are there as
    /// the commit has them: what a filter makes of an object is not in the commit. `git` is that of `top`.
    pub(super) fn with_filters(mut self, git: &Git, top: &Path) -> Result<Self> {
        if !self.entries.keys().any(|name| name == ATTRIBUTES || name.ends_with("/.gitattributes")) {
            return Ok(self);
        }
        let filtered =
            git.filtered(self.entries.iter().filter(|(_, entry)| entry.kind == Kind::File).map(|(name, _)| name.as_str()))?;
        let there: BTreeMap<String, String> =
            if filtered.is_empty() { BTreeMap::new() } else { git.unchanged()?.into_iter().collect() };
        for name in filtered {
            if self.entries.get(&name).is_some_and(|entry| there.get(&name) == Some(&entry.id)) {
                self.filtered.insert(name.clone(), top.join(&name));
            } else {
                self.unfiltered.insert(name);
            }
        }
        Ok(self)
    }

    /// Files below a folder of which a filter makes what this commit does not hold, and that differ in the work tree.
    pub(super) fn unfiltered<'t>(&'t self, folder: &str) -> impl Iterator<Item = &'t str> + use<'t> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.unfiltered.iter().filter_map(move |name| name.strip_prefix(&*prefix))
    }

    /// The submodules, by their paths, with their commits.
    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        let modules = self.entries.iter().filter(|(_, entry)| entry.kind == Kind::Module);
        modules.map(|(name, entry)| (name.as_str(), entry.id.as_str()))
    }

    /// Writes all files into an empty folder, as they are in the commit: without hooks and filters. Submodules are empty folders there.
    pub(super) fn write(&self, into: &Path) -> io::Result<()> {
        for (name, entry) in &self.entries {
            let place = into.join(name);
            fs::create_dir_all(if entry.kind == Kind::Module { &place } else { place.parent().unwrap_or(into) })?;
            match entry.kind {
                Kind::Module => {}
                Kind::Link => {
                    let target = String::from_utf8(self.objects.read(&entry.id, LINK)?).map_err(|_| outside())?;
                    fs::link_temp(Path::new(&target), &place)?;
                }
                Kind::File => {
                    let bytes = match self.filtered.get(name) {
                        Some(there) => RealFs.read(there, u64::MAX)?,
                        None => self.objects.read(&entry.id, u64::MAX)?,
                    };
                    fs::write_temp(&place, &bytes, entry.is_program)?;
                }
            }
        }
        Ok(())
    }

    /// The files of a work tree at `top` that are others than here, new, or gone; `git` is that of `top`. What git ignores is passed by.
    pub(super) fn changed(&self, git: &Git, top: &Path, commit: &str) -> Result<Vec<String>> {
        // Only what the settings of this machine make of line ends is no change; attributes are files of the repository.
        let is_converting = git.line(&["config", "--type=bool", "core.autocrlf"])?.as_deref() == Some("true");
        let differs = |name: &String| {
            // Git compares times first, and they may differ where the content does not.
            let (then, now) = (self.read(&Path::new("/").join(name), u64::MAX), RealFs.read(&top.join(name), u64::MAX));
            let is_equal =
                then.ok().zip(now.ok()).is_some_and(|(then, now)| then == now || is_converting && converted(&then) == now);
            !is_equal || fs::is_link(&top.join(name))
        };
        Ok(git.changed(commit)?.into_iter().filter(differs).collect())
    }

    /// Names below a folder, relative to it, links among them.
    pub(super) fn below<'t>(&'t self, folder: &str) -> impl Iterator<Item = &'t str> + Clone + use<'t> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = self.entries.range(prefix.clone()..);
        let names = from.filter(|(_, entry)| entry.kind != Kind::Module).map(|(name, _)| name.as_str());
        names.map_while(move |name| name.strip_prefix(&*prefix))
    }

    /// The paths of links.
    pub(super) fn links(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, entry)| entry.kind == Kind::Link).map(|(name, _)| name.as_str())
    }

    /// Whether a path is a file, or a link.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.entries.get(path).is_some_and(|entry| entry.kind != Kind::Module)
    }

    /// Submodules and links below a folder, by their paths in it, each with its object.
    pub(super) fn elsewhere(&self, folder: &str) -> BTreeMap<&str, (Elsewhere, &str)> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let kind = |entry: &Entry| match entry.kind {
            Kind::File => None,
            Kind::Link => Some(Elsewhere::Link),
            Kind::Module => Some(Elsewhere::Submodule),
        };
        let below = self.entries.iter().filter_map(|(name, entry)| Some((name.strip_prefix(&*prefix)?, entry)));
        below.filter_map(|(path, entry)| Some((path, (kind(entry)?, entry.id.as_str())))).collect()
    }

    /// The file behind a path, links followed: its name and entry.
    fn find(&self, path: &Path) -> io::Result<(String, Option<&Entry>)> {
        let mut rest: Vec<String> = parts(path)?;
        rest.reverse();
        let (mut at, mut links): (Vec<String>, usize) = (Vec::new(), 0);
        while let Some(part) = rest.pop() {
            if part == ".." {
                at.pop().ok_or_else(outside)?;
                continue;
            }
            at.push(part);
            let Some(entry) = self.entries.get(&at.join("/")).filter(|entry| entry.kind == Kind::Link) else { continue };
            links += 1;
            if links > LINKS {
                return Err(io::Error::other("links lead in a circle"));
            }
            let target = self.objects.read(&entry.id, LINK)?;
            let target = String::from_utf8(target).map_err(|_| outside())?;
            if Path::new(&target).is_absolute() {
                return Err(outside());
            }
            at.pop();
            rest.extend(parts(Path::new(&target))?.into_iter().rev());
        }
        let name = at.join("/");
        let entry = self.entries.get(&name);
        Ok((name, entry))
    }
}

/// A text with the line ends that a checkout gives it on Windows.
fn converted(bytes: &[u8]) -> Vec<u8> {
    if bytes.contains(&b'\r') {
        return bytes.to_vec();
    }
    bytes.iter().flat_map(|byte| if *byte == b'\n' { b"\r\n".as_slice() } else { std::slice::from_ref(byte) }).copied().collect()
}

fn outside() -> io::Error {
    io::Error::other("it lies outside the repository")
}

/// The names of a path in order, `..` among them.
fn parts(path: &Path) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name.to_str().ok_or(io::ErrorKind::NotFound)?.to_owned()),
            Component::ParentDir => out.push("..".to_owned()),
            Component::RootDir | Component::CurDir => {}
            Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(out)
}

/// `100644 blob ID\tNAME`, each closed by NUL. What has no name in UTF-8 is no file of a project.
fn entries(list: &[u8]) -> BTreeMap<String, Entry> {
    let one = |line: &[u8]| {
        let (head, name) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let mut words = head.split(' ');
        let kind = match words.next()? {
            "120000" => Kind::Link,
            "160000" => Kind::Module,
            _ => Kind::File,
        };
        let is_program = head.starts_with("100755");
        Some((name.to_owned(), Entry { kind, id: words.nth(1)?.to_owned(), is_program }))
    };
    list.split(|byte| *byte == 0).filter_map(one).collect()
}

impl ReadFs for Tree {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.find(path)? {
            (name, Some(entry)) if entry.kind == Kind::File => match self.filtered.get(&name) {
                Some(place) => RealFs.read(place, limit),
                None => self.objects.read(&entry.id, limit),
            },
            (_, Some(_)) => Err(io::Error::other("it is another repository (a submodule)")),
            (name, None) if self.below(&name).next().is_some() => Err(io::ErrorKind::IsADirectory.into()),
            (_, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.find(path)?.1.map(|_| Stamp::default()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    // What is not there is found out by reading.
    fn is_regular(&self, _: &Path) -> bool {
        true
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(Path::new("/").join(self.find(path)?.0))
    }

    // What git ignores is in the folder and in no revision.
    fn is_whole(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/revision/tree.rs"]
mod tests;
