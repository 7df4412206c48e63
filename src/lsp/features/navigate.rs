//! Finds the definition and all references of a name. Tasks, templates and fragments are handled
//! here; [`super::variables`] finds parameters, inputs and steps.

use super::implicit_names;
use super::mentions::{self, Mention, Mentioned};
use super::provenance;
use super::variables::{self, Occurrence, Role, VariableAtCursor, Web};
use crate::base::fs;
use crate::lsp::diagnostics::address;
use crate::lsp::place::{self, Spot};
use crate::lsp::prelude::*;
use crate::project::index::DefId;
use crate::registry::compile::sources;
use crate::template::names::DefinitionKind;
use crate::template::scope::Target;
use gen_lsp_types::{
    DefinitionParams, DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams,
    ReferenceParams, TextDocumentPositionParams,
};

/// A place in a file.
pub(super) type Place = (Arc<str>, Span);

/// The definition that a name at the cursor references.
pub(in crate::lsp) struct SymbolAtCursor {
    pub(in crate::lsp) kind: DefinitionKind,
    pub(in crate::lsp) name: String,
    /// The place of the name.
    pub(in crate::lsp) span: Span,
}

/// Answers `textDocument/definition`.
pub(in crate::lsp) fn definition(server: &Server<'_>, params: &DefinitionParams) -> Answer {
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    if let Some(meant) = symbol_at(server, at)? {
        let found = project
            .index()
            .find(meant.kind, &meant.name)
            .and_then(|id| place_of(project, id));
        return Ok(found.map_or(Value::Null, |place| location(server, project, &place)));
    }
    if let Some(own) = configured(server, at)?.into_iter().find(|own| own.defines) {
        return Ok(location(server, project, &(own.file, own.span)));
    }
    if let Some(file) = source(server, at)? {
        return Ok(location(server, project, &(file, Span::at(0))));
    }
    let Some(pointed) = variable_at(server, at)? else {
        return decided(server, at);
    };
    if let Target::Bound(span) = pointed.variable.target {
        return Ok(location(server, project, &(pointed.variable.file, span)));
    }
    // Without a declaration: the places where callers pass the value, otherwise the first use.
    let found = occurrences_of(project, &pointed);
    let declared: Vec<&Occurrence> = found
        .iter()
        .filter(|one| one.role == Role::Defines)
        .collect();
    let found = if declared.is_empty() {
        found.first().into_iter().collect()
    } else {
        declared
    };
    let mut found: Vec<Value> = found
        .iter()
        .map(|one| location(server, project, &(Arc::clone(&one.file), one.span)))
        .collect();
    Ok(if found.len() > 1 {
        Value::Array(found)
    } else {
        found.pop().unwrap_or(Value::Null)
    })
}

/// Answers `textDocument/references`.
pub(in crate::lsp) fn references(server: &Server<'_>, params: &ReferenceParams) -> Answer {
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    let mut found = occurrences(server, at)?;
    found.retain(|one| params.context.include_declaration || one.role != Role::Defines);
    value(
        found
            .into_iter()
            .map(|one| location(server, project, &(one.file, one.span)))
            .collect::<Vec<_>>(),
    )
}

/// Answers `textDocument/documentHighlight`: the same places, in this document only.
pub(in crate::lsp) fn highlights(server: &Server<'_>, params: &DocumentHighlightParams) -> Answer {
    let at = &params.text_document_position_params;
    let (_, name, buffer) = server.document(&at.text_document.uri)?;
    let mut found = occurrences(server, at)?;
    found.retain(|one| one.file == name);
    let one = |one: &Occurrence| {
        let range = server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, one.span);
        let kind = if one.role == Role::Defines {
            DocumentHighlightKind::Write
        } else {
            DocumentHighlightKind::Read
        };
        DocumentHighlight {
            range,
            kind: Some(kind),
        }
    };
    value(found.iter().map(one).collect::<Vec<_>>())
}

/// Answers `textDocument/prepareRename`: the range of the name.
pub(in crate::lsp) fn prepare(server: &Server<'_>, params: &TextDocumentPositionParams) -> Answer {
    let (_, _, buffer) = server.document(&params.text_document.uri)?;
    let (name, span) = if let Some(meant) = symbol_at(server, params)? {
        (meant.name, meant.span)
    } else {
        let Some(pointed) = variable_at(server, params)? else {
            return Ok(Value::Null);
        };
        if pointed.variable.target == Target::Language {
            return Err(Refusal::invalid(format!(
                "`{}` is a name of the language, which cannot be changed",
                pointed.name
            )));
        }
        (pointed.name, pointed.span)
    };
    let range = server
        .client
        .encoding
        .range(&buffer.text, &buffer.index, span);
    value(json!({"range": range, "placeholder": name}))
}

/// Returns every occurrence of the name at a position, in order.
fn occurrences(
    server: &Server<'_>,
    at: &TextDocumentPositionParams,
) -> Result<Vec<Occurrence>, Refusal> {
    let (project, ..) = server.document(&at.text_document.uri)?;
    if let Some(meant) = symbol_at(server, at)? {
        let one = |(file, span): Place, role: Role| Occurrence { file, span, role };
        let mut found: Vec<Occurrence> = uses(project, &meant)
            .into_iter()
            .map(|place| one(place, Role::Says))
            .collect();
        found.extend(beside(project, &meant).map(|own| one((own.file, own.span), Role::Says)));
        found.extend(
            definitions(project, &meant)
                .into_iter()
                .map(|place| one(place, Role::Defines)),
        );
        found.sort();
        return Ok(found);
    }
    let named = configured(server, at)?;
    if !named.is_empty() {
        let role = |own: &Mention| {
            if own.defines {
                Role::Defines
            } else {
                Role::Says
            }
        };
        return Ok(named
            .into_iter()
            .map(|own| Occurrence {
                role: role(&own),
                file: own.file,
                span: own.span,
            })
            .collect());
    }
    Ok(variable_at(server, at)?.map_or_else(Vec::new, |pointed| occurrences_of(project, &pointed)))
}

/// Returns every occurrence of a variable, in order.
fn occurrences_of(project: &ProjectState, pointed: &VariableAtCursor) -> Vec<Occurrence> {
    match pointed.variable.target {
        Target::Language => implicit_names::occurrences(project, pointed),
        Target::Bound(_) | Target::Free(_) => {
            let mut web = Web::new(project, pointed);
            let mut found = web.occurrences();
            let beside = web_beside(project, &web, &pointed.name);
            found.extend(beside.map(|own| Occurrence {
                file: own.file,
                span: own.span,
                role: Role::Says,
            }));
            found.sort();
            found.dedup();
            found
        }
    }
}

/// The places beside the templates that name a variable.
pub(in crate::lsp) fn web_beside<'m>(
    project: &'m ProjectState,
    web: &'m Web<'_>,
    name: &'m str,
) -> impl Iterator<Item = Mention> + 'm {
    mentions::of_variable(project, name, |variable| web.all.contains(variable))
}

/// Returns the references to a definition outside templates.
pub(in crate::lsp) fn beside<'p>(
    project: &'p ProjectState,
    meant: &'p SymbolAtCursor,
) -> impl Iterator<Item = Mention> + 'p {
    let named = mentions::all(project)
        .into_iter()
        .filter(|own| own.name == meant.name);
    named.filter(|own| own.kind(project) == Some(meant.kind))
}

/// Returns the definition that the name at a position references.
pub(in crate::lsp) fn symbol_at(
    server: &Server<'_>,
    at: &TextDocumentPositionParams,
) -> Result<Option<SymbolAtCursor>, Refusal> {
    let (project, name, _, offset) = server.position(at)?;
    let Some(template) = project.template(&name) else {
        let named =
            mentions::at(project, &name, offset).and_then(|own| Some((own.kind(project)?, own)));
        return Ok(
            named.map(|(kind, Mention { name, span, .. })| SymbolAtCursor { kind, name, span }),
        );
    };
    let reference = template
        .facts
        .references
        .iter()
        .find(|reference| reference.span.touches(offset));
    if let Some(found) = reference {
        return Ok(Some(SymbolAtCursor {
            kind: found.kind.target(),
            name: found.name.to_string(),
            span: found.span,
        }));
    }
    let definition = template
        .facts
        .definitions
        .iter()
        .find(|definition| definition.span.touches(offset));
    Ok(definition.map(|found| SymbolAtCursor {
        kind: found.kind,
        name: found.name.to_string(),
        span: found.span,
    }))
}

/// Returns the variable that the name at a position references.
pub(in crate::lsp) fn variable_at(
    server: &Server<'_>,
    at: &TextDocumentPositionParams,
) -> Result<Option<VariableAtCursor>, Refusal> {
    let (project, name, _, offset) = server.position(at)?;
    let beside = || mentions::variable(project, &mentions::at(project, &name, offset)?);
    Ok(variables::at(project, &name, offset).or_else(beside))
}

/// Returns the file whose path is at a position.
fn source(
    server: &Server<'_>,
    at: &TextDocumentPositionParams,
) -> Result<Option<Arc<str>>, Refusal> {
    let (project, name, _, offset) = server.position(at)?;
    let sources = project
        .template(&name)
        .map_or(&[][..], |template| &template.facts.sources);
    let source = sources.iter().find(|source| source.span.touches(offset));
    let file = source.and_then(|source| sources::name_of_source(&name, source));
    Ok(file
        .filter(|file| project.open.contains_key(file.as_str()) || fs::is_file(&project.path(file)))
        .map(Arc::from))
}

/// Returns the lines of the project file that set the settings of the element at a position: a task
/// or a setting.
fn decided(server: &Server<'_>, at: &TextDocumentPositionParams) -> Answer {
    let (project, name, buffer, offset) = server.position(at)?;
    let mut found: Vec<Place> = Vec::new();
    if project.is_xml(&name) && !buffer.is_large() {
        place::with(&buffer.text, &project.config.limits, |document| {
            let Some((element, Spot::Name)) = place::spot(document, offset) else {
                return;
            };
            provenance::settings(&project.config, document, element, |_, body, wanted| {
                let own = provenance::of_project(&project.config, body).into_iter();
                found.extend(
                    own.filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name))
                        .map(|(_, place)| place),
                );
            });
        });
    }
    found.sort();
    found.dedup();
    let found: Vec<Value> = found
        .iter()
        .map(|place| location(server, project, place))
        .collect();
    Ok(if found.is_empty() {
        Value::Null
    } else {
        Value::Array(found)
    })
}

/// Returns all references to the role, model or provider at a position.
fn configured(
    server: &Server<'_>,
    at: &TextDocumentPositionParams,
) -> Result<Vec<Mention>, Refusal> {
    let (project, name, _, offset) = server.position(at)?;
    let is_configured = |own: &Mention| {
        matches!(
            own.what,
            Mentioned::Role | Mentioned::Model | Mentioned::Provider
        )
    };
    let Some(named) = mentions::at(project, &name, offset).filter(is_configured) else {
        return Ok(Vec::new());
    };
    Ok(mentions::all(project)
        .into_iter()
        .filter(|own| own.what == named.what && own.name == named.name)
        .collect())
}

fn place_of(project: &ProjectState, id: DefId) -> Option<Place> {
    let index = project.index();
    Some((
        Arc::clone(index.file(id.file)?.path),
        index.definition(id)?.span,
    ))
}

pub(in crate::lsp) fn definitions(project: &ProjectState, meant: &SymbolAtCursor) -> Vec<Place> {
    let all = project.templates().flat_map(|(path, template)| {
        template
            .facts
            .definitions
            .iter()
            .map(move |one| (path, one))
    });
    let own = all.filter(|(_, one)| one.kind == meant.kind && *one.name == *meant.name);
    own.map(|(path, one)| (Arc::clone(path), one.span))
        .collect()
}

pub(in crate::lsp) fn uses(project: &ProjectState, meant: &SymbolAtCursor) -> Vec<Place> {
    let all = project
        .templates()
        .flat_map(|(path, template)| template.facts.references.iter().map(move |one| (path, one)));
    let own = all.filter(|(_, one)| one.kind.target() == meant.kind && *one.name == *meant.name);
    own.map(|(path, one)| (Arc::clone(path), one.span))
        .collect()
}

/// Converts a place to a location of the protocol.
pub(super) fn location(server: &Server<'_>, project: &ProjectState, (path, span): &Place) -> Value {
    let (text, index) = project.text(path).unwrap_or_default();
    json!({"uri": address(project, path), "range": server.client.encoding.range(&text, &index, *span)})
}
