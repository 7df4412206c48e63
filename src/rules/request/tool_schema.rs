//! CTX707: parameters of a tool that its vendor does not take.

use super::cx::{RequestCx, short};
use crate::request::dialect::Dialect;
use crate::request::model::Tool;
use crate::request::places::below;
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
        let Some(schema) = cx.request.schema(tool) else { continue };
        if let Some(SchemaFault { pointer, message, help }) = fault(cx, tool, schema, DEPTH) {
            out.push(cx.found(&RULE.meta, &(tool.schema_pointer.clone() + &pointer), message).help(help));
        }
    }
}

/// A fault of a schema.
struct SchemaFault {
    /// The way to it from where the search began.
    pointer: String,
    /// What was found, and what was expected.
    message: String,
    /// What to do.
    help: &'static str,
}

/// The first fault of a schema.
fn fault(cx: &RequestCx<'_>, tool: &Tool, schema: &Value, depth: usize) -> Option<SchemaFault> {
    let object = schema.as_object().filter(|_| depth > 0)?;
    let here = |message: String, help| Some(SchemaFault { pointer: String::new(), message, help });
    let vendor = cx.request.dialect.vendor();
    let has = |key: &str| object.contains_key(key);
    // What JSON Schema and Gemini's own form call one kind.
    let is_array = object.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
    if is_array && !has("items") && !has("prefixItems") {
        let name = short(&tool.name);
        let message = format!("found an array without `items` in `{name}`; {vendor} expects to know what is in it");
        return here(message, "add `items`, such as `{\"type\": \"string\"}`");
    }
    if tool.is_strict
        && vendor == "OpenAI"
        && has("properties")
        && let Some(message) = not_strict(object, &short(&tool.name))
    {
        return here(
            message,
            "name every property in `required` (with `null` among its types where it may be left out), and say `\"additionalProperties\": false`",
        );
    }
    let inside = |one: &Value, way: &dyn Fn() -> String| {
        let found = fault(cx, tool, one, depth - 1)?;
        Some(SchemaFault { pointer: way() + &found.pointer, ..found })
    };
    let named = ["properties", "$defs", "definitions"].into_iter().find_map(|key| {
        let mut all = object.get(key).and_then(Value::as_object).into_iter().flatten();
        all.find_map(|(own, one)| inside(one, &|| below(&format!("/{key}"), own)))
    });
    let items = || object.get("items").and_then(|one| inside(one, &|| "/items".to_owned()));
    let listed = || {
        ["anyOf", "oneOf", "allOf", "prefixItems"].into_iter().find_map(|key| {
            let mut all = object.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
            all.find_map(|(at, one)| inside(one, &|| format!("/{key}/{at}")))
        })
    };
    named.or_else(items).or_else(listed)
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
