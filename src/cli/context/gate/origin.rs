//! The origin of a change: the project where the change began, in its place at that time. Without
//! an origin, a reason is reported, and the gate never passes.

use super::state::FILE;
use crate::base::fs;
use crate::cli::context::project::CompiledProject;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::revision::{
    BaseNaming, ChangeBase, ExternalPart, PlaceSearch, ProjectMove, ProjectPlace, SHALLOW_HINT,
};
use crate::eval::gate::{LocatedRelaxation, Relaxation, SafeguardKind};

/// The treatment of a base without the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewProject {
    /// Nothing is compared, which decides nothing.
    Doubted,
    /// The project is new.
    Permitted,
}

/// The two sides of a comparison, before the comparison.
#[derive(Debug)]
pub(super) struct ChangeOrigin {
    /// The current project, in the folder that corresponds to that of the base.
    pub(super) project: CompiledProject,
    pub(super) base: ChangeBase,
    /// The project in the base; `None` if nothing can be compared.
    pub(super) base_project: Option<CompiledProject>,
    /// Submodules and links of both sides.
    pub(super) parts: Vec<ExternalPart>,
    /// The project at the tip of the base branch, if that is newer than the base.
    pub(super) newer: Option<CompiledProject>,
    /// The folder of the project in the base, from the root of its repository.
    pub(super) place: String,
    /// Relaxations caused by the place of the project.
    pub(super) relaxations: Vec<LocatedRelaxation>,
    /// Reasons why a pass would be unreliable.
    pub(super) doubts: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl ChangeOrigin {
    /// Finds the origin of the change in the current files.
    pub(super) fn find(given: Option<&str>, new_project: NewProject, cx: &Cx) -> Result<Self> {
        let project = CompiledProject::load_or_root(cx)?;
        let base = ChangeBase::find(&project.root, given)?;
        let (parts, weakened, doubts, notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut origin = Self {
            project,
            base,
            base_project: None,
            newer: None,
            place: String::new(),
            parts,
            relaxations: weakened,
            doubts,
            notes,
        };
        origin.load_sides(new_project, cx)?;
        Ok(origin)
    }

    fn load_sides(&mut self, new_project: NewProject, cx: &Cx) -> Result<()> {
        let name = self.base.name.clone();
        let why = if self.base.is_shallow {
            format!(": {SHALLOW_HINT}")
        } else {
            String::new()
        };
        let Some(commit) = self.base.commit.clone() else {
            self.doubts.push(format!(
                "nothing is compared: `{name}` and `HEAD` have no commit in common{why}"
            ));
            return Ok(());
        };
        if self.base.is_crossed {
            self.doubts.push(format!(
                "this change and {name} have several nearest commits in common, since both were merged from the same branches, and only \
                 {commit:.12} is compared: merge {name} into this change"
            ));
        }
        if commit == self.base.head && self.base.by == BaseNaming::Guess {
            let what = "so no commit is compared: `--base COMMIT` compares with an earlier one, `--base HEAD` only uncommitted changes";
            self.doubts
                .push(format!("there is no commit since {name}, {what}{why}"));
        }
        if let Some(outer) = &self.base.outer {
            self.doubts.push(format!(
                "nothing is compared: the project lies in a submodule of {outer}, and a change could have put another repository in its \
                 place: run the gate in a clone of that repository"
            ));
            return Ok(());
        }
        let files = self.base.files_of_commit(&commit)?;
        let places = PlaceSearch::load(&self.project.root, &self.base, &files)?;
        let here = fs::current_dir()
            .ok()
            .filter(|_| cx.options.project.is_none());
        let place = match places.find_place(here.as_deref()) {
            Ok(place) => place,
            Err(why) => {
                self.doubts.push(format!(
                    "nothing is compared: {why}; move one project in one change"
                ));
                return Ok(());
            }
        };
        if let Some(ProjectMove::File { from, nearest }) = &place.moved {
            let now = places.path_of(&place.folder_now);
            if !fs::is_dir(&now) {
                self.doubts.push(format!(
                    "nothing is compared: the project that {name} has in {} is no longer there",
                    folder_label(&place.folder_then)
                ));
                return Ok(());
            }
            self.project = CompiledProject::load_or_root_in(&now)?;
            self.relaxations
                .push(project_relaxation(&place, from, nearest));
        }
        match CompiledProject::load_readable(files, &commit, place.folder_then.clone()) {
            Ok((then, faults)) => {
                let note = |fault| {
                    format!("not all of {name} can be read, and the rest is compared: {fault}")
                };
                self.notes.extend(faults.into_iter().map(note));
                self.base_project = Some(then);
                self.place.clone_from(&place.folder_then);
                // Used for a note only, so an unreadable tip is ignored.
                self.newer = if self.base.tip == commit {
                    None
                } else {
                    self.load_tip(place.folder_then.clone())
                };
                self.parts = places.external_parts(&place);
                if place.moved == Some(ProjectMove::Folder) {
                    let (then, now) = (
                        folder_label(&place.folder_then),
                        folder_label(&place.folder_now),
                    );
                    self.notes.push(format!(
                        "the project was in {then} in {name}, and is in {now} now"
                    ));
                }
            }
            Err(error) if error.kind == CliErrorKind::Usage => {
                self.report_absent(&commit, place.folder_now, new_project);
            }
            Err(error) => return Err(mark_as_base(error, &name)),
        }
        Ok(())
    }

    /// Returns the project at the tip of the base branch in a place, if it can be read.
    fn load_tip(&self, place: String) -> Option<CompiledProject> {
        let tip = &self.base.tip;
        Some(
            CompiledProject::load_readable(self.base.files_of_commit(tip).ok()?, tip, place)
                .ok()?
                .0,
        )
    }

    /// Adds a doubt or a note for a base without the project.
    fn report_absent(&mut self, commit: &str, place: String, new_project: NewProject) {
        let ChangeBase { name, tip, .. } = &self.base;
        if tip != commit && self.load_tip(place).is_some() {
            self.doubts.push(format!(
                "{name} has this project, but this branch started before it did: merge {name} first"
            ));
            return;
        }
        let lacks =
            format!("{name} does not have this project yet, so there is nothing to compare");
        match new_project {
            NewProject::Permitted => self.notes.push(lacks),
            NewProject::Doubted => self.doubts.push(format!(
                "{lacks}; `--new-project` permits that, for the first time"
            )),
        }
    }
}

/// Returns the relaxation for a folder that now belongs to another project file.
fn project_relaxation(place: &ProjectPlace, from: &str, nearest: &str) -> LocatedRelaxation {
    let before = if place.folder_then.is_empty() {
        FILE.to_owned()
    } else {
        format!("{}/{FILE}", place.folder_then)
    };
    let weakened = Relaxation {
        kind: SafeguardKind::Threshold,
        of: FILE.to_owned(),
        what: format!("the project file that counts in {}", folder_label(from)),
        before: Some(before),
        after: Some(nearest.to_owned()),
    };
    LocatedRelaxation {
        weakened,
        path: nearest.to_owned(),
        diff: None,
    }
}

fn folder_label(folder: &str) -> String {
    if folder.is_empty() {
        "the top of the repository".to_owned()
    } else {
        format!("{folder}/")
    }
}

/// Marks an error as one of the base, so that it is not searched for in the current files.
pub(super) fn mark_as_base(mut error: CliError, name: &str) -> CliError {
    error.message = format!("in {name}: {}", error.message);
    error
}
