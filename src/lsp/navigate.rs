//! From a name to where it is defined, to everything that uses it, and to another name.

use super::diagnostics::address;
use super::server::{Answer, Refusal, Server, value};
use super::world::World;
use crate::base::span::Span;
use crate::project::index::DefId;
use crate::template::names::DefinitionKind;
use gen_lsp_types::{DefinitionParams, ReferenceParams, RenameParams, TextDocumentPositionParams, TextEdit, Uri};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A place in a file.
type Place = (Arc<str>, Span);

/// What a name at a place stands for.
struct Meant {
    kind: DefinitionKind,
    name: String,
    /// Where the name itself stands.
    span: Span,
}

/// Answers `textDocument/definition`.
pub(super) fn definition(server: &Server<'_>, params: &DefinitionParams) -> Answer {
    let Some(meant) = meant(server, &params.text_document_position_params)? else { return Ok(Value::Null) };
    let index = server.world.index();
    let found = index.find(meant.kind, &meant.name).and_then(|id| place_of(&server.world, id));
    Ok(found.map_or(Value::Null, |place| location(server, &place)))
}

/// Answers `textDocument/references`.
pub(super) fn references(server: &Server<'_>, params: &ReferenceParams) -> Answer {
    let Some(meant) = meant(server, &params.text_document_position_params)? else { return Ok(Value::Null) };
    let mut places = uses(&server.world, &meant);
    if params.context.include_declaration {
        places.extend(definitions(&server.world, &meant));
    }
    places.sort();
    value(places.iter().map(|place| location(server, place)).collect::<Vec<_>>())
}

/// Answers `textDocument/prepareRename`: the range of the name.
pub(super) fn prepare(server: &Server<'_>, params: &TextDocumentPositionParams) -> Answer {
    let Some(meant) = meant(server, params)? else { return Ok(Value::Null) };
    let (_, buffer) = server.document(&params.text_document.uri)?;
    let range = server.client.encoding.range(&buffer.text, &buffer.index, meant.span);
    value(json!({"range": range, "placeholder": meant.name}))
}

/// Answers `textDocument/rename`: one edit for each place that says the name.
pub(super) fn rename(server: &Server<'_>, params: &RenameParams) -> Answer {
    let new = params.new_name.trim();
    if new.is_empty() || new.contains(['<', '>', '&', '"', '\'', '{', '}']) || new.contains(char::is_whitespace) {
        return Err(Refusal::invalid(format!(
            "`{new}` cannot be a name: it must be one word without quotes, brackets and braces"
        )));
    }
    let Some(meant) = meant(server, &params.text_document_position_params)? else {
        return Err(Refusal::invalid("there is no name to change here"));
    };
    if meant.name != new && server.world.index().find(meant.kind, new).is_some() {
        return Err(Refusal::invalid(format!("there is a {} named `{new}` already", meant.kind.word())));
    }
    let mut places = uses(&server.world, &meant);
    places.extend(definitions(&server.world, &meant));
    places.sort();
    places.dedup();
    let mut by_file: BTreeMap<Arc<str>, Vec<Span>> = BTreeMap::new();
    for (path, span) in places {
        by_file.entry(path).or_default().push(span);
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (path, spans) in by_file {
        let Some((text, index)) = server.world.text(&path) else { continue };
        // A name that the file's own name stands for is not written anywhere.
        let written = spans.into_iter().filter(|span| span.slice(&text) == meant.name);
        let edits = written
            .map(|span| TextEdit { range: server.client.encoding.range(&text, &index, span), new_text: new.to_owned() })
            .collect();
        changes.insert(address(&server.world, &path), edits);
    }
    value(json!({"changes": changes}))
}

/// What the name at a position stands for.
fn meant(server: &Server<'_>, at: &TextDocumentPositionParams) -> Result<Option<Meant>, Refusal> {
    let (name, buffer) = server.document(&at.text_document.uri)?;
    let offset = server.client.encoding.offset(&buffer.text, &buffer.index, at.position);
    let touches = |span: Span| span.start <= offset && offset <= span.end;
    let Some(template) = server.world.templates.get(&name) else { return Ok(None) };
    let reference = template.facts.references.iter().find(|reference| touches(reference.span));
    if let Some(found) = reference {
        return Ok(Some(Meant { kind: found.kind.target(), name: found.name.to_string(), span: found.span }));
    }
    let definition = template.facts.definitions.iter().find(|definition| touches(definition.span));
    Ok(definition.map(|found| Meant { kind: found.kind, name: found.name.to_string(), span: found.span }))
}

fn place_of(world: &World, id: DefId) -> Option<Place> {
    let index = world.index();
    Some((Arc::clone(index.file(id.file)?.path), index.definition(id)?.span))
}

fn definitions(world: &World, meant: &Meant) -> Vec<Place> {
    let all = world.templates.iter().flat_map(|(path, template)| template.facts.definitions.iter().map(move |one| (path, one)));
    let own = all.filter(|(_, one)| one.kind == meant.kind && *one.name == *meant.name);
    own.map(|(path, one)| (Arc::clone(path), one.span)).collect()
}

fn uses(world: &World, meant: &Meant) -> Vec<Place> {
    let all = world.templates.iter().flat_map(|(path, template)| template.facts.references.iter().map(move |one| (path, one)));
    let own = all.filter(|(_, one)| one.kind.target() == meant.kind && *one.name == *meant.name);
    own.map(|(path, one)| (Arc::clone(path), one.span)).collect()
}

fn location(server: &Server<'_>, (path, span): &Place) -> Value {
    let (text, index) = server.world.text(path).unwrap_or_default();
    json!({"uri": address(&server.world, path), "range": server.client.encoding.range(&text, &index, *span)})
}
