//! Finds the uses of variables in texts, words and conditions, each with its position.

use super::fault::{ScopeFault, ScopeFaultKind, UsePlace};
use crate::base::span::{Span, Spanned};
#[cfg(not(feature = "assemble"))]
use crate::jinja::parse::analyze as analyze_with_trials;
use crate::jinja::parse::{JinjaPart, find_first_reads};
#[cfg(feature = "assemble")]
use crate::jinja::trial::analyze_with_trials;
use crate::syntax::placed::TextPlacement;
use crate::syntax::tree::{Element, NodeKind as Node};
use crate::template::expression::{
    self, Expression, ExpressionFault, Expressions, ScanItem, ValuePath, ValueStep,
};
use crate::template::parts::Str;
use crate::template::{condition, stretches};
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// A use of a variable.
#[derive(Clone, Debug)]
pub(super) struct VariableUse<'a> {
    pub(super) name: Cow<'a, str>,
    /// The path into its value, `.a[0]`; the span covers the whole reference, while `inside` covers
    /// the name.
    pub(super) path: Spanned<Box<str>>,
    pub(super) span: Span,
    /// The span in a separate text file, if `span` is that of its `src`; the default if it is
    /// unknown.
    pub(super) inside: Span,
    pub(super) place: UsePlace,
}

/// A use or fault found in a text.
#[derive(Debug)]
pub(super) enum FoundUse<'a> {
    /// A variable.
    Variable(VariableUse<'a>),
    /// A called Jinja function: it is a use of a variable only if one of that name is bound.
    JinjaFunction(VariableUse<'a>),
    /// A part of a variable that a Jinja text renders; true if every render reaches it. The
    /// variable itself is reported as well.
    Member(VariableUse<'a>, bool),
    /// A call of a function template, by its text, and the text element that contains it.
    TemplateCall(VariableUse<'a>, Element<'a>),
    Fault(ScopeFault<'a>),
}

/// Finds the `{{…}}` in an element's text.
pub(super) fn find_in_text<'a>(element: Element<'a>, found: &mut impl FnMut(FoundUse<'a>)) {
    for stretch in stretches::stretches_with_expressions(element) {
        match &stretch.text {
            Cow::Borrowed(text) => find_in_items(
                expression::scan_plain(text, stretch.start),
                element,
                UsePlace::Text,
                found,
            ),
            Cow::Owned(text) => find_in_decoded(
                text,
                element,
                UsePlace::Text,
                &|span| stretch.document_span(span),
                found,
            ),
        }
    }
}

/// Finds the `{{…}}` in a word: a path, a command.
pub(super) fn find_in_word<'a>(
    element: Element<'a>,
    word: &Str<'a>,
    found: &mut impl FnMut(FoundUse<'a>),
) {
    if !expression::has_open_braces(&word.value) {
        return;
    }
    match &word.value {
        Cow::Borrowed(text) => find_in_items(
            expression::scan_plain(text, word.span.start),
            element,
            UsePlace::Text,
            found,
        ),
        Cow::Owned(text) => find_in_decoded(text, element, UsePlace::Text, &|_| word.span, found),
    }
}

/// Finds the `{{…}}` in a text that differs from the document; `moved` maps its spans.
fn find_in_decoded<'a>(
    text: &str,
    element: Element<'a>,
    place: UsePlace,
    moved: &dyn Fn(Span) -> Span,
    found: &mut impl FnMut(FoundUse<'a>),
) {
    let owned = |used: VariableUse<'_>| {
        let (span, inside) = (moved(used.span), moved(used.inside));
        let path = Spanned::new(used.path.value, moved(used.path.span));
        VariableUse {
            name: Cow::Owned(used.name.into_owned()),
            path,
            span,
            inside,
            place,
        }
    };
    find_in_items(
        expression::scan_plain(text, 0),
        element,
        place,
        &mut |piece| match piece {
            FoundUse::Variable(used) => found(FoundUse::Variable(owned(used))),
            FoundUse::TemplateCall(used, _) => found(FoundUse::TemplateCall(owned(used), element)),
            FoundUse::Fault(ScopeFault {
                kind: ScopeFaultKind::Expression { fault, .. },
                span,
                ..
            }) => {
                let fault = ExpressionFault {
                    span: moved(fault.span),
                    expression: moved(fault.expression),
                    ..fault
                };
                found(FoundUse::Fault(ScopeFault::new(
                    ScopeFaultKind::Expression { fault, element },
                    moved(span),
                )));
            }
            FoundUse::JinjaFunction(_) | FoundUse::Member(..) | FoundUse::Fault(_) => {}
        },
    );
}

/// Finds the `{{…}}` in a separate text file. Uses have the span of its `src`, faults their span in
/// the text.
pub(super) fn find_in_source<'a>(
    element: Element<'a>,
    src: Span,
    text: &str,
    found: &mut impl FnMut(FoundUse<'a>),
) {
    if !expression::has_open_braces(text) {
        return;
    }
    find_in_items(
        expression::scan_plain(text, 0),
        element,
        UsePlace::Source,
        &mut |piece| match piece {
            FoundUse::Variable(used) => {
                let name = Cow::Owned(used.name.into_owned());
                found(FoundUse::Variable(VariableUse {
                    name,
                    span: src,
                    inside: used.span,
                    place: UsePlace::Source,
                    path: used.path,
                }));
            }
            FoundUse::TemplateCall(
                VariableUse {
                    name,
                    path,
                    span,
                    inside,
                    place,
                },
                _,
            ) => {
                let name = Cow::Owned(name.into_owned());
                found(FoundUse::TemplateCall(
                    VariableUse {
                        name,
                        path,
                        span,
                        inside,
                        place,
                    },
                    element,
                ));
            }
            FoundUse::Fault(ScopeFault {
                kind: ScopeFaultKind::Expression { fault, .. },
                span,
                ..
            }) => {
                found(FoundUse::Fault(ScopeFault::new(
                    ScopeFaultKind::Expression { fault, element },
                    span,
                )));
            }
            FoundUse::JinjaFunction(_) | FoundUse::Member(..) | FoundUse::Fault(_) => {}
        },
    );
}

fn find_in_items<'t, 'e: 't>(
    pieces: Expressions<'t>,
    element: Element<'e>,
    place: UsePlace,
    found: &mut impl FnMut(FoundUse<'t>),
) {
    for piece in pieces {
        match piece {
            ScanItem::Text(_) | ScanItem::Escaped(_) => {}
            ScanItem::Expression(expression) => expression_use(expression.value, element, place)
                .into_iter()
                .for_each(&mut *found),
            ScanItem::Fault(fault) => {
                let span = fault.span;
                found(FoundUse::Fault(ScopeFault::new(
                    ScopeFaultKind::Expression { fault, element },
                    span,
                )));
            }
        }
    }
}

fn expression_use<'t>(
    expression: Expression<'t>,
    element: Element<'t>,
    place: UsePlace,
) -> Option<FoundUse<'t>> {
    match expression {
        Expression::Path(path) => {
            let part = path_text(&path);
            let Spanned { value: name, span } = path.root;
            Some(FoundUse::Variable(VariableUse {
                name,
                path: part,
                span,
                inside: span,
                place,
            }))
        }
        // Its arguments are those of a call of the task.
        Expression::Call(call) => {
            let span = call.name.span;
            let path = Spanned::new(Box::default(), span);
            Some(FoundUse::TemplateCall(
                VariableUse {
                    name: Cow::Owned(call.to_string()),
                    path,
                    span,
                    inside: span,
                    place,
                },
                element,
            ))
        }
        // Literals occur only in calls.
        Expression::Text(_) | Expression::Number(_) | Expression::Boolean(_) => None,
    }
}

/// The path into a value, as written without white space.
fn path_text(path: &ValuePath<'_>) -> Spanned<Box<str>> {
    let end = path
        .rest
        .last()
        .map_or(path.root.span.end, |step| match step {
            ValueStep::Field(name) => name.span.end,
            ValueStep::Index(number) => number.span.end + 1,
        });
    let written = path.to_string().split_off(path.root.value.len());
    Spanned::new(
        written.into(),
        Span::new(path.root.span.start, end.max(path.root.span.end)),
    )
}

/// Finds the variables of a condition.
pub(super) fn find_in_condition<'a>(test: &Str<'a>, found: &mut impl FnMut(FoundUse<'a>)) {
    let exact = test.span.len() as usize == test.value.len();
    let place = if exact {
        condition::ConditionPosition::Exact(test.span.start)
    } else {
        condition::ConditionPosition::Whole(test.span)
    };
    match condition::parse(&test.value, place) {
        Ok(condition) => {
            for variable in condition::collect_variables(&condition) {
                let name = Cow::Owned(variable.root.value.to_string());
                let (span, path) = (variable.root.span, path_text(variable));
                found(FoundUse::Variable(VariableUse {
                    name,
                    path,
                    span,
                    inside: span,
                    place: UsePlace::Condition,
                }));
            }
        }
        Err(fault) => {
            let span = fault.span;
            found(FoundUse::Fault(ScopeFault::new(
                ScopeFaultKind::Condition(fault),
                span,
            )));
        }
    }
}

/// Finds the variable of a `from`.
pub(super) fn find_in_from<'a>(from: &Str<'a>, found: &mut impl FnMut(FoundUse<'a>)) {
    let value = &*from.value;
    let root = value.split(['.', '[']).next().unwrap_or("");
    let mut letters = root.chars();
    let starts = letters
        .next()
        .is_some_and(|c| c == '_' || c.is_alphabetic());
    if !starts
        || !letters.all(|c| c == '_' || c == '-' || c.is_alphanumeric())
        || value.contains(char::is_whitespace)
    {
        let inside = value
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"))
            .map(|inside| inside.trim().to_owned());
        return found(FoundUse::Fault(ScopeFault::new(
            ScopeFaultKind::BadFrom { meant: inside },
            from.span,
        )));
    }
    let exact = from.span.len() as usize == value.len();
    let span = if exact {
        Span::new(from.span.start, from.span.start + root.len() as u32)
    } else {
        from.span
    };
    let name = match &from.value {
        Cow::Borrowed(value) => Cow::Borrowed(value.get(..root.len()).unwrap_or(value)),
        Cow::Owned(_) => Cow::Owned(root.to_owned()),
    };
    let path = Spanned::new(value.get(root.len()..).unwrap_or("").into(), from.span);
    found(FoundUse::Variable(VariableUse {
        name,
        path,
        span,
        inside: span,
        place: UsePlace::From,
    }));
}

/// Returns a map from spans of an element's text to spans of the document.
pub(super) fn document_positions<'e>(
    element: Element<'e>,
    text: &str,
) -> impl Fn(Span) -> Span + use<'e> {
    let mut texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let first = texts.next();
    let second = texts.next();
    // A single text node without references stands in the document unchanged.
    let exact = first
        .filter(|node| second.is_none() && node.inner().len() as usize == text.len())
        .map(|node| node.inner().start);
    let written = LazyCell::new(move || TextPlacement::new(element));
    move |span: Span| match exact {
        Some(start) => Span::new(start + span.start, start + span.end),
        None => written
            .document_span(span)
            .unwrap_or_else(|| element.inner()),
    }
}

/// Finds the variables of a Jinja text in the template.
pub(super) fn find_in_jinja<'a>(element: Element<'a>, found: &mut impl FnMut(FoundUse<'a>)) {
    let text = element.text();
    let positions = document_positions(element, &text);
    let parsed = analyze_with_trials(&text);
    let reads_none = parsed.variables.is_empty() && parsed.functions.is_empty();
    let places = if reads_none {
        BTreeMap::new()
    } else {
        find_first_reads(&text)
    };
    let used = |name: String| {
        let place = places
            .get(name.as_str())
            .map(|at| Span::from_offsets(*at, at + name.len()));
        let span = place.map_or_else(|| element.inner(), &positions);
        VariableUse {
            name: Cow::Owned(name),
            path: Spanned::new(Box::default(), span),
            span,
            inside: span,
            place: UsePlace::Jinja,
        }
    };
    parsed
        .variables
        .into_iter()
        .for_each(|name| found(FoundUse::Variable(used(name))));
    parsed
        .functions
        .into_iter()
        .for_each(|name| found(FoundUse::JinjaFunction(used(name))));
    for JinjaPart {
        name,
        path: part,
        span,
        is_certain,
    } in parsed.parts
    {
        found(FoundUse::Member(
            VariableUse {
                path: Spanned::new(part.into(), positions(span)),
                ..used(name)
            },
            is_certain,
        ));
    }
    for fault in parsed.faults {
        found(FoundUse::Fault(ScopeFault::new(
            ScopeFaultKind::Jinja(fault.kind),
            positions(fault.span),
        )));
    }
}

/// Finds the variables of a Jinja text in a separate file. Uses have the span of its `src`, faults
/// their span in the text.
pub(super) fn find_in_jinja_source<'a>(
    src: Span,
    text: &str,
    found: &mut impl FnMut(FoundUse<'a>),
) {
    let parsed = analyze_with_trials(text);
    // The position of a name is looked up only for a fault.
    let used = |name| {
        let path = Spanned::new(Box::default(), src);
        VariableUse {
            name: Cow::Owned(name),
            path,
            span: src,
            inside: Span::default(),
            place: UsePlace::Source,
        }
    };
    parsed
        .variables
        .into_iter()
        .for_each(|name| found(FoundUse::Variable(used(name))));
    parsed
        .functions
        .into_iter()
        .for_each(|name| found(FoundUse::JinjaFunction(used(name))));
    for JinjaPart {
        name,
        path: part,
        span,
        is_certain,
    } in parsed.parts
    {
        found(FoundUse::Member(
            VariableUse {
                path: Spanned::new(part.into(), span),
                ..used(name)
            },
            is_certain,
        ));
    }
    for fault in parsed.faults {
        found(FoundUse::Fault(ScopeFault::new(
            ScopeFaultKind::Jinja(fault.kind),
            fault.span,
        )));
    }
}
