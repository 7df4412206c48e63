//! CTX503: a key that nothing reads.

use super::words::{Form, list, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A misspelt key changes nothing, and its author believes that it does.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(503, "unknown-key", "a key that the project file does not have", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A key that nothing reads is nearly always a slip of the pen, and its author relies on a setting that does not hold. The finding lists
the keys that may stand in that table.

In `[defaults]` and `[operators]`, which decide the settings of tasks, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[project("[templates]\nexcludes = \"drafts\"\n"), project("[template]\nexclude = \"drafts\"\n")];

const GOOD: &[Example] = &[project("[templates]\nexclude = \"drafts\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownKey { table, key, near, valid } = &fault.kind else { return None };
    let place = if table.is_empty() { cx.path(fault.file).to_string() } else { format!("`[{table}]`") };
    let finding = cx.finding(&RULE, fault, format!("{place} has no key `{key}`"));
    let are = if valid.len() == 1 { "its only key is" } else { "the keys are" };
    let finding = finding.note(format!("nothing reads it, so it has no effect; {are} {}", list(valid)));
    Some(meant(finding, fault.span, near.as_deref(), Form::Bare))
}
