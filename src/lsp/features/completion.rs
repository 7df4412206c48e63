//! Completion of elements, attributes and closing tags; [`super::completion_names`] completes
//! values and names.
//!
//! Analyses the text before the cursor, because a text under edit is rarely well-formed; the tree
//! supplies the surrounding elements. An item replaces the word at the cursor and repeats no text
//! after it. Required items come first.

use super::completion_context::{CompletionContext, OpenConstruct, completion_context};
use super::completion_cx::{CompletionCx, CompletionPlace};
use super::docs::attribute_doc;
use crate::lsp::data;
use crate::lsp::place::{self, task_operator};
use crate::lsp::prelude::*;
use crate::lsp::state::project::PROJECT_FILE;
use crate::settings::operators::Operator;
use crate::syntax::tree::Element;
use crate::template::elements::{Attr, ElementContent, ElementKind, OwnerType};
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{CompletionItem, CompletionItemKind, CompletionParams};
use std::fmt::Write as _;

/// Answers `textDocument/completion`.
pub(in crate::lsp) fn answer(server: &LspServer<'_>, params: CompletionParams) -> RequestResult {
    let at = params.text_document_position_params;
    let (project, name, buffer, offset) = server.document_position(&at)?;
    let (text, index, client) = (buffer.text.as_str(), &buffer.index, &server.client);
    let mut items = if project.is_xml(&name) {
        let CompletionContext {
            construct: begun,
            word,
        } = completion_context(text, offset as usize);
        let place = CompletionPlace {
            client,
            text,
            index,
            offset,
            word,
            start: edit_start(text, begun, word),
        };
        place::with_document(text, &project.config.limits, |document| {
            CompletionCx {
                project,
                name: &name,
                document,
                place,
                at: offset,
            }
            .items(begun)
        })
    } else if *name == *PROJECT_FILE || project.is_scenario(&name) {
        let place = CompletionPlace {
            client,
            text,
            index,
            offset,
            word: Span::empty_at(offset),
            start: offset,
        };
        data::completion::completion_items(project, &name, &place)
    } else if let Some((user, source)) = project.including_templates(&name).next() {
        let CompletionContext {
            construct: begun,
            word,
        } = completion_context(text, offset as usize);
        let place = CompletionPlace {
            client,
            text,
            index,
            offset,
            word,
            start: word.start,
        };
        let template = project.read_text(user).unwrap_or_default();
        let at = source.span.start;
        if let OpenConstruct::Expression { before } = begun {
            let limits = &project.config.limits;
            place::with_document(&template, limits, |document| {
                CompletionCx {
                    project,
                    name: user,
                    document,
                    place,
                    at,
                }
                .expression_items(before)
            })
        } else {
            Vec::new()
        }
    } else {
        Vec::new()
    };
    // Clients keep this order instead of sorting by name.
    for (at, item) in items.iter_mut().enumerate() {
        item.sort_text = Some(format!("{at:04}"));
    }
    to_answer(items)
}

/// Returns the start of the edit: the tag that contains the word or ends before it.
fn edit_start(text: &str, begun: OpenConstruct<'_>, word: Span) -> u32 {
    match begun {
        OpenConstruct::Element { open } | OpenConstruct::End { open } => open as u32,
        OpenConstruct::Text { before: "" } => {
            let head = text.get(..word.start as usize).unwrap_or("");
            let tag = head.rfind('<').filter(|open| {
                let tag = head.get(*open..).unwrap_or("");
                tag.ends_with('>') && !tag.contains(char::is_whitespace)
            });
            tag.map_or(word.start, |open| open as u32)
        }
        OpenConstruct::Attribute { .. }
        | OpenConstruct::Value { .. }
        | OpenConstruct::Expression { .. }
        | OpenConstruct::Allow
        | OpenConstruct::Text { .. }
        | OpenConstruct::Other => word.start,
    }
}

impl<'c> CompletionCx<'c> {
    fn items(&self, begun: OpenConstruct<'_>) -> Vec<CompletionItem> {
        match begun {
            OpenConstruct::Element { open } => {
                let parent = self.parent_at(open);
                self.element_items(parent, "")
                    .into_iter()
                    .chain(self.end_tag_item(parent, ""))
                    .collect()
            }
            OpenConstruct::End { open } => self.end_tag_items(open),
            OpenConstruct::Attribute { open } => self.attribute_items(open),
            OpenConstruct::Value { open, name, typed } => self.value_items(open, name, typed),
            OpenConstruct::Expression { before } => self.expression_items(before),
            OpenConstruct::Allow => self.rule_items(),
            OpenConstruct::Text { before } => self.content_items(before),
            OpenConstruct::Other => Vec::new(),
        }
    }

    /// Returns the elements that may be added to an element, required ones first.
    fn element_items(&self, parent: Option<Element<'c>>, before: &str) -> Vec<CompletionItem> {
        let closer = closing_tag(self.place.text_after());
        let parent_name = parent.map_or("", Element::name);
        let word = self.place.word.slice(self.place.text);
        let is_closed = |tag: &str| {
            closer.is_some_and(|closer| closer == tag || closer == word || closer != parent_name)
        };
        let one = |kind: ElementKind| self.element_item(kind, before, is_closed(kind.tag()));
        let Some(parent) = parent else {
            return [
                ElementKind::Task,
                ElementKind::Template,
                ElementKind::Library,
            ]
            .into_iter()
            .map(one)
            .collect();
        };
        let Some(kind) = place::element_kind(parent) else {
            return Vec::new();
        };
        let operator = task_operator(parent);
        let base = operator
            .as_deref()
            .and_then(|operator| self.config().layers.resolve_row(operator, None).ok());
        let base = base.map(|row| self.config().layers.get(row).base());
        let fits = |of: OwnerType| match of {
            OwnerType::Any => true,
            OwnerType::Type(own) => base.is_none_or(|base| base.word() == own),
        };
        let is_there = |tag: &str| {
            let mut same = parent
                .elements()
                .filter(|child| child.name() == tag && !child.span().contains(self.place.offset));
            same.next().is_some()
        };
        let children = kind.spec().children.iter().filter(|child| {
            let spec = child.kind.spec();
            spec.deprecated.is_none()
                && fits(child.owner)
                && (child.is_repeatable || !is_there(spec.tag))
        });
        let mut children: Vec<ElementKind> = children.map(|child| child.kind).collect();
        let needs = base
            .filter(|_| kind == ElementKind::Task)
            .map_or(&[][..], Operator::required_children);
        children.sort_by_key(|child| *child != ElementKind::Description && !needs.contains(child));
        children.into_iter().map(one).collect()
    }

    /// Returns an item for an element; only its name if the rest follows the cursor.
    fn element_item(&self, kind: ElementKind, before: &str, is_closed: bool) -> CompletionItem {
        let spec = kind.spec();
        let (tag, doc) = (spec.tag, spec.doc);
        let rest = self.place.text_after();
        let behind = rest.trim_start_matches([' ', '\t']);
        let ends = before.is_empty() && behind.starts_with('>');
        if before.is_empty()
            && (behind.starts_with("/>") || ends && is_closed || is_attribute(rest))
        {
            return self.item(tag, CompletionItemKind::Struct, doc, tag);
        }
        let mut insert = format!("{before}{tag}");
        let mut stop = 0;
        for attribute in spec
            .attributes
            .iter()
            .filter(|attribute| attribute.required)
        {
            stop += 1;
            let hole = if self.place.client.supports_snippets {
                format!("${stop}")
            } else {
                String::new()
            };
            let _ = write!(insert, " {}=\"{hole}\"", attribute.name);
        }
        if spec.content == ElementContent::Empty {
            insert.push_str("/>");
        } else {
            let hole = if self.place.client.supports_snippets {
                "$0"
            } else {
                ""
            };
            let _ = write!(insert, ">{hole}</{tag}>");
        }
        // An editor that closes brackets automatically has already written the `>`.
        let end = self.place.word.end
            + if ends {
                (rest.len() - behind.len()) as u32 + 1
            } else {
                0
            };
        let word = Span::new(self.place.word.start, end);
        let offset = if ends { end } else { self.place.offset };
        let lead = if before.is_empty() {
            self.place.start
        } else {
            word.start
        };
        CompletionPlace {
            word,
            offset,
            start: lead,
            ..self.place
        }
        .item(tag, CompletionItemKind::Struct, doc, &insert)
    }

    /// Returns the innermost open tag at a place.
    fn end_tag_items(&self, open: usize) -> Vec<CompletionItem> {
        let chain = place::ancestors(self.parent_at(open));
        let open_ones = chain.filter(|element| {
            element.end_tag().is_none() || element.is_damaged() || !element.is_empty_tag()
        });
        let end = if self.place.text_after().trim_start().starts_with('>') {
            ""
        } else {
            ">"
        };
        let one = |name: &str| {
            self.item(
                name,
                CompletionItemKind::Struct,
                "",
                &format!("{name}{end}"),
            )
        };
        open_ones
            .map(Element::name)
            .next()
            .map(one)
            .into_iter()
            .collect()
    }

    /// Returns the end tag of an element, unless it follows the place.
    fn end_tag_item(&self, element: Option<Element<'c>>, before: &str) -> Option<CompletionItem> {
        let name = element?.name();
        let end = if self.place.text_after().trim_start().starts_with('>') {
            ""
        } else {
            ">"
        };
        let item = || {
            self.item(
                &format!("/{name}"),
                CompletionItemKind::Struct,
                "",
                &format!("{before}/{name}{end}"),
            )
        };
        (closing_tag(self.place.text_after()) != Some(name)).then(item)
    }

    /// Returns the missing attributes, required ones first.
    fn attribute_items(&self, open: usize) -> Vec<CompletionItem> {
        let Some(element) = self.begun_element(open) else {
            return Vec::new();
        };
        let Some(kind) = place::element_kind(element) else {
            return Vec::new();
        };
        let word = self.place.word.slice(self.place.text);
        let is_used = kind == ElementKind::Task && element.attribute("ref").is_some();
        let fits = |name: &str| !is_used || matches!(name, "ref" | "as" | "trust");
        let is_free =
            |attribute: &&Attr| element.attribute(attribute.name).is_none() && fits(attribute.name);
        let mut missing: Vec<&Attr> = kind
            .attributes()
            .filter(|own| is_free(own) || own.name == word)
            .collect();
        missing.sort_by_key(|attribute| {
            !attribute.required
                && !matches!((kind, attribute.name), (ElementKind::Task, "type" | "name"))
        });
        let rest = self.place.text_after();
        let has_value = rest.trim_start().starts_with('=');
        let before = self
            .place
            .text
            .get(..self.place.word.start as usize)
            .is_some_and(|head| head.ends_with(['"', '\'']));
        let before = if before { " " } else { "" };
        let behind = if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            " "
        } else {
            ""
        };
        let hole = if self.place.client.supports_snippets {
            "$0"
        } else {
            ""
        };
        let one = |attribute: &Attr| {
            let name = attribute.name;
            let insert = if has_value {
                format!("{before}{name}")
            } else {
                format!("{before}{name}=\"{hole}\"{behind}")
            };
            self.item(
                name,
                CompletionItemKind::Property,
                &attribute_doc(attribute),
                &insert,
            )
        };
        missing.into_iter().map(one).collect()
    }

    /// Completes text between tags: words of a setting, a condition or a path, otherwise child
    /// elements.
    fn content_items(&self, before: &str) -> Vec<CompletionItem> {
        let element = self
            .document
            .element_at(self.place.offset.saturating_sub(1));
        let kind = element.and_then(place::element_kind);
        let setting = kind.and_then(|kind| {
            SettingName::ALL
                .iter()
                .copied()
                .find(|name| name.word() == kind.tag())
        });
        if let (Some(setting), Some(element)) = (setting, element) {
            return self.setting_items(element, setting);
        }
        let start = self.place.word.start - before.trim_start().len() as u32;
        let typed = Span::new(start, self.place.offset).slice(self.place.text);
        match kind.map(|kind| (kind, kind.spec().content)) {
            Some((ElementKind::Condition, _)) => self.expression_items(typed),
            Some((ElementKind::Path, _)) => self.place.file_items(self.project, typed, "", ""),
            Some((_, ElementContent::Elements)) | None => self
                .element_items(element, "<")
                .into_iter()
                .chain(self.end_tag_item(element, "<"))
                .collect(),
            Some((
                _,
                ElementContent::Text
                | ElementContent::TextOrElements
                | ElementContent::Word
                | ElementContent::Empty
                | ElementContent::Opaque,
            )) => Vec::new(),
        }
    }
}

/// Returns true if a text begins with an attribute and its value.
fn is_attribute(rest: &str) -> bool {
    let behind = rest.trim_start();
    let name = behind.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.:".contains(c));
    behind.len() < rest.len() && name.len() < behind.len() && name.trim_start().starts_with('=')
}

/// Returns the name of the first end tag in a text that closes an element opened before it.
fn closing_tag(mut rest: &str) -> Option<&str> {
    let mut depth = 0_u32;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at + 1..)?;
        if let Some(end) = rest.strip_prefix('/') {
            if depth == 0 {
                return end.split(|c: char| c == '>' || c.is_whitespace()).next();
            }
            depth -= 1;
        } else if rest.starts_with(char::is_alphabetic) {
            depth += u32::from(!rest.split('>').next()?.ends_with('/'));
        }
    }
    None
}
