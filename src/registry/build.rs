//! `ctxc build`: the registry on disk made from what changed, byte for byte what a build from nothing would make.
//!
//! A build in which nothing changed costs the walk and a look at each file's stamp. Otherwise changed files are compiled,
//! all files linked from their facts, and unchanged lines taken from the registry on disk. When anything is an error the
//! registry is left as it is; it is replaced whole or not at all.

pub use super::cache::Tally;
use super::cache::{FileKind, Head, Index, Keys};
use super::compile::Compiler;
use super::entry::Entries;
use super::gather::{Gather, Known, Noted};
use super::merge::{Merge, Merged};
use super::store::Store;
use super::survey::NoSuchPath;
use super::walk::{Missing, Plan};
use super::{gather, keys, place, watch};
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::project::config::Config;
use crate::rules::check::{Active, Identity};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What to build.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The project's folder.
    pub root: &'r Path,
    /// The project, without errors of its own.
    pub config: &'r Config,
    /// Files and folders; none: what the project says.
    pub given: &'r [PathBuf],
    /// Where the registry goes.
    pub output: &'r Path,
    /// Threads at most; `None` for one a core.
    pub threads: Option<NonZeroUsize>,
    /// What is done with the registry.
    pub goal: Goal,
    /// What is done where there is no template.
    pub empty: Empty,
    /// Which findings are wanted.
    pub findings: Findings,
    /// Whether findings need their fingerprints.
    pub identity: Identity,
    /// Told of each file that is done, on any thread.
    pub tick: &'r (dyn Fn() + Sync),
}

/// What is done with the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// It is written when it differs.
    Write,
    /// It is compared; nothing is written, the cache neither.
    Compare,
}

/// What is done where there is no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// Nothing.
    Refuse,
    /// The registry of nothing is a registry too.
    Accept,
}

/// Which findings are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Findings {
    /// Those of files that changed; the others are counted.
    Changed,
    /// All: files with findings are compiled again.
    All,
}

/// What came of a build.
#[derive(Debug)]
pub struct Outcome {
    /// Located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings of unchanged files, counted; none of them is an error.
    pub unchanged: Vec<Tally>,
    /// Templates, those that could not be read among them.
    pub files: usize,
    /// Files that were opened.
    pub opened: usize,
    /// `*.xml` files found in folders that are no templates.
    pub skipped: usize,
    /// The registry.
    pub state: State,
}

/// What became of the registry on disk.
#[derive(Debug)]
pub enum State {
    /// Some finding is an error, or there is no template: it was not touched.
    Untouched,
    /// It holds what it should.
    Current,
    /// It does not exist or holds something else, and was to be compared only.
    Stale,
    /// It was written: so many bytes.
    Written(u64),
    /// It could not be written, and is as it was.
    Failed(io::Error),
}

/// Builds.
pub fn build(request: &Request<'_>) -> Result<Outcome, NoSuchPath> {
    let templates = &request.config.templates;
    let plan = Plan::new(request.root, request.given, templates.include.as_ref(), &templates.exclude)
        .map_err(|Missing(path)| NoSuchPath(path))?;
    let active = Active::new(request.config).with_identity(request.identity);
    let entries = Entries::new(request.config);
    let Request { root, config, output, .. } = *request;
    let compiler = Compiler { config, active: &active, root, files: &RealFs, entries: Some(&entries) };
    let store = Store::new(root, &place::name_in(root, output));
    let run = Run { request, plan: &plan, compiler: &compiler, store: &store, keys: keys::of(config) };
    let old = run.old();
    // A cache that turns out not to belong to the registry, or to itself, is none: everything is compiled.
    Ok(run.attempt(old.as_ref()).or_else(|| run.attempt(None)).unwrap_or_else(Outcome::nothing))
}

/// Brings a file to hold a registry that is whole in memory. No cache is kept of it.
pub fn put(output: &Path, registry: &[u8], goal: Goal) -> State {
    let mut there = Vec::new();
    if fs::read_own(output, registry.len() as u64, &mut there).is_ok() && there == registry {
        return State::Current;
    }
    if goal == Goal::Compare {
        return State::Stale;
    }
    fs::write_atomic(output, registry).map_or_else(State::Failed, |_| State::Written(registry.len() as u64))
}

/// One build.
pub(super) struct Run<'r> {
    pub(super) request: &'r Request<'r>,
    plan: &'r Plan,
    compiler: &'r Compiler<'r>,
    pub(super) store: &'r Store,
    pub(super) keys: Keys,
}

impl Outcome {
    fn nothing() -> Self {
        let (diagnostics, unchanged, state) = (Vec::new(), Vec::new(), State::Untouched);
        Self { diagnostics, unchanged, files: 0, opened: 0, skipped: 0, state }
    }
}

impl Run<'_> {
    /// What the last build left, if it still speaks of this project and of the registry that is there.
    fn old(&self) -> Option<Index> {
        let index = self.store.index()?;
        let Head { keys, registry, .. } = &index.head;
        let same_rows = keys.rows.len() == self.keys.rows.len();
        let trusted = keys.rest == self.keys.rest && same_rows;
        (trusted && RealFs.stamp(self.request.output).is_ok_and(|now| now == *registry)).then_some(index)
    }

    /// `None` when the cache is damaged.
    fn attempt(&self, old: Option<&Index>) -> Option<Outcome> {
        let now = fs::now();
        let dirty = match old {
            Some(index) => self.dirty(index)?,
            None => Vec::new(),
        };
        let noted = if self.request.findings == Findings::All { Noted::Compile } else { Noted::Count };
        let known = old.map(|index| Known { index, dirty, noted });
        let gather = Gather { compiler: self.compiler, known, now, tick: self.request.tick };
        let gathered = gather.run(self.plan, self.plan.threads(self.request.threads));
        let opened = gathered.fresh.len();
        if let Some(index) = old
            && opened == 0
            && gathered.kept.iter().all(|kept| *kept)
        {
            let (files, skipped) = (index.head.taken as usize, gathered.skipped);
            let unchanged = index.head.tallies.clone();
            return Some(Outcome { diagnostics: Vec::new(), unchanged, files, opened, skipped, state: State::Current });
        }
        let mut merge = Merge::new(self, old, gathered)?;
        let Merged { diagnostics, files, skipped } = merge.link();
        let unchanged = gather::sum(merge.unchanged());
        let state = merge.finish(&diagnostics)?;
        Some(Outcome { diagnostics, unchanged, files, opened, skipped, state })
    }

    /// Files that must be compiled again although they did not change, by ordinal: their rows moved, or a file that they
    /// pull text from. `None` when the cache is damaged.
    fn dirty(&self, index: &Index) -> Option<Vec<bool>> {
        let head = &index.head;
        let rows: Vec<bool> = head.keys.rows.iter().zip(&self.keys.rows).map(|(old, new)| old != new).collect();
        let gone: Vec<bool> = head.dependencies.iter().map(|dependency| !watch::holds(dependency)).collect();
        if !rows.contains(&true) && !gone.contains(&true) {
            return Some(Vec::new());
        }
        let is_marked = |marks: &[bool], at: &u32| marks.get(*at as usize).is_none_or(|mark| *mark);
        let files = self.store.facts(index)?;
        let dirty = files.iter().map(|file| {
            file.as_ref().is_some_and(|file| {
                file.rows.iter().any(|row| is_marked(&rows, row)) || file.dependencies.iter().any(|at| is_marked(&gone, at))
            })
        });
        Some(dirty.collect())
    }
}

/// What kind of file it is to the next build.
pub(super) fn kind(tallies: &[Tally]) -> FileKind {
    if tallies.is_empty() { FileKind::Clean } else { FileKind::Noted }
}
