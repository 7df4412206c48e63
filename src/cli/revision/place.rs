//! The place of a project in an earlier commit. It is another folder if the change moved the
//! project, changed a link to it, or added or removed the `ctxc.toml` that governs it. Also the
//! parts of a project outside its own tree: submodules and links.

use super::base::ChangeBase;
use super::project_at_revision::CommitFiles;
use super::tree::{CommitTree, ExternalPartKind};
use crate::base::contained_path::slash_path;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::project::config::MAX_FILE_BYTES;
use crate::project::flat_keys::flatten_keys;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The place of a project in a commit, relative to the top of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectPlace {
    /// Its folder in the commit.
    pub(crate) folder_then: String,
    /// Its folder in the work tree.
    pub(crate) folder_now: String,
    /// The reason for the difference; `None` if nothing moved.
    pub(crate) moved: Option<ProjectMove>,
}

/// The kind of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProjectMove {
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
pub(crate) struct ExternalPart {
    /// Its path in the project.
    pub(crate) path: String,
    pub(crate) kind: ExternalPartKind,
    /// True if it differs from the commit.
    pub(crate) is_moved: bool,
}

/// The trees of the commit where a change began and of the checked-out commit.
#[derive(Debug)]
pub(crate) struct PlaceSearch {
    top: PathBuf,
    /// The project's folder.
    folder: String,
    base: Arc<CommitTree>,
    current: CommitTree,
}

impl PlaceSearch {
    /// Loads the trees for a project's folder and the commit where a change began.
    pub(crate) fn load(folder: &Path, base: &ChangeBase, then: &CommitFiles) -> Result<Self> {
        let prefix = base.git.prefix();
        let real = canonical_path(folder)?;
        let depth = prefix.split('/').filter(|part| !part.is_empty()).count();
        let top = real.ancestors().nth(depth).unwrap_or(&real).to_owned();
        Ok(Self {
            top,
            folder: prefix.to_owned(),
            base: then.tree.clone(),
            current: CommitTree::of_commit(&base.git, &base.head)?,
        })
    }

    /// Returns the path of a place in the work tree.
    pub(crate) fn path_of(&self, place: &str) -> PathBuf {
        self.top.join(place)
    }

    /// Returns the place of the project. `from` is the folder from which its project file was
    /// searched; `None` if `--project` names the folder. If several places are possible, the error
    /// lists them.
    pub(crate) fn find_place(
        &self,
        from: Option<&Path>,
    ) -> std::result::Result<ProjectPlace, String> {
        let here = self.folder.clone();
        let linked = self.linked_folders();
        let folder = |then: String| ProjectPlace {
            folder_then: then,
            folder_now: here.clone(),
            moved: Some(ProjectMove::Folder),
        };
        match linked.len() {
            0 => {}
            1 => return Ok(folder(linked.into_iter().next().unwrap_or_default())),
            _ => {
                return Err(format!(
                    "links that lead to this project led to several folders: {}",
                    list_places(&linked)
                ));
            }
        }
        if let Some(place) = from.and_then(|from| self.earlier_project(from)) {
            return Ok(place);
        }
        // A project that did not move has its project file, or a template or scenario, in the same
        // folder.
        let nested: Vec<&str> = self
            .base
            .names_below(&here)
            .filter_map(|name| name.strip_suffix(PROJECT_FILE))
            .collect();
        let is_nested = |name: &str| {
            nested
                .iter()
                .any(|folder| folder.ends_with('/') && name.starts_with(folder))
        };
        let is_there = self
            .base
            .names_below(&here)
            .any(|name| is_project_file(name) && !is_nested(name));
        let deleted = if is_there {
            BTreeSet::new()
        } else {
            self.missing_projects()
        };
        match deleted.len() {
            0 => Ok(ProjectPlace {
                folder_then: here.clone(),
                folder_now: here,
                moved: None,
            }),
            1 => Ok(folder(deleted.into_iter().next().unwrap_or_default())),
            _ => Err(format!(
                "several projects are no longer where they were: {}",
                list_places(&deleted)
            )),
        }
    }

    /// Returns the folders to which links to this project led before, if they are others.
    fn linked_folders(&self) -> BTreeSet<String> {
        let here = self.path_of(&self.folder);
        let links: BTreeSet<&str> = self.base.links().chain(self.current.links()).collect();
        let then = |link: &str| {
            let rest = slash_path(
                here.strip_prefix(canonical_path(&self.path_of(link)).ok()?)
                    .ok()?,
            );
            let was = self
                .base
                .canonicalize(Path::new(&format!("/{link}/{rest}")))
                .ok()?;
            let was = slash_path(was.strip_prefix("/").ok()?);
            (was != self.folder && self.base.names_below(&was).next().is_some()).then_some(was)
        };
        links.into_iter().filter_map(then).collect()
    }

    /// Returns the earlier project of the folder from which the project file is searched, if it was
    /// another one.
    fn earlier_project(&self, from: &Path) -> Option<ProjectPlace> {
        let from = slash_path(canonical_path(from).ok()?.strip_prefix(&self.top).ok()?);
        let folders = Path::new(&from).ancestors().map(slash_path);
        let mut nearest =
            folders.filter(|folder| self.base.has_file(&join_name(folder, PROJECT_FILE)));
        let is_other = |then: &String| {
            *then != self.folder && !self.is_workspace(then) && !self.is_abandoned(then)
        };
        let then = nearest.next().filter(is_other)?;
        let now = join_name(&self.folder, PROJECT_FILE);
        let nearest = if fs::exists(&self.path_of(&now)) {
            now
        } else {
            "none".to_owned()
        };
        Some(ProjectPlace {
            folder_now: then.clone(),
            folder_then: then,
            moved: Some(ProjectMove::File { from, nearest }),
        })
    }

    /// Returns true if the project file of a folder was that of a workspace, whose settings hold for
    /// no file itself.
    fn is_workspace(&self, then: &str) -> bool {
        let path = Path::new("/").join(then).join(PROJECT_FILE);
        let text = self.base.read(&path, MAX_FILE_BYTES).unwrap_or_default();
        flatten_keys(&String::from_utf8_lossy(&text))
            .keys()
            .any(|key| key.first().is_some_and(|top| top == "workspace"))
    }

    /// Returns true if nothing of the project remains in a folder, except this project's own
    /// folder.
    fn is_abandoned(&self, then: &str) -> bool {
        let own = format!("{}/", self.folder);
        let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.'));
        let is_left = |name: &str| {
            is_project_file(name) && !is_hidden(name) && !join_name(then, name).starts_with(&own)
        };
        !fs::exists(&self.path_of(&join_name(then, PROJECT_FILE)))
            && !self.current.names_below(then).any(is_left)
    }

    /// Returns the folders of the commit's projects whose project files no longer exist.
    fn missing_projects(&self) -> BTreeSet<String> {
        let places = self
            .base
            .names_below("")
            .filter_map(|name| name.strip_suffix(PROJECT_FILE));
        let places = places.filter(|place| place.is_empty() || place.ends_with('/'));
        places
            .filter(|place| !fs::exists(&self.path_of(place).join(PROJECT_FILE)))
            .map(|place| place.trim_end_matches('/').to_owned())
            .collect()
    }

    /// Returns the submodules and links of the project on both sides.
    pub(crate) fn external_parts(&self, place: &ProjectPlace) -> Vec<ExternalPart> {
        let (then, now) = (
            self.base.external_parts(&place.folder_then),
            self.current.external_parts(&place.folder_now),
        );
        let paths: BTreeMap<&str, ExternalPartKind> = then
            .iter()
            .chain(&now)
            .map(|(path, (kind, _))| (*path, *kind))
            .collect();
        let part = |(path, kind): (&str, ExternalPartKind)| ExternalPart {
            path: path.to_owned(),
            kind,
            is_moved: then.get(path) != now.get(path),
        };
        paths.into_iter().map(part).collect()
    }
}

fn canonical_path(path: &Path) -> Result<PathBuf> {
    RealFs.canonicalize(path).map_err(|err| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("{} cannot be found: {err}", path.display()),
        )
    })
}

/// Returns true if a file makes its folder a project.
fn is_project_file(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    name == PROJECT_FILE || ["xml", "yaml", "yml"].contains(&ending)
}

fn join_name(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn list_places(places: &BTreeSet<String>) -> String {
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
    list_first(shown.into_iter())
}
