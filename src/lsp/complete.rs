//! What can be written at a place: elements, attributes, values, closing tags, names and variables.
//!
//! Looks back from the place to what was begun there, since what is being typed is rarely well-formed yet; the tree says what
//! stands around it.

use super::client::Client;
use super::hover::{self, of_attribute};
use super::place;
use super::server::{Answer, Server, value};
use super::world::World;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::project::config::Config;
use crate::syntax::tree::{Document, Element};
use crate::template::elements::{Content, Kind, Of, Values};
use crate::template::names::DefinitionKind;
use crate::template::setting::{SettingName, Word};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionParams, Documentation, InsertTextFormat, MarkupContent,
    MarkupKind, TextEdit,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How far is looked back for what was begun: 8 KiB.
const BACK: usize = 8 << 10;

/// Answers `textDocument/completion`.
pub(super) fn answer(server: &Server<'_>, params: CompletionParams) -> Answer {
    let at = params.text_document_position_params;
    let (_, buffer) = server.document(&at.text_document.uri)?;
    let offset = server.client.encoding.offset(&buffer.text, &buffer.index, at.position);
    let begun = begun(&buffer.text, offset as usize);
    let items = place::with(&buffer.text, &server.world.config.limits, |document| {
        let cx = Cx { world: &server.world, client: &server.client, document, text: &buffer.text, index: &buffer.index, offset };
        cx.items(&begun)
    });
    value(items)
}

/// What was begun before a place.
#[derive(Debug, PartialEq, Eq)]
enum Begun<'t> {
    /// `<`, and perhaps the first letters of a name.
    Element { open: usize, typed: &'t str },
    /// `</`, and perhaps letters.
    End { open: usize, typed: &'t str },
    /// A tag, white space, and perhaps the first letters of an attribute.
    Attribute { open: usize, typed: &'t str },
    /// The value of an attribute.
    Value { open: usize, name: &'t str, typed: &'t str },
    /// `{{` in a text or a value.
    Variable { typed: &'t str },
    /// Text between tags.
    Text { typed: &'t str },
}

/// Looks back from a place.
fn begun(text: &str, offset: usize) -> Begun<'_> {
    let mut from = offset.saturating_sub(BACK);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..offset).unwrap_or("");
    let word = |text: &'_ str| text.len() - text.trim_end_matches(|c: char| c.is_alphanumeric() || "_-.".contains(c)).len();
    if let Some(open) = before.rfind("{{").filter(|open| !before.get(*open..).unwrap_or("").contains("}}")) {
        let inside = before.get(open + 2..).unwrap_or("");
        if !inside.contains(['<', '\n']) {
            return Begun::Variable { typed: inside.get(inside.len() - word(inside)..).unwrap_or("") };
        }
    }
    let tag = before.rfind('<').and_then(|open| Some((from + open, before.get(open + 1..)?))).filter(|(_, rest)| is_open(rest));
    let Some((open, rest)) = tag else {
        return Begun::Text { typed: before.get(before.len() - word(before)..).unwrap_or("") };
    };
    if let Some(typed) = rest.strip_prefix('/') {
        return Begun::End { open, typed };
    }
    if !rest.contains(|c: char| c.is_ascii_whitespace()) {
        return Begun::Element { open, typed: rest };
    }
    // Inside a value when its quote has not been closed.
    let mut quote: Option<(char, usize)> = None;
    for (at, c) in rest.char_indices() {
        match quote {
            Some((own, _)) if c == own => quote = None,
            None if c == '"' || c == '\'' => quote = Some((c, at)),
            Some(_) | None => {}
        }
    }
    match quote {
        Some((_, at)) => {
            let name = rest.get(..at).unwrap_or("").trim_end().trim_end_matches('=').trim_end();
            let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("");
            Begun::Value { open, name, typed: rest.get(at + 1..).unwrap_or("") }
        }
        None => Begun::Attribute { open, typed: rest.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("") },
    }
}

/// Whether a tag that begins so has not ended: no `>` outside of its values.
fn is_open(rest: &str) -> bool {
    let mut quote = None;
    for c in rest.chars() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return false,
            _ => {}
        }
    }
    true
}

struct Cx<'c> {
    world: &'c World,
    client: &'c Client,
    document: Document<'c>,
    text: &'c str,
    index: &'c LineIndex,
    offset: u32,
}

impl<'c> Cx<'c> {
    fn config(&self) -> &'c Config {
        &self.world.config
    }

    fn items(&self, begun: &Begun<'_>) -> Vec<CompletionItem> {
        match *begun {
            Begun::Element { open, typed } => self.elements(self.around(open), typed, ""),
            Begun::End { open, typed } => self.ends(open, typed),
            Begun::Attribute { open, typed } => self.attributes(open, typed),
            Begun::Value { open, name, typed } => self.values(open, name, typed),
            Begun::Variable { typed } => self.variables(typed),
            Begun::Text { typed } => self.inside(typed),
        }
    }

    /// The element that a tag begun at `open` stands in.
    fn around(&self, open: usize) -> Option<Element<'c>> {
        let element = self.document.element_at(open as u32)?;
        if element.span().start == open as u32 { element.parent() } else { Some(element) }
    }

    /// The element whose tag was begun at `open`.
    fn own(&self, open: usize) -> Option<Element<'c>> {
        self.document.element_at(open as u32).filter(|element| element.span().start == open as u32)
    }

    fn item(&self, label: &str, kind: CompletionItemKind, doc: &str, insert: String, typed: &str) -> CompletionItem {
        let start = self.offset - typed.len() as u32;
        let range = self.client.encoding.range(self.text, self.index, Span::new(start, self.offset));
        let documentation = if self.client.markdown_items {
            Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: doc.to_owned() })
        } else {
            Documentation::String(hover::plain(doc))
        };
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation: (!doc.is_empty()).then_some(documentation),
            insert_text_format: insert.contains('$').then_some(InsertTextFormat::Snippet),
            text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit { range, new_text: insert })),
            ..CompletionItem::default()
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
        let chain = std::iter::successors(self.around(open), |element| element.parent());
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

    fn values(&self, open: usize, name: &str, typed: &str) -> Vec<CompletionItem> {
        let Some(element) = self.own(open) else { return Vec::new() };
        let Some(kind) = place::kind(element) else { return Vec::new() };
        let layers = &self.config().layers;
        let words = |words: Vec<String>, kind: CompletionItemKind| {
            words.iter().map(|word| self.item(word, kind, "", word.clone(), typed)).collect()
        };
        let named = |kind: DefinitionKind| {
            let names: BTreeSet<String> = self.world.index().names(kind).map(str::to_owned).collect();
            words(names.into_iter().collect(), CompletionItemKind::Reference)
        };
        match (kind, name) {
            (Kind::Task, "type") => words(layers.operators().map(str::to_owned).collect(), CompletionItemKind::Class),
            (Kind::Task, "subtype") => {
                let operator = operator(element).unwrap_or_else(|| "atomic".to_owned());
                words(layers.subtypes_of(&operator).map(str::to_owned).collect(), CompletionItemKind::EnumMember)
            }
            (Kind::Task, "ref") => named(DefinitionKind::Task),
            (Kind::Call, "template") => named(DefinitionKind::Template),
            (Kind::Use, "fragment") => named(DefinitionKind::Fragment),
            (_, "from") => self.variables(typed),
            _ => match kind.attribute(name).map(|attribute| attribute.values) {
                Some(Values::OneOf(allowed)) => {
                    words(allowed.iter().map(|word| (*word).to_owned()).collect(), CompletionItemKind::EnumMember)
                }
                Some(Values::Bool) => words(vec!["true".to_owned(), "false".to_owned()], CompletionItemKind::EnumMember),
                Some(Values::Any | Values::Name) | None => Vec::new(),
            },
        }
    }

    /// Names that the definition around the place gives to values.
    fn variables(&self, typed: &str) -> Vec<CompletionItem> {
        let Some(here) = self.document.element_at(self.offset.saturating_sub(1)).or_else(|| self.document.root()) else {
            return Vec::new();
        };
        let chain: Vec<Element<'_>> = std::iter::successors(Some(here), |element| element.parent()).collect();
        let holder = chain.iter().rev().find(|element| matches!(element.name(), "task" | "template"));
        let mut names: BTreeSet<(String, &'static str)> = BTreeSet::new();
        let mut stack: Vec<Element<'_>> = holder.copied().into_iter().collect();
        while let Some(element) = stack.pop() {
            let source = match element.name() {
                "parameter" => Some(("name", "a parameter")),
                "input" => Some(("name", "an input")),
                "task" | "call" | "cond" => Some(("as", "the result of a step")),
                _ => None,
            };
            if let Some((attribute, what)) = source
                && let Some(attribute) = element.attribute(attribute)
            {
                names.insert((attribute.value().trim().to_owned(), what));
            }
            if let Some(params) = element.attribute("params").filter(|_| element.name() == "template") {
                let params = params.value().into_owned();
                let split = params.split(|c: char| c.is_ascii_whitespace() || c == ',').filter(|name| !name.is_empty());
                names.extend(split.map(|name| (name.to_owned(), "a parameter of the template")));
            }
            stack.extend(element.elements());
        }
        let names = names.into_iter().filter(|(name, _)| !name.is_empty());
        names.map(|(name, what)| self.item(&name, CompletionItemKind::Variable, what, name.clone(), typed)).collect()
    }

    /// Between tags: the words that a setting can be, else the elements that may stand there.
    fn inside(&self, typed: &str) -> Vec<CompletionItem> {
        let element = self.document.element_at(self.offset.saturating_sub(1));
        let kind = element.and_then(place::kind);
        if let Some(setting) = kind.and_then(|kind| SettingName::ALL.iter().copied().find(|name| name.word() == kind.tag())) {
            let words = setting.words().iter();
            return words.map(|word| self.item(word, CompletionItemKind::EnumMember, "", (*word).to_owned(), typed)).collect();
        }
        match kind.map(|kind| kind.spec().content) {
            Some(Content::Elements) | None => self.elements(element, typed, "<"),
            Some(Content::Text | Content::TextOrElements | Content::Word | Content::Empty | Content::Opaque) => Vec::new(),
        }
    }
}

/// The type of the task that an element is.
fn operator(element: Element<'_>) -> Option<String> {
    match element.name() {
        "task" => element.attribute("type").map(|attribute| attribute.value().trim().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Begun, begun};

    #[test]
    fn what_was_begun_is_seen_from_its_place() {
        let at = |text: &'static str| begun(text, text.len());
        assert_eq!(at("<task><de"), Begun::Element { open: 6, typed: "de" });
        assert_eq!(at("<task></"), Begun::End { open: 6, typed: "" });
        assert_eq!(at("<task na"), Begun::Attribute { open: 0, typed: "na" });
        assert_eq!(at("<task a=\">\" ty"), Begun::Attribute { open: 0, typed: "ty" });
        assert_eq!(at("<task type = \"at"), Begun::Value { open: 0, name: "type", typed: "at" });
        assert_eq!(at("<a b=\"{{ x.y"), Begun::Variable { typed: "x.y" });
        assert_eq!(at("<a>{{x}} {{ cu"), Begun::Variable { typed: "cu" });
        assert_eq!(at("<a>{{x}} wo"), Begun::Text { typed: "wo" });
        assert_eq!(at(""), Begun::Text { typed: "" });
        assert_eq!(at("<a b='"), Begun::Value { open: 0, name: "b", typed: "" });
    }
}
