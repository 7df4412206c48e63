//! CTX306: a file included by a template that cannot be read.

use crate::rules::prelude::*;
use crate::template::names::{LinkedFile, LinkedFileKind};
use std::sync::Arc;

/// Otherwise the agent would receive an empty text, or its answer would not be validated.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        306,
        "missing-source",
        "the file of a text or schema cannot be read, or is outside the project"
    ),
    Check::Edge,
);

/// `why` is the reason: a lower-case fragment.
pub(crate) fn report(path: &Arc<str>, source: &LinkedFile, why: &str) -> Diagnostic {
    let (what, help) = match source.kind {
        LinkedFileKind::Text | LinkedFileKind::File => (
            "text",
            "correct the path, restore the file, or write the text between the tags",
        ),
        LinkedFileKind::Schema => (
            "JSON Schema",
            "correct the path, restore the file, or name a type: `object`, `array`, `string[]`, `number`, `boolean`",
        ),
    };
    Diagnostic::new(
        &RULE.meta,
        path,
        source.span,
        format!("the {what} in `{}` cannot be read: {why}", source.path),
    )
    .note("the path is relative to the template's folder and must stay inside the project")
    .help(help)
}
