//! CTX517: a shared file that cannot be read.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Without it nobody knows which policies hold.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(517),
        name: "unreadable-shared-file",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "the file that `extends` names cannot be read",
        page: "\
`extends` takes lints, defaults and requirements from a file that several projects share. Its path is relative to the folder of the
project file. While it cannot be read, none of its policies hold, so this is an error that cannot be lowered.",
        bad: &[Example { template: TASK, project: "extends = { path = \"../policies/strict.toml\", hash = \"b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\" }\n" }],
        good: &[Example { template: TASK, project: "" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedUnreadable { path, reason } = &fault.kind else { return None };
    let message = format!("cannot read the shared file {path}: {reason}");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.help("the path is relative to the folder of the project file; without the file none of its policies hold"))
}
