//! What can be written at a place: elements, attributes and closing tags; values and names are offered by [`super::completion_names`].
//!
//! Looks back from the place to what was begun there, since what is being typed is rarely well-formed yet; the tree says what
//! stands around it.

use super::completion_context::{CompletionContext, completion_context};
use super::completion_cx::Cx;
use super::docs::of_attribute;
use crate::lsp::place::{self, operator};
use crate::lsp::server::{Answer, Server, value};
use crate::syntax::tree::Element;
use crate::template::elements::{Content, Kind, Of};
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{CompletionItem, CompletionItemKind, CompletionParams};
use std::fmt::Write as _;

/// Answers `textDocument/completion`.
pub(in crate::lsp) fn answer(server: &Server<'_>, params: CompletionParams) -> Answer {
    let at = params.text_document_position_params;
    let (project, name, buffer) = server.document(&at.text_document.uri)?;
    let offset = server.client.encoding.offset(&buffer.text, &buffer.index, at.position);
    let context = completion_context(&buffer.text, offset as usize);
    let items = place::with(&buffer.text, &project.config.limits, |document| {
        let text = &buffer.text;
        let index = &buffer.index;
        let client = &server.client;
        let cx = Cx { project, name: &name, client, document, text, index, offset };
        cx.items(&context)
    });
    value(items)
}

impl<'c> Cx<'c> {
    fn items(&self, context: &CompletionContext<'_>) -> Vec<CompletionItem> {
        match *context {
            CompletionContext::Element { open, typed } => self.elements(self.parent_of(open), typed, ""),
            CompletionContext::End { open, typed } => self.ends(open, typed),
            CompletionContext::Attribute { open, typed } => self.attributes(open, typed),
            CompletionContext::Value { open, name, typed } => self.values(open, name, typed),
            CompletionContext::Variable { typed } => self.variables(typed),
            CompletionContext::Text { typed } => self.inside(typed),
        }
    }

    /// What may stand in an element, that is not there yet or may be there again.
    fn elements(&self, parent: Option<Element<'c>>, typed: &str, before: &str) -> Vec<CompletionItem> {
        let Some(parent) = parent else {
            let roots = [Kind::Task, Kind::Template, Kind::Library];
            return roots.into_iter().map(|kind| self.element(kind, typed, before)).collect();
        };
        let Some(kind) = place::kind(parent) else { return Vec::new() };
        let operator = operator(parent);
        let base = operator.as_deref().and_then(|operator| self.config().layers.row(operator, None).ok());
        let base = base.map(|row| self.config().layers.get(row).base().word());
        let fits = |of: Of| match of {
            Of::Any => true,
            Of::Type(own) => base.is_none_or(|base| base == own),
        };
        let is_there = |tag: &str| {
            let mut same = parent.elements().filter(|child| child.name() == tag && !child.span().contains(self.offset));
            same.next().is_some()
        };
        let children = kind.spec().children.iter().filter(|child| {
            let spec = child.kind.spec();
            spec.deprecated.is_none() && fits(child.of) && (child.many || !is_there(spec.tag))
        });
        children.map(|child| self.element(child.kind, typed, before)).collect()
    }

    fn element(&self, kind: Kind, typed: &str, before: &str) -> CompletionItem {
        let spec = kind.spec();
        let mut insert = format!("{before}{}", spec.tag);
        let mut stop = 0;
        for attribute in spec.attributes.iter().filter(|attribute| attribute.required) {
            stop += 1;
            let hole = if self.client.snippets { format!("${stop}") } else { String::new() };
            let _ = write!(insert, " {}=\"{hole}\"", attribute.name);
        }
        if spec.content == Content::Empty {
            insert.push_str("/>");
        } else {
            let hole = if self.client.snippets { "$0" } else { "" };
            let _ = write!(insert, ">{hole}</{}>", spec.tag);
        }
        self.item(spec.tag, CompletionItemKind::Struct, spec.doc, insert, typed)
    }

    /// The tags that are open at a place, the innermost first.
    fn ends(&self, open: usize, typed: &str) -> Vec<CompletionItem> {
        let chain = std::iter::successors(self.parent_of(open), |element| element.parent());
        let open_ones = chain.filter(|element| element.end_tag().is_none() || element.is_damaged() || !element.is_empty_tag());
        let name = open_ones.map(Element::name).next();
        name.map(|name| self.item(name, CompletionItemKind::Struct, "", format!("{name}>"), typed)).into_iter().collect()
    }

    fn attributes(&self, open: usize, typed: &str) -> Vec<CompletionItem> {
        let Some(element) = self.own(open) else { return Vec::new() };
        let Some(kind) = place::kind(element) else { return Vec::new() };
        let missing =
            kind.attributes().filter(|attribute| element.attribute(attribute.name).is_none() || attribute.name == typed);
        let of = |attribute: &crate::template::elements::Attr| {
            let hole = if self.client.snippets { "$0" } else { "" };
            let insert = format!("{}=\"{hole}\"", attribute.name);
            self.item(attribute.name, CompletionItemKind::Property, &of_attribute(attribute), insert, typed)
        };
        missing.map(of).collect()
    }

    /// Between tags: the words that a setting can be, else the elements that may stand there.
    fn inside(&self, typed: &str) -> Vec<CompletionItem> {
        let element = self.document.element_at(self.offset.saturating_sub(1));
        let kind = element.and_then(place::kind);
        if let Some(setting) = kind.and_then(|kind| SettingName::ALL.iter().copied().find(|name| name.word() == kind.tag())) {
            return self.words(setting.words(), setting.meanings(), typed);
        }
        match kind.map(|kind| kind.spec().content) {
            Some(Content::Elements) | None => self.elements(element, typed, "<"),
            Some(Content::Text | Content::TextOrElements | Content::Word | Content::Empty | Content::Opaque) => Vec::new(),
        }
    }
}
