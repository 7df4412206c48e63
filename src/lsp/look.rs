//! Files that change behind the editor's back: noticed by looking, where the client does not watch them for us.
//!
//! A look costs a walk and a stamp a file; the more a look costs, the rarer it is.

use super::server::Server;
use super::world::{PROJECT, World};
use crate::base::fs::{ReadFs, RealFs};
use crate::registry::{inspect, sources};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From one look to the next, where looks cost little.
const PAUSE: Duration = Duration::from_secs(1);
/// A look takes at most one in so many moments.
const SHARE: u32 = 25;

/// When it is looked next; never, where the client watches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    next: Option<Instant>,
}

impl Looks {
    /// Whether it is us who look.
    pub(super) const fn are_ours(self) -> bool {
        self.next.is_some()
    }

    /// How long there is nothing to do; at most `longest`.
    pub(super) fn patience(self, longest: Duration) -> Duration {
        self.next.map_or(longest, |next| next.saturating_duration_since(Instant::now()).min(longest))
    }
}

impl Server<'_> {
    /// Has the client watch the files of the project; looks itself where it cannot.
    pub(super) fn watch(&mut self) {
        let is_open = self.client.root.as_ref().is_some_and(|root| *root == self.world.root);
        if !self.client.watches || !(is_open || self.client.watches_elsewhere) {
            self.looks.next = Some(Instant::now() + PAUSE);
            return;
        }
        let base = super::uri::of(&self.world.root);
        let one = |glob: &str| {
            let pattern = if self.client.watches_elsewhere { json!({"baseUri": base, "pattern": glob}) } else { json!(glob) };
            json!({"globPattern": pattern})
        };
        let watchers: Vec<Value> =
            ["**/*.{xml,toml,md,txt,json,j2,jinja,jinja2}", "**/.gitignore"].into_iter().map(one).collect();
        let registration =
            json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": {"watchers": watchers}});
        self.ask("client/registerCapability", json!({"registrations": [registration]}));
    }

    /// Looks at the files when it is time to.
    pub(super) fn look_when_due(&mut self) {
        if self.looks.next.is_some_and(|next| next <= Instant::now()) {
            self.look();
        }
    }

    fn look(&mut self) {
        let begun = Instant::now();
        self.stale |= catch_unwind(AssertUnwindSafe(|| self.world.look())).unwrap_or(false);
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
        let came = inspect::files(&self.root, &self.config).is_ok_and(|files| files.iter().any(is_new));
        if came || !moved.is_empty() {
            self.rewalk();
        }
        came || !moved.is_empty()
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
        let names: Vec<String> = sources.iter().filter_map(|source| sources::name_of(template, &source.path)).collect();
        for name in names {
            if !self.others.contains_key(name.as_str()) {
                self.note(&Arc::from(name));
            }
        }
    }
}
