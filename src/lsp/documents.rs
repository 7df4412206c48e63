//! Documents that come, change and go, files that change behind them, and the diagnostics that follow: pushed when nothing
//! waits any more, or handed out where the client asks itself.

use super::buffer::Buffer;
use super::server::{Answer, Refusal, Server};
use super::world::{LARGE, PROJECT, is_template};
use super::{diagnostics, uri};
use gen_lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    Uri,
};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Server<'_> {
    pub(super) fn watch(&mut self) {
        if self.client.watches {
            let watchers = ["**/*.xml", "**/ctxc.toml", "**/*.md", "**/*.txt", "**/*.toml", "**/*.json", "**/.gitignore"];
            let watchers: Vec<Value> = watchers.iter().map(|glob| json!({"globPattern": glob})).collect();
            let registration =
                json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": {"watchers": watchers}});
            self.ask("client/registerCapability", json!({"registrations": [registration]}));
        }
    }

    /// Where the client watches nothing, files are looked at when it saves or opens one.
    pub(super) fn look_again(&mut self) {
        if !self.client.watches {
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
        if document.text.len() > LARGE {
            self.say(&format!("{name} is larger than 5 MB: only its structure is checked"));
        }
        self.look_again();
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
        self.stale = true;
    }

    pub(super) fn close(&mut self, params: &DidCloseTextDocumentParams) {
        let name = self.name(&params.text_document.uri);
        let Some(buffer) = self.world.close(&name) else { return };
        self.stale = true;
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
        if self.client.pulls && self.client.refreshes {
            self.ask("workspace/diagnostic/refresh", Value::Null);
        }
    }

    /// Nothing waits: what changed is shown.
    pub(super) fn rest(&mut self) {
        if self.client.pulls || !std::mem::take(&mut self.stale) {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| self.world.settle())).is_err() {
            self.say("a bug in ctxc: this text could not be checked");
            return;
        }
        let names: Vec<Arc<str>> =
            self.world.open.keys().filter(|name| is_template(name) || ***name == *PROJECT).cloned().collect();
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
        let known = is_template(&name) || *name == *PROJECT;
        let items = if known { diagnostics::of(&self.world, &self.client, &name) } else { Vec::new() };
        Ok(json!({"kind": "full", "items": items}))
    }

    pub(super) fn pull_all(&self) -> Value {
        let names = self.world.names();
        let names = names.iter().filter(|name| is_template(name) || ***name == *PROJECT);
        let items: Vec<Value> = names
            .map(|name| {
                let version = self.world.open.get(name).map(|buffer| buffer.version);
                let uri = diagnostics::address(&self.world, name);
                json!({"kind": "full", "uri": uri, "version": version, "items": diagnostics::of(&self.world, &self.client, name)})
            })
            .collect();
        json!({"items": items})
    }
}
