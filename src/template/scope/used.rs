//! Finds the uses of variables in texts, words and conditions, each with its position.

use super::fault::{Fault, FaultKind, Place};
use crate::base::span::{Span, Spanned};
#[cfg(not(feature = "assemble"))]
use crate::jinja::parse::parse;
use crate::jinja::parse::{JinjaPart, first_reads};
#[cfg(feature = "assemble")]
use crate::jinja::trial::parse;
use crate::syntax::placed::Placed;
use crate::syntax::tree::{Element, Kind as Node};
use crate::template::condition;
use crate::template::expression::{
    self, Expression, ExpressionFault, Expressions, Path, Piece, Step,
};
use crate::template::parts::Str;
use crate::template::stretches;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// A use of a variable.
#[derive(Clone, Debug)]
pub(super) struct Used<'a> {
    pub(super) name: Cow<'a, str>,
    /// The path into its value, `.a[0]`; the span covers the whole reference, while `inside` covers
    /// the name.
    pub(super) path: Spanned<Box<str>>,
    pub(super) span: Span,
    /// The span in a separate text file, if `span` is that of its `src`; the default if it is
    /// unknown.
    pub(super) inside: Span,
    pub(super) place: Place,
}

/// A use or fault found in a text.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Used(Used<'a>),
    /// A called Jinja function: it is a use of a variable only if one of that name is bound.
    Called(Used<'a>),
    /// A part of a variable that a Jinja text renders; true if every render reaches it. The
    /// variable itself is reported as well.
    Part(Used<'a>, bool),
    /// A call of a function template, by its text, and the text element that contains it.
    Call(Used<'a>, Element<'a>),
    Fault(Fault<'a>),
}

/// Finds the `{{…}}` in an element's text.
pub(super) fn in_text<'a>(element: Element<'a>, found: &mut impl FnMut(Found<'a>)) {
    for stretch in stretches::of(element) {
        match &stretch.text {
            Cow::Borrowed(text) => in_pieces(
                expression::scan_plain(text, stretch.start),
                element,
                Place::Text,
                found,
            ),
            Cow::Owned(text) => in_other(
                text,
                element,
                Place::Text,
                &|span| stretch.place(span),
                found,
            ),
        }
    }
}

/// Finds the `{{…}}` in a word: a path, a command.
pub(super) fn in_word<'a>(element: Element<'a>, word: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
    if !expression::may_hold(&word.value) {
        return;
    }
    match &word.value {
        Cow::Borrowed(text) => in_pieces(
            expression::scan_plain(text, word.span.start),
            element,
            Place::Text,
            found,
        ),
        Cow::Owned(text) => in_other(text, element, Place::Text, &|_| word.span, found),
    }
}

/// Finds the `{{…}}` in a text that differs from the document; `moved` maps its spans.
fn in_other<'a>(
    text: &str,
    element: Element<'a>,
    place: Place,
    moved: &dyn Fn(Span) -> Span,
    found: &mut impl FnMut(Found<'a>),
) {
    let owned = |used: Used<'_>| {
        let (span, inside) = (moved(used.span), moved(used.inside));
        let path = Spanned::new(used.path.value, moved(used.path.span));
        Used {
            name: Cow::Owned(used.name.into_owned()),
            path,
            span,
            inside,
            place,
        }
    };
    in_pieces(
        expression::scan_plain(text, 0),
        element,
        place,
        &mut |piece| match piece {
            Found::Used(used) => found(Found::Used(owned(used))),
            Found::Call(used, _) => found(Found::Call(owned(used), element)),
            Found::Fault(Fault {
                kind: FaultKind::Expression { fault, .. },
                span,
                ..
            }) => {
                let fault = ExpressionFault {
                    span: moved(fault.span),
                    expression: moved(fault.expression),
                    ..fault
                };
                found(Found::Fault(Fault::new(
                    FaultKind::Expression { fault, element },
                    moved(span),
                )));
            }
            Found::Called(_) | Found::Part(..) | Found::Fault(_) => {}
        },
    );
}

/// Finds the `{{…}}` in a separate text file. Uses have the span of its `src`, faults their span in
/// the text.
pub(super) fn in_source<'a>(
    element: Element<'a>,
    src: Span,
    text: &str,
    found: &mut impl FnMut(Found<'a>),
) {
    if !expression::may_hold(text) {
        return;
    }
    in_pieces(
        expression::scan_plain(text, 0),
        element,
        Place::Source,
        &mut |piece| match piece {
            Found::Used(used) => {
                let name = Cow::Owned(used.name.into_owned());
                found(Found::Used(Used {
                    name,
                    span: src,
                    inside: used.span,
                    place: Place::Source,
                    path: used.path,
                }));
            }
            Found::Call(
                Used {
                    name,
                    path,
                    span,
                    inside,
                    place,
                },
                _,
            ) => {
                let name = Cow::Owned(name.into_owned());
                found(Found::Call(
                    Used {
                        name,
                        path,
                        span,
                        inside,
                        place,
                    },
                    element,
                ));
            }
            Found::Fault(Fault {
                kind: FaultKind::Expression { fault, .. },
                span,
                ..
            }) => {
                found(Found::Fault(Fault::new(
                    FaultKind::Expression { fault, element },
                    span,
                )));
            }
            Found::Called(_) | Found::Part(..) | Found::Fault(_) => {}
        },
    );
}

fn in_pieces<'t, 'e: 't>(
    pieces: Expressions<'t>,
    element: Element<'e>,
    place: Place,
    found: &mut impl FnMut(Found<'t>),
) {
    for piece in pieces {
        match piece {
            Piece::Text(_) | Piece::Escaped(_) => {}
            Piece::Expression(expression) => in_expression(expression.value, element, place)
                .into_iter()
                .for_each(&mut *found),
            Piece::Fault(fault) => {
                let span = fault.span;
                found(Found::Fault(Fault::new(
                    FaultKind::Expression { fault, element },
                    span,
                )));
            }
        }
    }
}

fn in_expression<'t>(
    expression: Expression<'t>,
    element: Element<'t>,
    place: Place,
) -> Option<Found<'t>> {
    match expression {
        Expression::Path(path) => {
            let way = way(&path);
            let Spanned { value: name, span } = path.root;
            Some(Found::Used(Used {
                name,
                path: way,
                span,
                inside: span,
                place,
            }))
        }
        // Its arguments are those of a call of the task.
        Expression::Call(call) => {
            let span = call.name.span;
            let path = Spanned::new(Box::default(), span);
            Some(Found::Call(
                Used {
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
fn way(path: &Path<'_>) -> Spanned<Box<str>> {
    let end = path
        .rest
        .last()
        .map_or(path.root.span.end, |step| match step {
            Step::Field(name) => name.span.end,
            Step::Index(number) => number.span.end + 1,
        });
    let written = path.to_string().split_off(path.root.value.len());
    Spanned::new(
        written.into(),
        Span::new(path.root.span.start, end.max(path.root.span.end)),
    )
}

/// Finds the variables of a condition.
pub(super) fn in_condition<'a>(test: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
    let exact = test.span.len() as usize == test.value.len();
    let place = if exact {
        condition::Place::Exact(test.span.start)
    } else {
        condition::Place::Whole(test.span)
    };
    match condition::parse(&test.value, place) {
        Ok(condition) => {
            for variable in condition::variables(&condition) {
                let name = Cow::Owned(variable.root.value.to_string());
                let (span, path) = (variable.root.span, way(variable));
                found(Found::Used(Used {
                    name,
                    path,
                    span,
                    inside: span,
                    place: Place::Condition,
                }));
            }
        }
        Err(fault) => {
            let span = fault.span;
            found(Found::Fault(Fault::new(FaultKind::Condition(fault), span)));
        }
    }
}

/// Finds the variable of a `from`.
pub(super) fn in_from<'a>(from: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
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
        return found(Found::Fault(Fault::new(
            FaultKind::BadFrom { meant: inside },
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
    found(Found::Used(Used {
        name,
        path,
        span,
        inside: span,
        place: Place::From,
    }));
}

/// Returns a map from spans of an element's text to spans of the document.
pub(super) fn placed<'e>(element: Element<'e>, text: &str) -> impl Fn(Span) -> Span + use<'e> {
    let mut texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let first = texts.next();
    let second = texts.next();
    // A single text node without references stands in the document unchanged.
    let exact = first
        .filter(|node| second.is_none() && node.inner().len() as usize == text.len())
        .map(|node| node.inner().start);
    let written = LazyCell::new(move || Placed::of(element));
    move |span: Span| match exact {
        Some(start) => Span::new(start + span.start, start + span.end),
        None => written.span(span).unwrap_or_else(|| element.inner()),
    }
}

/// Finds the variables of a Jinja text in the template.
pub(super) fn in_jinja<'a>(element: Element<'a>, found: &mut impl FnMut(Found<'a>)) {
    let text = element.text();
    let moved = placed(element, &text);
    let parsed = parse(&text);
    let reads_none = parsed.variables.is_empty() && parsed.functions.is_empty();
    let places = if reads_none {
        BTreeMap::new()
    } else {
        first_reads(&text)
    };
    let used = |name: String| {
        let place = places
            .get(name.as_str())
            .map(|at| Span::of(*at, at + name.len()));
        let span = place.map_or_else(|| element.inner(), &moved);
        Used {
            name: Cow::Owned(name),
            path: Spanned::new(Box::default(), span),
            span,
            inside: span,
            place: Place::Jinja,
        }
    };
    parsed
        .variables
        .into_iter()
        .for_each(|name| found(Found::Used(used(name))));
    parsed
        .functions
        .into_iter()
        .for_each(|name| found(Found::Called(used(name))));
    for JinjaPart {
        name,
        way,
        span,
        is_certain,
    } in parsed.parts
    {
        found(Found::Part(
            Used {
                path: Spanned::new(way.into(), moved(span)),
                ..used(name)
            },
            is_certain,
        ));
    }
    for fault in parsed.faults {
        found(Found::Fault(Fault::new(
            FaultKind::Jinja(fault.kind),
            moved(fault.span),
        )));
    }
}

/// Finds the variables of a Jinja text in a separate file. Uses have the span of its `src`, faults
/// their span in the text.
pub(super) fn in_jinja_source<'a>(src: Span, text: &str, found: &mut impl FnMut(Found<'a>)) {
    let parsed = parse(text);
    // The position of a name is looked up only for a fault.
    let used = |name| {
        let path = Spanned::new(Box::default(), src);
        Used {
            name: Cow::Owned(name),
            path,
            span: src,
            inside: Span::default(),
            place: Place::Source,
        }
    };
    parsed
        .variables
        .into_iter()
        .for_each(|name| found(Found::Used(used(name))));
    parsed
        .functions
        .into_iter()
        .for_each(|name| found(Found::Called(used(name))));
    for JinjaPart {
        name,
        way,
        span,
        is_certain,
    } in parsed.parts
    {
        found(Found::Part(
            Used {
                path: Spanned::new(way.into(), span),
                ..used(name)
            },
            is_certain,
        ));
    }
    for fault in parsed.faults {
        found(Found::Fault(Fault::new(
            FaultKind::Jinja(fault.kind),
            fault.span,
        )));
    }
}
