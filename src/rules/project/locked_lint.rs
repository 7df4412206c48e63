//! CTX510: a promise that `[lints]` would lower.

use super::words::line;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A promise that can be switched off is none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(510, "locked-lint", "`[lints]` would silence or lower a rule that is locked", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
Some rules are promises of the language: that XML is well-formed, that settings, types and subtypes are what was written, that what a
task inherits and what it looks up do not contradict each other, that every reference leads somewhere. A registry is only worth reading if they hold for every project, so they can be neither
silenced nor lowered. Families and `all` leave them as they are.";

const BAD: &[Example] = &[project("[lints]\ncontext-conflict = \"warning\"\n"), project("[lints]\nCTX501 = \"off\"\n")];

const GOOD: &[Example] = &[project("[lints]\nall = \"warning\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::LockedRule { rule, level, floor } = &fault.kind else { return None };
    let message = format!("`{rule}` cannot be `{level}`: it is a promise of the language, and stays `{floor}`");
    let finding = cx.finding(&RULE, fault, message);
    let fix = Fix::suggested("remove the line", vec![Edit::delete(line(cx, fault))]);
    Some(finding.help("correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside").fix(fix))
}
