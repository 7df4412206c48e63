//! What follows from the shape of a text alone: pairs of tags, growing selections, links to texts, `{{…}}` as tokens.

use super::buffer::Buffer;
use super::place;
use super::server::{Answer, Server, value};
use super::uri;
use super::world::World;
use crate::base::span::Span;
use crate::format::format_range;
use crate::syntax::tree::{Element, Kind};
use crate::template::expression;
use crate::template::names::SourceKind;
use gen_lsp_types::{
    DocumentFormattingParams, DocumentLinkParams, DocumentRangeFormattingParams, LinkedEditingRangeParams, Position,
    SelectionRange, SelectionRangeParams, SemanticTokensParams,
};
use serde_json::{Value, json};

/// Answers `textDocument/linkedEditingRange`: the names of both tags of an element.
pub(super) fn pairs(server: &Server<'_>, params: &LinkedEditingRangeParams) -> Answer {
    let at = &params.text_document_position_params;
    let (world, _, buffer) = server.document(&at.text_document.uri)?;
    let offset = server.client.encoding.offset(&buffer.text, &buffer.index, at.position);
    let spans = place::with(&buffer.text, &world.config.limits, |document| {
        let element = document.element_at(offset).or_else(|| document.element_at(offset.checked_sub(1)?))?;
        let (first, tag) = (element.name_span(), element.end_tag()?);
        let second = Span::new(tag.start + 2, tag.start + 2 + first.len());
        let same = second.slice(document.text) == first.slice(document.text);
        let here = [first, second].iter().any(|span| span.start <= offset && offset <= span.end);
        (same && here).then_some([first, second])
    });
    let Some(spans) = spans else { return Ok(Value::Null) };
    let ranges = spans.map(|span| server.client.encoding.range(&buffer.text, &buffer.index, span));
    value(json!({"ranges": ranges, "wordPattern": "[A-Za-z_][A-Za-z0-9_.-]*"}))
}

/// Answers `textDocument/selectionRange`: value, attribute, tag, content, element, and so on outwards.
pub(super) fn selections(server: &Server<'_>, params: &SelectionRangeParams) -> Answer {
    let (world, _, buffer) = server.document(&params.text_document.uri)?;
    let range = |span| server.client.encoding.range(&buffer.text, &buffer.index, span);
    let of = |position: &Position| {
        let offset = server.client.encoding.offset(&buffer.text, &buffer.index, *position);
        let mut spans = place::with(&buffer.text, &world.config.limits, |document| {
            let mut spans = vec![Span::of(0, document.text.len())];
            let Some(element) = document.element_at(offset) else { return spans };
            let mut chain: Vec<Element<'_>> = std::iter::successors(Some(element), |element| element.parent()).collect();
            chain.reverse();
            for element in chain {
                spans.push(element.span());
                let part = if element.start_tag().contains(offset) { element.start_tag() } else { element.inner() };
                spans.push(part);
            }
            if let Some(attribute) = document.attribute_at(offset) {
                spans.extend([attribute.span(), attribute.value_span()]);
            }
            spans.extend(document.node_at(offset).filter(|node| node.kind() == Kind::Text).map(crate::syntax::tree::Node::span));
            spans
        });
        spans.retain(|span| span.start <= offset && offset <= span.end);
        spans.dedup();
        let mut chosen: Option<SelectionRange> = None;
        for span in spans {
            chosen = Some(SelectionRange { range: range(span), parent: chosen.map(Box::new) });
        }
        chosen.unwrap_or_else(|| SelectionRange { range: range(Span::at(offset)), parent: None })
    };
    value(params.positions.iter().map(of).collect::<Vec<_>>())
}

/// Answers `textDocument/formatting`: an edit for each place that changes; nothing for a text that is not well-formed. How wide and
/// how deep is the project's to say, not the editor's.
pub(super) fn formatting(server: &Server<'_>, params: &DocumentFormattingParams) -> Answer {
    let (world, _, buffer) = server.document(&params.text_document.uri)?;
    laid_out(server, world, buffer, Span::of(0, buffer.text.len()))
}

/// Answers `textDocument/rangeFormatting`: the same for the elements that a range touches; nothing for a range that is none.
pub(super) fn formatting_of(server: &Server<'_>, params: &DocumentRangeFormattingParams) -> Answer {
    let (world, _, buffer) = server.document(&params.text_document.uri)?;
    let asked = |position: Position| (position.line, position.character);
    if asked(params.range.start) > asked(params.range.end) {
        return value([(); 0]);
    }
    let range = server.client.encoding.span(&buffer.text, &buffer.index, params.range);
    laid_out(server, world, buffer, range)
}

fn laid_out(server: &Server<'_>, world: &World, buffer: &Buffer, range: Span) -> Answer {
    let config = &world.config;
    let Ok(edits) = format_range(&buffer.text, &config.limits, range, config.format) else { return Ok(Value::Null) };
    value(server.client.encoding.edits(&buffer.text, &buffer.index, &edits))
}

/// Answers `textDocument/documentLink`: the files that a template pulls in.
pub(super) fn links(server: &Server<'_>, params: &DocumentLinkParams) -> Answer {
    let (world, name, buffer) = server.document(&params.text_document.uri)?;
    let folder = world.path(&name).parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    let sources = world.templates.get(&name).map_or(&[][..], |template| &template.facts.sources);
    let links = sources.iter().map(|source| {
        let range = server.client.encoding.range(&buffer.text, &buffer.index, source.span);
        let folder = if source.kind == SourceKind::File { &world.root } else { &folder };
        json!({"range": range, "target": uri::of(&folder.join(&*source.path))})
    });
    value(links.collect::<Vec<_>>())
}

/// The kinds of tokens, by number.
pub(super) const TOKENS: [&str; 3] = ["variable", "function", "operator"];

/// Answers `textDocument/semanticTokens/full`: what stands in `{{…}}`.
pub(super) fn tokens(server: &Server<'_>, params: &SemanticTokensParams) -> Answer {
    let (world, name, buffer) = server.document(&params.text_document.uri)?;
    if buffer.is_large() {
        return value(json!({"data": []}));
    }
    let spans = place::with(&buffer.text, &world.config.limits, |document| {
        let mut spans: Vec<(Span, u32)> = Vec::new();
        for node in document.all_nodes().filter(|node| matches!(node.kind(), Kind::Text | Kind::Cdata)) {
            expressions(document.text, node.inner(), &mut spans);
        }
        for element in document.elements() {
            for attribute in element.attributes() {
                expressions(document.text, attribute.value_span(), &mut spans);
            }
        }
        spans
    });
    let mut spans = spans;
    spans.sort_unstable();
    if spans.len() > super::symbols::MOST {
        server.say_cut(world, &name, "tokens");
    }
    let mut data: Vec<u32> = Vec::new();
    let mut last = Position { line: 0, character: 0 };
    for (span, kind) in spans.into_iter().take(super::symbols::MOST) {
        let range = server.client.encoding.range(&buffer.text, &buffer.index, span);
        if range.start.line != range.end.line {
            continue;
        }
        let line = range.start.line - last.line;
        let column = if line == 0 { range.start.character - last.character } else { range.start.character };
        data.extend([line, column, range.end.character - range.start.character, kind, 0]);
        last = range.start;
    }
    value(json!({"data": data}))
}

/// The braces and names of each `{{…}}`.
fn expressions(text: &str, within: Span, out: &mut Vec<(Span, u32)>) {
    let raw = within.slice(text);
    if !expression::may_hold(raw) {
        return;
    }
    let mut from = 0;
    while let Some(open) = raw.get(from..).and_then(|rest| rest.find("{{")).map(|at| from + at) {
        let Some(close) = raw.get(open..).and_then(|rest| rest.find("}}")).map(|at| open + at) else { return };
        let span = |start: usize, end: usize| Span::new(within.start + start as u32, within.start + end as u32);
        out.extend([(span(open, open + 2), 2), (span(close, close + 2), 2)]);
        let inside = raw.get(open + 2..close).unwrap_or("");
        let name = inside.trim_start();
        let start = open + 2 + inside.len() - name.len();
        let length = name.find(|c: char| !(c.is_alphanumeric() || "_.-[]".contains(c))).unwrap_or(name.len());
        let called = name.get(length..).is_some_and(|rest| rest.trim_start().starts_with('('));
        if length > 0 {
            out.push((span(start, start + length), u32::from(called)));
        }
        from = close + 2;
    }
}
