//! The files of an incremental build: those that are as the last build left them are not opened, all others compiled.

use super::cache::{FileKind, Index, Tally, UNTRUSTED, is_racy};
use super::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use super::entry::Entry;
use super::walk::{By, Found, Plan, Visit, stamp};
use super::watch::Watch;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, Stamp};
use crate::base::rule_meta::Severity;
use crate::registry::cache::Dependency;
use crate::rules::apply::{self, Which};
use crate::rules::input::read_fault;
use crate::template::names::FileFacts;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that was opened.
pub(super) struct Fresh {
    pub(super) path: Arc<str>,
    pub(super) stamp: Stamp,
    /// `None` for a file that is no template.
    pub(super) taken: Option<Taken>,
}

/// What compiling it gave.
pub(super) struct Taken {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) facts: FileFacts,
    pub(super) entries: Vec<Entry>,
    pub(super) rows: Vec<u32>,
    pub(super) dependencies: Vec<Dependency>,
}

/// What the last build knew, and which of it still holds.
pub(super) struct Known<'k> {
    pub(super) index: &'k Index,
    /// Files that must be compiled again although they did not change, by ordinal; empty: none.
    pub(super) dirty: Vec<bool>,
    /// Whether files with findings are compiled again, so that their findings are at hand.
    pub(super) noted: Noted,
}

/// What becomes of unchanged files with findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    /// They stay as they are: their findings are counted.
    Count,
    /// They are compiled again.
    Compile,
}

/// All files of a build.
pub(super) struct Gathered {
    /// Those that were opened, sorted by path.
    pub(super) fresh: Vec<Fresh>,
    /// Which of the known files are as they were, by ordinal.
    pub(super) kept: Vec<bool>,
    /// How many of those are no templates.
    pub(super) skipped: usize,
}

/// What all threads share.
pub(super) struct Gather<'g> {
    pub(super) compiler: &'g Compiler<'g>,
    pub(super) known: Option<Known<'g>>,
    /// When the build began.
    pub(super) now: i128,
    pub(super) tick: &'g (dyn Fn() + Sync),
}

impl Gather<'_> {
    /// Walks.
    pub(super) fn run(&self, plan: &Plan, threads: NonZeroUsize) -> Gathered {
        let count = self.known.as_ref().map_or(0, |known| known.index.len());
        let kept: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
        let done = Mutex::new((Vec::new(), 0));
        plan.run(threads, || Worker {
            gather: self,
            kept: &kept,
            scratch: Scratch::new(),
            watch: Watch::new(self.now),
            bytes: Vec::new(),
            fresh: Vec::new(),
            skipped: 0,
            done: &done,
        });
        let (mut fresh, skipped) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Where a file was both named and found, what it is by its name counts.
        fresh.sort_by(|a: &Fresh, b| (&a.path, a.taken.is_none()).cmp(&(&b.path, b.taken.is_none())));
        fresh.dedup_by(|a, b| a.path == b.path);
        Gathered { fresh, kept: kept.into_iter().map(AtomicBool::into_inner).collect(), skipped }
    }

    /// Whether a file is as the last build left it; then its ordinal and kind.
    fn unchanged(&self, found: &Found<'_>) -> Option<(u32, FileKind)> {
        let known = self.known.as_ref()?;
        let record = known.index.find(found.name)?;
        let wanted = match record.kind {
            // A file that is named is taken, whatever it holds.
            FileKind::Skipped => found.by == By::Walk,
            FileKind::Noted => known.noted == Noted::Count,
            FileKind::Clean => true,
        };
        if !wanted || known.dirty.get(record.ordinal as usize).is_some_and(|dirty| *dirty) {
            return None;
        }
        stamp(found.path).is_ok_and(|now| now == record.stamp).then_some((record.ordinal, record.kind))
    }
}

struct Worker<'w> {
    gather: &'w Gather<'w>,
    kept: &'w [AtomicBool],
    scratch: Scratch,
    watch: Watch,
    bytes: Vec<u8>,
    fresh: Vec<Fresh>,
    skipped: usize,
    done: &'w Mutex<(Vec<Fresh>, usize)>,
}

impl Worker<'_> {
    fn compile(&mut self, path: Arc<str>, stamp: Stamp, bytes: &[u8], chosen: Chosen) {
        let compiler = Compiler { files: &self.watch, ..*self.gather.compiler };
        let outcome = compiler.compile(&path, bytes, chosen, &mut self.scratch);
        let dependencies = self.watch.take();
        let taken = match outcome {
            Outcome::Skipped => None,
            Outcome::Taken(made) => {
                let Compiled { diagnostics, facts, entries, rows } = *made;
                let rows = rows.into_iter().map(|row| row.index() as u32).collect();
                Some(Taken { diagnostics, facts, entries, rows, dependencies })
            }
        };
        let stamp = if is_racy(stamp, self.gather.now) { UNTRUSTED } else { stamp };
        self.fresh.push(Fresh { path, stamp, taken });
    }
}

impl Visit for Worker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        if let Some((ordinal, kind)) = self.gather.unchanged(found) {
            let first = self.kept.get(ordinal as usize).is_some_and(|kept| !kept.swap(true, Ordering::Relaxed));
            self.skipped += usize::from(first && kind == FileKind::Skipped);
            (self.gather.tick)();
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        match fs::read_into(found.path, self.gather.compiler.config.limits.file, &mut bytes) {
            Ok(stamp) => {
                let chosen = if found.by == By::Name { Chosen::Named } else { Chosen::Found };
                self.compile(Arc::from(found.name), stamp, &bytes, chosen);
            }
            Err(error) => self.unreadable(found.name, error),
        }
        self.bytes = bytes;
        (self.gather.tick)();
    }

    fn unreadable(&mut self, name: &str, error: io::Error) {
        let path: Arc<str> = Arc::from(name);
        let diagnostics = vec![read_fault::word(&path, &error, self.gather.compiler.config.limits.file)];
        let (facts, entries, rows, dependencies) = (FileFacts::default(), Vec::new(), Vec::new(), Vec::new());
        let taken = Some(Taken { diagnostics, facts, entries, rows, dependencies });
        self.fresh.push(Fresh { path, stamp: UNTRUSTED, taken });
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0.append(&mut self.fresh);
        done.1 += self.skipped;
    }
}

/// Counts findings by rule and severity.
pub(super) fn tally<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for finding in findings {
        let safe = u32::from(apply::eligible(finding, Which::Safe).is_some());
        counts.add(finding.rule.code.0, finding.severity, [1, u32::from(finding.is_fixable()), safe]);
    }
    counts.tallies()
}

/// Adds up counts of several files.
pub(super) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for tally in tallies {
        counts.add(tally.rule, tally.severity, [tally.count, tally.fixable, tally.safe]);
    }
    counts.tallies()
}

/// Findings, those with a fix, and those with a safe one, by rule and severity.
#[derive(Default)]
struct Counts(BTreeMap<(u16, Severity), [u32; 3]>);

impl Counts {
    fn add(&mut self, rule: u16, severity: Severity, numbers: [u32; 3]) {
        let own = self.0.entry((rule, severity)).or_default();
        for (own, number) in own.iter_mut().zip(numbers) {
            *own += number;
        }
    }

    fn tallies(self) -> Vec<Tally> {
        let tally = |((rule, severity), [count, fixable, safe]): (_, [u32; 3])| Tally { rule, severity, count, fixable, safe };
        self.0.into_iter().map(tally).collect()
    }
}
