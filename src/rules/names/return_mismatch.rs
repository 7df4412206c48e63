//! CTX318: a function whose task does not answer with the type in `returns`.

use crate::rules::prelude::*;
use crate::rules::structure::structure_prelude::{file_finding, name_choice, short_excerpt};
use crate::syntax::write::{escape_attribute, insert_child, set_attribute};
use crate::template::model::{Definition, TaskBody, Template};
use crate::template::parts::{Str, is_schema_file};

/// Callers are checked against `returns`, so the answer must match it too.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        318,
        "return-mismatch",
        "a function's task does not return what its `returns` says"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

const RETURN_TYPES: [&str; 6] = ["string", "object", "array", "string[]", "number", "boolean"];

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for definition in &cx.file.definitions {
        let Definition::Template(template) = definition else {
            continue;
        };
        let Some(returns) = &template.returns else {
            continue;
        };
        if !is_return_type(&returns.value) && !is_schema_file(&returns.value) {
            out.push(unknown_type_finding(cx, returns));
        } else if let Some(task) = template.task.as_deref() {
            out.extend(find_mismatch(cx, template, returns, task));
        }
    }
}

fn is_return_type(word: &str) -> bool {
    word == "text" || RETURN_TYPES.contains(&word)
}

fn unknown_type_finding(cx: &FileCx<'_>, returns: &Str<'_>) -> Diagnostic {
    let message = format!(
        "`{}` is neither a type nor a JSON Schema file",
        short_excerpt(&returns.value)
    );
    let found = file_finding(&RULE.meta, cx, returns.span, message).help(format!(
        "it can be {}, or a file",
        name_choice(RETURN_TYPES)
    ));
    match nearest_candidate(&returns.value, RETURN_TYPES) {
        Some(meant) => found.fix(Fix::suggested(
            format!("write `{meant}`"),
            vec![Edit::replace(returns.span, meant)],
        )),
        None => found,
    }
}

fn find_mismatch(
    cx: &FileCx<'_>,
    template: &Template<'_>,
    returns: &Str<'_>,
    task: &TaskBody<'_>,
) -> Option<Diagnostic> {
    if task.reference.is_some() || task.element.is_damaged() {
        return None;
    }
    let is_atomic = task
        .operator
        .as_ref()
        .is_none_or(|operator| operator.value == "atomic");
    let answer = match &task.output {
        // The answers of steps, loops and commands are not known here.
        None if !is_atomic => return None,
        None => "string",
        Some(output) => match (&output.schema, &output.kind) {
            (Some(schema), _) => &schema.value,
            (None, Some(kind)) if kind.value == "json" => return None,
            (None, _) => "string",
        },
    };
    if answer_fits(answer, &returns.value) {
        return None;
    }
    let promised = short_excerpt(&returns.value);
    let message = format!(
        "promises {promised}, but its task answers with {}",
        short_excerpt(answer)
    );
    let mut found = file_finding(&RULE.meta, cx, returns.span, message);
    let schema = escape_attribute(&returns.value).into_owned();
    let format = match returns.value.as_ref() {
        "string" | "text" => "<output_format type=\"text\"/>".to_owned(),
        _ => format!("<output_format type=\"json\" schema=\"{schema}\"/>"),
    };
    let edit = match &task.output {
        Some(output) => {
            found = found.label(output.element.span(), "the answer is held to this");
            Edit::replace(output.element.span(), format.clone())
        }
        None => insert_child(task.element, &format),
    };
    found = found.fix(Fix::suggested(
        format!("hold the answer to it: {format}"),
        vec![edit],
    ));
    let answered = short_excerpt(answer).into_owned();
    Some(found.fix(Fix::suggested(
        format!("write returns=\"{answered}\""),
        vec![set_attribute(template.element, "returns", answer)],
    )))
}

/// True if an answer has the promised type. The type that a schema file describes is not known
/// here.
fn answer_fits(answer: &str, promised: &str) -> bool {
    let text = |word: &str| word == "string" || word == "text";
    answer == promised
        || (text(answer) && text(promised))
        || (answer == "string[]" && promised == "array")
        || (is_schema_file(answer) && !text(promised))
        || (is_schema_file(promised) && !text(answer))
}
