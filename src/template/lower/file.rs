//! The root of a file, the entries of a library, templates and fragments.

use super::children::{Found, is_blank};
use super::parts::repeats;
use super::state::Lower;
use crate::base::span::Span;
use crate::base::span::Spanned;
use crate::base::suggest;
use crate::syntax::tree::{Document, Element};
use crate::template::elements::Kind;
use crate::template::fault::FaultKind;
use crate::template::model::{Definition, File, Fragment, Slot, Template};
use crate::template::parts::{Str, Text};
use std::borrow::Cow;

/// Lowers a document to a template file. Never fails: an unknown root yields one fault and no
/// definitions.
pub fn lower(document: Document<'_>) -> File<'_> {
    let mut lower = Lower::default();
    let mut definitions = Vec::new();
    if let Some(root) = document.root() {
        lower.root(root, &mut definitions);
    }
    let mut unread: Vec<_> = lower
        .faults
        .iter()
        .filter(|fault| fault.kind.leaves_unread())
        .map(|fault| fault.element)
        .collect();
    unread.sort_by_key(|element| element.span().start);
    File {
        definitions,
        left_out: lower.left_out(),
        faults: lower.faults,
        unread,
        bodies: lower.bodies,
    }
}

const ROOTS: [Kind; 3] = [Kind::Task, Kind::Template, Kind::Library];

/// Returns the kind of a document's root, also for a slightly misspelled name; `None` for the root
/// of another format. Other formats have roots with these names in their own namespaces: a root in
/// a namespace must have a child of the language.
pub fn root_kind(root: Element<'_>) -> Option<Kind> {
    let named = |name: &str| ROOTS.into_iter().find(|kind| kind.tag() == name);
    let kind = named(root.local())
        .or_else(|| named(suggest::nearest(root.local(), ROOTS.map(Kind::tag))?))?;
    let is_ours = root.namespace().is_none()
        || root
            .elements()
            .any(|child| kind.child(child.local()).is_some());
    is_ours.then_some(kind)
}

impl<'a> Lower<'a> {
    fn root(&mut self, root: Element<'a>, out: &mut Vec<Definition<'a>>) {
        // The start tag appears twice, which has been reported.
        let mut inner = root.elements();
        let twin = inner.next().filter(|twin| {
            root.end_tag().is_none() && root.is_damaged() && twin.name() == root.name()
        });
        let root = twin.filter(|_| inner.next().is_none()).unwrap_or(root);
        // An undeclared prefix has been reported; the root without a namespace is read by its local
        // name.
        let name = if root.namespace().is_none() {
            root.local()
        } else {
            ""
        };
        if !ROOTS.iter().any(|kind| kind.tag() == name) {
            self.fault(root, root.name_span(), FaultKind::WrongRoot);
        }
        // The content of a root with a misspelled name is read all the same.
        match root_kind(root).filter(|_| root.namespace().is_none()) {
            Some(Kind::Task) => out.push(Definition::Task(self.task(Kind::Task, root, Slot::Root))),
            Some(Kind::Template) => out.push(Definition::Template(self.template(root))),
            Some(_) => self.library(root, out),
            None => {}
        }
    }

    fn library(&mut self, element: Element<'a>, out: &mut Vec<Definition<'a>>) {
        self.attributes(Kind::Library, element, |_, _, _| {});
        self.children(
            Kind::Library,
            element,
            |lower, Found { kind, element, .. }| match kind {
                Kind::Task => out.push(Definition::Task(lower.task(
                    Kind::Task,
                    element,
                    Slot::Root,
                ))),
                Kind::Template => out.push(Definition::Template(lower.template(element))),
                Kind::Fragment => out.push(Definition::Fragment(lower.fragment(element))),
                _ => {
                    lower.text(kind, element);
                }
            },
        );
    }

    fn template(&mut self, element: Element<'a>) -> Template<'a> {
        let mut out = Template {
            element,
            name: None,
            params: Vec::new(),
            returns: None,
            description: None,
            task: None,
        };
        self.attributes(Kind::Template, element, |_, name, value| match name {
            "name" => out.name = Some(value),
            "params" => out.params = split(&value),
            _ => out.returns = Some(value),
        });
        self.repeated_params(element, &out.params);
        for param in &out.params {
            self.can_be_named(element, Some(param));
        }
        self.children(
            Kind::Template,
            element,
            |lower, Found { kind, element, .. }| {
                if kind == Kind::Task {
                    out.task = Some(Box::new(lower.task(Kind::Task, element, Slot::Template)));
                } else {
                    out.description = Some(lower.text(kind, element));
                }
            },
        );
        if out.task.is_none() {
            let missing = FaultKind::MissingChild {
                kind: Kind::Template,
                child: Kind::Task,
            };
            self.fault(element, element.name_span(), missing);
        }
        out
    }

    fn repeated_params(&mut self, element: Element<'a>, params: &[Str<'a>]) {
        repeats(
            params.iter().map(|param| (Some(param), param.span)),
            |param, span, first| {
                let kind = FaultKind::RepeatedName {
                    kind: Kind::Template,
                    name: param.to_owned(),
                    first,
                };
                self.fault(element, span, kind);
            },
        );
    }

    fn fragment(&mut self, element: Element<'a>) -> Fragment<'a> {
        let mut name = None;
        let mut text = Text::new(element);
        self.attributes(
            Kind::Fragment,
            element,
            |_, attribute, value| match attribute {
                "name" => name = Some(value),
                _ => text.set(attribute, value),
            },
        );
        self.text_content(Kind::Fragment, element, text.src.is_some());
        if text.src.is_none() && is_blank(element) {
            self.fault(
                element,
                element.span(),
                FaultKind::Empty { name: "fragment" },
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
fn split<'a>(list: &Str<'a>) -> Vec<Str<'a>> {
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
