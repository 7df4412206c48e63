//! CTX503: a key that nothing reads.

use super::words::TASK;
use super::words::{Form, list, meant};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A misspelt key changes nothing, and its author believes that it does.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(503),
        name: "unknown-key",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a key that the project file does not have",
        page: "\
A key that nothing reads is nearly always a slip of the pen, and its author relies on a setting that does not hold. The finding lists
the keys that may stand in that table.

In `[defaults]` and `[operators]`, which decide the settings of tasks, the finding is locked: it can be neither silenced nor lowered.",
        bad: &[Example { template: TASK, project: "[templates]\nexcludes = \"drafts\"\n" },
            Example { template: TASK, project: "[template]\nexclude = \"drafts\"\n" }],
        good: &[Example { template: TASK, project: "[templates]\nexclude = \"drafts\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownKey { table, key, near, valid } = &fault.kind else { return None };
    let place = if table.is_empty() { cx.path(fault.file).to_string() } else { format!("`[{table}]`") };
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, format!("{place} has no key `{key}`"));
    let are = if valid.len() == 1 { "its only key is" } else { "the keys are" };
    let finding = finding.note(format!("nothing reads it, so it has no effect; {are} {}", list(valid)));
    Some(meant(finding, fault.span, near.as_deref(), Form::Bare))
}
