//! CTX602: a key that nothing reads.

use super::cx::ScenarioCx;
use super::words::{SOUND, list, scenario};
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};

/// A misspelt expectation expects nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(602, "unknown-scenario-key", "a key that scenarios do not have", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, SOUND),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
A key that nothing reads is nearly always a slip of the pen, and its author believes that something is tested which is not. The finding
lists the keys that may stand in that mapping; `ctxc schema scenario` says what they mean, and makes editors complete them.";

const BAD: &[Example] = &[
    scenario!("expect_context:\n  - nothing_cutt: true\n"),
    scenario!("expect_context:\n  - nothing_cut: true\nconstraints: [be brief]\n"),
];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownKey { table, key, near, valid, elsewhere } = &fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("{table} has no key `{key}`"));
    let are = if valid.len() == 1 { "its only key is" } else { "the keys are" };
    let finding = finding.note(format!("nothing reads it, so it tests nothing; {are} {}", list(valid)));
    if let Some(place) = elsewhere {
        return Some(finding.help(format!("`{key}` goes under `{place}`")));
    }
    Some(cx.meant(finding, fault, *near))
}
