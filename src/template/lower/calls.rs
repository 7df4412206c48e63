//! Calls in the `{{…}}` of a body's texts: each is a call of the body, and its result is named by
//! the text of the call.

use crate::base::span::{Span, Spanned};
use crate::template::expression::{self, Expression, ScanItem};
use crate::template::keywords::TextSyntax;
use crate::template::model::{TaskBody, TaskInput, TaskInputValue, TemplateCall};
use crate::template::parts::{Str, Substitution, TextElement};
use crate::template::stretches;
use crate::template::texts::{self, TextRole};
use std::borrow::Cow;
use std::collections::HashSet;

/// Collects the calls in the texts of a body itself.
pub(super) fn collect_calls<'a>(task: &TaskBody<'a>) -> Vec<TemplateCall<'a>> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    texts::visit_task_texts(task, &mut |role, text| {
        let is_plain = text.src.is_none()
            && text.syntax == TextSyntax::Plain
            && text.substitution == Substitution::On;
        if !is_plain
            || matches!(
                role,
                TextRole::Input | TextRole::InitialValue | TextRole::Files
            )
            || text.element.is_damaged()
        {
            return;
        }
        for stretch in stretches::stretches_with_expressions(text.element) {
            for piece in expression::scan_plain(&stretch.text, stretch.start) {
                let ScanItem::Expression(Spanned {
                    value: Expression::Call(written),
                    ..
                }) = piece
                else {
                    continue;
                };
                let words = written.to_string();
                let call = build_call(&written, text, &|span| stretch.document_span(span));
                let result = call
                    .template
                    .as_ref()
                    .filter(|_| known.insert(words.clone()));
                let result = result.map(|name| Spanned::new(Cow::Owned(words), name.span));
                found.push(TemplateCall { result, ..call });
            }
        }
    });
    // Calls that are nodes come first, so that they are numbered without gaps.
    found.sort_by_key(|call| call.result.is_none());
    found
}

// The recursion is as deep as the parser permits calls to nest.
fn build_call<'a>(
    written: &expression::CallExpression<'_>,
    text: &TextElement<'a>,
    place: &dyn Fn(Span) -> Span,
) -> TemplateCall<'a> {
    let word = |word: &Spanned<Cow<'_, str>>| owned_str(&word.value, place(word.span));
    let positional = written.positional.iter().map(|value| (None, value));
    let named = written
        .named
        .iter()
        .map(|(name, value)| (Some(word(name)), value));
    let args = positional.chain(named).map(|(name, value)| {
        let value = match value {
            Expression::Path(path) => {
                TaskInputValue::From(owned_str(&path.to_string(), place(path.root.span)))
            }
            Expression::Call(inner) => {
                TaskInputValue::Call(Box::new(build_call(inner, text, place)))
            }
            Expression::Text(words) | Expression::Number(words) => {
                TaskInputValue::Literal(word(words))
            }
            Expression::Boolean(value) => {
                TaskInputValue::Literal(owned_str(&value.value.to_string(), place(value.span)))
            }
        };
        TaskInput {
            text: TextElement::new(text.element),
            trust: None,
            name,
            value,
            max_tokens: None,
        }
    });
    TemplateCall {
        element: text.element,
        template: Some(word(&written.name)),
        result: None,
        trust: None,
        args: args.collect(),
    }
}

fn owned_str<'a>(word: &str, span: Span) -> Str<'a> {
    Spanned::new(Cow::Owned(word.to_owned()), span)
}
