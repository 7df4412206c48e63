//! Hints at the end of a start tag: the settings that the project file sets, each with a link to
//! its line there. Lenses above definitions: resolved settings, and the token counts of agents once
//! they are known.

use super::commands::COMMAND;
use super::navigate::{self, Place};
use super::provenance;
use crate::lsp::prelude::*;
use crate::lsp::server::MOST;
use crate::lsp::tokens::docs as token_docs;
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{InlayHintParams, Range};
use std::collections::BTreeMap;

/// Answers `textDocument/inlayHint`.
pub(in crate::lsp) fn inlay(server: &Server<'_>, params: &InlayHintParams) -> Answer {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let wanted = server
        .client
        .encoding
        .span(&buffer.text, &buffer.index, params.range);
    let config = &project.config;
    if buffer.is_large() {
        return value([(); 0]);
    }
    let mut hints: Vec<Value> = Vec::new();
    let mut places: BTreeMap<Place, Value> = BTreeMap::new();
    place::resolved(&buffer.text, config, |file, bodies| {
        nodes::bodies(file, |task, _| {
            let at = task.element.start_tag().end;
            let Some(body) = bodies
                .get(task)
                .filter(|_| wanted.start <= at && at <= wanted.end && hints.len() <= MOST)
            else {
                return;
            };
            let mut label: Vec<Value> = Vec::new();
            for (name, place) in provenance::of_project(config, body) {
                let comma = if label.is_empty() { "" } else { ", " };
                let value = format!(
                    "{comma}{} {}",
                    name.word(),
                    body.resolved.get(name).value.word()
                );
                let location = places
                    .entry(place)
                    .or_insert_with_key(|place| navigate::location(server, project, place))
                    .clone();
                label.push(json!({"value": value, "tooltip": provenance::brief(config, body, name), "location": location}));
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
    server.cut(&mut hints, project, &name, "hints");
    value(hints)
}

impl Server<'_> {
    /// Starts counting the tasks of a document for its lenses.
    pub(in crate::lsp) fn want(&mut self, uri: &gen_lsp_types::Uri) {
        let is_told = self.client.refreshes.lenses;
        if let Some((project, name, _)) = self.workspace.document(uri) {
            self.token_counts.want(project, &name, is_told);
        }
    }
}

/// Answers `textDocument/codeLens`: the resolved settings of each definition, and the token counts
/// of its agents.
pub(in crate::lsp) fn lenses(
    server: &Server<'_>,
    params: &gen_lsp_types::CodeLensParams,
) -> Answer {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let config = &project.config;
    if buffer.is_large() {
        return value([(); 0]);
    }
    let (mut lenses, mut counted): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    place::resolved(&buffer.text, config, |file, bodies| {
        let known = server
            .token_counts
            .of(&(project.root.clone(), Arc::clone(&name)));
        let names = token_docs::names(project, &name);
        for (at, definition) in file.definitions.iter().enumerate().take(MOST + 1) {
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
                .map(|name| format!("{}: {}", name.word(), body.resolved.get(name).value.word()))
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
            if let Some((task, title)) =
                figures.and_then(|(name, entries)| Some((name, token_docs::brief(entries)?)))
            {
                let arguments = json!([{"uri": params.text_document.uri, "task": task}]);
                counted.push(json!({"range": range, "command": {"title": title, "command": COMMAND, "arguments": arguments}}));
            }
        }
    });
    server.cut(&mut lenses, project, &name, "lenses");
    lenses.append(&mut counted);
    value(lenses)
}
