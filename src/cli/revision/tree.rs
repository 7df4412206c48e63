//! The files of a commit as a read-only file system: its top is `/`, and its links only lead to
//! files in it.

use super::git::GitRepository;
use super::objects::GitObjects;
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::cli::error::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links that are followed for one path.
const MAX_LINKS: usize = 40;
/// The maximum size of a link's target in bytes.
const MAX_LINK_BYTES: u64 = 4096;

/// The file that declares filters.
const ATTRIBUTES_FILE: &str = ".gitattributes";

/// The files of a commit.
#[derive(Debug)]
pub(super) struct CommitTree {
    entries: BTreeMap<String, TreeEntry>,
    objects: GitObjects,
    /// Files with a filter that are unchanged in the work tree, with their paths there.
    filtered: BTreeMap<String, PathBuf>,
    /// Files with a filter that differ in the work tree.
    unfiltered: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeEntry {
    kind: TreeEntryKind,
    id: String,
    is_program: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreeEntryKind {
    File,
    Link,
    /// A submodule, of which only the commit is known.
    Submodule,
}

/// A part of a tree whose files are outside the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExternalPartKind {
    /// A submodule.
    Submodule,
    Link,
}

impl CommitTree {
    /// Lists the files of a commit.
    pub(super) fn of_commit(git: &GitRepository, commit: &str) -> Result<Self> {
        let (filtered, unfiltered) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self {
            entries: parse_entries(&git.list_tree(commit)?),
            objects: GitObjects::new(git.clone()),
            filtered,
            unfiltered,
        })
    }

    /// Reads files with a filter, such as those of Git LFS, from the work tree at `top` if they are
    /// unchanged there: the commit lacks the output of the filter. `git` is the repository of
    /// `top`.
    pub(super) fn with_filters(mut self, git: &GitRepository, top: &Path) -> Result<Self> {
        if !self
            .entries
            .keys()
            .any(|name| name == ATTRIBUTES_FILE || name.ends_with("/.gitattributes"))
        {
            return Ok(self);
        }
        let filtered = git.filtered_files(
            self.entries
                .iter()
                .filter(|(_, entry)| entry.kind == TreeEntryKind::File)
                .map(|(name, _)| name.as_str()),
        )?;
        let existing: BTreeMap<String, String> = if filtered.is_empty() {
            BTreeMap::new()
        } else {
            git.unchanged_files()?.into_iter().collect()
        };
        for name in filtered {
            if self
                .entries
                .get(&name)
                .is_some_and(|entry| existing.get(&name) == Some(&entry.id))
            {
                self.filtered.insert(name.clone(), top.join(&name));
            } else {
                self.unfiltered.insert(name);
            }
        }
        Ok(self)
    }

    /// Returns the files below a folder that differ in the work tree and whose content Git changes
    /// by a filter, so that this commit does not contain it.
    pub(super) fn unfiltered_files<'t>(
        &'t self,
        folder: &str,
    ) -> impl Iterator<Item = &'t str> + use<'t> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        self.unfiltered
            .iter()
            .filter_map(move |name| name.strip_prefix(&*prefix))
    }

    /// Returns the submodules, by their paths, with their commits.
    pub(super) fn submodules(&self) -> impl Iterator<Item = (&str, &str)> {
        let modules = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.kind == TreeEntryKind::Submodule);
        modules.map(|(name, entry)| (name.as_str(), entry.id.as_str()))
    }

    /// Writes all files into an empty folder, as committed: without hooks and filters. Submodules
    /// become empty folders.
    pub(super) fn write_files(&self, into: &Path) -> io::Result<()> {
        for (name, entry) in &self.entries {
            let place = into.join(name);
            fs::create_dir_all(if entry.kind == TreeEntryKind::Submodule {
                &place
            } else {
                place.parent().unwrap_or(into)
            })?;
            match entry.kind {
                TreeEntryKind::Submodule => {}
                TreeEntryKind::Link => {
                    let target =
                        String::from_utf8(self.objects.read_object(&entry.id, MAX_LINK_BYTES)?)
                            .map_err(|_| outside_error())?;
                    fs::link_temp_file(Path::new(&target), &place)?;
                }
                TreeEntryKind::File => {
                    let bytes = match self.filtered.get(name) {
                        Some(existing) => RealFs.read(existing, u64::MAX)?,
                        None => self.objects.read_object(&entry.id, u64::MAX)?,
                    };
                    fs::write_temp_file(&place, &bytes, entry.is_program)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the files of a work tree at `top` that differ, are new, or no longer exist; `git` is
    /// the repository of `top`. Ignored files are left out.
    pub(super) fn changed_files(
        &self,
        git: &GitRepository,
        top: &Path,
        commit: &str,
    ) -> Result<Vec<String>> {
        // Only line ends converted by this machine's settings are no change; attributes are files
        // of the repository.
        let is_converting = git
            .query_line(&["config", "--type=bool", "core.autocrlf"])?
            .as_deref()
            == Some("true");
        let differs = |name: &String| {
            // Git compares times first, which may differ for equal contents.
            let (then, now) = (
                self.read(&Path::new("/").join(name), u64::MAX),
                RealFs.read(&top.join(name), u64::MAX),
            );
            let is_equal = then.ok().zip(now.ok()).is_some_and(|(then, now)| {
                then == now || is_converting && with_windows_line_ends(&then) == now
            });
            !is_equal || fs::is_link(&top.join(name))
        };
        Ok(git
            .changed_files(commit)?
            .into_iter()
            .filter(differs)
            .collect())
    }

    /// Returns the names below a folder, relative to it, including links.
    pub(super) fn names_below<'t>(
        &'t self,
        folder: &str,
    ) -> impl Iterator<Item = &'t str> + Clone + use<'t> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = self.entries.range(prefix.clone()..);
        let names = from
            .filter(|(_, entry)| entry.kind != TreeEntryKind::Submodule)
            .map(|(name, _)| name.as_str());
        names.map_while(move |name| name.strip_prefix(&*prefix))
    }

    /// Returns the paths of links.
    pub(super) fn links(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.kind == TreeEntryKind::Link)
            .map(|(name, _)| name.as_str())
    }

    /// Returns true if a path is a file or a link.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.entries
            .get(path)
            .is_some_and(|entry| entry.kind != TreeEntryKind::Submodule)
    }

    /// Returns the submodules and links below a folder, by their paths in it, each with its object.
    pub(super) fn external_parts(&self, folder: &str) -> BTreeMap<&str, (ExternalPartKind, &str)> {
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let kind = |entry: &TreeEntry| match entry.kind {
            TreeEntryKind::File => None,
            TreeEntryKind::Link => Some(ExternalPartKind::Link),
            TreeEntryKind::Submodule => Some(ExternalPartKind::Submodule),
        };
        let below = self
            .entries
            .iter()
            .filter_map(|(name, entry)| Some((name.strip_prefix(&*prefix)?, entry)));
        below
            .filter_map(|(path, entry)| Some((path, (kind(entry)?, entry.id.as_str()))))
            .collect()
    }

    /// Resolves the links of a path. Returns the name and the entry of its file.
    fn resolve_path(&self, path: &Path) -> io::Result<(String, Option<&TreeEntry>)> {
        let mut rest: Vec<String> = path_components(path)?;
        rest.reverse();
        let (mut at, mut links): (Vec<String>, usize) = (Vec::new(), 0);
        while let Some(part) = rest.pop() {
            if part == ".." {
                at.pop().ok_or_else(outside_error)?;
                continue;
            }
            at.push(part);
            let Some(entry) = self
                .entries
                .get(&at.join("/"))
                .filter(|entry| entry.kind == TreeEntryKind::Link)
            else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("links lead in a circle"));
            }
            let target = self.objects.read_object(&entry.id, MAX_LINK_BYTES)?;
            let target = String::from_utf8(target).map_err(|_| outside_error())?;
            if Path::new(&target).is_absolute() {
                return Err(outside_error());
            }
            at.pop();
            rest.extend(path_components(Path::new(&target))?.into_iter().rev());
        }
        let name = at.join("/");
        let entry = self.entries.get(&name);
        Ok((name, entry))
    }
}

/// Returns a text with the line ends of a checkout on Windows.
fn with_windows_line_ends(bytes: &[u8]) -> Vec<u8> {
    if bytes.contains(&b'\r') {
        return bytes.to_vec();
    }
    bytes
        .iter()
        .flat_map(|byte| {
            if *byte == b'\n' {
                b"\r\n".as_slice()
            } else {
                std::slice::from_ref(byte)
            }
        })
        .copied()
        .collect()
}

fn outside_error() -> io::Error {
    io::Error::other("it lies outside the repository")
}

/// Returns the components of a path in order, including `..`.
fn path_components(path: &Path) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => {
                out.push(name.to_str().ok_or(io::ErrorKind::NotFound)?.to_owned());
            }
            Component::ParentDir => out.push("..".to_owned()),
            Component::RootDir | Component::CurDir => {}
            Component::Prefix(_) => return Err(outside_error()),
        }
    }
    Ok(out)
}

/// Parses entries of the form `100644 blob ID\tNAME`, each terminated by NUL. Names that are not
/// UTF-8 are left out.
fn parse_entries(list: &[u8]) -> BTreeMap<String, TreeEntry> {
    let one = |line: &[u8]| {
        let (head, name) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let mut words = head.split(' ');
        let kind = match words.next()? {
            "120000" => TreeEntryKind::Link,
            "160000" => TreeEntryKind::Submodule,
            _ => TreeEntryKind::File,
        };
        let is_program = head.starts_with("100755");
        Some((
            name.to_owned(),
            TreeEntry {
                kind,
                id: words.nth(1)?.to_owned(),
                is_program,
            },
        ))
    };
    list.split(|byte| *byte == 0).filter_map(one).collect()
}

impl ReadFs for CommitTree {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.resolve_path(path)? {
            (name, Some(entry)) if entry.kind == TreeEntryKind::File => {
                match self.filtered.get(&name) {
                    Some(place) => RealFs.read(place, limit),
                    None => self.objects.read_object(&entry.id, limit),
                }
            }
            (_, Some(_)) => Err(io::Error::other("it is another repository (a submodule)")),
            (name, None) if self.names_below(&name).next().is_some() => {
                Err(io::ErrorKind::IsADirectory.into())
            }
            (_, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.resolve_path(path)?
            .1
            .map(|_| Stamp::default())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    // Missing files are noticed on reading.
    fn is_regular(&self, _: &Path) -> bool {
        true
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(Path::new("/").join(self.resolve_path(path)?.0))
    }

    fn entry_names(&self, folder: &Path) -> Vec<String> {
        let Ok((name, _)) = self.resolve_path(folder) else {
            return Vec::new();
        };
        let below = self.names_below(&name);
        let first = below.filter_map(|path| path.split('/').next());
        let first: BTreeSet<&str> = first.collect();
        first.into_iter().map(str::to_owned).collect()
    }

    // The folder may contain ignored files, which no revision contains.
    fn is_complete(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/revision/tree.rs"]
mod tests;
