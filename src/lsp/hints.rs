//! Hints at the end of a start tag: the resolved value of each setting that is not written, and where it comes from.

use super::place;
use super::provenance;
use super::server::{Answer, Server, value};
use super::symbols::MOST;
use crate::settings::bodies::Bodies;
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use crate::template::{self};
use gen_lsp_types::{InlayHintParams, Range};
use serde_json::{Value, json};

/// Answers `textDocument/inlayHint`.
pub(super) fn inlay(server: &Server<'_>, params: &InlayHintParams) -> Answer {
    let (world, name, buffer) = server.document(&params.text_document.uri)?;
    let wanted = server.client.encoding.span(&buffer.text, &buffer.index, params.range);
    let config = &world.config;
    if buffer.is_large() {
        return value([(); 0]);
    }
    let mut hints: Vec<Value> = Vec::new();
    place::with(&buffer.text, &config.limits, |document| {
        let file = template::lower(document);
        let mut bodies = Bodies::default();
        bodies.resolve(&file, &config.layers);
        nodes::bodies(&file, |task, _| {
            let at = task.element.start_tag().end;
            let Some(body) = bodies.get(task).filter(|_| wanted.start <= at && at <= wanted.end && hints.len() <= MOST) else {
                return;
            };
            let written = task.written();
            let unwritten = SettingName::ALL.iter().copied().filter(|name| written.span(*name).is_none());
            let unwritten: Vec<SettingName> = unwritten.filter(|name| body.resolved.get(*name).applies).collect();
            if unwritten.is_empty() {
                return;
            }
            let label: Vec<String> =
                unwritten.iter().map(|name| format!("{} {}", name.word(), body.resolved.get(*name).value.word())).collect();
            let why: Vec<String> = unwritten.iter().map(|name| provenance::brief(config, body, *name)).collect();
            hints.push(json!({
                "position": server.client.encoding.position(&buffer.text, &buffer.index, at),
                "label": label.join(", "),
                "tooltip": why.join("\n"),
                "paddingLeft": true,
            }));
        });
    });
    if hints.len() > MOST {
        hints.truncate(MOST);
        server.say_cut(world, &name, "hints");
    }
    value(hints)
}

/// Answers `textDocument/codeLens`: the resolved settings of each definition above it.
pub(super) fn lenses(server: &Server<'_>, params: &gen_lsp_types::CodeLensParams) -> Answer {
    let (world, name, buffer) = server.document(&params.text_document.uri)?;
    let config = &world.config;
    if buffer.is_large() {
        return value([(); 0]);
    }
    let mut lenses: Vec<Value> = Vec::new();
    place::with(&buffer.text, &config.limits, |document| {
        let file = template::lower(document);
        let mut bodies = Bodies::default();
        bodies.resolve(&file, &config.layers);
        for task in file.definitions.iter().filter_map(template::model::Definition::task).take(MOST + 1) {
            let Some(body) = bodies.get(task) else { continue };
            let words = SettingName::ALL.iter().copied().filter(|name| body.resolved.get(*name).applies);
            let words: Vec<String> =
                words.map(|name| format!("{}: {}", name.word(), body.resolved.get(name).value.word())).collect();
            let range: Range = server.client.encoding.range(&buffer.text, &buffer.index, task.element.name_span());
            lenses.push(json!({"range": range, "command": {"title": words.join(" · "), "command": ""}}));
        }
    });
    if lenses.len() > MOST {
        lenses.truncate(MOST);
        server.say_cut(world, &name, "lenses");
    }
    value(lenses)
}
