//! Hints at the end of a start tag: the settings that the project file sets, each with a link to
//! its line there. Lenses above definitions: resolved settings, and the token counts of agents once
//! they are known.

use super::commands::RENDER_COMMAND;
use super::navigate::{self, FilePlace};
use super::provenance;
use crate::lsp::prelude::*;
use crate::lsp::server::MAX_ITEMS;
use crate::lsp::tokens::docs as token_docs;
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{InlayHintParams, Range};
use std::collections::BTreeMap;

/// Answers `textDocument/inlayHint`.
pub(in crate::lsp) fn answer_hints(
    server: &LspServer<'_>,
    params: &InlayHintParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let wanted = server
        .client
        .encoding
        .span(&buffer.text, &buffer.index, params.range);
    let config = &project.config;
    if buffer.is_large() {
        return to_answer([(); 0]);
    }
    let mut hints: Vec<Value> = Vec::new();
    let mut places: BTreeMap<FilePlace, Value> = BTreeMap::new();
    place::with_resolved(&buffer.text, config, |file, bodies| {
        nodes::visit_bodies(file, |task, _| {
            let at = task.element.start_tag().end;
            let Some(body) = bodies
                .get(task)
                .filter(|_| wanted.start <= at && at <= wanted.end && hints.len() <= MAX_ITEMS)
            else {
                return;
            };
            let mut label: Vec<Value> = Vec::new();
            for (name, place) in provenance::project_settings(config, body) {
                let comma = if label.is_empty() { "" } else { ", " };
                let value = format!(
                    "{comma}{} {}",
                    name.word(),
                    body.resolved.get(name).value.as_str()
                );
                let location = places
                    .entry(place)
                    .or_insert_with_key(|place| navigate::to_location(server, project, place))
                    .clone();
                label.push(json!({"value": value, "tooltip": provenance::setting_line(config, body, name), "location": location}));
            }
            if !label.is_empty() {
                let position = server
                    .client
                    .encoding
                    .position(&buffer.text, &buffer.index, at);
                hints.push(json!({"position": position, "label": label, "paddingLeft": true}));
            }
        });
    });
    server.truncate_answer(&mut hints, project, &name, "hints");
    to_answer(hints)
}

impl LspServer<'_> {
    /// Starts counting the tasks of a document for its lenses.
    pub(in crate::lsp) fn request_counts(&mut self, uri: &gen_lsp_types::Uri) {
        let has_refresh = self.client.refreshes.lenses;
        if let Some((project, name, _)) = self.workspace.document(uri) {
            self.token_counts
                .request_counts(project, &name, has_refresh);
        }
    }
}

/// Answers `textDocument/codeLens`: the resolved settings of each definition, and the token counts
/// of its agents.
pub(in crate::lsp) fn answer_lenses(
    server: &LspServer<'_>,
    params: &gen_lsp_types::CodeLensParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let config = &project.config;
    if buffer.is_large() {
        return to_answer([(); 0]);
    }
    let (mut lenses, mut counted): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    place::with_resolved(&buffer.text, config, |file, bodies| {
        let known = server
            .token_counts
            .counts_of(&(project.root.clone(), Arc::clone(&name)));
        let names = token_docs::definition_names(project, &name);
        for (at, definition) in file.definitions.iter().enumerate().take(MAX_ITEMS + 1) {
            let Some((task, body)) = definition
                .task()
                .and_then(|task| Some((task, bodies.get(task)?)))
            else {
                continue;
            };
            let words = SettingName::ALL
                .iter()
                .copied()
                .filter(|name| body.resolved.get(*name).applies);
            let words: Vec<String> = words
                .map(|name| {
                    format!(
                        "{}: {}",
                        name.word(),
                        body.resolved.get(name).value.as_str()
                    )
                })
                .collect();
            let range: Range =
                server
                    .client
                    .encoding
                    .range(&buffer.text, &buffer.index, task.element.name_span());
            lenses.push(
                json!({"range": range, "command": {"title": words.join(" · "), "command": ""}}),
            );
            let figures = known
                .as_ref()
                .zip(names.get(at))
                .and_then(|(known, name)| Some((name, known.tasks.get(name)?)));
            if let Some((task, title)) = figures
                .and_then(|(name, entries)| Some((name, token_docs::summarize_entries(entries)?)))
            {
                let arguments = json!([{"uri": params.text_document.uri, "task": task}]);
                counted.push(json!({"range": range, "command": {"title": title, "command": RENDER_COMMAND, "arguments": arguments}}));
            }
        }
    });
    server.truncate_answer(&mut lenses, project, &name, "lenses");
    lenses.append(&mut counted);
    to_answer(lenses)
}
