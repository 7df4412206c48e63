//! Where a text, a word, a condition uses variables, each with its place.

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
use crate::template::expression::{self, Expression, ExpressionFault, Expressions, Path, Piece, Step};
use crate::template::parts::Str;
use crate::template::stretches;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// A use of a variable.
#[derive(Clone, Debug)]
pub(super) struct Used<'a> {
    pub(super) name: Cow<'a, str>,
    /// The way into its value, `.a[0]`; the span is that of all that is named, where `inside` is that of the name.
    pub(super) path: Spanned<Box<str>>,
    pub(super) span: Span,
    /// Where it stands in a text in a file of its own, the span of whose `src` the other one is; nowhere where that is not known.
    pub(super) inside: Span,
    pub(super) place: Place,
}

/// What a text was found to hold.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Used(Used<'a>),
    /// The same of a function that is called: one of the variable that has its name, if one has.
    Called(Used<'a>),
    /// A part of one that a Jinja text puts out, and whether each render gets there; the variable is among those that it uses, too.
    Part(Used<'a>, bool),
    /// A call of a function template, by its words, and the text that it stands in.
    Call(Used<'a>, Element<'a>),
    Fault(Fault<'a>),
}

/// The `{{…}}` of an element's text.
pub(super) fn in_text<'a>(element: Element<'a>, found: &mut impl FnMut(Found<'a>)) {
    for stretch in stretches::of(element) {
        match &stretch.text {
            Cow::Borrowed(text) => in_pieces(expression::scan_plain(text, stretch.start), element, Place::Text, found),
            Cow::Owned(text) => in_other(text, element, Place::Text, &|span| stretch.place(span), found),
        }
    }
}

/// The `{{…}}` of a word: a path, a command.
pub(super) fn in_word<'a>(element: Element<'a>, word: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
    if !expression::may_hold(&word.value) {
        return;
    }
    match &word.value {
        Cow::Borrowed(text) => in_pieces(expression::scan_plain(text, word.span.start), element, Place::Text, found),
        Cow::Owned(text) => in_other(text, element, Place::Text, &|_| word.span, found),
    }
}

/// The `{{…}}` of a text that stands otherwise in the document.
fn in_other<'a>(text: &str, element: Element<'a>, place: Place, moved: &dyn Fn(Span) -> Span, found: &mut impl FnMut(Found<'a>)) {
    let owned = |used: Used<'_>| {
        let (span, inside) = (moved(used.span), moved(used.inside));
        let path = Spanned::new(used.path.value, moved(used.path.span));
        Used { name: Cow::Owned(used.name.into_owned()), path, span, inside, place }
    };
    in_pieces(expression::scan_plain(text, 0), element, place, &mut |piece| match piece {
        Found::Used(used) => found(Found::Used(owned(used))),
        Found::Call(used, _) => found(Found::Call(owned(used), element)),
        Found::Fault(Fault { kind: FaultKind::Expression { fault, .. }, span, .. }) => {
            let fault = ExpressionFault { span: moved(fault.span), expression: moved(fault.expression), ..fault };
            found(Found::Fault(Fault::new(FaultKind::Expression { fault, element }, moved(span))));
        }
        Found::Called(_) | Found::Part(..) | Found::Fault(_) => {}
    });
}

/// The `{{…}}` of a text in a file of its own. Uses stand at its `src`, faults where they are in it.
pub(super) fn in_source<'a>(element: Element<'a>, src: Span, text: &str, found: &mut impl FnMut(Found<'a>)) {
    if !expression::may_hold(text) {
        return;
    }
    in_pieces(expression::scan_plain(text, 0), element, Place::Source, &mut |piece| match piece {
        Found::Used(used) => {
            let name = Cow::Owned(used.name.into_owned());
            found(Found::Used(Used { name, span: src, inside: used.span, place: Place::Source, path: used.path }));
        }
        Found::Call(Used { name, path, span, inside, place }, _) => {
            let name = Cow::Owned(name.into_owned());
            found(Found::Call(Used { name, path, span, inside, place }, element));
        }
        Found::Fault(Fault { kind: FaultKind::Expression { fault, .. }, span, .. }) => {
            found(Found::Fault(Fault::new(FaultKind::Expression { fault, element }, span)));
        }
        Found::Called(_) | Found::Part(..) | Found::Fault(_) => {}
    });
}

fn in_pieces<'t, 'e: 't>(pieces: Expressions<'t>, element: Element<'e>, place: Place, found: &mut impl FnMut(Found<'t>)) {
    for piece in pieces {
        match piece {
            Piece::Text(_) | Piece::Escaped(_) => {}
            Piece::Expression(expression) => in_expression(expression.value, element, place).into_iter().for_each(&mut *found),
            Piece::Fault(fault) => {
                let span = fault.span;
                found(Found::Fault(Fault::new(FaultKind::Expression { fault, element }, span)));
            }
        }
    }
}

fn in_expression<'t>(expression: Expression<'t>, element: Element<'t>, place: Place) -> Option<Found<'t>> {
    match expression {
        Expression::Path(path) => {
            let way = way(&path);
            let Spanned { value: name, span } = path.root;
            Some(Found::Used(Used { name, path: way, span, inside: span, place }))
        }
        // Its arguments are those of a call of the task.
        Expression::Call(call) => {
            let span = call.name.span;
            let path = Spanned::new(Box::default(), span);
            Some(Found::Call(Used { name: Cow::Owned(call.to_string()), path, span, inside: span, place }, element))
        }
        // Those stand in calls alone.
        Expression::Text(_) | Expression::Number(_) | Expression::Boolean(_) => None,
    }
}

/// The way into a value, as it is written without white space.
fn way(path: &Path<'_>) -> Spanned<Box<str>> {
    let end = path.rest.last().map_or(path.root.span.end, |step| match step {
        Step::Field(name) => name.span.end,
        Step::Index(number) => number.span.end + 1,
    });
    let written = path.to_string().split_off(path.root.value.len());
    Spanned::new(written.into(), Span::new(path.root.span.start, end.max(path.root.span.end)))
}

/// The variables of a condition.
pub(super) fn in_condition<'a>(test: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
    let exact = test.span.len() as usize == test.value.len();
    let place = if exact { condition::Place::Exact(test.span.start) } else { condition::Place::Whole(test.span) };
    match condition::parse(&test.value, place) {
        Ok(condition) => {
            for variable in condition::variables(&condition) {
                let name = Cow::Owned(variable.root.value.to_string());
                let (span, path) = (variable.root.span, way(variable));
                found(Found::Used(Used { name, path, span, inside: span, place: Place::Condition }));
            }
        }
        Err(fault) => {
            let span = fault.span;
            found(Found::Fault(Fault::new(FaultKind::Condition(fault), span)));
        }
    }
}

/// The variable of a `from`.
pub(super) fn in_from<'a>(from: &Str<'a>, found: &mut impl FnMut(Found<'a>)) {
    let value = &*from.value;
    let root = value.split(['.', '[']).next().unwrap_or("");
    let mut letters = root.chars();
    let starts = letters.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    if !starts || !letters.all(|c| c == '_' || c == '-' || c.is_alphanumeric()) || value.contains(char::is_whitespace) {
        let inside = value.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).map(|inside| inside.trim().to_owned());
        return found(Found::Fault(Fault::new(FaultKind::BadFrom { meant: inside }, from.span)));
    }
    let exact = from.span.len() as usize == value.len();
    let span = if exact { Span::new(from.span.start, from.span.start + root.len() as u32) } else { from.span };
    let name = match &from.value {
        Cow::Borrowed(value) => Cow::Borrowed(value.get(..root.len()).unwrap_or(value)),
        Cow::Owned(_) => Cow::Owned(root.to_owned()),
    };
    let path = Spanned::new(value.get(root.len()..).unwrap_or("").into(), from.span);
    found(Found::Used(Used { name, path, span, inside: span, place: Place::From }));
}

/// The place of a stretch of an element's text in the document.
pub(super) fn placed<'e>(element: Element<'e>, text: &str) -> impl Fn(Span) -> Span + use<'e> {
    let mut texts = element.children().filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let first = texts.next();
    let second = texts.next();
    // In one piece and without references the text stands in the document as it is.
    let exact = first.filter(|node| second.is_none() && node.inner().len() as usize == text.len()).map(|node| node.inner().start);
    let written = LazyCell::new(move || Placed::of(element));
    move |span: Span| match exact {
        Some(start) => Span::new(start + span.start, start + span.end),
        None => written.span(span).unwrap_or_else(|| element.inner()),
    }
}

/// The variables of a Jinja text in place.
pub(super) fn in_jinja<'a>(element: Element<'a>, found: &mut impl FnMut(Found<'a>)) {
    let text = element.text();
    let moved = placed(element, &text);
    let parsed = parse(&text);
    let reads_none = parsed.variables.is_empty() && parsed.functions.is_empty();
    let places = if reads_none { BTreeMap::new() } else { first_reads(&text) };
    let used = |name: String| {
        let place = places.get(name.as_str()).map(|at| Span::of(*at, at + name.len()));
        let span = place.map_or_else(|| element.inner(), &moved);
        Used { name: Cow::Owned(name), path: Spanned::new(Box::default(), span), span, inside: span, place: Place::Jinja }
    };
    parsed.variables.into_iter().for_each(|name| found(Found::Used(used(name))));
    parsed.functions.into_iter().for_each(|name| found(Found::Called(used(name))));
    for JinjaPart { name, way, span, is_certain } in parsed.parts {
        found(Found::Part(Used { path: Spanned::new(way.into(), moved(span)), ..used(name) }, is_certain));
    }
    for fault in parsed.faults {
        found(Found::Fault(Fault::new(FaultKind::Jinja(fault.kind), moved(fault.span))));
    }
}

/// The same of one in a file of its own. Uses stand at its `src`, faults where they are in it.
pub(super) fn in_jinja_source<'a>(src: Span, text: &str, found: &mut impl FnMut(Found<'a>)) {
    let parsed = parse(text);
    // Where a name stands is searched for when something is wrong with it.
    let used = |name| {
        let path = Spanned::new(Box::default(), src);
        Used { name: Cow::Owned(name), path, span: src, inside: Span::default(), place: Place::Source }
    };
    parsed.variables.into_iter().for_each(|name| found(Found::Used(used(name))));
    parsed.functions.into_iter().for_each(|name| found(Found::Called(used(name))));
    for JinjaPart { name, way, span, is_certain } in parsed.parts {
        found(Found::Part(Used { path: Spanned::new(way.into(), span), ..used(name) }, is_certain));
    }
    for fault in parsed.faults {
        found(Found::Fault(Fault::new(FaultKind::Jinja(fault.kind), fault.span)));
    }
}
