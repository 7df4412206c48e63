//! CTX531: an entry that a list has twice.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// One of the two was meant to be another.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(531, "repeated-entry", "a list of a role or model has an entry twice", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
Tools, capabilities, protected paths, models to fall back to, the order of segments: the second time an entry says nothing. Mostly another
one was meant, and that one is missing.";

const BAD: &[Example] = &[
    project("[roles.triage]\ntools = [\"read_file\", \"read_file\"]\n"),
    project("[roles.triage]\norder = [\"file\", \"input\", \"file\"]\n"),
];

const GOOD: &[Example] = &[project("[roles.triage]\ntools = [\"read_file\", \"list_files\"]\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::RepeatedEntry { key, entry, first } = &fault.kind else { return None };
    let message = format!("`{key}` has `{entry}` twice");
    let finding = cx.finding(&RULE, fault, message);
    let finding = cx.label(finding, fault.file, *first, "the first time");
    Some(finding.help("remove it, or write the one that was meant"))
}
