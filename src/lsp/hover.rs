//! What an element, attribute or setting means, and where each resolved value comes from.

use super::place::{self, Spot};
use super::provenance;
use super::server::{Answer, Server, value};
use crate::base::span::Span;
use crate::project::config::Config;
use crate::settings::bodies::Bodies;
use crate::syntax::tree::{Document, Element};
use crate::template::elements::{Attr, Kind, Values};
use crate::template::nodes;
use crate::template::setting::{SettingName, Word};
use crate::template::{self};
use gen_lsp_types::{Contents, Hover, HoverParams, MarkupContent, MarkupKind};
use serde_json::Value;
use std::fmt::Write as _;

/// Answers `textDocument/hover`.
pub(super) fn answer(server: &Server<'_>, params: HoverParams) -> Answer {
    let at = params.text_document_position_params;
    let (name, buffer) = server.document(&at.text_document.uri)?;
    let offset = server.client.encoding.offset(&buffer.text, &buffer.index, at.position);
    let config = &server.world.config;
    let said = place::with(&buffer.text, &config.limits, |document| about(config, document, offset));
    let mut lines: Vec<String> = said.iter().map(|(text, _)| text.clone()).collect();
    // What else there is to say about a finding at this place.
    for finding in server.world.found(&name).iter().filter(|finding| finding.span.start <= offset && offset <= finding.span.end) {
        let more = finding
            .notes
            .iter()
            .map(std::string::ToString::to_string)
            .chain(finding.help.iter().map(|help| format!("help: {help}")));
        let more: Vec<String> = more.collect();
        if !more.is_empty() {
            lines.push(format!("`{}` ({}): {}", finding.rule.name, finding.rule.code, more.join("; ")));
        }
    }
    if lines.is_empty() {
        return Ok(Value::Null);
    }
    let text = lines.join("\n\n");
    let (kind, text) = if server.client.markdown { (MarkupKind::Markdown, text) } else { (MarkupKind::PlainText, plain(&text)) };
    let range = said.map(|(_, span)| server.client.encoding.range(&buffer.text, &buffer.index, span));
    value(Hover { contents: Contents::MarkupContent(MarkupContent { kind, value: text }), range })
}

/// Without the marks of Markdown.
pub(super) fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

fn about(config: &Config, document: Document<'_>, offset: u32) -> Option<(String, Span)> {
    let (element, spot) = place::spot(document, offset)?;
    let kind = place::kind(element)?;
    match spot {
        Spot::AttributeName(attribute) | Spot::Value(attribute) => {
            Some((of_attribute(kind.attribute(attribute.name())?), attribute.span()))
        }
        Spot::Name | Spot::Tag | Spot::Inside => {
            let setting = SettingName::ALL.iter().copied().find(|name| name.word() == kind.tag());
            let mut text = match spot {
                Spot::Name | Spot::Tag => of_element(kind),
                // Inside a text there is nothing to say about the element around it.
                Spot::AttributeName(_) | Spot::Value(_) | Spot::Inside if setting.is_none() => return None,
                Spot::AttributeName(_) | Spot::Value(_) | Spot::Inside => String::new(),
            };
            let resolved = resolved(config, document, element, setting);
            if !resolved.is_empty() && !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&resolved);
            (!text.is_empty()).then(|| (text, element.name_span()))
        }
    }
}

fn of_element(kind: Kind) -> String {
    let spec = kind.spec();
    let mut text = format!("`<{}>` — {}", spec.tag, spec.doc);
    if let Some(instead) = spec.deprecated {
        let _ = write!(text, "\n\nof an older dialect: {instead}");
    }
    text
}

pub(super) fn of_attribute(attribute: &Attr) -> String {
    let mut text = format!("`{}` — {}", attribute.name, attribute.doc);
    match attribute.values {
        Values::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let _ = write!(text, "\n\none of {}", words.join(", "));
        }
        Values::Bool => text.push_str("\n\n`true` or `false`"),
        Values::Any | Values::Name => {}
    }
    if attribute.required {
        text.push_str("\n\nrequired");
    }
    text
}

/// The settings of the task that an element is, or belongs to when it is a setting or the block of them.
fn resolved(config: &Config, document: Document<'_>, element: Element<'_>, setting: Option<SettingName>) -> String {
    let holder = match (setting, place::kind(element)) {
        (Some(_), _) => element.parent().and_then(Element::parent),
        (None, Some(Kind::ContextManagement)) => element.parent(),
        (None, Some(kind)) if kind.is_body() => Some(element),
        _ => None,
    };
    let Some(holder) = holder else { return String::new() };
    let file = template::lower(document);
    let mut bodies = Bodies::default();
    bodies.resolve(&file, &config.layers);
    let mut out = Vec::new();
    nodes::bodies(&file, |task, _| {
        let Some(body) = bodies.get(task).filter(|_| task.element.id() == holder.id()) else { return };
        let names = SettingName::ALL.iter().copied().filter(|name| setting.is_none_or(|one| one == *name));
        out.extend(names.map(|name| provenance::describe(config, body, name)));
    });
    out.join("\n\n")
}
