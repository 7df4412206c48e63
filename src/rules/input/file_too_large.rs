//! CTX902: a file above the size limit, refused before it is read.

use crate::base::diagnostic::Diagnostic;
use crate::base::number::size;
use crate::base::rule_meta::{Code, Fixable, RuleMeta, Severity};
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};
use std::sync::Arc;

/// A file so large is no template that a person wrote, and reading it would cost everybody time and memory.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(902),
        name: "file-too-large",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "a file is larger than the limit",
        page: "\
Files above 10 MiB are refused without being read: a template that a person writes has a few kilobytes, and a file so large is
nearly always a data set or a log that ended up among the templates. What an agent should read belongs into files that the template
names in `<file_paths>`, or into an input.

Leave the file out with `[templates] exclude` in `ctxc.toml`, or raise the limit with `--max-file-size 64M`.",
        bad: &[],
        good: &[],
    },
    check: Check::Syntax(decoded),
};

/// A text that grew beyond the limit when it was decoded, or that came from elsewhere than a file.
fn decoded(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    (fault.kind == FaultKind::FileTooLong).then(|| word(cx.path, cx.config.limits.file))
}

/// Words it. `limit` in bytes.
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
