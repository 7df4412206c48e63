//! CTX707: a tool schema that the vendor rejects.

use super::prelude::*;
use crate::request::schema_fault::{SchemaUse, ToolSchemaFault, find_fault};

/// Often a schema that other vendors accept.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        707,
        "tool-schema",
        "a tool schema that the vendor refuses",
        case!("tool-schema"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_openai = cx
        .openai_model(&[Dialect::OpenaiChat, Dialect::OpenaiResponses])
        .is_some();
    if !is_openai && !cx.is_claude() && !cx.has_dialect(&[Dialect::Gemini]) {
        return;
    }
    let dialect = cx.request.dialect;
    for tool in &cx.request.tools {
        let schema_use = SchemaUse {
            is_strict: tool.is_strict,
            is_own: tool.schema_pointer.ends_with("/parameters"),
        };
        let found = cx
            .request
            .argument_schema(tool)
            .and_then(|schema| find_fault(schema, dialect, schema_use));
        // Vertex AI accepts this keyword.
        let found = found.filter(|(_, fault)| {
            !cx.request.is_vertex || *fault != ToolSchemaFault::Unknown("additionalProperties")
        });
        if let Some((pointer, fault)) = found {
            let (message, help) = describe_fault(
                &fault,
                &format!("`{}`", shorten(&tool.name)),
                dialect.vendor(),
            );
            out.push(
                cx.finding(
                    &RULE.meta,
                    &(tool.schema_pointer.clone() + &pointer),
                    message,
                )
                .help(help),
            );
        }
    }
}

/// Returns the message and the help for a faulty tool schema.
pub(in crate::rules) fn describe_fault(
    fault: &ToolSchemaFault,
    tool: &str,
    vendor: &str,
) -> (String, &'static str) {
    match fault {
        ToolSchemaFault::Top(word) => (
            format!(
                "found `{word}` at the top of the schema of {tool}; {vendor} expects one object there"
            ),
            "write one object with all properties, and say in the description which of them go together",
        ),
        ToolSchemaFault::NoItems => (
            format!(
                "found an array without `items` in {tool}; {vendor} expects to know what is in it"
            ),
            "add `items`, such as `{\"type\": \"string\"}`",
        ),
        ToolSchemaFault::Unknown(word) => {
            let what = if *word == "type" {
                "a list in `type`".to_owned()
            } else {
                format!("`{word}`")
            };
            (
                format!(
                    "found {what} in the `parameters` of {tool}; {vendor} does not support it there"
                ),
                "take it out, or pass the schema as `parametersJsonSchema`, which is JSON Schema",
            )
        }
        ToolSchemaFault::Optional(key) => (
            format!(
                "{tool} is strict, and `{}` is not in `required`; {vendor} expects every property there",
                shorten(key)
            ),
            STRICT_HELP,
        ),
        ToolSchemaFault::Open => (
            format!(
                "{tool} is strict, but an object in it is open; {vendor} expects `additionalProperties: false`"
            ),
            STRICT_HELP,
        ),
    }
}

const STRICT_HELP: &str = "name every property in `required` (with `null` among its types where it may be left out), and say `\"additionalProperties\": false`";
