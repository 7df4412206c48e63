//! The root of a file, the entries of a library, templates and fragments.

use super::children::{KnownChild, is_blank};
use super::parts::for_each_repeat;
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::base::suggest;
use crate::syntax::tree::{Element, XmlDocument};
use crate::template::elements::ElementKind;
use crate::template::fault::TemplateFaultKind;
use crate::template::keywords::Trust;
use crate::template::model::{BodySlot, Definition, Fragment, Template, TemplateFile};
use crate::template::parts::{Str, TextElement};
use std::borrow::Cow;

/// Lowers a document to a template file. Never fails: an unknown root yields one fault and no
/// definitions.
pub fn lower_document(document: XmlDocument<'_>) -> TemplateFile<'_> {
    lower_with_trust(document, Trust::Trusted)
}

/// Lowers a document whose texts are trusted at most as much as `trust`.
pub fn lower_with_trust(document: XmlDocument<'_>, trust: Trust) -> TemplateFile<'_> {
    let mut lower = Lower::default();
    lower.trust = trust;
    let mut definitions = Vec::new();
    if let Some(root) = document.root() {
        lower.lower_root(root, &mut definitions);
    }
    let mut unread: Vec<_> = lower
        .faults
        .iter()
        .filter(|fault| fault.kind.leaves_unread())
        .map(|fault| fault.element)
        .collect();
    unread.sort_by_key(|element| element.span().start);
    TemplateFile {
        definitions,
        left_out: lower.omitted_count(),
        faults: lower.faults,
        unread,
        bodies: lower.bodies,
    }
}

const ROOTS: [ElementKind; 3] = [
    ElementKind::Task,
    ElementKind::Template,
    ElementKind::Library,
];

/// Returns the kind of a document's root, also for a slightly misspelled name; `None` for the root
/// of another format. Other formats have roots with these names in their own namespaces: a root in
/// a namespace must have a child of the language.
pub fn root_kind(root: Element<'_>) -> Option<ElementKind> {
    let named = |name: &str| ROOTS.into_iter().find(|kind| kind.tag() == name);
    let near = || {
        let near = suggest::nearest_candidate(root.local_name(), ROOTS.map(ElementKind::tag))?;
        if is_list_of_definitions(root) {
            return Some(ElementKind::Library);
        }
        named(near)
    };
    let kind = named(root.local_name()).or_else(near)?;
    let is_ours = root.namespace().is_none()
        || root
            .elements()
            .any(|child| kind.child(child.local_name()).is_some());
    is_ours.then_some(kind)
}

/// True for `<tasks>` and the like: a root without a name that contains whole definitions.
fn is_list_of_definitions(root: Element<'_>) -> bool {
    let is_definition = |child: Element<'_>| ["task", "template"].contains(&child.name());
    root.attribute("name").is_none()
        && root.elements().any(is_definition)
        && root
            .elements()
            .all(|child| ElementKind::Library.child(child.name()).is_some())
}

impl<'a> Lower<'a> {
    fn lower_root(&mut self, root: Element<'a>, out: &mut Vec<Definition<'a>>) {
        // The start tag appears twice, which has been reported.
        let mut inner = root.elements();
        let twin = inner.next().filter(|twin| {
            root.end_tag().is_none() && root.is_damaged() && twin.name() == root.name()
        });
        let root = twin.filter(|_| inner.next().is_none()).unwrap_or(root);
        // An undeclared prefix has been reported; the root without a namespace is read by its local
        // name.
        let name = if root.namespace().is_none() {
            root.local_name()
        } else {
            ""
        };
        if !ROOTS.iter().any(|kind| kind.tag() == name) {
            self.report_fault(root, root.name_span(), TemplateFaultKind::WrongRoot);
        }
        // The content of a root with a misspelled name is read all the same.
        match root_kind(root).filter(|_| root.namespace().is_none()) {
            Some(ElementKind::Task) => out.push(Definition::Task(self.lower_task(
                ElementKind::Task,
                root,
                BodySlot::Root,
            ))),
            Some(ElementKind::Template) => {
                out.push(Definition::Template(self.lower_template(root)));
            }
            Some(_) => self.lower_library(root, out),
            None => {}
        }
    }

    fn lower_library(&mut self, element: Element<'a>, out: &mut Vec<Definition<'a>>) {
        self.lower_attributes(ElementKind::Library, element, |_, _, _| {});
        self.lower_children(
            ElementKind::Library,
            element,
            |lower, KnownChild { kind, element, .. }| match kind {
                ElementKind::Task => out.push(Definition::Task(lower.lower_task(
                    ElementKind::Task,
                    element,
                    BodySlot::Root,
                ))),
                ElementKind::Template => {
                    out.push(Definition::Template(lower.lower_template(element)));
                }
                ElementKind::Fragment => {
                    out.push(Definition::Fragment(lower.lower_fragment(element)));
                }
                _ => {
                    lower.lower_text(kind, element);
                }
            },
        );
    }

    fn lower_template(&mut self, element: Element<'a>) -> Template<'a> {
        let mut out = Template {
            element,
            name: None,
            params: Vec::new(),
            returns: None,
            description: None,
            task: None,
        };
        self.lower_attributes(
            ElementKind::Template,
            element,
            |_, name, value| match name {
                "name" => out.name = Some(value),
                "params" => out.params = split_params(&value),
                _ => out.returns = Some(value),
            },
        );
        self.report_repeated_params(element, &out.params);
        for param in &out.params {
            self.check_name(element, Some(param));
        }
        self.lower_children(
            ElementKind::Template,
            element,
            |lower, KnownChild { kind, element, .. }| {
                if kind == ElementKind::Task {
                    out.task = Some(Box::new(lower.lower_task(
                        ElementKind::Task,
                        element,
                        BodySlot::Template,
                    )));
                } else {
                    out.description = Some(lower.lower_text(kind, element));
                }
            },
        );
        if out.task.is_none() {
            let missing = TemplateFaultKind::MissingChild {
                kind: ElementKind::Template,
                child: ElementKind::Task,
            };
            self.report_fault(element, element.name_span(), missing);
        }
        out
    }

    fn report_repeated_params(&mut self, element: Element<'a>, params: &[Str<'a>]) {
        for_each_repeat(
            params.iter().map(|param| (Some(param), param.span)),
            |param, span, first| {
                let kind = TemplateFaultKind::RepeatedName {
                    kind: ElementKind::Template,
                    name: param.to_owned(),
                    first,
                };
                self.report_fault(element, span, kind);
            },
        );
    }

    fn lower_fragment(&mut self, element: Element<'a>) -> Fragment<'a> {
        let mut name = None;
        let mut text = TextElement::new(element);
        self.lower_attributes(
            ElementKind::Fragment,
            element,
            |_, attribute, value| match attribute {
                "name" => name = Some(value),
                _ => text.set_attribute(attribute, value),
            },
        );
        text.trust = text.trust.at_most(self.trust);
        self.check_text_content(ElementKind::Fragment, element, text.src.is_some());
        if text.src.is_none() && is_blank(element) {
            self.report_fault(
                element,
                element.span(),
                TemplateFaultKind::Empty { name: "fragment" },
            );
        }
        Fragment {
            element,
            name,
            text,
        }
    }
}

/// Splits `params` at white space and commas.
fn split_params<'a>(list: &Str<'a>) -> Vec<Str<'a>> {
    let separator = |c: char| c == ',' || c.is_ascii_whitespace();
    let whole = list.span;
    let exact = whole.len() as usize == list.value.len();
    let mut out = Vec::new();
    let mut at = 0;
    for piece in list.value.split(separator) {
        if !piece.is_empty() {
            // After decoding references, offsets inside the value are unknown: the span is that of
            // the whole value.
            let start = whole.start + at as u32;
            let span = if exact {
                Span::new(start, start + piece.len() as u32)
            } else {
                whole
            };
            out.push(Spanned::new(Cow::Owned(piece.to_owned()), span));
        }
        at += piece.len() + 1;
    }
    out
}
