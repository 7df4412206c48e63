//! Calls in the `{{…}}` of a body's texts: each is a call of the body, and its result is named by
//! the text of the call.

use crate::base::span::{Span, Spanned};
use crate::template::expression::{self, Expression, Piece};
use crate::template::keywords::TextSyntax;
use crate::template::model::{Call, Input, Task, Value};
use crate::template::parts::{Str, Substitution, Text};
use crate::template::stretches;
use crate::template::texts::{self, Role};
use std::borrow::Cow;
use std::collections::HashSet;

/// Collects the calls in the texts of a body itself.
pub(super) fn calls<'a>(task: &Task<'a>) -> Vec<Call<'a>> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    texts::of_task(task, &mut |role, text| {
        let is_plain = text.src.is_none()
            && text.syntax == TextSyntax::Plain
            && text.substitution == Substitution::On;
        if !is_plain
            || matches!(role, Role::Input | Role::InitialValue | Role::Files)
            || text.element.is_damaged()
        {
            return;
        }
        for stretch in stretches::of(text.element) {
            for piece in expression::scan_plain(&stretch.text, stretch.start) {
                let Piece::Expression(Spanned {
                    value: Expression::Call(written),
                    ..
                }) = piece
                else {
                    continue;
                };
                let words = written.to_string();
                let call = call(&written, text, &|span| stretch.place(span));
                let result = call
                    .template
                    .as_ref()
                    .filter(|_| known.insert(words.clone()));
                let result = result.map(|name| Spanned::new(Cow::Owned(words), name.span));
                found.push(Call { result, ..call });
            }
        }
    });
    // Calls that are nodes come first, so that they are numbered without gaps.
    found.sort_by_key(|call| call.result.is_none());
    found
}

// The recursion is as deep as the parser permits calls to nest.
fn call<'a>(
    written: &expression::Call<'_>,
    text: &Text<'a>,
    place: &dyn Fn(Span) -> Span,
) -> Call<'a> {
    let word = |word: &Spanned<Cow<'_, str>>| own(&word.value, place(word.span));
    let positional = written.positional.iter().map(|value| (None, value));
    let named = written
        .named
        .iter()
        .map(|(name, value)| (Some(word(name)), value));
    let args = positional.chain(named).map(|(name, value)| {
        let value = match value {
            Expression::Path(path) => Value::From(own(&path.to_string(), place(path.root.span))),
            Expression::Call(inner) => Value::Call(Box::new(call(inner, text, place))),
            Expression::Text(words) | Expression::Number(words) => Value::Literal(word(words)),
            Expression::Boolean(value) => {
                Value::Literal(own(&value.value.to_string(), place(value.span)))
            }
        };
        Input {
            text: Text::new(text.element),
            trust: None,
            name,
            value,
            max_tokens: None,
        }
    });
    Call {
        element: text.element,
        template: Some(word(&written.name)),
        result: None,
        trust: None,
        args: args.collect(),
    }
}

fn own<'a>(word: &str, span: Span) -> Str<'a> {
    Spanned::new(Cow::Owned(word.to_owned()), span)
}
