//! Mutation testing for a scenario about a request: changes one part of the body at a time, then
//! reads and judges the request again.

use super::examined_request::ExaminedRequest;
use super::judge_request::{self, SeenRequest};
use crate::eval::case_result::CaseVerdict;
use crate::eval::change::Mutation;
use crate::eval::context::stored_program_request;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::verdict::ExpectationVerdict;
use crate::request::segments::{RequestSegment, build_segments};
use serde_json::Value;
use std::sync::Arc;

/// The pointers to the text of a part, in the dialects of the vendors.
const TEXT_POINTERS: [&str; 4] = ["", "/text", "/description", "/function/description"];

/// Each change, and true if the scenario notices it; `None` if the scenario does not pass without a
/// change.
pub(in crate::eval) fn mutate_request(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
) -> Option<Vec<(Mutation, bool)>> {
    if super::run_request_case(context, input).verdict != CaseVerdict::Pass {
        return None;
    }
    let sent = super::case::read_sent(context, input).ok()?;
    let stored = stored_program_request(&sent.request);
    let mut out = Vec::new();
    for (change, body) in request_mutations(&sent) {
        let Ok(request) = sent.request.with_body(body) else {
            continue;
        };
        // Some changes leave the request unchanged.
        if stored_program_request(&request) != stored {
            let other = ExaminedRequest {
                was_answered: sent.was_answered,
                recorded: None,
                call: None,
                before: sent.before.clone(),
                segments: build_segments(&request),
                request,
                counter: Arc::clone(&sent.counter),
            };
            let seen = SeenRequest {
                context,
                input,
                sent: &other,
            };
            let verdicts: Vec<ExpectationVerdict> = input
                .case
                .expect_context
                .iter()
                .map(|one| judge_request::judge_request(&seen, one))
                .collect();
            out.push((change, verdicts.iter().any(ExpectationVerdict::is_failure)));
        }
    }
    Some(out)
}

/// The bodies that accidental changes produce.
fn request_mutations(sent: &ExaminedRequest) -> Vec<(Mutation, Value)> {
    let body = &sent.request.body;
    let mut out = Vec::new();
    for RequestSegment { id, pointer, .. } in &sent.segments {
        let name = || id.clone();
        let dropped = || without_part(body, pointer);
        let change = id.strip_prefix("tool:").map_or_else(
            || Mutation::Drop(name()),
            |tool| Mutation::Tool(tool.to_owned()),
        );
        out.extend(dropped().map(|body| (change, body)));
        out.extend(
            with_edited_text(body, pointer, first_half).map(|body| (Mutation::Halve(name()), body)),
        );
        out.extend(
            with_edited_text(body, pointer, without_first_word)
                .map(|body| (Mutation::Reword(name()), body)),
        );
    }
    if let Some(model) = body.get("model").and_then(Value::as_str) {
        let mut body = body.clone();
        let other = format!("{model} (another)");
        if let Some(model) = body.get_mut("model") {
            *model = Value::String(other);
        }
        out.push((Mutation::Model, body));
    }
    out
}

/// A body without a part: without the list item that contains it, or without its key.
fn without_part(body: &Value, pointer: &str) -> Option<Value> {
    let mut body = body.clone();
    let mut rest = pointer;
    while let Some((outer, step)) = rest.rsplit_once('/') {
        if let (Some(Value::Array(list)), Ok(at)) = (body.pointer_mut(outer), step.parse::<usize>())
        {
            if at >= list.len() {
                return None;
            }
            list.remove(at);
            return Some(body);
        }
        rest = outer;
    }
    let key = pointer.split('/').nth(1)?;
    body.as_object_mut()?.remove(key)?;
    Some(body)
}

/// A body with the text of a part edited; `None` for a part without a text.
fn with_edited_text(body: &Value, pointer: &str, edit: fn(&str) -> String) -> Option<Value> {
    let mut body = body.clone();
    let at = TEXT_POINTERS
        .iter()
        .map(|inner| format!("{pointer}{inner}"))
        .find(|at| body.pointer(at).is_some_and(Value::is_string))?;
    let text = body.pointer_mut(&at)?;
    let new = edit(text.as_str()?);
    *text = Value::String(new);
    Some(body)
}

fn first_half(text: &str) -> String {
    text.get(..text.floor_char_boundary(text.len() / 2))
        .unwrap_or_default()
        .to_owned()
}

fn without_first_word(text: &str) -> String {
    text.trim_start()
        .split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest)
        .to_owned()
}
