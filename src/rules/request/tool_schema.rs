//! CTX707: parameters of a tool that its vendor does not take.

use super::cx::{RequestCx, short};
use crate::request::dialect::Dialect;
use crate::request::model::Tool;
use crate::rules::prelude::*;
use serde_json::{Map, Value};

/// A schema that other vendors take.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(707, "tool-schema", "a tool schema that the vendor refuses", case!("tool-schema")),
    check: Check::Request(check),
};

/// Deeper than any schema that is meant.
const DEPTH: usize = 64;

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_openai = cx.openai(&[Dialect::OpenaiChat, Dialect::OpenaiResponses]).is_some();
    if !is_openai && !cx.is(&[Dialect::Gemini]) {
        return;
    }
    for tool in &cx.request.tools {
        let Some(schema) = &tool.schema else { continue };
        if let Some((pointer, message, help)) = fault(cx, tool, schema, &tool.schema_pointer, DEPTH) {
            out.push(cx.found(&RULE.meta, &pointer, message).help(help));
        }
    }
}

/// The first fault of a schema: where, what, and what to do.
fn fault(cx: &RequestCx<'_>, tool: &Tool, schema: &Value, pointer: &str, depth: usize) -> Option<(String, String, &'static str)> {
    let object = schema.as_object().filter(|_| depth > 0)?;
    let (name, vendor) = (short(&tool.name), cx.request.dialect.vendor());
    // What JSON Schema and Gemini's own form call one kind.
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let has = |key: &str| object.contains_key(key);
    if kind == "array" && !has("items") && !has("prefixItems") {
        let message = format!("found an array without `items` in `{name}`; {vendor} expects to know what is in it");
        return Some((pointer.to_owned(), message, "add `items`, such as `{\"type\": \"string\"}`"));
    }
    if tool.is_strict
        && cx.request.dialect.vendor() == "OpenAI"
        && has("properties")
        && let Some(message) = not_strict(object, &name)
    {
        return Some((
            pointer.to_owned(),
            message,
            "name every property in `required` (with `null` among its types where it may be left out), and say `\"additionalProperties\": false`",
        ));
    }
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"].into_iter();
    let listed = lists.flat_map(|key| {
        let all = object.get(key).and_then(Value::as_array).into_iter().flatten();
        all.enumerate().map(move |(at, one)| (format!("{pointer}/{key}/{at}"), one))
    });
    let named = ["properties", "$defs", "definitions"].into_iter().flat_map(|key| {
        let all = object.get(key).and_then(Value::as_object).into_iter().flatten();
        all.map(move |(own, one)| (format!("{pointer}/{key}/{}", own.replace('~', "~0").replace('/', "~1")), one))
    });
    let items = object.get("items").map(|one| (format!("{pointer}/items"), one));
    named.chain(items).chain(listed).find_map(|(pointer, one)| fault(cx, tool, one, &pointer, depth - 1))
}

/// What a strict schema of `OpenAI` lacks.
fn not_strict(object: &Map<String, Value>, name: &str) -> Option<String> {
    let required: Vec<&str> =
        object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = object.get("properties").and_then(Value::as_object)?;
    if let Some(missing) = properties.keys().find(|key| !required.contains(&key.as_str())) {
        return Some(format!(
            "`{name}` is strict, and `{}` is not in `required`; OpenAI expects every property there",
            short(missing)
        ));
    }
    let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    (!is_closed).then(|| format!("`{name}` is strict, and an object of it is open; OpenAI expects `additionalProperties: false`"))
}
