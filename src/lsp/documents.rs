//! Documents that come, change and go, files that change behind them, and the diagnostics that follow: pushed when nothing
//! waits any more, or handed out where the client asks itself.

use super::buffer::Buffer;
use super::server::{Answer, Refusal, Server};
use super::world::World;
use super::worlds::{self, Shown};
use super::{client, diagnostics, uri};
use crate::base::hash::Hash;
use gen_lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    LanguageKind, Uri,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

impl Server<'_> {
    /// Files may have changed: they are looked at before anything is answered, unless the client watches them.
    pub(super) fn doubt(&mut self) {
        for world in self.worlds.all_mut().filter(|world| !world.is_watched) {
            world.doubt();
            self.stale = true;
        }
    }

    pub(super) fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.doubt();
        let mut buffer = Buffer::new(document.uri, document.version, document.text);
        buffer.is_xml = document.language_id == LanguageKind::XML;
        self.opened.push(buffer.uri.clone());
        self.worlds.open(buffer);
        self.stale = true;
    }

    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        // A document that was never opened cannot be changed.
        let Some((world, name)) = self.worlds.document_mut(&document.text_document_identifier.uri) else { return };
        let Some(buffer) = Arc::make_mut(&mut world.open).get_mut(&name) else { return };
        Arc::make_mut(buffer).apply(params.content_changes, document.version, self.client.encoding);
        world.touch(&name);
        world.edited.insert(name);
        self.stale = true;
    }

    pub(super) fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let uri = &params.text_document.uri;
        if let Some((world, name, _)) = self.worlds.document(uri) {
            self.figures.forget(&(world.root.clone(), name));
        }
        let Some(shown) = self.worlds.close(uri) else { return };
        self.stale = true;
        if shown == Shown::Pushed {
            self.push(uri, None, &[]);
        }
    }

    pub(super) fn change_folders(&mut self, params: &Value) {
        let list = |name: &str| params.pointer(&format!("/event/{name}")).map(client::folders).unwrap_or_default();
        self.worlds.change_folders(&list("removed"), list("added"));
        self.watch();
        self.stale = true;
    }

    pub(super) fn changed(&mut self, params: &DidChangeWatchedFilesParams) {
        let paths: Vec<PathBuf> = params.changes.iter().filter_map(|event| uri::path(&event.uri)).collect();
        if paths.iter().any(|path| worlds::is_project(path)) && self.worlds.is_stale() {
            self.worlds.rehome();
        }
        for path in &paths {
            self.worlds.changed(path);
        }
        self.stale = true;
    }

    /// Nothing waits: what changed is shown, or the client told to ask.
    pub(super) fn rest(&mut self) {
        self.look_when_due();
        if !std::mem::take(&mut self.stale) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| self.worlds.settle())).is_err() {
            self.say("a bug in ctxc: this text could not be checked");
            return;
        }
        if !self.client.pulls {
            self.push_all();
        }
        self.refresh();
        for uri in std::mem::take(&mut self.opened) {
            self.want(&uri);
        }
    }

    fn push_all(&mut self) {
        let mut fresh: Vec<(Uri, Option<i32>, Vec<Diagnostic>)> = Vec::new();
        for world in self.worlds.all_mut().filter(|world| world.unshown) {
            world.unshown = false;
            let names: Vec<Arc<str>> = world.open.keys().filter(|name| world.is_ours(name)).cloned().collect();
            for name in names {
                let Some(buffer) = world.open.get(&name) else { continue };
                let (uri, version) = (buffer.uri.clone(), buffer.version);
                let found = catch_unwind(AssertUnwindSafe(|| diagnostics::of(world, &self.client, &name)));
                let Ok(found) = found else { continue };
                if world.pushed.get(&name) != Some(&found) {
                    fresh.push((uri, Some(version), found.clone()));
                    world.pushed.insert(name, found);
                }
            }
        }
        for (uri, version, found) in fresh {
            self.push(&uri, version, &found);
        }
    }

    fn push(&self, uri: &Uri, version: Option<i32>, diagnostics: &[Diagnostic]) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let (Some(version), Some(object)) = (version, params.as_object_mut()) {
            object.insert("version".to_owned(), json!(version));
        }
        self.notify("textDocument/publishDiagnostics", params);
    }

    pub(super) fn pull(&self, params: &Value) -> Answer {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| Refusal::invalid("`textDocument.uri` is missing"))?;
        let uri = Uri(uri.to_owned());
        let before = params.get("previousResultId").and_then(Value::as_str);
        let open = self.worlds.document(&uri).map(|(world, name, _)| (world, name));
        let of = open.or_else(|| self.worlds.file(&uri::path(&uri)?));
        Ok(self.report(of.as_ref().map(|(world, name)| (*world, &**name)), before))
    }

    pub(super) fn pull_all(&self, params: &Value) -> Value {
        let before = params.get("previousResultIds").and_then(Value::as_array);
        let word = |one: &'_ Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
        let before = before.into_iter().flatten().filter_map(|one| Some((word(one, "uri")?, word(one, "value")?)));
        let before: BTreeMap<String, String> = before.collect();
        let names = self.worlds.of_workspace().flat_map(|world| world.names().into_iter().map(move |name| (world, name)));
        let items = names.filter(|(world, name)| world.is_ours(name)).map(|(world, name)| {
            let uri = diagnostics::address(world, &name);
            let mut report = self.report(Some((world, &name)), before.get(&uri.0).map(String::as_str));
            if let Some(report) = report.as_object_mut() {
                let version = world.open.get(&name).map(|buffer| buffer.version);
                report.extend([("uri".to_owned(), json!(uri)), ("version".to_owned(), json!(version))]);
            }
            report
        });
        json!({"items": items.collect::<Vec<_>>()})
    }

    /// The findings of a file, or that they are those the client has.
    fn report(&self, of: Option<(&World, &str)>, before: Option<&str>) -> Value {
        let ours = of.filter(|(world, name)| world.is_ours(name));
        let items = ours.map(|(world, name)| diagnostics::of(world, &self.client, name)).unwrap_or_default();
        let items = json!(items);
        let id = Hash::of(items.to_string().as_bytes()).to_string();
        if before == Some(id.as_str()) {
            return json!({"kind": "unchanged", "resultId": id});
        }
        json!({"kind": "full", "resultId": id, "items": items})
    }
}
