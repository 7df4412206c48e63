//! What is run of what was chosen, and what is compared with: the last results, a scorecard, or a revision.

use super::args::EvalArgs;
use super::load::plan;
use super::load::{Beside, Chosen, Once, Scenarios};
use super::{receivers, results};
use crate::cli::context::project::Compiled;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::context::render::profile::Profile;
use crate::context::request::Files;
use crate::eval::affected::{Choice, Since};
use crate::eval::case::{Bench, Finished, Item};
use crate::eval::keys::Keys;
use crate::eval::library::Library;
use crate::eval::mutate::{self, Score};
use crate::eval::run::{self, Roles};
use crate::eval::snapshot::wants_snapshot;
use crate::eval::trials::Rows;
use crate::kernel::tokens::{Bytes, TokenCounter};
use crate::scenario::paths;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

/// Everything that cases are run with.
#[derive(Debug)]
pub(super) struct World<'w> {
    project: &'w Compiled,
    pub(super) roles: Roles,
    pub(super) chosen: &'w [Chosen<'w>],
    pub(super) files: &'w Once<'w>,
    besides: Vec<Beside<'w>>,
    /// The stored request of each case that expects one.
    pub(super) snapshots: Vec<Option<String>>,
    library: Library,
    counter: &'w dyn TokenCounter,
    rows: Rows,
    /// The keys of each case, where they were asked for.
    pub(super) keys: Vec<OnceLock<Keys>>,
}

impl<'w> World<'w> {
    pub(super) fn new(
        project: &'w Compiled,
        chosen: &'w [Chosen<'w>],
        files: &'w Once<'w>,
        counter: &'w dyn TokenCounter,
        rows: Rows,
    ) -> Self {
        let stored = |chosen: &Chosen<'_>| {
            let path = paths::snapshot(chosen.path, &chosen.case.name.value);
            wants_snapshot(chosen.case).then(|| files.text(&path).ok()).flatten()
        };
        Self {
            project,
            roles: receivers::roles(project),
            chosen,
            files,
            besides: chosen.iter().map(|chosen| Beside { scenario: chosen.path, files }).collect(),
            snapshots: chosen.iter().map(stored).collect(),
            library: Library::of(chosen.iter().map(|chosen| chosen.case), plan(project)),
            counter,
            rows,
            keys: chosen.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    fn bench(&self) -> Bench<'_> {
        Bench {
            live: self.files,
            counter: self.counter,
            profile: Profile::default(),
            plan: plan(self.project),
            rows: self.rows,
            library: &self.library,
        }
    }

    fn items(&self) -> Vec<Item<'_>> {
        let parts = self.chosen.iter().zip(&self.besides).zip(&self.snapshots);
        parts
            .map(|((chosen, beside), snapshot)| Item {
                path: chosen.path,
                case: chosen.case,
                beside,
                snapshot: snapshot.as_deref(),
            })
            .collect()
    }

    /// The keys of every case by its name.
    pub(super) fn keys(&self, threads: Option<NonZeroUsize>) -> Vec<(String, Option<Keys>)> {
        let keys = run::keys(&self.project.registry, &self.roles, &self.bench(), &self.items(), threads);
        for (slot, keys) in self.keys.iter().zip(&keys) {
            if let Some(keys) = keys {
                let _ = slot.set(*keys);
            }
        }
        self.chosen.iter().map(|chosen| chosen.case.name.value.clone()).zip(keys).collect()
    }

    /// What no scenario would notice.
    pub(super) fn scores(&self, threads: Option<NonZeroUsize>) -> Vec<Score> {
        mutate::scores(&self.project.registry, &self.roles, &self.bench(), &self.items(), threads)
    }

    /// Runs what is to be run.
    pub(super) fn run(&self, choices: &[Choice], threads: Option<NonZeroUsize>) -> Vec<Option<Finished>> {
        let is_run = |choice: &Choice| *choice == Choice::Run;
        let items: Vec<Item<'_>> =
            self.items().into_iter().zip(choices).filter(|(_, choice)| is_run(choice)).map(|(item, _)| item).collect();
        let mut done = run::run(&self.project.registry, &self.roles, &self.bench(), &items, threads).into_iter();
        choices.iter().map(|choice| if is_run(choice) { done.next() } else { None }).collect()
    }
}

/// What to do about each case.
pub(super) fn choices(args: &EvalArgs, project: &Compiled, world: &World<'_>, cx: &mut Cx) -> Result<Vec<Choice>> {
    let everything = || Ok(world.chosen.iter().map(|_| Choice::Run).collect());
    let last = results::last(&project.root);
    let since = if let Some(named) = &args.since {
        // A revision first: anybody can commit a file of its name.
        match of_revision(named, project, cx) {
            Ok(keys) => Since::revision(named, keys, last.as_ref()),
            Err(error) => results::read(Path::new(named)).map_or(Err(error), |card| Ok(Since::results(&card)))?,
        }
    } else if !args.affected {
        return everything();
    } else if let Some(last) = &last {
        Since::results(last)
    } else {
        cx.note("there are no results of an earlier run to compare with: everything is run");
        return everything();
    };
    let now = world.keys(cx.options.threads);
    Ok(now.iter().map(|(name, keys)| since.choose(name, keys.as_ref())).collect())
}

/// The keys of all cases of a revision.
fn of_revision(name: &str, project: &Compiled, cx: &Cx) -> Result<Vec<(String, Keys)>> {
    let then = Compiled::load_at(&project.root, name)?;
    let scenarios = Scenarios::of_revision(&then);
    let chosen = scenarios.choose(&EvalArgs::default())?;
    let files = Once::new(then.files());
    // Keys count no tokens.
    let world = World::new(&then, &chosen, &files, &Bytes, Rows::Curtailed);
    let keys = world.keys(cx.options.threads);
    Ok(keys.into_iter().filter_map(|(name, keys)| Some((name, keys?))).collect())
}
