//! Code actions: the fixes of findings, and one action for all safe fixes.

use crate::base::diagnostic::Diagnostic as Finding;
use crate::base::fix::Applicability;
use crate::base::lines;
use crate::lsp::diagnostics::{self, file_uri, ranges_touch};
use crate::lsp::prelude::*;
use crate::lsp::state::speculative;
use crate::lsp::{quick_fixes, workspace_edit};
use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionParams, TextEdit, Uri, WorkspaceEdit};
use lsp_server::RequestId;
use std::collections::BTreeMap;

/// The kind of the action that applies every safe fix.
const FIX_ALL: &str = "source.fixAll.ctxc";

/// The maximum number of findings whose fixes are offered at once.
const MAX_FINDINGS: usize = 100;

/// Answers `textDocument/codeAction`.
pub(in crate::lsp) fn answer(
    server: &LspServer<'_>,
    id: &RequestId,
    params: &CodeActionParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let only = params.context.only.as_deref();
    let mut actions = Vec::new();
    if accepts_kind(only, "quickfix") {
        let found = project.findings(&name);
        let shown = diagnostics::for_file(project, &server.client, &name);
        // The diagnostics may begin with one about a large file.
        let shown = shown.into_iter().rev().take(found.len()).rev();
        let near = found
            .iter()
            .zip(shown)
            .filter(|(_, shown)| ranges_touch(shown.range, params.range));
        let (near, shown): (Vec<&Finding>, Vec<_>) = near.take(MAX_FINDINGS).unzip();
        server.check_interrupted(id)?;
        let own = quick_fixes::for_findings(project, &name, &buffer.text, &near);
        let mut own = own.into_iter();
        for (finding, diagnostic) in near.into_iter().zip(shown) {
            // Callers must supply an additional parameter, so these fixes are not preferred.
            let asks_others =
                ["undeclared-variable", "optional-without-default"].contains(&finding.rule.name);
            let is_only = finding.fixes.len() == 1 && !asks_others;
            for (at, fix) in finding.fixes.iter().enumerate() {
                let edits =
                    server
                        .client
                        .encoding
                        .text_edits(&buffer.text, &buffer.index, &fix.edits);
                actions.push(CodeAction {
                    title: fix.title.to_string(),
                    kind: Some(CodeActionKind::QuickFix),
                    diagnostics: Some(vec![diagnostic.clone()]),
                    is_preferred: Some(
                        at == 0 && (fix.applicability == Applicability::Safe || is_only),
                    ),
                    edit: Some(file_edit(server, project, &name, edits)),
                    ..CodeAction::default()
                });
            }
            let own = own.next().unwrap_or_default().into_iter();
            let own = own.filter(|fix| fix.creates.is_none() || server.client.creates_files);
            actions.extend(own.map(|fix| {
                let edit = match fix.creates {
                    Some((file, text)) => workspace_edit::create_file_edit(project, &file, text),
                    None => file_edit(
                        server,
                        project,
                        &name,
                        server
                            .client
                            .encoding
                            .text_edits(&buffer.text, &buffer.index, &fix.edits),
                    ),
                };
                let diagnostics = Some(vec![diagnostic.clone()]);
                let kind = Some(CodeActionKind::QuickFix);
                CodeAction {
                    title: fix.title,
                    kind,
                    diagnostics,
                    edit: Some(edit),
                    ..CodeAction::default()
                }
            }));
        }
    }
    if accepts_kind(only, FIX_ALL) {
        actions.extend(fix_all_action(server, project, &name, only));
    }
    to_answer(actions)
}

/// Answers `codeAction/resolve`: adds the edits to an action that was offered without them.
pub(in crate::lsp) fn answer_resolve(server: &LspServer<'_>, mut params: Value) -> RequestResult {
    let uri = params
        .pointer("/data/uri")
        .and_then(Value::as_str)
        .map(|uri| Uri(uri.to_owned()));
    let uri = uri.ok_or_else(|| {
        RequestError::invalid("this action was not offered by ctxc: `data.uri` is missing")
    })?;
    let (project, name, _) = server.document(&uri)?;
    let edit = file_edit(
        server,
        project,
        &name,
        fix_all_edits(server, project, &name),
    );
    if let Some(action) = params.as_object_mut() {
        action.insert("edit".to_owned(), json!(edit));
    }
    Ok(params)
}

/// Returns true if the client accepts actions of a kind.
fn accepts_kind(only: Option<&[CodeActionKind]>, kind: &str) -> bool {
    let fits = |only: &CodeActionKind| {
        let only = json!(only);
        let only = only.as_str().unwrap_or("");
        only.is_empty()
            || kind == only
            || kind
                .strip_prefix(only)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    only.is_none_or(|only| only.iter().any(fits))
}

/// Returns the action that applies every safe fix, or `None` if there is nothing to fix. If the
/// client can resolve edits, they are computed only when the action is chosen, since most offers
/// are not.
fn fix_all_action(
    server: &LspServer<'_>,
    project: &ProjectState,
    name: &Arc<str>,
    only: Option<&[CodeActionKind]>,
) -> Option<CodeAction> {
    let action = CodeAction {
        title: "apply every safe fix of ctxc".to_owned(),
        kind: Some(CodeActionKind::Custom(FIX_ALL.into())),
        ..CodeAction::default()
    };
    if only.is_none() && server.client.resolves_edits {
        let uri = file_uri(project, name);
        return speculative::is_fixable(project, name).then(|| CodeAction {
            data: Some(json!({"uri": uri})),
            ..action
        });
    }
    let edits = fix_all_edits(server, project, name);
    (!edits.is_empty()).then(|| CodeAction {
        edit: Some(file_edit(server, project, name, edits)),
        ..action
    })
}

/// Returns the edits of all safe fixes together.
fn fix_all_edits(server: &LspServer<'_>, project: &ProjectState, name: &Arc<str>) -> Vec<TextEdit> {
    let Some(buffer) = project.open.get(name) else {
        return Vec::new();
    };
    let Some(after) = speculative::fixed_text(project, name, &buffer.text) else {
        return Vec::new();
    };
    server.client.encoding.text_edits(
        &buffer.text,
        &buffer.index,
        &lines::diff_edits(&buffer.text, &after),
    )
}

fn file_edit(
    server: &LspServer<'_>,
    project: &ProjectState,
    name: &Arc<str>,
    edits: Vec<TextEdit>,
) -> WorkspaceEdit {
    workspace_edit::file_edits(
        &server.client,
        project,
        BTreeMap::from([(Arc::clone(name), edits)]),
    )
}
