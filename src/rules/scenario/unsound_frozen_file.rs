//! CTX627: a frozen file whose content does not fit its use.

use super::scenario_prelude::*;
use super::walk;
use crate::base::number;
use crate::base::source::LineIndex;
use crate::base::span::Spanned;
use crate::base::suggest;
use crate::kernel::conversation::Speaker;
use crate::scenario::json_schema::{self, JsonSchemaFault, JsonSchemaFaultKind};
use crate::scenario::message_keys::{PART_KINDS, SPEAKER_WORDS};
use crate::scenario::messages;
use crate::scenario::model::FrozenConversation;
use crate::scenario::rubric::Rubric;
use crate::template::value_type;
use serde_json::Value;

/// The case has no context, or its answer is validated less strictly than intended.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        627,
        "unsound-frozen-file",
        "a frozen file with invalid content"
    ),
    Check::Case(check_case),
);

/// Maximum number of faults reported for one schema.
const MAX_SCHEMA_FAULTS: usize = 8;

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    check_inputs(cx, out);
    match cx
        .case
        .situation
        .history
        .as_ref()
        .map(|history| (&history.value, history.span))
    {
        Some((FrozenConversation::File(path), span)) => {
            if let Some(why) = cx
                .file_text(path)
                .and_then(|text| conversation_error(&text))
            {
                out.push(first_line_finding(
                    cx,
                    span,
                    format!("`{path}` is not a valid conversation: {why}"),
                ));
            }
        }
        Some((FrozenConversation::Messages(list), _)) => {
            if let Some((number, why)) = first_broken_message(list)
                && let Some(message) = list.get(number)
            {
                out.push(first_line_finding(
                    cx,
                    message.span,
                    format!("message {} of `history`: {why}", number + 1),
                ));
            }
        }
        None => {}
    }
    check_rubrics(cx, out);
    walk::for_each_schema_file(cx.case, &mut |path, span| {
        if let Some(text) = cx.file_text(path) {
            out.extend(schema_findings(cx, path, &text, span));
        }
    });
}

/// Checks the criteria that an expectation names in a rubric, and its minimum score.
fn check_rubrics(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    for (test, path) in walk::rubrics(cx.case) {
        let Some(text) = cx.file_text(&path.value) else {
            continue;
        };
        let (rubric, faults) = Rubric::read(&text);
        if let Some(fault) = faults.first() {
            let line = LineIndex::new(&text).line_number(fault.span.start);
            let message = format!("the rubric `{}` has an error in line {line}", path.value);
            out.push(first_line_finding(cx, path.span, message));
            continue;
        }
        for name in &test.criteria {
            if rubric.criteria.iter().all(|one| one.id != name.value) {
                let ids = rubric.criteria.iter().map(|one| one.id.as_str());
                let near = suggest::nearest_candidate(&name.value, ids.clone());
                let finding = first_line_finding(
                    cx,
                    name.span,
                    format!(
                        "the rubric `{}` has no criterion `{}`",
                        path.value, name.value
                    ),
                );
                out.push(match near {
                    Some(near) => finding.help(format!("did you mean `{near}`?")),
                    None => finding.note(format!("it has {}", ids.collect::<Vec<_>>().join(", "))),
                });
            }
        }
        let chosen =
            |id: &str| test.criteria.is_empty() || test.criteria.iter().any(|one| one.value == id);
        for criterion in rubric.criteria.iter().filter(|one| chosen(&one.id)) {
            #[allow(clippy::cast_precision_loss, reason = "a scale ends at 100")]
            if test.min_score > criterion.max_score as f64 {
                let message = format!(
                    "`min_score` is {}, and the highest score of `{}` is {}",
                    test.min_score, criterion.id, criterion.max_score
                );
                out.push(first_line_finding(cx, path.span, message));
            }
        }
    }
}

fn first_line_finding(cx: &CaseCx<'_>, span: Span, message: String) -> Diagnostic {
    cx.finding(&RULE.meta, span.first_line(cx.file.text), message)
}

/// The reason why a text is not valid JSON.
fn json_error(text: &str, error: &serde_json::Error) -> String {
    if text.trim().is_empty() {
        "it is empty".to_owned()
    } else {
        error.to_string()
    }
}

fn check_inputs(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx
        .case
        .situation
        .inputs
        .values()
        .any(|given| matches!(given.value, FrozenValue::File(_)))
    {
        return;
    }
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    for parameter in &takes.parameters {
        let Some(given) = cx.case.situation.inputs.get(&*parameter.name) else {
            continue;
        };
        let Some(kind) = parameter.kind.as_deref().filter(|kind| *kind != "string") else {
            continue;
        };
        let FrozenValue::File(path) = &given.value else {
            continue;
        };
        let Some(text) = cx.file_text(path) else {
            continue;
        };
        let name = &parameter.name;
        let message = match serde_json::from_str::<Value>(&text) {
            Err(error) => {
                let why = json_error(&text, &error);
                format!(
                    "`{path}` is not valid JSON, which the type `{kind}` of `{name}` in the task `{task}` requires: {why}"
                )
            }
            Ok(_) if number::find_out_of_range(&text).is_some() => {
                let found = number::find_out_of_range(&text).unwrap_or_default();
                format!(
                    "the number `{found}` in `{path}` is beyond 64 bits: {}",
                    number::WHOLE_NUMBER_RANGE
                )
            }
            Ok(value)
                if parameter
                    .value_constraints()
                    .mismatched_type(&value)
                    .is_some() =>
            {
                let found = value_type::describe_type(&value);
                format!(
                    "`{path}` holds {found}, but the type of `{name}` in the task `{task}` is `{kind}`"
                )
            }
            Ok(_) => continue,
        };
        out.push(first_line_finding(cx, given.span, message));
    }
}

/// Returns the reason why a text is not a conversation.
fn conversation_error(text: &str) -> Option<String> {
    match messages::parse_conversation(text) {
        Err(unread) => Some(unread.to_string()),
        Ok(turns) if turns.iter().all(|turn| turn.speaker == Speaker::System) => {
            Some("expected a message, found none".to_owned())
        }
        Ok(_) => None,
    }
}

/// Returns the first message that cannot stand at its place, with the reason. Keys and values are
/// checked when the scenario is read.
fn first_broken_message(list: &[Spanned<Value>]) -> Option<(usize, String)> {
    let mut turns = Vec::new();
    let is_read = |message: &Value| {
        let is_part = |part: &Value| {
            part.is_string()
                || text_field(part, "type").is_some_and(|kind| PART_KINDS.contains(&kind))
        };
        let content = message.get("content").unwrap_or(&Value::Null);
        let is_content = content
            .as_array()
            .map_or(content.is_string() || content.is_null(), |parts| {
                parts.iter().all(is_part)
            });
        is_content && text_field(message, "role").is_some_and(|role| SPEAKER_WORDS.contains(&role))
    };
    if !list.iter().all(|message| is_read(&message.value)) {
        return None;
    }
    for (number, message) in list.iter().enumerate() {
        match messages::parse_message(&message.value) {
            Ok(turn) => turns.push(turn),
            Err(why) => return Some((number, why)),
        }
    }
    messages::find_broken_order(&turns)
}

fn text_field<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn schema_findings(cx: &CaseCx<'_>, path: &str, text: &str, span: Span) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => {
            let why = json_error(text, &error);
            return vec![first_line_finding(
                cx,
                span,
                format!("`{path}` is not valid JSON, and so not a valid JSON Schema: {why}"),
            )];
        }
    };
    for JsonSchemaFault { path: at, kind } in json_schema::schema_faults(&schema)
        .into_iter()
        .take(MAX_SCHEMA_FAULTS)
    {
        let (found, near) = match kind {
            JsonSchemaFaultKind::UnknownKeyword { near } => {
                let found = first_line_finding(
                    cx,
                    span,
                    format!(
                        "`{}` in `{path}` is not a JSON Schema keyword, so it has no effect",
                        shorten(&at)
                    ),
                );
                let found = found.note("your own keywords begin with `x-`");
                (
                    if near.is_some() {
                        found
                    } else {
                        found.severity(Severity::Warning)
                    },
                    near.map(str::to_owned),
                )
            }
            JsonSchemaFaultKind::BadValue { expected, near } => {
                let value = schema
                    .pointer(&at)
                    .map_or_else(String::new, Value::to_string);
                let at = if at.is_empty() {
                    "the whole".to_owned()
                } else {
                    format!("`{}`", shorten(&at))
                };
                (
                    first_line_finding(
                        cx,
                        span,
                        format!(
                            "{at} of `{path}` is {}; expected {expected}",
                            shorten(&value)
                        ),
                    ),
                    near,
                )
            }
        };
        out.push(match near {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found,
        });
    }
    out
}
