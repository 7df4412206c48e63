//! Watches files on disk through the client, or polls them if the client cannot; and sends
//! `workspace/*/refresh` when a change elsewhere affects what an open document shows.

use super::prelude::*;
use super::state::disk::WATCHED_EXTENSIONS;
use super::uri;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// `WatchKind` of created, changed and deleted files.
const ANY_CHANGE: u8 = 7;
/// `WatchKind` of deleted files.
const DELETION: u8 = 4;

impl LspServer<'_> {
    /// Asks the client to watch the project's files, or starts polling.
    pub(super) fn watch_files(&mut self) {
        self.poll.start();
        if !self.client.watches_files {
            return;
        }
        let elsewhere = self.client.watches_elsewhere;
        let (projects, folders) = self.workspace.base_folders();
        // A client that supports relative patterns watches all project folders; others watch only
        // the open folders, and the server polls the rest.
        let bases: Vec<PathBuf> = if elsewhere {
            projects
        } else {
            folders.to_vec()
        };
        let is_any = self
            .workspace
            .projects()
            .any(|project| bases.iter().any(|base| project.root.starts_with(base)));
        let places: Vec<Option<&PathBuf>> = if elsewhere {
            bases.iter().map(Some).collect()
        } else {
            vec![None]
        };
        // When a folder is deleted, a client may report only the folder.
        let globs = [
            (
                &*format!("**/*.{{{}}}", WATCHED_EXTENSIONS.join(",")),
                ANY_CHANGE,
            ),
            ("**/.gitignore", ANY_CHANGE),
            ("**/*", DELETION),
        ];
        let watchers = places.iter().flat_map(|place| {
            globs.map(|(glob, kind)| match place {
                Some(base) => json!({"globPattern": {"baseUri": uri::from_path(base), "pattern": glob}, "kind": kind}),
                None => json!({"globPattern": glob, "kind": kind}),
            })
        });
        let watchers: Vec<Value> = watchers.collect();
        if std::mem::replace(&mut self.is_watching, is_any) {
            let registered = json!({"id": "files", "method": "workspace/didChangeWatchedFiles"});
            self.send_request(
                "client/unregisterCapability",
                json!({"unregisterations": [registered]}),
            );
        }
        if is_any {
            let options = json!({"watchers": watchers});
            let registered = json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options});
            self.send_request(
                "client/registerCapability",
                json!({"registrations": [registered]}),
            );
        }
        self.workspace.set_watched_folders(bases);
    }

    /// Polls the files if a poll is due.
    pub(super) fn poll_when_due(&mut self) {
        if !self.poll.is_due() {
            return;
        }
        if !self.workspace.needs_polling() {
            self.poll.postpone();
            return;
        }
        let workspace = &mut self.workspace;
        self.stale |= self.poll.run_timed(|| {
            catch_unwind(AssertUnwindSafe(|| workspace.poll_projects())).unwrap_or(false)
        });
    }
}

impl LspServer<'_> {
    /// Asks the client to request changed results again. It requests results for its own edits
    /// without being asked.
    pub(super) fn refresh_client(&mut self) {
        let mut is_other = self.workspace.take_rearranged();
        let mut is_read = false;
        for project in self.workspace.projects_mut() {
            let config_revision = project.config_revision;
            let shown = &mut project.shown;
            let changed = std::mem::take(&mut shown.changed);
            let edited = std::mem::take(&mut shown.edited);
            let before = std::mem::replace(&mut shown.config_revision, config_revision);
            // Before the first refresh the client has no results.
            is_other |= before != 0 && changed.iter().any(|name| !edited.contains(name));
            is_read |= before != 0 && before != config_revision;
        }
        let can = self.client.refreshes;
        if self.client.pulls_diagnostics && can.diagnostics && is_other {
            self.send_request("workspace/diagnostic/refresh", Value::Null);
        }
        if !is_read {
            return;
        }
        let shown = [
            (can.hints, "workspace/inlayHint/refresh"),
            (can.lenses, "workspace/codeLens/refresh"),
            (can.tokens, "workspace/semanticTokens/refresh"),
        ];
        for (_, method) in shown.into_iter().filter(|(can, _)| *can) {
            self.send_request(method, Value::Null);
        }
    }
}
