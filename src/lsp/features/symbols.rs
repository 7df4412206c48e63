//! Symbols: the names of a document as a tree, and those of the whole project as a list.

use crate::lsp::diagnostics::file_uri;
use crate::lsp::prelude::*;
use crate::lsp::server::MAX_ITEMS;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::ElementKind;
use crate::template::names::DefinitionKind;
use gen_lsp_types::{
    DocumentSymbol, DocumentSymbolParams, Range, SymbolKind, WorkspaceSymbolParams,
};

/// Answers `textDocument/documentSymbol`.
pub(in crate::lsp) fn answer_document(
    server: &LspServer<'_>,
    params: &DocumentSymbolParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let range = |span| {
        server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span)
    };
    let mut left = MAX_ITEMS + 1;
    let symbols = place::with_document(&buffer.text, &project.config.limits, |document| {
        document
            .root()
            .map_or_else(Vec::new, |root| element_symbols(root, &range, &mut left))
    });
    if left == 0 {
        server.report_truncation(project, &name, "symbols");
    }
    to_answer(symbols)
}

#[allow(deprecated, reason = "the field has to be given a value")]
/// Returns the symbols of an element and its descendants. Recurses as deep as the reader's depth
/// limit.
fn element_symbols(
    element: Element<'_>,
    range: &dyn Fn(crate::base::span::Span) -> Range,
    budget: &mut usize,
) -> Vec<DocumentSymbol> {
    let symbol = place::element_kind(element).and_then(|kind| Some((kind, symbol_kind(kind)?)));
    if symbol.is_some() && *budget == 1 {
        // This symbol exceeds the limit; only its existence matters.
        *budget = 0;
    }
    let Some((kind, symbol)) = symbol.filter(|_| *budget > 0) else {
        return element
            .elements()
            .flat_map(|child| element_symbols(child, range, budget))
            .collect();
    };
    *budget -= 1;
    let attribute = |name: &str| {
        element
            .attribute(name)
            .map(|attribute| attribute.value().into_owned())
    };
    let name = attribute("name")
        .or_else(|| attribute("ref"))
        .or_else(|| attribute("template"))
        .or_else(|| attribute("as"));
    let selection = ["name", "ref", "template"]
        .iter()
        .find_map(|name| element.attribute(name));
    let selection = selection.map_or_else(|| element.name_span(), Attribute::value_span);
    let children: Vec<DocumentSymbol> = element
        .elements()
        .flat_map(|child| element_symbols(child, range, budget))
        .collect();
    let detail = match (attribute("type"), attribute("subtype")) {
        (Some(kind), Some(subtype)) => Some(format!("{kind} {subtype}")),
        (kind, _) => kind,
    };
    vec![DocumentSymbol {
        name: name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| kind.tag().to_owned()),
        detail,
        kind: symbol,
        tags: None,
        deprecated: None,
        range: range(element.span()),
        selection_range: range(selection),
        children: (!children.is_empty()).then_some(children),
    }]
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "what has no name of its own is no symbol, whatever comes to the table"
)]
const fn symbol_kind(kind: ElementKind) -> Option<SymbolKind> {
    match kind {
        ElementKind::Task
        | ElementKind::InnerTask
        | ElementKind::ReductionTask
        | ElementKind::Director
        | ElementKind::Evaluator
        | ElementKind::ScriptExecution => Some(SymbolKind::Class),
        ElementKind::Template => Some(SymbolKind::Function),
        ElementKind::Fragment => Some(SymbolKind::Constant),
        ElementKind::Call => Some(SymbolKind::Event),
        ElementKind::Parameter => Some(SymbolKind::Variable),
        ElementKind::Input => Some(SymbolKind::Field),
        _ => None,
    }
}

/// Answers `workspace/symbol`: every definition whose name contains the letters of the query in
/// order.
pub(in crate::lsp) fn answer_workspace(
    server: &LspServer<'_>,
    params: &WorkspaceSymbolParams,
) -> RequestResult {
    let query = params.query.to_lowercase();
    let mut found: Vec<Value> = Vec::new();
    let workspace = server.workspace.workspace_projects();
    let all = workspace.flat_map(|project| {
        project
            .documents
            .iter()
            .map(move |(path, template)| (project, path, template))
    });
    for (project, path, template) in all {
        let fits: Vec<_> = template
            .facts
            .definitions
            .iter()
            .filter(|definition| matches_query(&definition.name, &query))
            .collect();
        if fits.is_empty() {
            continue;
        }
        let Some((text, index)) = project.indexed_text(path) else {
            continue;
        };
        for definition in fits {
            if found.len() == MAX_ITEMS {
                server.report_truncation(project, &Arc::from("the project"), "symbols");
                return to_answer(found);
            }
            let kind = definition_symbol_kind(definition.kind);
            let range = server.client.encoding.range(&text, &index, definition.span);
            let location = json!({"uri": file_uri(project, path), "range": range});
            found.push(json!({"name": definition.name, "kind": kind, "location": location, "containerName": **path}));
        }
    }
    to_answer(found)
}

/// Returns the editor's kind of a definition.
pub(in crate::lsp) const fn definition_symbol_kind(kind: DefinitionKind) -> SymbolKind {
    match kind {
        DefinitionKind::Task => SymbolKind::Class,
        DefinitionKind::Template => SymbolKind::Function,
        DefinitionKind::Fragment => SymbolKind::Constant,
    }
}

/// Returns true if a name contains the letters in order.
fn matches_query(name: &str, query: &str) -> bool {
    let name = name.to_lowercase();
    let mut rest = name.chars();
    query.chars().all(|wanted| rest.any(|own| own == wanted))
}
