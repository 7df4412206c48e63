//! The place of a project in an earlier commit. It is another folder if the change moved the
//! project, changed a link to it, or added or removed the `ctxc.toml` that governs it. Also the
//! parts of a project outside its own tree: submodules and links.

use super::base::ChangeBase;
use super::project_at_revision::CommitFiles;
use super::tree::{Elsewhere, Tree};
use crate::base::contained_path::name;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The place of a project in a commit, relative to the top of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its folder in the commit.
    pub(crate) then: String,
    /// Its folder in the work tree.
    pub(crate) now: String,
    /// The reason for the difference; `None` if nothing moved.
    pub(crate) moved: Option<Moved>,
}

/// The kind of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The folder moved, or a link that leads to it.
    Folder,
    /// The governing project file changed: another one is the nearest now, or none.
    File {
        /// The folder from which the project file is searched.
        from: String,
        /// The nearest project file now.
        nearest: String,
    },
}

/// A part of a project that is a link, or a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its path in the project.
    pub(crate) path: String,
    pub(crate) kind: Elsewhere,
    /// True if it differs from the commit.
    pub(crate) is_moved: bool,
}

/// The trees of the commit where a change began and of the checked-out commit.
#[derive(Debug)]
pub(crate) struct Places {
    top: PathBuf,
    /// The project's folder.
    folder: String,
    then: Arc<Tree>,
    now: Tree,
}

impl Places {
    /// Loads the trees for a project's folder and the commit where a change began.
    pub(crate) fn of(folder: &Path, base: &ChangeBase, then: &CommitFiles) -> Result<Self> {
        let prefix = base.git.prefix();
        let real = real(folder)?;
        let depth = prefix.split('/').filter(|part| !part.is_empty()).count();
        let top = real.ancestors().nth(depth).unwrap_or(&real).to_owned();
        Ok(Self {
            top,
            folder: prefix.to_owned(),
            then: then.tree.clone(),
            now: Tree::of(&base.git, &base.head)?,
        })
    }

    /// Returns the path of a place in the work tree.
    pub(crate) fn path(&self, place: &str) -> PathBuf {
        self.top.join(place)
    }

    /// Returns the place of the project. `from` is the folder from which its project file was
    /// searched; `None` if `--project` names the folder. If several places are possible, the error
    /// lists them.
    pub(crate) fn find(&self, from: Option<&Path>) -> std::result::Result<Place, String> {
        let here = self.folder.clone();
        let linked = self.behind_links();
        let folder = |then: String| Place {
            then,
            now: here.clone(),
            moved: Some(Moved::Folder),
        };
        match linked.len() {
            0 => {}
            1 => return Ok(folder(linked.into_iter().next().unwrap_or_default())),
            _ => {
                return Err(format!(
                    "links that lead to this project led to several folders: {}",
                    list(&linked)
                ));
            }
        }
        if let Some(place) = from.and_then(|from| self.governed(from)) {
            return Ok(place);
        }
        // A project that did not move has its project file, or a template or scenario, in the same
        // folder.
        let nested: Vec<&str> = self
            .then
            .below(&here)
            .filter_map(|name| name.strip_suffix(FILE))
            .collect();
        let is_nested = |name: &str| {
            nested
                .iter()
                .any(|folder| folder.ends_with('/') && name.starts_with(folder))
        };
        let is_there = self
            .then
            .below(&here)
            .any(|name| is_of_project(name) && !is_nested(name));
        let gone = if is_there {
            BTreeSet::new()
        } else {
            self.gone()
        };
        match gone.len() {
            0 => Ok(Place {
                then: here.clone(),
                now: here,
                moved: None,
            }),
            1 => Ok(folder(gone.into_iter().next().unwrap_or_default())),
            _ => Err(format!(
                "several projects are no longer where they were: {}",
                list(&gone)
            )),
        }
    }

    /// Returns the folders to which links to this project led before, if they are others.
    fn behind_links(&self) -> BTreeSet<String> {
        let here = self.path(&self.folder);
        let links: BTreeSet<&str> = self.then.links().chain(self.now.links()).collect();
        let then = |link: &str| {
            let rest = name(here.strip_prefix(real(&self.path(link)).ok()?).ok()?);
            let was = self
                .then
                .canonical(Path::new(&format!("/{link}/{rest}")))
                .ok()?;
            let was = name(was.strip_prefix("/").ok()?);
            (was != self.folder && self.then.below(&was).next().is_some()).then_some(was)
        };
        links.into_iter().filter_map(then).collect()
    }

    /// Returns the earlier project of the folder from which the project file is searched, if it was
    /// another one.
    fn governed(&self, from: &Path) -> Option<Place> {
        let from = name(real(from).ok()?.strip_prefix(&self.top).ok()?);
        let folders = Path::new(&from).ancestors().map(name);
        let mut nearest = folders.filter(|folder| self.then.has_file(&below(folder, FILE)));
        let then = nearest
            .next()
            .filter(|then| *then != self.folder && !self.moved_out_of(then))?;
        let now = below(&self.folder, FILE);
        let nearest = if fs::exists(&self.path(&now)) {
            now
        } else {
            "none".to_owned()
        };
        Some(Place {
            now: then.clone(),
            then,
            moved: Some(Moved::File { from, nearest }),
        })
    }

    /// Returns true if nothing of the project remains in a folder, except this project's own
    /// folder.
    fn moved_out_of(&self, then: &str) -> bool {
        let own = format!("{}/", self.folder);
        let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.'));
        let is_left = |name: &str| {
            is_of_project(name) && !is_hidden(name) && !below(then, name).starts_with(&own)
        };
        !fs::exists(&self.path(&below(then, FILE))) && !self.now.below(then).any(is_left)
    }

    /// Returns the folders of the commit's projects whose project files no longer exist.
    fn gone(&self) -> BTreeSet<String> {
        let places = self
            .then
            .below("")
            .filter_map(|name| name.strip_suffix(FILE));
        let places = places.filter(|place| place.is_empty() || place.ends_with('/'));
        places
            .filter(|place| !fs::exists(&self.path(place).join(FILE)))
            .map(|place| place.trim_end_matches('/').to_owned())
            .collect()
    }

    /// Returns the submodules and links of the project on both sides.
    pub(crate) fn parts(&self, place: &Place) -> Vec<Part> {
        let (then, now) = (
            self.then.elsewhere(&place.then),
            self.now.elsewhere(&place.now),
        );
        let paths: BTreeMap<&str, Elsewhere> = then
            .iter()
            .chain(&now)
            .map(|(path, (kind, _))| (*path, *kind))
            .collect();
        let part = |(path, kind): (&str, Elsewhere)| Part {
            path: path.to_owned(),
            kind,
            is_moved: then.get(path) != now.get(path),
        };
        paths.into_iter().map(part).collect()
    }
}

fn real(path: &Path) -> Result<PathBuf> {
    let shown = path.display();
    RealFs.canonical(path).map_err(|err| {
        CliError::new(
            Kind::Infrastructure,
            format!("{shown} cannot be found: {err}"),
        )
    })
}

/// Returns true if a file makes its folder a project.
fn is_of_project(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    name == FILE || ["xml", "yaml", "yml"].contains(&ending)
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn list(places: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = places
        .iter()
        .map(|place| {
            if place.is_empty() {
                "."
            } else {
                place.as_str()
            }
        })
        .collect();
    few(shown.into_iter())
}
