//! The ways out of findings, as edits to choose from; and all safe ones at once.

use super::diagnostics::{self, address, meet};
use super::server::{Answer, Server, value};
use crate::base::fix::{Applicability, Edit, Fix};
use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, TextEdit, WorkspaceEdit};
use serde_json::json;
use std::collections::HashMap;

/// The kind of the action that applies every safe fix.
const FIX_ALL: &str = "source.fixAll.ctxc";

/// Answers `textDocument/codeAction`.
pub(super) fn answer(server: &Server<'_>, params: &CodeActionParams) -> Answer {
    let (name, buffer) = server.document(&params.text_document.uri)?;
    let wanted = |kind: &str| {
        let only = params.context.only.as_ref();
        let fits = |only: &CodeActionKind| {
            let only = json!(only);
            let only = only.as_str().unwrap_or("");
            only.is_empty() || kind == only || kind.strip_prefix(only).is_some_and(|rest| rest.starts_with('.'))
        };
        only.is_none_or(|only| only.iter().any(fits))
    };
    let edits_of = |edits: &[Edit]| -> Vec<TextEdit> {
        let edit = |edit: &Edit| TextEdit {
            range: server.client.encoding.range(&buffer.text, &buffer.index, edit.span),
            new_text: edit.insert.clone(),
        };
        edits.iter().map(edit).collect()
    };
    let change = |edits: Vec<TextEdit>| WorkspaceEdit {
        changes: Some(HashMap::from([(address(&server.world, &name), edits)])),
        ..WorkspaceEdit::default()
    };
    let found = server.world.found(&name);
    let mut actions = Vec::new();
    if wanted("quickfix") {
        let shown = diagnostics::of(&server.world, &server.client, &name);
        for (finding, diagnostic) in found.iter().zip(shown) {
            if !meet(diagnostic.range, params.range) {
                continue;
            }
            for (at, fix) in finding.fixes.iter().enumerate() {
                actions.push(CodeAction {
                    title: fix.title.to_string(),
                    kind: Some(CodeActionKind::QuickFix),
                    diagnostics: Some(vec![diagnostic.clone()]),
                    is_preferred: Some(at == 0 && (fix.applicability == Applicability::Safe || finding.fixes.len() == 1)),
                    edit: Some(change(edits_of(&fix.edits))),
                    ..CodeAction::default()
                });
            }
        }
    }
    let safe =
        together(found.iter().filter_map(|finding| finding.fixes.iter().find(|fix| fix.applicability == Applicability::Safe)));
    if wanted(FIX_ALL) && !safe.is_empty() {
        actions.push(CodeAction {
            title: "apply every safe fix of ctxc".to_owned(),
            kind: Some(CodeActionKind::Custom(FIX_ALL.into())),
            edit: Some(change(edits_of(&safe))),
            ..CodeAction::default()
        });
    }
    value(actions)
}

/// The edits of as many fixes as do not touch each other, in the order of their places.
fn together<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<Edit> {
    let mut taken: Vec<Edit> = Vec::new();
    for fix in fixes {
        let touches = |edit: &Edit| {
            taken.iter().any(|other| edit.span.start <= other.span.end && other.span.start <= edit.span.end && edit != other)
        };
        if !fix.edits.iter().any(touches) {
            taken.extend(fix.edits.iter().filter(|edit| !taken.contains(edit)).cloned().collect::<Vec<_>>());
        }
    }
    taken.sort();
    taken
}
