//! The origin of a change: the project where the change began, in its place at that time. Without
//! an origin, a reason is reported, and the gate never passes.

use super::state::FILE;
use crate::base::fs;
use crate::cli::context::project::Compiled;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::revision::{ChangeBase, Moved, NamedBy, Part, Place, Places, SHALLOW};
use crate::eval::gate::{Kind as SafeguardKind, Loosened, Weakened};

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
pub(super) struct Origin {
    /// The current project, in the folder that corresponds to that of the base.
    pub(super) project: Compiled,
    pub(super) base: ChangeBase,
    /// The project in the base; `None` if nothing can be compared.
    pub(super) then: Option<Compiled>,
    /// Submodules and links of both sides.
    pub(super) parts: Vec<Part>,
    /// The project at the tip of the base branch, if that is newer than the base.
    pub(super) newer: Option<Compiled>,
    /// The folder of the project in the base, from the root of its repository.
    pub(super) place: String,
    /// Relaxations caused by the place of the project.
    pub(super) weakened: Vec<Loosened>,
    /// Reasons why a pass would be unreliable.
    pub(super) doubts: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Origin {
    /// Finds the origin of the change in the current files.
    pub(super) fn find(given: Option<&str>, new_project: NewProject, cx: &Cx) -> Result<Self> {
        let project = Compiled::load_or_empty(cx)?;
        let base = ChangeBase::of(&project.root, given)?;
        let (parts, weakened, doubts, notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut origin = Self {
            project,
            base,
            then: None,
            newer: None,
            place: String::new(),
            parts,
            weakened,
            doubts,
            notes,
        };
        origin.compare(new_project, cx)?;
        Ok(origin)
    }

    fn compare(&mut self, new_project: NewProject, cx: &Cx) -> Result<()> {
        let name = self.base.name.clone();
        let why = if self.base.is_shallow {
            format!(": {SHALLOW}")
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
        if commit == self.base.head && self.base.by == NamedBy::Guess {
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
        let files = self.base.files(&commit)?;
        let places = Places::of(&self.project.root, &self.base, &files)?;
        let here = fs::current_dir()
            .ok()
            .filter(|_| cx.options.project.is_none());
        let place = match places.find(here.as_deref()) {
            Ok(place) => place,
            Err(why) => {
                self.doubts.push(format!(
                    "nothing is compared: {why}; move one project in one change"
                ));
                return Ok(());
            }
        };
        if let Some(Moved::File { from, nearest }) = &place.moved {
            let now = places.path(&place.now);
            if !fs::is_dir(&now) {
                self.doubts.push(format!(
                    "nothing is compared: the project that {name} has in {} is no longer there",
                    shown(&place.then)
                ));
                return Ok(());
            }
            self.project = Compiled::load_or_empty_in(&now)?;
            self.weakened.push(governed(&place, from, nearest));
        }
        match Compiled::load_readable(files, &commit, place.then.clone()) {
            Ok((then, faults)) => {
                let note = |fault| {
                    format!("not all of {name} can be read, and the rest is compared: {fault}")
                };
                self.notes.extend(faults.into_iter().map(note));
                self.then = Some(then);
                self.place.clone_from(&place.then);
                // Used for a note only, so an unreadable tip is ignored.
                self.newer = if self.base.tip == commit {
                    None
                } else {
                    self.at_tip(place.then.clone())
                };
                self.parts = places.parts(&place);
                if place.moved == Some(Moved::Folder) {
                    let (then, now) = (shown(&place.then), shown(&place.now));
                    self.notes.push(format!(
                        "the project was in {then} in {name}, and is in {now} now"
                    ));
                }
            }
            Err(error) if error.kind == Kind::Usage => self.absent(&commit, place.now, new_project),
            Err(error) => return Err(in_base(error, &name)),
        }
        Ok(())
    }

    /// Returns the project at the tip of the base branch in a place, if it can be read.
    fn at_tip(&self, place: String) -> Option<Compiled> {
        let tip = &self.base.tip;
        Some(
            Compiled::load_readable(self.base.files(tip).ok()?, tip, place)
                .ok()?
                .0,
        )
    }

    /// Adds a doubt or a note for a base without the project.
    fn absent(&mut self, commit: &str, place: String, new_project: NewProject) {
        let ChangeBase { name, tip, .. } = &self.base;
        if tip != commit && self.at_tip(place).is_some() {
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
fn governed(place: &Place, from: &str, nearest: &str) -> Loosened {
    let before = if place.then.is_empty() {
        FILE.to_owned()
    } else {
        format!("{}/{FILE}", place.then)
    };
    let weakened = Weakened {
        kind: SafeguardKind::Threshold,
        of: FILE.to_owned(),
        what: format!("the project file that counts in {}", shown(from)),
        before: Some(before),
        after: Some(nearest.to_owned()),
    };
    Loosened {
        weakened,
        path: nearest.to_owned(),
        diff: None,
    }
}

fn shown(folder: &str) -> String {
    if folder.is_empty() {
        "the top of the repository".to_owned()
    } else {
        format!("{folder}/")
    }
}

/// Marks an error as one of the base, so that it is not searched for in the current files.
pub(super) fn in_base(mut error: CliError, name: &str) -> CliError {
    error.message = format!("in {name}: {}", error.message);
    error
}
