//! Documents that come, change and go, files that change behind them, and the diagnostics that follow: pushed when nothing
//! waits any more, or handed out where the client asks itself.

use super::buffer::Buffer;
use super::server::{Answer, Refusal, Server};
use super::{diagnostics, uri};
use crate::base::hash::Hash;
use gen_lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    Uri,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Server<'_> {
    /// Files may have changed: they are looked at before anything is answered, unless the client watches them.
    pub(super) fn doubt(&mut self) {
        if self.looks.are_ours() {
            self.world.doubt();
            self.stale = true;
        }
    }

    pub(super) fn name(&self, uri: &Uri) -> Arc<str> {
        // What is no file has its address for a name.
        uri::path(uri).map_or_else(|| Arc::from(uri.0.as_str()), |path| self.world.name(&path))
    }

    pub(super) fn open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let name = self.name(&document.uri);
        self.doubt();
        self.edited.insert(Arc::clone(&name));
        self.world.put(&name, Buffer::new(document.uri, document.version, document.text));
        self.stale = true;
    }

    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let name = self.name(&document.text_document_identifier.uri);
        // A document that was never opened cannot be changed.
        let Some(buffer) = self.world.open.get_mut(&name) else { return };
        buffer.apply(params.content_changes, document.version, self.client.encoding);
        self.world.touch(&name);
        self.edited.insert(name);
        self.stale = true;
    }

    pub(super) fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let name = self.name(&params.text_document.uri);
        let Some(buffer) = self.world.close(&name) else { return };
        self.said.borrow_mut().retain(|(of, _)| *of != name);
        self.stale = true;
        self.edited.insert(Arc::clone(&name));
        if self.pushed.remove(&name).is_some() {
            self.push(&buffer.uri, None, &[]);
        }
    }

    pub(super) fn changed(&mut self, params: DidChangeWatchedFilesParams) {
        for event in params.changes {
            let name = self.name(&event.uri);
            // What is open counts as the editor has it.
            if !self.world.open.contains_key(&name) {
                self.world.touch(&name);
            }
        }
        self.world.rewalk();
        self.stale = true;
    }

    /// Nothing waits: what changed is shown, or the client told to ask.
    pub(super) fn rest(&mut self) {
        self.look_when_due();
        if !std::mem::take(&mut self.stale) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| self.world.settle())).is_err() {
            self.say("a bug in ctxc: this text could not be checked");
            return;
        }
        if !self.client.pulls {
            self.push_all();
        }
        self.refresh();
    }

    fn push_all(&mut self) {
        let names: Vec<Arc<str>> = self.world.open.keys().filter(|name| self.world.is_ours(name)).cloned().collect();
        for name in names {
            let Some(buffer) = self.world.open.get(&name) else { continue };
            let (uri, version) = (buffer.uri.clone(), buffer.version);
            let found = catch_unwind(AssertUnwindSafe(|| diagnostics::of(&self.world, &self.client, &name)));
            let Ok(found) = found else { continue };
            if self.pushed.get(&name) != Some(&found) {
                self.push(&uri, Some(version), &found);
                self.pushed.insert(name, found);
            }
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
        let name = self.name(&Uri(uri.to_owned()));
        let before = params.get("previousResultId").and_then(Value::as_str);
        Ok(self.report(&name, before))
    }

    pub(super) fn pull_all(&self, params: &Value) -> Value {
        let before = params.get("previousResultIds").and_then(Value::as_array);
        let word = |one: &'_ Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
        let before = before.into_iter().flatten().filter_map(|one| Some((word(one, "uri")?, word(one, "value")?)));
        let before: BTreeMap<String, String> = before.collect();
        let names = self.world.names();
        let names = names.iter().filter(|name| self.world.is_ours(name));
        let items = names.map(|name| {
            let uri = diagnostics::address(&self.world, name);
            let mut report = self.report(name, before.get(&uri.0).map(String::as_str));
            if let Some(report) = report.as_object_mut() {
                let version = self.world.open.get(name).map(|buffer| buffer.version);
                report.extend([("uri".to_owned(), json!(uri)), ("version".to_owned(), json!(version))]);
            }
            report
        });
        json!({"items": items.collect::<Vec<_>>()})
    }

    /// The findings of a file, or that they are those the client has.
    fn report(&self, name: &str, before: Option<&str>) -> Value {
        let known = self.world.is_ours(name);
        let items = if known { diagnostics::of(&self.world, &self.client, name) } else { Vec::new() };
        let items = json!(items);
        let id = Hash::of(items.to_string().as_bytes()).to_string();
        if before == Some(id.as_str()) {
            return json!({"kind": "unchanged", "resultId": id});
        }
        json!({"kind": "full", "resultId": id, "items": items})
    }
}
