//! CTX325: a value from outside in a text of the profile `bare`.

use super::prelude::*;
use crate::kernel::profile::Profile;
use crate::project::linked_tools::ToolUseKind;
use crate::rules::names::tool_results::{tool_uses, tools_condition, with_role_label};
use crate::rules::names::untrusted_in_system::{marked, values};
use crate::template::names::{DefinitionKind, Unfenced};

const WHY: &str = "the profile `bare` does not fence it";
const HELP: &str = "use a profile that fences it, or leave the value out";

/// Without fences, the content of a letter would read as the author's own words.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        325,
        "untrusted-in-bare",
        "a value from outside reaches an agent whose profile has no fences"
    ),
    Check::FileAndLink(check, check_references),
);

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let message =
        "this text is marked as coming from outside, and the profile `bare` does not fence it";
    out.extend(marked(&RULE.meta, cx, Unfenced::Bare, message));
}

fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(values(&RULE.meta, cx, Unfenced::Bare, (WHY, HELP)));
    for (at, (file, span)) in &cx.names.bare_used {
        let found = cx.at_reference(&RULE.meta, *at, |reference| {
            format!(
                "the {} `{}` shows its agent a value from outside, and {WHY}",
                reference.kind.target().word(),
                shown(&reference.name)
            )
        });
        out.extend(found.map(|(found, _)| sourced(cx, found, (*file, *span))));
    }
    for found in tool_uses(cx) {
        let own = match found.kind {
            ToolUseKind::Value(_) => continue,
            ToolUseKind::BareReference(at, source) => {
                let own = cx.at_reference(&RULE.meta, at, |reference| {
                    let (word, name) = (reference.kind.target().word(), shown(&reference.name));
                    format!(
                        "{}the {word} `{name}` shows its agent a value from outside, and {WHY}",
                        tools_condition(&found)
                    )
                });
                own.map(|(own, _)| sourced(cx, own, source))
            }
            ToolUseKind::BareTask(source) => {
                let task = cx.index.find(DefinitionKind::Task, &found.role.task.value);
                if task.is_some_and(|task| cx.names.open(cx.index, task).is_some()) {
                    continue;
                }
                let profile = found.role.profile.as_ref().zip(cx.config.files.first());
                let message = || {
                    format!(
                        "{}its agent is shown a value from outside, and {WHY}",
                        tools_condition(&found)
                    )
                };
                let own = profile.map(|(profile, file)| {
                    Diagnostic::new(&RULE.meta, &file.path, profile.span, message())
                });
                own.map(|own| sourced(cx, own, source))
            }
        };
        out.extend(own.map(|own| with_role_label(cx, own, &found)));
    }
    for (role, profile) in cx
        .config
        .roles
        .values()
        .filter_map(|role| Some((role, role.profile.as_ref()?)))
    {
        let task = cx
            .index
            .find(DefinitionKind::Task, &role.task.value)
            .filter(|_| profile.value == Profile::Bare);
        let source = task.and_then(|task| cx.names.open(cx.index, task));
        let Some((source, file)) = source.zip(cx.config.files.first()) else {
            continue;
        };
        let message = format!(
            "the task `{}` shows its agent a value from outside, and {WHY}",
            shown(&role.task.value)
        );
        out.push(sourced(
            cx,
            Diagnostic::new(&RULE.meta, &file.path, profile.span, message),
            source,
        ));
    }
}

/// Adds the place that names the value, if any.
fn sourced(cx: &LinkCx<'_>, found: Diagnostic, (file, span): (u32, Span)) -> Diagnostic {
    let found = if span.is_empty() {
        found
    } else {
        cx.label(found, file, span, "the value is named here")
    };
    found.help(HELP)
}
