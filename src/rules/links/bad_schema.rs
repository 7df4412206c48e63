//! CTX307: a schema file without a valid JSON Schema.

use crate::rules::prelude::*;
use crate::template::json_schema::AnswerSchemaFault;
use crate::template::names::LinkedFile;
use std::sync::Arc;

/// Otherwise the first answer would be validated against an unreadable schema.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        307,
        "bad-schema",
        "the file of a JSON Schema is not valid JSON, or not a schema"
    ),
    Check::Edge,
);

pub(crate) fn report(
    path: &Arc<str>,
    source: &LinkedFile,
    fault: &AnswerSchemaFault,
) -> Diagnostic {
    let why = match fault {
        AnswerSchemaFault::Empty => "it is empty".to_owned(),
        AnswerSchemaFault::UnexpectedEnd => "its JSON ends in the middle".to_owned(),
        AnswerSchemaFault::Json { why, line, column } => {
            format!("{why} at line {line}, column {column}")
        }
        AnswerSchemaFault::WrongType { found } => format!("it holds {found}"),
        AnswerSchemaFault::Unsound { at, expected, .. } if at.is_empty() => {
            format!("expected {expected}")
        }
        AnswerSchemaFault::Unsound { at, expected, .. } => {
            format!("at `{}` expected {expected}", at.escape_debug())
        }
    };
    let help = if let AnswerSchemaFault::Unsound {
        near: Some(near), ..
    } = fault
    {
        format!("did you mean `{}`?", near.escape_debug())
    } else {
        "correct that file, or name a type: `object`, `array`, `string[]`, `number`, `boolean`"
            .to_owned()
    };
    Diagnostic::new(
        &RULE.meta,
        path,
        source.span,
        format!("`{}` is not a valid JSON Schema: {why}", source.path),
    )
    .note("a JSON Schema is JSON: an object, or `true` or `false`")
    .help(help)
}
