//! CTX125: a command whose quotes do not match.

use super::family::{finding, trimmed};
use super::shell_operator::split;
use crate::rules::prelude::*;
use crate::template::argv::ArgvFaultKind;

/// What cannot be split cannot be started.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(125, "unreadable-command", "the quotes of a command do not match", PAGE).examples(BAD, FINE),
    check: Check::Node(check),
};

const PAGE: &str = "\
A `<command>` is split into arguments at white space; single quotes, double quotes and backslashes keep words together as in a shell. A
quote without its partner leaves the last argument open. Close it, put a backslash before it where the character is meant, or list the
arguments as `<arg>` elements, in which nothing is split.";

const BAD: &[Example] = &[template(
    "<task type=\"script\" name=\"count\">\n  <description>count the lines</description>\n  <command>grep -c 'two words notes.txt</command>\n</task>\n",
)];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((command, Err(fault))) = split(cx.task) else { return };
    let message = match fault.kind {
        ArgvFaultKind::UnclosedSingleQuote => "this `'` has no partner",
        ArgvFaultKind::UnclosedDoubleQuote => "this `\"` has no partner",
        ArgvFaultKind::TrailingBackslash => "a backslash at the end of the command keeps nothing together",
    };
    let span = if fault.span == command.text.element.inner() { trimmed(cx.cx, fault.span) } else { fault.span };
    let found = finding(&RULE.meta, cx.cx, span, message);
    out.push(found.help("close it, put a backslash before it, or list the arguments as <arg> elements"));
}
