//! CTX307: the file of a JSON Schema that holds none.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::template::json_schema::SchemaFault;
use crate::template::names::Source;
use std::sync::Arc;

/// The first answer would be held to something that nobody can read.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(307),
        name: "bad-schema",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "the file of a JSON Schema holds no JSON, or no schema",
        page: "\
`schema=\"schemas/answer.json\"` holds an answer to the JSON Schema in that file. The registry carries the schema itself, so it is read
when the registry is built: JSON of one object, or of `true` or `false`, in which no object has a key twice. Members keep their order,
for an answer is produced in the order of the schema's properties; layout is dropped and counts in no hash. A `$ref` to another file
is not followed: write what it stands for into `$defs`.

Correct the file at the line and column that the finding names.",
        bad: &[Example {
            template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"json\" schema=\"triage.schema.json\"/>\n</task>\n",
            project: "# file: triage.schema.json\n{\n  \"type\": \"object\"\n  \"required\": [\"queue\"]\n}\n",
        }],
        good: &[Example {
            template: "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"json\" schema=\"triage.schema.json\"/>\n</task>\n",
            project: "# file: triage.schema.json\n{\n  \"type\": \"object\",\n  \"required\": [\"queue\"]\n}\n",
        }],
    },
    check: Check::Edge,
};

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
