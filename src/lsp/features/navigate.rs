//! Finds the definition and all references of a name. Tasks, templates and fragments are handled
//! here; [`super::variables`] finds parameters, inputs and steps.

use super::mentions::{self, Mention, MentionTarget};
use super::variables::{self, Occurrence, OccurrenceRole, VariableAtCursor, VariableWeb};
use super::{implicit_names, provenance};
use crate::base::fs;
use crate::lsp::diagnostics::file_uri;
use crate::lsp::place::{self, ElementPart};
use crate::lsp::prelude::*;
use crate::project::index::DefId;
use crate::registry::compile::sources;
use crate::template::names::DefinitionKind;
use crate::template::scope::UseTarget;
use gen_lsp_types::{
    DefinitionParams, DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams,
    ReferenceParams, TextDocumentPositionParams,
};

/// A place in a file.
pub(super) type FilePlace = (Arc<str>, Span);

/// The definition that a name at the cursor references.
pub(in crate::lsp) struct SymbolAtCursor {
    pub(in crate::lsp) kind: DefinitionKind,
    pub(in crate::lsp) name: String,
    /// The place of the name.
    pub(in crate::lsp) span: Span,
}

/// Answers `textDocument/definition`.
pub(in crate::lsp) fn answer_definition(
    server: &LspServer<'_>,
    params: &DefinitionParams,
) -> RequestResult {
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    if let Some(meant) = symbol_at(server, at)? {
        let found = project
            .index()
            .find_definition(meant.kind, &meant.name)
            .and_then(|id| place_of_definition(project, id));
        return Ok(found.map_or(Value::Null, |place| to_location(server, project, &place)));
    }
    if let Some(own) = config_mentions_at(server, at)?
        .into_iter()
        .find(|own| own.defines)
    {
        return Ok(to_location(server, project, &(own.file, own.span)));
    }
    if let Some(file) = source_file_at(server, at)? {
        return Ok(to_location(server, project, &(file, Span::empty_at(0))));
    }
    let Some(pointed) = variable_at(server, at)? else {
        return answer_setting_source(server, at);
    };
    if let UseTarget::Bound(span) = pointed.variable.target {
        return Ok(to_location(server, project, &(pointed.variable.file, span)));
    }
    // Without a declaration: the places where callers pass the value, otherwise the first use.
    let found = variable_occurrences(project, &pointed);
    let declared: Vec<&Occurrence> = found
        .iter()
        .filter(|one| one.role == OccurrenceRole::Definition)
        .collect();
    let found = if declared.is_empty() {
        found.first().into_iter().collect()
    } else {
        declared
    };
    let mut found: Vec<Value> = found
        .iter()
        .map(|one| to_location(server, project, &(Arc::clone(&one.file), one.span)))
        .collect();
    Ok(if found.len() > 1 {
        Value::Array(found)
    } else {
        found.pop().unwrap_or(Value::Null)
    })
}

/// Answers `textDocument/references`.
pub(in crate::lsp) fn answer_references(
    server: &LspServer<'_>,
    params: &ReferenceParams,
) -> RequestResult {
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    let mut found = occurrences_at(server, at)?;
    found
        .retain(|one| params.context.include_declaration || one.role != OccurrenceRole::Definition);
    to_answer(
        found
            .into_iter()
            .map(|one| to_location(server, project, &(one.file, one.span)))
            .collect::<Vec<_>>(),
    )
}

/// Answers `textDocument/documentHighlight`: the same places, in this document only.
pub(in crate::lsp) fn answer_highlights(
    server: &LspServer<'_>,
    params: &DocumentHighlightParams,
) -> RequestResult {
    let at = &params.text_document_position_params;
    let (_, name, buffer) = server.document(&at.text_document.uri)?;
    let mut found = occurrences_at(server, at)?;
    found.retain(|one| one.file == name);
    let one = |one: &Occurrence| {
        let range = server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, one.span);
        let kind = if one.role == OccurrenceRole::Definition {
            DocumentHighlightKind::Write
        } else {
            DocumentHighlightKind::Read
        };
        DocumentHighlight {
            range,
            kind: Some(kind),
        }
    };
    to_answer(found.iter().map(one).collect::<Vec<_>>())
}

/// Answers `textDocument/prepareRename`: the range of the name.
pub(in crate::lsp) fn answer_prepare_rename(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> RequestResult {
    let (_, _, buffer) = server.document(&params.text_document.uri)?;
    let (name, span) = if let Some(role) = role_at(server, params)? {
        (role.name, role.span)
    } else if let Some(meant) = symbol_at(server, params)? {
        let (project, ..) = server.document(&params.text_document.uri)?;
        check_owner(project, &meant)?;
        (meant.name, meant.span)
    } else {
        let Some(pointed) = variable_at(server, params)? else {
            return Ok(Value::Null);
        };
        if pointed.variable.target == UseTarget::Language {
            return Err(RequestError::invalid(format!(
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
    to_answer(json!({"range": range, "placeholder": name}))
}

/// Refuses a name that a package defines.
pub(super) fn check_owner(
    project: &ProjectState,
    symbol: &SymbolAtCursor,
) -> Result<(), RequestError> {
    let places = definition_places(project, symbol);
    let packages = &project.config.packages;
    match places.iter().find_map(|(path, _)| packages.of_file(path)) {
        None => Ok(()),
        Some(package) => Err(RequestError::invalid(format!(
            "`{}` is a name of the package {}, which can be changed only there",
            symbol.name, package.names.package
        ))),
    }
}

/// Returns every occurrence of the name at a position, in order.
fn occurrences_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Vec<Occurrence>, RequestError> {
    let (project, ..) = server.document(&params.text_document.uri)?;
    if let Some(meant) = symbol_at(server, params)? {
        let one = |(file, span): FilePlace, role: OccurrenceRole| Occurrence { file, span, role };
        let mut found: Vec<Occurrence> = use_places(project, &meant)
            .into_iter()
            .map(|place| one(place, OccurrenceRole::Use))
            .collect();
        found.extend(
            definition_mentions(project, &meant)
                .map(|own| one((own.file, own.span), OccurrenceRole::Use)),
        );
        found.extend(
            definition_places(project, &meant)
                .into_iter()
                .map(|place| one(place, OccurrenceRole::Definition)),
        );
        found.sort();
        return Ok(found);
    }
    let named = config_mentions_at(server, params)?;
    if !named.is_empty() {
        let role = |own: &Mention| {
            if own.defines {
                OccurrenceRole::Definition
            } else {
                OccurrenceRole::Use
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
    Ok(variable_at(server, params)?
        .map_or_else(Vec::new, |pointed| variable_occurrences(project, &pointed)))
}

/// Returns every occurrence of a variable, in order.
fn variable_occurrences(project: &ProjectState, pointed: &VariableAtCursor) -> Vec<Occurrence> {
    match pointed.variable.target {
        UseTarget::Language => implicit_names::occurrences(project, pointed),
        UseTarget::Bound(_) | UseTarget::Free(_) => {
            let mut web = VariableWeb::new(project, pointed);
            let mut found = web.occurrences();
            let beside = variable_mentions(project, &web, &pointed.name);
            found.extend(beside.map(|own| Occurrence {
                file: own.file,
                span: own.span,
                role: OccurrenceRole::Use,
            }));
            found.sort();
            found.dedup();
            found
        }
    }
}

/// The places beside the templates that name a variable.
pub(in crate::lsp) fn variable_mentions<'m>(
    project: &'m ProjectState,
    web: &'m VariableWeb<'_>,
    name: &'m str,
) -> impl Iterator<Item = Mention> + 'm {
    mentions::variable_mentions(project, name, |variable| web.variables.contains(variable))
}

/// Returns the references to a definition outside templates.
pub(in crate::lsp) fn definition_mentions<'p>(
    project: &'p ProjectState,
    symbol: &'p SymbolAtCursor,
) -> impl Iterator<Item = Mention> + 'p {
    let named = mentions::all_mentions(project)
        .into_iter()
        .filter(|own| own.name == symbol.name);
    named.filter(|own| own.definition_kind(project) == Some(symbol.kind))
}

/// Returns the definition that the name at a position references.
pub(in crate::lsp) fn symbol_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<SymbolAtCursor>, RequestError> {
    let (project, name, _, offset) = server.document_position(params)?;
    let Some(template) = project.template(&name) else {
        let named = mentions::mention_at(project, &name, offset)
            .and_then(|own| Some((own.definition_kind(project)?, own)));
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
            kind: found.kind.definition_kind(),
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

/// Returns the role that the name at a position references.
pub(in crate::lsp) fn role_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<Mention>, RequestError> {
    let (project, name, _, offset) = server.document_position(params)?;
    Ok(mentions::mentions_at(project, &name, offset)
        .into_iter()
        .find(|own| own.target == MentionTarget::Role))
}

/// Returns the variable that the name at a position references.
pub(in crate::lsp) fn variable_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<VariableAtCursor>, RequestError> {
    let (project, name, _, offset) = server.document_position(params)?;
    let beside =
        || mentions::mentioned_variable(project, &mentions::mention_at(project, &name, offset)?);
    Ok(variables::variable_at(project, &name, offset).or_else(beside))
}

/// Returns the file whose path is at a position.
fn source_file_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<Arc<str>>, RequestError> {
    let (project, name, _, offset) = server.document_position(params)?;
    let sources = project
        .template(&name)
        .map_or(&[][..], |template| &template.facts.sources);
    let source = sources.iter().find(|source| source.span.touches(offset));
    let file = source.and_then(|source| sources::source_name(&name, source));
    Ok(file
        .filter(|file| project.open.contains_key(file.as_str()) || fs::is_file(&project.path(file)))
        .map(Arc::from))
}

/// Returns the lines of the project file that set the settings of the element at a position: a task
/// or a setting.
fn answer_setting_source(server: &LspServer<'_>, at: &TextDocumentPositionParams) -> RequestResult {
    let (project, name, buffer, offset) = server.document_position(at)?;
    let mut found: Vec<FilePlace> = Vec::new();
    if project.is_xml(&name) && !buffer.is_large() {
        place::with_document(&buffer.text, &project.config.limits, |document| {
            let Some((element, ElementPart::Name)) = place::element_part(document, offset) else {
                return;
            };
            provenance::visit_settings(&project.config, document, element, |body, wanted| {
                let own = provenance::project_settings(&project.config, body).into_iter();
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
        .map(|place| to_location(server, project, place))
        .collect();
    Ok(if found.is_empty() {
        Value::Null
    } else {
        Value::Array(found)
    })
}

/// Returns all references to the role, model or provider at a position.
fn config_mentions_at(
    server: &LspServer<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Vec<Mention>, RequestError> {
    let (project, name, _, offset) = server.document_position(params)?;
    let is_configured = |own: &Mention| {
        matches!(
            own.target,
            MentionTarget::Role | MentionTarget::Model | MentionTarget::Provider
        )
    };
    let Some(named) = mentions::mention_at(project, &name, offset).filter(is_configured) else {
        return Ok(Vec::new());
    };
    Ok(mentions::all_mentions(project)
        .into_iter()
        .filter(|own| own.target == named.target && own.name == named.name)
        .collect())
}

fn place_of_definition(project: &ProjectState, id: DefId) -> Option<FilePlace> {
    let index = project.index();
    Some((
        Arc::clone(index.file(id.file)?.path),
        index.definition(id)?.span,
    ))
}

pub(in crate::lsp) fn definition_places(
    project: &ProjectState,
    symbol: &SymbolAtCursor,
) -> Vec<FilePlace> {
    let all = project.templates().flat_map(|(path, template)| {
        template
            .facts
            .definitions
            .iter()
            .map(move |one| (path, one))
    });
    let own = all.filter(|(_, one)| one.kind == symbol.kind && *one.name == *symbol.name);
    own.map(|(path, one)| (Arc::clone(path), one.span))
        .collect()
}

pub(in crate::lsp) fn use_places(project: &ProjectState, meant: &SymbolAtCursor) -> Vec<FilePlace> {
    let all = project
        .templates()
        .flat_map(|(path, template)| template.facts.references.iter().map(move |one| (path, one)));
    let own =
        all.filter(|(_, one)| one.kind.definition_kind() == meant.kind && *one.name == *meant.name);
    own.map(|(path, one)| (Arc::clone(path), one.span))
        .collect()
}

/// Converts a place to a location of the protocol.
pub(super) fn to_location(
    server: &LspServer<'_>,
    project: &ProjectState,
    (path, span): &FilePlace,
) -> Value {
    let (text, index) = project.indexed_text(path).unwrap_or_default();
    json!({"uri": file_uri(project, path), "range": server.client.encoding.range(&text, &index, *span)})
}
