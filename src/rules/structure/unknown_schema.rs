//! CTX126: an output schema that is neither a type nor a file.

use super::family::{finding, shown};
use crate::rules::prelude::*;
use crate::template::parts::is_schema_file;

/// An answer that is held to nothing passes whatever it is.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(126, "unknown-schema", "an output schema that is neither a type nor a file", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Node(check),
};

const PAGE: &str = "\
`schema` on `<output_format>` says what the answer must be: `object`, `array`, `string[]`, `number`, `boolean`, or the path of a JSON
Schema file (with an ending, or a `/`). Anything else cannot be checked when the answer comes in.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"json\" schema=\"objct\"/>\n</task>\n",
)];

const TYPES: [&str; 5] = ["object", "array", "string[]", "number", "boolean"];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(schema) = cx.task.output.as_ref().and_then(|output| output.schema.as_ref()) else { return };
    let written = &*schema.value;
    if TYPES.contains(&written) || is_schema_file(written) {
        return;
    }
    let message = format!("`{}` is neither a type nor a JSON Schema file", shown(written));
    let found = finding(&RULE.meta, cx.cx, schema.span, message)
        .help("it can be `object`, `array`, `string[]`, `number`, `boolean`, or the path of a JSON Schema file");
    out.push(match nearest(written, TYPES) {
        Some(meant) => found.fix(Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(schema.span, meant)])),
        None => found,
    });
}
