//! Symbols: the names of a document as a tree, and those of the whole project as a list.

use crate::lsp::diagnostics::address;
use crate::lsp::prelude::*;
use crate::lsp::server::MOST;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::Kind;
use crate::template::names::DefinitionKind;
use gen_lsp_types::{
    DocumentSymbol, DocumentSymbolParams, Range, SymbolKind, WorkspaceSymbolParams,
};

/// Answers `textDocument/documentSymbol`.
pub(in crate::lsp) fn document(server: &Server<'_>, params: &DocumentSymbolParams) -> Answer {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let range = |span| {
        server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span)
    };
    let mut left = MOST + 1;
    let symbols = place::with(&buffer.text, &project.config.limits, |document| {
        document
            .root()
            .map_or_else(Vec::new, |root| of(root, &range, &mut left))
    });
    if left == 0 {
        server.say_cut(project, &name, "symbols");
    }
    value(symbols)
}

#[allow(deprecated, reason = "the field has to be given a value")]
/// Returns the symbols of an element and its descendants. Recurses as deep as the reader's depth
/// limit.
fn of(
    element: Element<'_>,
    range: &dyn Fn(crate::base::span::Span) -> Range,
    left: &mut usize,
) -> Vec<DocumentSymbol> {
    let symbol = place::kind(element).and_then(|kind| Some((kind, symbol(kind)?)));
    if symbol.is_some() && *left == 1 {
        // This symbol exceeds the limit; only its existence matters.
        *left = 0;
    }
    let Some((kind, symbol)) = symbol.filter(|_| *left > 0) else {
        return element
            .elements()
            .flat_map(|child| of(child, range, left))
            .collect();
    };
    *left -= 1;
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
        .flat_map(|child| of(child, range, left))
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
const fn symbol(kind: Kind) -> Option<SymbolKind> {
    match kind {
        Kind::Task
        | Kind::InnerTask
        | Kind::ReductionTask
        | Kind::Director
        | Kind::Evaluator
        | Kind::ScriptExecution => Some(SymbolKind::Class),
        Kind::Template => Some(SymbolKind::Function),
        Kind::Fragment => Some(SymbolKind::Constant),
        Kind::Call => Some(SymbolKind::Event),
        Kind::Parameter => Some(SymbolKind::Variable),
        Kind::Input => Some(SymbolKind::Field),
        _ => None,
    }
}

/// Answers `workspace/symbol`: every definition whose name contains the letters of the query in
/// order.
pub(in crate::lsp) fn workspace(server: &Server<'_>, params: &WorkspaceSymbolParams) -> Answer {
    let query = params.query.to_lowercase();
    let mut found: Vec<Value> = Vec::new();
    let workspace = server.workspace.of_workspace();
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
            .filter(|definition| holds(&definition.name, &query))
            .collect();
        if fits.is_empty() {
            continue;
        }
        let Some((text, index)) = project.text(path) else {
            continue;
        };
        for definition in fits {
            if found.len() == MOST {
                server.say_cut(project, &Arc::from("the project"), "symbols");
                return value(found);
            }
            let kind = kind(definition.kind);
            let range = server.client.encoding.range(&text, &index, definition.span);
            let location = json!({"uri": address(project, path), "range": range});
            found.push(json!({"name": definition.name, "kind": kind, "location": location, "containerName": **path}));
        }
    }
    value(found)
}

/// Returns the editor's kind of a definition.
pub(in crate::lsp) const fn kind(kind: DefinitionKind) -> SymbolKind {
    match kind {
        DefinitionKind::Task => SymbolKind::Class,
        DefinitionKind::Template => SymbolKind::Function,
        DefinitionKind::Fragment => SymbolKind::Constant,
    }
}

/// Returns true if a name contains the letters in order.
fn holds(name: &str, query: &str) -> bool {
    let name = name.to_lowercase();
    let mut rest = name.chars();
    query.chars().all(|wanted| rest.any(|own| own == wanted))
}
