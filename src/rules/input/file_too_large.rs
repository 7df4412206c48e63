//! CTX902: a file above the size limit, rejected before it is read.

use crate::base::number::format_size;
use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use std::sync::Arc;

/// A file of that size is no hand-written template, and reading it costs time and memory.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        902,
        "file-too-large",
        "a file is larger than the limit"
    ),
    Check::Syntax(&[(XmlFaultKind::FileTooLong, report_decoded)]),
);

/// Reports a text that exceeds the limit after decoding, or that does not come from a file.
fn report_decoded(cx: &SyntaxCx<'_>) -> Diagnostic {
    report(cx.file.path, cx.file.config.limits.file)
}

/// `limit` is in bytes.
pub fn report(path: &Arc<str>, limit: u64) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(
        &RULE.meta,
        path,
        Span::empty_at(0),
        format!("is larger than {}, the limit on a file, and was not read", format_size(limit)),
    )
    .note("templates have a few kilobytes: is this a data set that the template should name in `<file_paths>`?")
    .help("leave it out with `exclude` in ctxc.toml, or raise the limit with `--max-file-size`");
    diagnostic.locate("", &LineIndex::new(""));
    diagnostic
}
