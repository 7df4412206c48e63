//! CTX326: a value from outside in a command that a shell reads.

use crate::rules::names::untrusted_in_system::{UnfencedWording, marked_texts, unfenced_values};
use crate::rules::prelude::*;
use crate::template::names::Unfenced;

/// In a shell, a value can end the command and begin another one.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        326,
        "untrusted-in-shell",
        "a value from outside is in a command that a shell reads"
    ),
    Check::FileAndLink(check_file, check_references),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let message =
        "the command is marked as coming from outside, and a shell would run what it says";
    out.extend(marked_texts(&RULE.meta, cx, Unfenced::Shell, message));
}

fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let words = UnfencedWording {
        would: "would be read by a shell as a part of the command",
        help: "name the program and its arguments as `<arg>`s, without a shell, or pass the value in a `<var>` of `<env>`",
    };
    out.extend(unfenced_values(&RULE.meta, cx, Unfenced::Shell, words));
}
