//! CTX902: a file above the size limit, rejected before it is read.

use crate::base::number::size;
use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;
use std::sync::Arc;

/// A file of that size is no hand-written template, and reading it costs time and memory.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        902,
        "file-too-large",
        "a file is larger than the limit"
    ),
    Check::Syntax(&[(FaultKind::FileTooLong, decoded)]),
);

/// Reports a text that exceeds the limit after decoding, or that does not come from a file.
fn decoded(cx: &SyntaxCx<'_>) -> Diagnostic {
    word(cx.file.path, cx.file.config.limits.file)
}

/// `limit` is in bytes.
pub fn word(path: &Arc<str>, limit: u64) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(
        &RULE.meta,
        path,
        Span::at(0),
        format!("is larger than {}, the limit on a file, and was not read", size(limit)),
    )
    .note("templates have a few kilobytes: is this a data set that the template should name in `<file_paths>`?")
    .help("leave it out with `exclude` in ctxc.toml, or raise the limit with `--max-file-size`");
    diagnostic.locate("", &LineIndex::new(""));
    diagnostic
}
