//! All files of a run checked, and the registry made of them where it is wanted: walk, compile in parallel, link.
//! Writes nothing.
//!
//! A run over named files looks at the rest of the project only when those files point at something that is not among
//! them; what it finds elsewhere it does not report. One named file starts no thread.

use super::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use super::entry::{self, Entries};
use super::sound::{self, LeftOut};
use super::tally::{self, Tally};
use super::walk::{By, Found, Missing, Plan, Visit};
use super::{link, place, whole};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{self, RealFs};
use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::project::index::{Entry, Index};
use crate::rules::check::{self, Active, Identity};
use crate::rules::input::read_fault;
use crate::rules::rule::Scope;
use crate::syntax::decode;
use crate::template::names::FileFacts;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What to check.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The project's folder.
    pub root: &'r Path,
    /// The project.
    pub config: &'r Config,
    /// Files and folders; none: what the project says.
    pub given: &'r [PathBuf],
    /// A text that is checked in place of the file of that name, which need not exist.
    pub held: Option<Held<'r>>,
    /// Texts that stand for those of files, by the files' names: what an editor, or a fix, has not written yet.
    pub overlay: &'r Overlay,
    /// Threads at most; `None` for one a core.
    pub threads: Option<NonZeroUsize>,
    /// What is wanted.
    pub goal: Goal,
    /// Whether findings need their fingerprints.
    pub identity: Identity,
    /// Findings less grave than this are counted and not kept.
    pub least: Severity,
    /// Told of each file that is done, on any thread.
    pub tick: &'r (dyn Fn() + Sync),
}

/// Bytes by the name of the file that they stand for.
pub type Overlay = BTreeMap<String, Vec<u8>>;

/// What is wanted of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Findings.
    Findings,
    /// The registry's bytes too. Then the files that were asked for are all there is.
    Registry,
    /// The same, where the registry has what is sound although something is not.
    Sound,
}

/// A text without a file: standard input, an editor's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Held<'h> {
    /// Its name in findings, relative to the project root.
    pub name: &'h str,
    /// Its bytes.
    pub bytes: &'h [u8],
}

/// What was found.
#[derive(Debug, Default)]
pub struct Surveyed {
    /// Located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that were counted and not kept.
    pub counted: Vec<Tally>,
    /// Files checked, those that could not be read among them.
    pub files: usize,
    /// Their names, sorted.
    pub paths: Vec<Arc<str>>,
    /// `*.xml` files found in folders that are no templates.
    pub skipped: usize,
    /// The registry, when it was asked for and nothing is an error, or what is sound was.
    pub registry: Option<Vec<u8>>,
    /// What it does not have, since something is an error.
    pub left_out: Vec<LeftOut>,
}

/// A given path that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not exist", .0.display())]
pub struct NoSuchPath(pub PathBuf);

/// The name that findings give to a path: relative to the project root; as given where it lies outside.
pub fn name_in(root: &Path, path: &Path) -> String {
    place::name_in(root, path)
}

/// Checks files and what they say of each other.
pub fn survey(request: &Request<'_>) -> Result<Surveyed, NoSuchPath> {
    let active = Active::new(request.config).with_identity(request.identity);
    let entries = (request.goal != Goal::Findings).then(|| Entries::new(request.config));
    let Request { root, config, .. } = *request;
    let compiler = Compiler { config, active: &active, root, files: &RealFs, entries: entries.as_ref() };
    let run = Run { request, compiler: &compiler };
    let mut batch = run.chosen()?;
    let chosen = batch.items.len();
    let partial = request.goal == Goal::Findings && (!request.given.is_empty() || request.held.is_some());
    if partial && points_elsewhere(&batch.items) {
        let rest = run.walk(&[])?;
        let known: std::collections::BTreeSet<Arc<str>> = batch.items.iter().map(|item| Arc::clone(&item.path)).collect();
        batch.items.extend(rest.items.into_iter().filter(|item| !known.contains(&item.path)));
    }
    let (asked, rest) = batch.items.split_at_mut(chosen);
    let mut found: Vec<Diagnostic> = Vec::with_capacity(asked.iter().map(|item| item.diagnostics.len()).sum());
    found.extend(asked.iter_mut().flat_map(|item| std::mem::take(&mut item.diagnostics)));
    let mut all: Vec<&Item> = asked.iter().chain(rest.iter()).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let index = Index::new(all.iter().map(|item| Entry { path: &item.path, facts: &item.facts }));
    let is_whole = request.held.is_none() && (request.given.is_empty() || request.goal != Goal::Findings);
    let scope = if is_whole { Scope::Whole } else { Scope::Part };
    let linked = link::link(request.config, &index, scope, |path| request.text(path));
    let is_asked = |finding: &Diagnostic| rest.is_empty() || asked.binary_search_by(|item| item.path.cmp(&finding.path)).is_ok();
    let own = found.len();
    found.extend(linked.into_iter().filter(is_asked));
    // The findings of each file are in order already, and the files are.
    if found.len() > own {
        diagnostic::sort(&mut found);
    }
    let lines = |file: u32| all.get(file as usize).map_or(&[][..], |item| &item.entries);
    let (mut registry, mut left_out) = (None, Vec::new());
    if !found.iter().any(check::is_error) {
        registry = (request.goal != Goal::Findings).then(|| whole::bytes(&index, lines, |_| true));
    } else if request.goal == Goal::Sound {
        let unsound = sound::unsound(&index, &found);
        registry = Some(whole::bytes(&index, lines, |id| unsound.spares(id)));
        left_out = unsound.left_out();
    }
    let counted = tally::sum(asked.iter().flat_map(|item| &item.counted));
    let paths = asked.iter().map(|item| Arc::clone(&item.path)).collect();
    Ok(Surveyed { diagnostics: found, counted, files: chosen, paths, skipped: batch.skipped, registry, left_out })
}

/// Whether some reference leads to nothing among the files themselves.
fn points_elsewhere(items: &[Item]) -> bool {
    if items.iter().all(|item| item.facts.references.is_empty()) {
        return false;
    }
    let index = Index::new(items.iter().map(|item| Entry { path: &item.path, facts: &item.facts }));
    index.references().any(|(_, _, reference)| index.target(reference).is_none())
}

/// A file that was compiled.
struct Item {
    path: Arc<str>,
    diagnostics: Vec<Diagnostic>,
    counted: Vec<Tally>,
    facts: FileFacts,
    entries: Vec<entry::Entry>,
}

/// What one walk gave, sorted by path, each file once.
#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    skipped: usize,
}

struct Run<'r> {
    request: &'r Request<'r>,
    compiler: &'r Compiler<'r>,
}

impl Request<'_> {
    pub(super) fn text(&self, path: &str) -> Option<String> {
        if let Some(held) = self.held.filter(|held| held.name == path) {
            return decode::decode(held.bytes).ok().map(std::borrow::Cow::into_owned);
        }
        if let Some(bytes) = self.overlay.get(path) {
            return decode::decode(bytes).ok().map(std::borrow::Cow::into_owned);
        }
        let mut bytes = Vec::new();
        fs::read_own(&self.root.join(path), self.config.limits.file, &mut bytes).ok()?;
        decode::decode(&bytes).ok().map(std::borrow::Cow::into_owned)
    }
}

impl Run<'_> {
    /// What was asked about: the held text, or the given paths.
    fn chosen(&self) -> Result<Batch, NoSuchPath> {
        let Some(held) = self.request.held else { return self.walk(self.request.given) };
        let batches = Mutex::new(Batch::default());
        let mut worker = self.worker(&batches);
        worker.take(&Arc::from(held.name), held.bytes, Chosen::Named);
        drop(worker);
        Ok(batches.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn walk(&self, given: &[PathBuf]) -> Result<Batch, NoSuchPath> {
        let Request { root, config, threads, .. } = *self.request;
        let templates = &config.templates;
        let plan =
            Plan::new(root, given, templates.include.as_ref(), &templates.exclude).map_err(|Missing(path)| NoSuchPath(path))?;
        let batches = Mutex::new(Batch::default());
        plan.run(plan.threads(threads), || self.worker(&batches));
        let mut batch = batches.into_inner().unwrap_or_else(PoisonError::into_inner);
        batch.items.sort_by(|a, b| a.path.cmp(&b.path));
        batch.items.dedup_by(|a, b| a.path == b.path);
        Ok(batch)
    }

    fn worker<'w>(&'w self, batches: &'w Mutex<Batch>) -> Worker<'w> {
        Worker { run: self, scratch: Scratch::new(), bytes: Vec::new(), done: Batch::default(), batches }
    }
}

/// One thread's buffers and results; hands the results in when it ends.
struct Worker<'w> {
    run: &'w Run<'w>,
    scratch: Scratch,
    bytes: Vec<u8>,
    done: Batch,
    batches: &'w Mutex<Batch>,
}

impl Worker<'_> {
    fn take(&mut self, path: &Arc<str>, bytes: &[u8], chosen: Chosen) {
        match self.run.compiler.compile(path, bytes, chosen, &mut self.scratch) {
            Outcome::Skipped => self.done.skipped += 1,
            Outcome::Taken(compiled) => {
                let Compiled { mut diagnostics, facts, entries, .. } = *compiled;
                let least = self.run.request.least;
                let counted = tally::count(diagnostics.iter().filter(|finding| finding.severity > least));
                if !counted.is_empty() {
                    diagnostics.retain(|finding| finding.severity <= least);
                }
                // A hundred thousand files are held at once.
                diagnostics.shrink_to_fit();
                self.done.items.push(Item { path: Arc::clone(path), diagnostics, counted, facts, entries });
            }
        }
        (self.run.request.tick)();
    }
}

impl Visit for Worker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        let chosen = if found.by == By::Name { Chosen::Named } else { Chosen::Found };
        if let Some(bytes) = self.run.request.overlay.get(found.name) {
            self.take(&Arc::from(found.name), bytes, chosen);
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        match fs::read_into(found.path, self.run.request.config.limits.file, &mut bytes) {
            Ok(_) => self.take(&Arc::from(found.name), &bytes, chosen),
            Err(error) => self.unreadable(found.name, error),
        }
        self.bytes = bytes;
    }

    fn unreadable(&mut self, name: &str, error: io::Error) {
        let path: Arc<str> = Arc::from(name);
        let finding = read_fault::word(&path, &error, self.run.request.config.limits.file);
        self.done.items.push(Item {
            path,
            diagnostics: vec![finding],
            counted: Vec::new(),
            facts: FileFacts::default(),
            entries: Vec::new(),
        });
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut all = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        all.items.append(&mut self.done.items);
        all.skipped += self.done.skipped;
    }
}
