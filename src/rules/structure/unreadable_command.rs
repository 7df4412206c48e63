//! CTX125: a command whose quotes do not match.

use super::shell_operator::split_command;
use super::structure_prelude::*;
use crate::template::argv::ArgvFaultKind;

/// A command that cannot be split cannot be started.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        125,
        "unreadable-command",
        "a command whose quotes do not match, or that names no program"
    ),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((command, split)) = split_command(cx.task) else {
        return;
    };
    let fault = match split {
        Err(fault) => fault,
        Ok(argv) => {
            if argv
                .arguments
                .first()
                .is_some_and(|first| first.value.is_empty())
            {
                let span = trim_span(cx.cx, command.text.element.inner());
                out.push(file_finding(
                    &RULE.meta,
                    cx.cx,
                    span,
                    "the command names no program: its first word is empty",
                ));
            }
            return;
        }
    };
    let message = match fault.kind {
        ArgvFaultKind::UnclosedSingleQuote => "this `'` is never closed",
        ArgvFaultKind::UnclosedDoubleQuote => "this `\"` is never closed",
        ArgvFaultKind::TrailingBackslash => {
            "a backslash at the end of the command keeps nothing together"
        }
    };
    let span = if fault.span == command.text.element.inner() {
        trim_span(cx.cx, fault.span)
    } else {
        fault.span
    };
    let found = file_finding(&RULE.meta, cx.cx, span, message);
    out.push(
        found.help("close it, put a backslash before it, or list the arguments as <arg> elements"),
    );
}
