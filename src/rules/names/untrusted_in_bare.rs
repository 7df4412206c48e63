//! CTX325: a value from outside in a text of the profile `bare`.

use crate::rules::names::untrusted_in_system::{marked, values};
use crate::rules::prelude::*;
use crate::template::names::Unfenced;

/// The profile has no fences: what a letter says would read as the author's own words.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        325,
        "untrusted-in-bare",
        "a value from outside reaches an agent whose profile has no fences",
        case!("untrusted-in-bare"),
    ),
    check: Check::FileAndLink(check, check_references),
};

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let message = "this text is marked as coming from outside, and the profile `bare` does not fence it";
    out.extend(marked(&RULE.meta, cx, Unfenced::Bare, message));
}

fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let words = ("the profile `bare` does not fence it", "take another profile, which fences it, or leave the value out");
    out.extend(values(&RULE.meta, cx, Unfenced::Bare, words));
}
