//! CTX531: an entry that a list has twice.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// One of the two was meant to be another.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(531),
        name: "repeated-entry",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::None,
        summary: "a list of a role or model has an entry twice",
        page: "\
Tools, capabilities, protected paths, models to fall back to, the order of segments: the second time an entry says nothing. Mostly another
one was meant, and that one is missing.",
        bad: &[
            Example { template: TASK, project: "[roles.triage]\ntools = [\"read_file\", \"read_file\"]\n" },
            Example { template: TASK, project: "[roles.triage]\norder = [\"file\", \"input\", \"file\"]\n" },
        ],
        good: &[Example { template: TASK, project: "[roles.triage]\ntools = [\"read_file\", \"list_files\"]\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::RepeatedEntry { key, entry, first } = &fault.kind else { return None };
    let message = format!("`{key}` has `{entry}` twice");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding = cx.label(finding, fault.file, *first, "the first time");
    Some(finding.help("remove it, or write the one that was meant"))
}
