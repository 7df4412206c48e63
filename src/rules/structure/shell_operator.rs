//! CTX124: a command with an operator that only a shell interprets.

use super::structure_prelude::*;
use crate::syntax::tree::NodeKind as Node;
use crate::syntax::write::set_attribute;
use crate::template::argv::{self, Argv, ArgvFault};
use crate::template::model::TaskBody;
use crate::template::parts::ScriptCommand;

/// Without a shell, `|` is an ordinary argument.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        124,
        "shell-operator",
        "a command uses a shell without saying so"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

/// Splits the command of a script that runs without a shell. Spans are exact if the text stands
/// unchanged in the document; otherwise they cover the whole text.
pub(super) fn split_command<'t, 'a>(
    task: &'t TaskBody<'a>,
) -> Option<(&'t ScriptCommand<'a>, Result<Argv, ArgvFault>)> {
    let command = task.script.as_deref()?.command.as_ref()?;
    let element = command.text.element;
    if command.shell.is_some()
        || !command.args.is_empty()
        || command.text.src.is_some()
        || element.is_damaged()
    {
        return None;
    }
    let text = element.text();
    let mut texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let only = texts.next().filter(|_| texts.next().is_none());
    let exact = only
        .filter(|node| node.inner().len() as usize == text.len())
        .map(|node| node.inner().start);
    let mut split = argv::split_command(&text, exact.unwrap_or(0));
    if exact.is_none() {
        let whole = element.inner();
        match &mut split {
            Ok(argv) => argv
                .operators
                .iter_mut()
                .for_each(|operator| operator.span = whole),
            Err(fault) => fault.span = whole,
        }
    }
    Some((command, split))
}

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((command, Ok(argv))) = split_command(cx.task) else {
        return;
    };
    let Some(first) = argv.operators.first() else {
        return;
    };
    let program = argv
        .arguments
        .first()
        .map_or("the program", |argument| &*argument.value);
    let exact = first.span != command.text.element.inner();
    let message = if first.value == "\n" {
        "a second line is no second command without a shell: its words become further arguments"
            .to_owned()
    } else {
        format!(
            "`{}` means nothing without a shell: `{}` would receive it as a plain word",
            first.value,
            short_excerpt(program)
        )
    };
    let span = if exact {
        first.span
    } else {
        trim_span(cx.cx, first.span)
    };
    let mut found = file_finding(&RULE.meta, cx.cx, span, message);
    if argv.operators.len() > 1 {
        found = found.note(format!("and {} more of the kind", argv.operators.len() - 1));
    }
    let edits = vec![set_attribute(command.text.element, "shell", "sh")];
    out.push(
        found
            .help("quote it where the character itself is meant")
            .fix(Fix::suggested(
                "write shell=\"sh\": a shell runs the command",
                edits,
            )),
    );
}
