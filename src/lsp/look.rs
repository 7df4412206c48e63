//! Files that change behind the editor's back: noticed by looking, where the client does not watch them for us.
//!
//! A look costs a walk and a stamp a file; the more a look costs, the rarer it is.

use super::server::Server;
use super::world::{PROJECT, World};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::registry::{inspect, sources};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From one look to the next, where looks cost little.
const PAUSE: Duration = Duration::from_secs(1);
/// Until it is asked again whether there is anything to look at, where the client watches everything.
const IDLE: Duration = Duration::from_secs(3);
/// A look takes at most one in so many moments.
const SHARE: u32 = 25;

/// When it is looked next, where the client does not watch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    next: Option<Instant>,
    /// The client was told what to watch.
    is_told: bool,
}

impl Looks {
    /// How long there is nothing to do; at most `longest`.
    pub(super) fn patience(self, longest: Duration) -> Duration {
        self.next.map_or(longest, |next| next.saturating_duration_since(Instant::now()).min(longest))
    }
}

impl Server<'_> {
    /// Has the client watch the files of the project; looks itself where it cannot.
    pub(super) fn watch(&mut self) {
        self.looks.next = Some(Instant::now() + PAUSE);
        if !self.client.watches {
            return;
        }
        let elsewhere = self.client.watches_elsewhere;
        let (projects, folders) = self.worlds.bases();
        // A client that can watch anywhere is told where; others watch what is open, and what is above it is for us.
        let bases: Vec<PathBuf> = if elsewhere { projects } else { folders.to_vec() };
        let is_any = self.worlds.all().any(|world| bases.iter().any(|base| world.root.starts_with(base)));
        let places: Vec<Option<&PathBuf>> = if elsewhere { bases.iter().map(Some).collect() } else { vec![None] };
        let globs = ["**/*.{xml,toml,md,txt,json,j2,jinja,jinja2,yaml,yml,csv,jsonl}", "**/.gitignore"];
        let watchers = places.iter().flat_map(|place| {
            globs.map(|glob| match place {
                Some(base) => json!({"globPattern": {"baseUri": super::uri::of(base), "pattern": glob}}),
                None => json!({"globPattern": glob}),
            })
        });
        let watchers: Vec<Value> = watchers.collect();
        if std::mem::replace(&mut self.looks.is_told, is_any) {
            let told = json!({"id": "files", "method": "workspace/didChangeWatchedFiles"});
            self.ask("client/unregisterCapability", json!({"unregisterations": [told]}));
        }
        if is_any {
            let options = json!({"watchers": watchers});
            let told = json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options});
            self.ask("client/registerCapability", json!({"registrations": [told]}));
        }
        self.worlds.are_watched(bases);
    }

    /// Looks at the files when it is time to.
    pub(super) fn look_when_due(&mut self) {
        let now = Instant::now();
        if self.looks.next.is_none_or(|next| next > now) {
            return;
        }
        if self.worlds.are_ours() {
            self.look();
        } else {
            self.looks.next = Some(now + IDLE);
        }
    }

    fn look(&mut self) {
        let begun = Instant::now();
        self.stale |= catch_unwind(AssertUnwindSafe(|| self.worlds.look())).unwrap_or(false);
        let now = Instant::now();
        self.looks.next = Some(now + PAUSE.max((now - begun) * SHARE));
    }
}

impl World {
    /// Looks at the files on disk. Whether anything is not as it was.
    pub(super) fn look(&mut self) -> bool {
        let stamp = |name: &str| RealFs.stamp(&self.root.join(name)).ok();
        let templates = self.templates.iter().map(|(name, template)| (name, template.stamp));
        let seen = templates.chain(self.others.iter().map(|(name, stamp)| (name, *stamp)));
        let seen = seen.filter(|(name, _)| !self.open.contains_key(*name));
        let moved: BTreeSet<Arc<str>> =
            seen.filter(|(name, seen)| stamp(name) != *seen).map(|(name, _)| Arc::clone(name)).collect();
        for name in &moved {
            if self.others.contains_key(name) {
                self.note(name);
            }
            self.touch(name);
        }
        let is_new = |name: &Arc<str>| !self.templates.get(name).is_some_and(|template| template.member);
        let left = |there: &BTreeSet<Arc<str>>| {
            let mut own = self.templates.iter().filter(|(name, template)| template.member && !self.open.contains_key(*name));
            own.any(|(name, _)| !there.contains(name))
        };
        let is_other = self.files().is_some_and(|(files, _)| files.iter().any(is_new) || left(&files));
        if is_other || !moved.is_empty() {
            self.rewalk();
        }
        is_other || !moved.is_empty()
    }

    /// The files that may be templates of the project, and the folders of other projects inside of it: what lies below
    /// another project file is that project's. `None` where they cannot be looked for.
    pub(super) fn files(&self) -> Option<(BTreeSet<Arc<str>>, BTreeSet<PathBuf>)> {
        if self.is_alone {
            return Some((self.open.keys().filter(|name| self.takes(name)).cloned().collect(), BTreeSet::new()));
        }
        let files = inspect::files(&self.root, &self.config).ok()?;
        let mut known = BTreeMap::new();
        let mut inner = BTreeSet::new();
        let mut own = BTreeSet::new();
        for name in &files {
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            match self.project_in(folder, &mut known) {
                Some(project) => drop(inner.insert(project)),
                None => drop(own.insert(Arc::clone(name))),
            }
        }
        Some((own, inner))
    }

    /// The folder of the nearest other project that a folder inside of this one is in.
    fn project_in<'n>(&self, folder: &'n str, known: &mut BTreeMap<&'n str, Option<PathBuf>>) -> Option<PathBuf> {
        if folder.is_empty() {
            return None;
        }
        if let Some(project) = known.get(folder) {
            return project.clone();
        }
        let path = self.root.join(folder);
        let found = if self.unsaved.contains(&path) || fs::is_file(&path.join(PROJECT)) {
            Some(path)
        } else {
            self.project_in(folder.rsplit_once('/').map_or("", |(above, _)| above), known)
        };
        known.insert(folder, found.clone());
        found
    }

    /// Remembers how a file is that is no template: the project file, a text that is pulled in.
    pub(super) fn note(&mut self, name: &Arc<str>) {
        let stamp = RealFs.stamp(&self.root.join(&**name)).ok();
        self.others.insert(Arc::clone(name), stamp);
    }

    /// Remembers the files that make the project.
    pub(super) fn note_project(&mut self) {
        let shared: Vec<Arc<str>> = self.config.files.iter().map(|file| Arc::from(&*file.path)).collect();
        for name in shared.iter().chain(&[Arc::from(PROJECT)]) {
            self.note(name);
        }
    }

    /// Remembers the texts that a template pulls in, as they were when it was first compiled with them.
    pub(super) fn note_sources(&mut self, template: &str) {
        let sources = self.templates.get(template).map_or(&[][..], |template| &template.facts.sources);
        let names: Vec<String> = sources.iter().filter_map(|source| sources::name_of_source(template, source)).collect();
        for name in names {
            if !self.others.contains_key(name.as_str()) {
                self.note(&Arc::from(name));
            }
        }
    }
}
