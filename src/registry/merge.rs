//! Old and new files of a build as one: linked, hashed, laid out, written, remembered.

use super::build::{Empty, Goal, Run, State, kind};
use super::cache::{Dependency, FileKind, Head, Index as Cached, Seen, Tally};
use super::entry::Entry;
use super::facts::{StoredEntry, StoredFile};
use super::gather::{self, Fresh, Gathered, Taken};
use super::layout::{self, Body, Item, Piece};
use super::{link, merkle};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{self, Stamp};
use crate::base::hash::Hash;
use crate::project::index::{DefId, Entry as Named, Index};
use crate::rules::check;
use crate::rules::rule::Scope;
use crate::syntax::decode;
use crate::template::names::DefinitionKind;
use std::collections::BTreeMap;
use std::io::{self, Cursor};
use std::sync::Arc;

/// A template of this build.
struct Member {
    path: Arc<str>,
    stamp: Stamp,
    stored: StoredFile,
    /// Its lines, when it was compiled by this build; else they are in the registry on disk.
    lines: Option<Vec<Entry>>,
}

/// A build after the walk.
pub(super) struct Merge<'r> {
    run: &'r Run<'r>,
    members: Vec<Member>,
    /// Files that are no templates.
    skipped: Vec<(Arc<str>, Stamp)>,
    found: Vec<Diagnostic>,
    dependencies: Vec<Dependency>,
    /// The registry that unchanged lines are taken from, as the last build left it.
    old: Option<Stamp>,
}

/// What a merged build shows.
pub(super) struct Merged {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) files: usize,
    pub(super) skipped: usize,
}

/// Where an item of the registry comes from: its member and entry.
type Place = (usize, usize);

impl<'r> Merge<'r> {
    /// Brings together what was kept and what was compiled. `None` when the cache is damaged.
    pub(super) fn new(run: &'r Run<'r>, old: Option<&Cached>, gathered: Gathered) -> Option<Self> {
        let Gathered { fresh, kept, .. } = gathered;
        let (members, skipped, found, dependencies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut merge = Self { run, members, skipped, found, dependencies, old: old.map(|old| old.head.registry) };
        let mut known = BTreeMap::new();
        if let Some(old) = old {
            let is_fresh = |path: &str| fresh.binary_search_by(|file| (*file.path).cmp(path)).is_ok();
            let is_kept = |path: &str, at: usize| kept.get(at).is_some_and(|kept| *kept) && !is_fresh(path);
            merge.keep(old, is_kept, &mut known)?;
        }
        for file in fresh {
            merge.add(file, &mut known);
        }
        merge.members.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        merge.skipped.sort_unstable();
        Some(merge)
    }

    fn keep(&mut self, old: &Cached, is_kept: impl Fn(&str, usize) -> bool, known: &mut BTreeMap<Dependency, u32>) -> Option<()> {
        let mut stored = self.run.store.facts(old)?;
        self.members.reserve(stored.len());
        for (path, record) in old.files() {
            let at = record.ordinal as usize;
            if !is_kept(path, at) {
                continue;
            }
            let path = Arc::from(path);
            if record.kind == FileKind::Skipped {
                self.skipped.push((path, record.stamp));
                continue;
            }
            let mut stored = stored.get_mut(at)?.take()?;
            for dependency in &mut stored.dependencies {
                let of = old.head.dependencies.get(*dependency as usize)?;
                *dependency = intern(of.clone(), known, &mut self.dependencies);
            }
            self.members.push(Member { path, stamp: record.stamp, stored, lines: None });
        }
        Some(())
    }

    fn add(&mut self, file: Fresh, known: &mut BTreeMap<Dependency, u32>) {
        let Fresh { path, stamp, taken } = file;
        let Some(Taken { diagnostics, facts, entries, rows, dependencies }) = taken else {
            self.skipped.push((path, stamp));
            return;
        };
        let dependencies = dependencies.into_iter().map(|one| intern(one, known, &mut self.dependencies)).collect();
        let stored_entry = |entry: &Entry| StoredEntry {
            definition: entry.definition,
            own: entry.own,
            hash: Hash([0; 32]),
            at: 0,
            len: entry.bytes.len() as u32,
            hash_at: entry.hash_at,
        };
        let stored = StoredFile {
            facts,
            rows,
            dependencies,
            entries: entries.iter().map(stored_entry).collect(),
            tallies: gather::tally(&diagnostics),
        };
        self.found.extend(diagnostics);
        self.members.push(Member { path, stamp, stored, lines: Some(entries) });
    }

    /// Counted findings of the files that were not opened.
    pub(super) fn unchanged(&self) -> impl Iterator<Item = &Tally> {
        self.members.iter().filter(|member| member.lines.is_none()).flat_map(|member| &member.stored.tallies)
    }

    /// The findings of all that was compiled, and of all files together.
    pub(super) fn link(&mut self) -> Merged {
        let request = self.run.request;
        let text = |path: &str| {
            let mut bytes = Vec::new();
            fs::read_own(&request.root.join(path), request.config.limits.file, &mut bytes).ok()?;
            decode::decode(&bytes).ok().map(std::borrow::Cow::into_owned)
        };
        let linked = link::link(request.config, &self.index(), Scope::Whole, text);
        let mut diagnostics = std::mem::take(&mut self.found);
        diagnostics.extend(linked);
        diagnostic::sort(&mut diagnostics);
        Merged { diagnostics, files: self.members.len(), skipped: self.skipped.len() }
    }

    fn index(&self) -> Index<'_> {
        Index::new(self.members.iter().map(|member| Named { path: &member.path, facts: &member.stored.facts }))
    }

    /// Brings the registry up to date, unless something is wrong. `None` when the registry that lines are taken from was
    /// replaced meanwhile.
    pub(super) fn finish(&mut self, diagnostics: &[Diagnostic]) -> Option<State> {
        let nothing = self.members.is_empty() && self.run.request.empty == Empty::Refuse;
        if nothing || diagnostics.iter().any(check::is_error) {
            return Some(State::Untouched);
        }
        let (items, places) = self.items();
        let hash = layout::hash(&items);
        let pieces = layout::pieces(&items, hash);
        let done = self.replace(&pieces);
        let lens: Vec<(DefinitionKind, u32)> = items.iter().map(|item| (item.kind, item.len() as u32)).collect();
        let hashes: Vec<Hash> = items.iter().map(|item| item.hash).collect();
        drop((pieces, items));
        let (state, stamp) = match done {
            Ok(done) => done?,
            Err(error) => return Some(State::Failed(error)),
        };
        if self.run.request.goal == Goal::Write
            && let Some(stamp) = stamp
        {
            for ((&(member, entry), at), hash) in places.iter().zip(layout::places(lens)).zip(hashes) {
                let slot = self.members.get_mut(member).and_then(|member| member.stored.entries.get_mut(entry));
                if let Some(slot) = slot {
                    (slot.at, slot.hash) = (at, hash);
                }
            }
            self.save(stamp, hash);
        }
        Some(state)
    }

    /// Every line of the registry in its order, with where it comes from.
    fn items(&self) -> (Vec<Item<'_>>, Vec<Place>) {
        let index = self.index();
        let (order, _) = index.order();
        let entry_of = |id: DefId| {
            let member = self.members.get(id.file as usize)?;
            let at = member.stored.entries.iter().position(|entry| entry.definition == id.definition)?;
            Some((member, at, *member.stored.entries.get(at)?))
        };
        let hashes = merkle::hashes(&index, &order, |id| entry_of(id).map(|(_, _, entry)| entry.own));
        let mut all: Vec<(Item<'_>, Place)> = Vec::with_capacity(order.len());
        for &id in &order {
            let Some((member, at, entry)) = entry_of(id) else { continue };
            let Some(definition) = member.stored.facts.definitions.get(id.definition as usize) else { continue };
            let hash = hashes.get(id).unwrap_or(Hash([0; 32]));
            let StoredEntry { at: from, len, hash_at, .. } = entry;
            let body = match member.lines.as_ref().and_then(|lines| lines.get(at)) {
                Some(line) => Body::New { bytes: &line.bytes, hash_at },
                None if hash == entry.hash => Body::Old { at: from, len },
                None => Body::Moved { at: from, len, hash_at },
            };
            all.push((Item { kind: definition.kind, name: &definition.name, hash, body }, (id.file as usize, at)));
        }
        all.sort_unstable_by(|(a, _), (b, _)| (a.kind, a.name).cmp(&(b.kind, b.name)));
        all.into_iter().unzip()
    }

    /// Compares with the registry on disk and, where it is to be, writes. The stamp is that of the file when it holds the
    /// new bytes. `None` when it is not the registry that lines are taken from.
    fn replace(&self, pieces: &[Piece<'_>]) -> io::Result<Option<(State, Option<Stamp>)>> {
        let output = self.run.request.output;
        // Nothing is taken over from a pipe that somebody named, and nobody may ever write into it.
        let old =
            fs::is_file(output).then(|| fs::open(output).and_then(|file| Ok((file.metadata()?, file)))).and_then(Result::ok);
        let there = old.as_ref().map(|(meta, _)| fs::stamp_of(meta));
        if self.old.is_some() && self.old != there {
            return Ok(None);
        }
        if let Some((meta, file)) = &old
            && meta.is_file()
            && layout::is_same(pieces, &mut &*file, meta.len()).unwrap_or(false)
        {
            return Ok(Some((State::Current, there)));
        }
        if self.run.request.goal == Goal::Compare {
            return Ok(Some((State::Stale, None)));
        }
        let stamp = fs::write_atomic_with(output, |out| match &old {
            Some((_, file)) if self.old.is_some() => layout::write(pieces, &mut &*file, out),
            Some(_) | None => layout::write(pieces, &mut Cursor::new([]), out),
        })?;
        Ok(Some((State::Written(layout::len(pieces)), Some(stamp))))
    }

    fn save(&self, registry: Stamp, hash: Hash) {
        let run = self.run;
        let head = Head {
            keys: run.keys.clone(),
            registry,
            hash: Some(hash),
            facts: None,
            taken: self.members.len() as u32,
            tallies: gather::sum(self.members.iter().flat_map(|member| &member.stored.tallies)),
            dependencies: self.dependencies.clone(),
        };
        let taken = self.members.iter().map(|member| {
            let seen = Seen { path: &member.path, stamp: member.stamp, kind: kind(&member.stored.tallies) };
            (seen, Some(&member.stored))
        });
        let skipped = self.skipped.iter().map(|(path, stamp)| (Seen { path, stamp: *stamp, kind: FileKind::Skipped }, None));
        let (seen, files): (Vec<Seen<'_>>, Vec<Option<&StoredFile>>) = taken.chain(skipped).unzip();
        run.store.save(head, &seen, &files);
    }
}

/// The number of a dependency in the list of all.
fn intern(dependency: Dependency, known: &mut BTreeMap<Dependency, u32>, all: &mut Vec<Dependency>) -> u32 {
    *known.entry(dependency).or_insert_with_key(|dependency| {
        all.push(dependency.clone());
        all.len() as u32 - 1
    })
}
