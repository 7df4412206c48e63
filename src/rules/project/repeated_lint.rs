//! CTX511: one rule under two names in `[lints]`.

use super::words::line;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Two levels for one rule: the first holds.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(511, "repeated-lint", "`[lints]` sets one rule twice", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A rule has a name and a code, and perhaps a former name; `[lints]` takes any of them. Two lines about the same rule are a contradiction
waiting to happen: the first holds, the second does nothing.";

const BAD: &[Example] = &[project("[lints]\nno-context = \"error\"\nCTX203 = \"off\"\n")];

const GOOD: &[Example] = &[project("[lints]\nno-context = \"error\"\ncontext = \"warning\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::RepeatedRule { rule, first } = &fault.kind else { return None };
    let message = format!("sets `{rule}` a second time; the first line holds");
    let finding = cx.finding(&RULE, fault, message);
    let fix = Fix::suggested("remove the second line", vec![Edit::delete(line(cx, fault))]);
    Some(cx.label(finding, fault.file, *first, "set here").fix(fix))
}
