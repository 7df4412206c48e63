//! CTX624: a value of another type than its parameter.

use super::scenario_prelude::*;
use crate::template::value_type;
use serde_json::Value;

/// Without a valid value, the case has no context.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        624,
        "wrong-input",
        "a value that is not of its parameter's type"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    for parameter in &takes.parameters {
        // The content of a file is checked when it is read.
        let Some(given) = cx.case.situation.inputs.get(&*parameter.name) else {
            continue;
        };
        let FrozenValue::Value(value) = &given.value else {
            continue;
        };
        let Some(kind) = parameter.value_constraints().mismatched_type(value) else {
            continue;
        };
        // An undefined alias is reported by another rule.
        if value.is_null() && given.span.slice(cx.file.text).starts_with('*') {
            continue;
        }
        let name = &parameter.name;
        let found = value_type::describe_type(value);
        let message = format!(
            "the value of `{name}` is {found}, and its type in the task `{task}` is `{kind}`"
        );
        let finding = cx.finding(&RULE.meta, given.span.first_line(cx.file.text), message);
        if cx.is_table_row() {
            let is_field = value.is_string();
            out.push(if is_field {
                finding.help("a field of a CSV table is a text; in JSONL a value has its type")
            } else {
                finding
            });
            continue;
        }
        let written = given.span.slice(cx.file.text);
        out.push(match intended_value(value, kind, written) {
            Some(insert) => finding
                .help(format!("did you mean `{insert}`?"))
                .fix(Fix::suggested(
                    format!("write `{insert}`"),
                    vec![Edit::replace(given.span, insert)],
                )),
            None => finding,
        });
    }
}

/// Returns the value that was probably meant: with quotes, or without them.
fn intended_value(value: &Value, kind: &str, written: &str) -> Option<String> {
    let bare =
        |text: &str| value_type::has_type(&value_type::parse_default(text, Some(kind)), kind);
    match value.as_str() {
        Some(text) if bare(text) && !text.contains('\n') => Some(text.to_owned()),
        None if kind == "string" && (value.is_number() || value.is_boolean()) => {
            Some(format!("\"{written}\""))
        }
        _ => None,
    }
}
