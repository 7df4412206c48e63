//! Which definitions use a task, template or fragment, and which ones it uses.

use super::diagnostics::address;
use super::features::{navigate, symbols};
use super::server::{Answer, Refusal, Server, value};
use super::state::project::ProjectState;
use super::uri;
use crate::base::span::Span;
use crate::project::index::{DefId, Index};
use crate::template::names::DefinitionKind;
use gen_lsp_types::{TextDocumentPositionParams, Uri};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Definitions, each with the places that name it or that it names.
type Calls = BTreeMap<DefId, Vec<Span>>;

/// Answers `textDocument/prepareCallHierarchy`.
pub(super) fn prepare(server: &Server<'_>, params: &TextDocumentPositionParams) -> Answer {
    let (project, ..) = server.document(&params.text_document.uri)?;
    let Some(symbol) = navigate::symbol_at(server, params)? else { return Ok(Value::Null) };
    let index = project.index();
    let found = index.find(symbol.kind, &symbol.name).and_then(|id| item(server, project, &index, id));
    Ok(found.map_or(Value::Null, |found| json!([found])))
}

/// Answers `callHierarchy/incomingCalls`.
pub(super) fn incoming(server: &Server<'_>, params: &Value) -> Answer {
    let project = project_of(server, params)?;
    let index = project.index();
    let Some(called) = definition(&index, params) else { return Ok(Value::Null) };
    let mut calls = Calls::new();
    for (id, _, reference) in index.references().filter(|(_, _, reference)| index.target(reference) == Some(called)) {
        calls.entry(DefId { file: id.file, definition: reference.owner }).or_default().push(reference.span);
    }
    value(
        calls
            .iter()
            .filter_map(|(caller, places)| {
                let from = item(server, project, &index, *caller)?;
                Some(json!({"from": from, "fromRanges": ranges(server, project, &index, *caller, places)}))
            })
            .collect::<Vec<_>>(),
    )
}

/// Answers `callHierarchy/outgoingCalls`.
pub(super) fn outgoing(server: &Server<'_>, params: &Value) -> Answer {
    let project = project_of(server, params)?;
    let index = project.index();
    let Some(caller) = definition(&index, params) else { return Ok(Value::Null) };
    let mut calls = Calls::new();
    for reference in index.references_of(caller) {
        if let Some(called) = index.target(reference) {
            calls.entry(called).or_default().push(reference.span);
        }
    }
    value(
        calls
            .iter()
            .filter_map(|(called, places)| {
                let to = item(server, project, &index, *called)?;
                Some(json!({"to": to, "fromRanges": ranges(server, project, &index, caller, places)}))
            })
            .collect::<Vec<_>>(),
    )
}

/// The project of an item that was handed out.
fn project_of<'s>(server: &'s Server<'_>, params: &Value) -> Result<&'s ProjectState, Refusal> {
    let uri = params.pointer("/item/uri").and_then(Value::as_str).map(|uri| Uri(uri.to_owned()));
    let open = |uri: &Uri| server.workspace.document(uri).map(|(project, ..)| project);
    let closed = |uri: &Uri| server.workspace.file(&uri::path(uri)?).map(|(project, _)| project);
    let found = uri.and_then(|uri| open(&uri).or_else(|| closed(&uri)));
    found.ok_or_else(|| Refusal::invalid("`item.uri` is no file of a project"))
}

/// The definition that an item stands for; `None` where it is gone.
fn definition(index: &Index<'_>, params: &Value) -> Option<DefId> {
    let word = |key: &str| params.pointer(key).and_then(Value::as_str);
    let kinds = [DefinitionKind::Task, DefinitionKind::Template, DefinitionKind::Fragment];
    let kind = kinds.into_iter().find(|kind| Some(kind.word()) == word("/item/data"))?;
    index.find(kind, word("/item/name")?)
}

fn item(server: &Server<'_>, project: &ProjectState, index: &Index<'_>, id: DefId) -> Option<Value> {
    let (file, definition) = (index.file(id.file)?.path, index.definition(id)?);
    let range = ranges(server, project, index, id, &[definition.span]).pop()?;
    Some(json!({
        "name": definition.name, "kind": symbols::kind(definition.kind), "detail": **file, "uri": address(project, file),
        "range": range, "selectionRange": range, "data": definition.kind.word(),
    }))
}

/// Places in the file of a definition.
fn ranges(server: &Server<'_>, project: &ProjectState, index: &Index<'_>, id: DefId, places: &[Span]) -> Vec<Value> {
    let text = index.file(id.file).and_then(|file| project.text(file.path));
    let (text, lines) = text.unwrap_or_default();
    places.iter().map(|place| json!(server.client.encoding.range(&text, &lines, *place))).collect()
}
