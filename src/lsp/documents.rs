//! Handles opened, changed and closed documents and changes of files on disk. Publishes diagnostics
//! when no message is pending, or answers a pull.

use super::state::open_documents::DocumentBuffer;
use super::state::workspace::PushedState;
use super::{client, diagnostics, uri};
use crate::base::hash::Hash;
use crate::lsp::prelude::*;
use gen_lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, LanguageKind, Uri,
};
use lsp_server::RequestId;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

impl LspServer<'_> {
    /// Makes the projects check the disk before the next answer, unless the client watches their
    /// files.
    pub(super) fn expect_disk_changes(&mut self) {
        for project in self
            .workspace
            .projects_mut()
            .filter(|project| !project.is_watched)
        {
            project.expect_disk_changes();
            self.stale = true;
        }
    }

    pub(super) fn open_document(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.expect_disk_changes();
        let mut buffer = DocumentBuffer::new(document.uri, document.version, document.text);
        buffer.is_xml = document.language_id == LanguageKind::XML;
        self.opened.push(buffer.uri.clone());
        self.workspace.open_document(buffer);
        self.stale = true;
    }

    pub(super) fn change_document(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        // A document that was never opened cannot be changed.
        let Some((project, name)) = self
            .workspace
            .document_mut(&document.text_document_identifier.uri)
        else {
            return;
        };
        let Some(buffer) = Arc::make_mut(&mut project.open).get_mut(&name) else {
            return;
        };
        Arc::make_mut(buffer).apply_changes(
            params.content_changes,
            document.version,
            self.client.encoding,
        );
        project.mark_changed(&name);
        project.shown.edited.insert(name);
        self.stale = true;
    }

    pub(super) fn close_document(&mut self, params: &DidCloseTextDocumentParams) {
        let uri = &params.text_document.uri;
        if let Some((project, name, _)) = self.workspace.document(uri) {
            self.token_counts
                .remove_document(&(project.root.clone(), name));
        }
        let Some(shown) = self.workspace.close_document(uri) else {
            return;
        };
        self.stale = true;
        if shown == PushedState::Pushed {
            self.push_diagnostics(uri, None, &[]);
        }
    }

    pub(super) fn change_folders(&mut self, params: &Value) {
        let list = |name: &str| {
            params
                .pointer(&format!("/event/{name}"))
                .map(client::parse_folders)
                .unwrap_or_default()
        };
        self.workspace
            .change_folders(&list("removed"), list("added"));
        self.watch_files();
        self.stale = true;
    }

    pub(super) fn handle_file_changes(&mut self, params: &DidChangeWatchedFilesParams) {
        let paths: Vec<PathBuf> = params
            .changes
            .iter()
            .filter_map(|event| uri::to_path(&event.uri))
            .collect();
        if paths
            .iter()
            .any(|path| self.workspace.may_hold_project(path))
            && self.workspace.is_stale()
        {
            self.workspace.reassign_documents();
            self.stale = true;
        }
        for path in &paths {
            self.stale |= self.workspace.handle_disk_change(path);
        }
    }

    /// Publishes the changes, or asks the client to request them. Called when no message is
    /// pending.
    pub(super) fn publish_changes(&mut self) {
        self.poll_when_due();
        if !std::mem::take(&mut self.stale) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| self.workspace.settle())).is_err() {
            self.show_message("a bug in ctxc: this text could not be checked");
            return;
        }
        self.push_all();
        self.refresh_client();
        for uri in std::mem::take(&mut self.opened) {
            self.request_counts(&uri);
        }
    }

    /// Pushes the findings of open documents and of all project files, which affect everything
    /// else. A client that pulls receives only the findings that it does not request: those of
    /// project files that are not open, until it requests the findings of the whole workspace.
    fn push_all(&mut self) {
        let mut fresh: Vec<(Uri, Option<i32>, Vec<Diagnostic>)> = Vec::new();
        fresh.extend(
            self.workspace
                .take_cleared()
                .into_iter()
                .map(|uri| (uri, None, Vec::new())),
        );
        for project in self
            .workspace
            .projects_mut()
            .filter(|project| project.shown.is_stale)
        {
            project.shown.is_stale = false;
            let mut shown: BTreeSet<Arc<str>> = project
                .config_findings
                .iter()
                .map(|finding| Arc::clone(&finding.path))
                .collect();
            if self.client.pulls_diagnostics {
                shown.retain(|name| !self.pulls_workspace && !project.open.contains_key(name));
            } else {
                shown.extend(
                    project
                        .open
                        .keys()
                        .filter(|name| project.shows_findings(name))
                        .cloned(),
                );
            }
            // A file that no longer belongs to the project, such as a text that no template uses,
            // has no more findings.
            let pushed = project
                .shown
                .pushed
                .iter()
                .filter(|(_, found)| !found.is_empty())
                .map(|(name, _)| name);
            let names: BTreeSet<Arc<str>> = shown.iter().chain(pushed).cloned().collect();
            for name in names {
                let uri = diagnostics::file_uri(project, &name);
                let version = project.open.get(&name).map(|buffer| buffer.version);
                let of = || {
                    if shown.contains(&name) {
                        diagnostics::for_file(project, &self.client, &name)
                    } else {
                        Vec::new()
                    }
                };
                let found = catch_unwind(AssertUnwindSafe(of));
                let Ok(found) = found else { continue };
                if project.shown.pushed.get(&name) != Some(&found) {
                    fresh.push((uri, version, found.clone()));
                    project.shown.pushed.insert(name, found);
                }
            }
        }
        for (uri, version, found) in fresh {
            self.push_diagnostics(&uri, version, &found);
        }
    }

    fn push_diagnostics(&self, uri: &Uri, version: Option<i32>, diagnostics: &[Diagnostic]) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let (Some(version), Some(object)) = (version, params.as_object_mut()) {
            object.insert("version".to_owned(), json!(version));
        }
        self.notify("textDocument/publishDiagnostics", params);
    }

    pub(super) fn answer_pull(&self, params: &Value) -> RequestResult {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| RequestError::invalid("`textDocument.uri` is missing"))?;
        let before = params.get("previousResultId").and_then(Value::as_str);
        Ok(self.report_at(&Uri(uri.to_owned()), before))
    }

    /// Returns the report of a file by its URI.
    fn report_at(&self, uri: &Uri, before: Option<&str>) -> Value {
        let open = self
            .workspace
            .document(uri)
            .map(|(project, name, _)| (project, name));
        let of = open.or_else(|| self.workspace.project_of_file(&uri::to_path(uri)?));
        self.file_report(
            of.as_ref().map(|(project, name)| (*project, &**name)),
            before,
        )
    }

    /// Handles the first request for the findings of the whole workspace. From now on nothing is
    /// pushed to the client, and the pushed findings are withdrawn.
    pub(super) fn begin_workspace_pulls(&mut self) {
        if !std::mem::replace(&mut self.pulls_workspace, true) {
            self.workspace
                .projects_mut()
                .for_each(|project| project.shown.is_stale = true);
            self.stale = true;
        }
    }

    pub(super) fn answer_workspace_pull(&self, id: &RequestId, params: &Value) -> RequestResult {
        let before = params.get("previousResultIds").and_then(Value::as_array);
        let word =
            |one: &'_ Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
        let before = before
            .into_iter()
            .flatten()
            .filter_map(|one| Some((word(one, "uri")?, word(one, "value")?)));
        let mut before: BTreeMap<String, String> = before.collect();
        let names = self.workspace.workspace_projects().flat_map(|project| {
            project
                .file_names()
                .into_iter()
                .map(move |name| (project, name))
        });
        let mut items = Vec::new();
        for (project, name) in names.filter(|(project, name)| project.shows_findings(name)) {
            self.check_interrupted(id)?;
            let uri = diagnostics::file_uri(project, &name);
            let mut report =
                self.file_report(Some((project, &name)), before.remove(&uri.0).as_deref());
            if let Some(report) = report.as_object_mut() {
                let version = project.open.get(&name).map(|buffer| buffer.version);
                report.extend([
                    ("uri".to_owned(), json!(uri)),
                    ("version".to_owned(), json!(version)),
                ]);
            }
            items.push(report);
        }
        // Other files for which the client has results no longer exist or are no longer used by a
        // template, so they have no findings.
        for (uri, id) in before {
            let mut report = self.report_at(&Uri(uri.clone()), Some(&id));
            report.as_object_mut().into_iter().for_each(|report| {
                report.extend([
                    ("uri".to_owned(), json!(uri)),
                    ("version".to_owned(), Value::Null),
                ]);
            });
            items.push(report);
        }
        Ok(json!({"items": items}))
    }

    /// Returns the findings of a file, or "unchanged" if the client has them already.
    fn file_report(&self, of: Option<(&ProjectState, &str)>, before: Option<&str>) -> Value {
        let ours = of.filter(|(project, name)| project.shows_findings(name));
        let items = ours
            .map(|(project, name)| diagnostics::for_file(project, &self.client, name))
            .unwrap_or_default();
        let items = json!(items);
        let id = Hash::digest(items.to_string().as_bytes()).to_string();
        if before == Some(id.as_str()) {
            return json!({"kind": "unchanged", "resultId": id});
        }
        json!({"kind": "full", "resultId": id, "items": items})
    }
}
