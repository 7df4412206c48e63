//! CTX307: the file of a JSON Schema that holds none.

use crate::rules::prelude::*;
use crate::template::json_schema::SchemaFault;
use crate::template::names::Source;
use std::sync::Arc;

/// The first answer would be held to something that nobody can read.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(307, "bad-schema", "the file of a JSON Schema holds no JSON, or no schema", PAGE).examples(BAD, GOOD),
    check: Check::Edge,
};

const PAGE: &str = "\
`schema=\"schemas/answer.json\"` holds an answer to the JSON Schema in that file. The registry carries the schema itself, so it is read
when the registry is built: JSON of one object, or of `true` or `false`, in which no object has a key twice. Members keep their order,
for an answer is produced in the order of the schema's properties; layout is dropped and counts in no hash. A `$ref` to another file
is not followed: write what it stands for into `$defs`.

Correct the file at the line and column that the finding names.";

const BAD: &[Example] = &[Example {
    template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"json\" schema=\"triage.schema.json\"/>\n</task>\n",
    project: "# file: triage.schema.json\n{\n  \"type\": \"object\"\n  \"required\": [\"queue\"]\n}\n",
}];

const GOOD: &[Example] = &[Example {
    template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"json\" schema=\"triage.schema.json\"/>\n</task>\n",
    project: "# file: triage.schema.json\n{\n  \"type\": \"object\",\n  \"required\": [\"queue\"]\n}\n",
}];

/// Words it.
pub(crate) fn word(path: &Arc<str>, source: &Source, fault: &SchemaFault) -> Diagnostic {
    let why = match fault {
        SchemaFault::Empty => "it is empty".to_owned(),
        SchemaFault::Ends => "its JSON ends in the middle".to_owned(),
        SchemaFault::Json { why, line, column } => format!("{why} at line {line}, column {column}"),
        SchemaFault::Other { found } => format!("it holds {found}"),
    };
    Diagnostic::new(&RULE.meta, path, source.span, format!("`{}` is no JSON Schema: {why}", source.path))
        .note("a JSON Schema is JSON: an object, or `true` or `false`")
        .help("correct that file, or name a type: `object`, `array`, `string[]`, `number`, `boolean`")
}
