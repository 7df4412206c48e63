//! CTX325: a value from outside in a text of the profile `bare`.

use super::names_prelude::{add_role_label, describe_tools_condition, untrusted_tool_uses, *};
use crate::kernel::profile::Profile;
use crate::project::linked_tools::ToolUseKind;
use crate::rules::names::untrusted_in_system::{UnfencedWording, marked_texts, unfenced_values};
use crate::template::names::{DefinitionKind, Unfenced};

const BARE_REASON: &str = "the profile `bare` does not fence it";
const BARE_HELP: &str = "use a profile that fences it, or leave the value out";

/// Without fences, the content of a letter would read as the author's own words.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        325,
        "untrusted-in-bare",
        "a value from outside reaches an agent whose profile has no fences"
    ),
    Check::FileAndLink(check_file, check_references),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let message =
        "this text is marked as coming from outside, and the profile `bare` does not fence it";
    out.extend(marked_texts(&RULE.meta, cx, Unfenced::Bare, message));
}

fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(unfenced_values(
        &RULE.meta,
        cx,
        Unfenced::Bare,
        UnfencedWording {
            would: BARE_REASON,
            help: BARE_HELP,
        },
    ));
    for (at, (file, span)) in &cx.names.bare_used {
        let found = cx.reference_finding(&RULE.meta, *at, |reference| {
            format!(
                "the {} `{}` shows its agent a value from outside, and {BARE_REASON}",
                reference.kind.definition_kind().word(),
                short_excerpt(&reference.name)
            )
        });
        out.extend(found.map(|(found, _)| add_source_label(cx, found, *file, *span)));
    }
    for found in untrusted_tool_uses(cx) {
        let own = match found.kind {
            ToolUseKind::Value(_) => continue,
            ToolUseKind::BareReference(at, (file, span)) => {
                let own = cx.reference_finding(&RULE.meta, at, |reference| {
                    let (word, name) = (reference.kind.definition_kind().word(), short_excerpt(&reference.name));
                    format!(
                        "{}the {word} `{name}` shows its agent a value from outside, and {BARE_REASON}",
                        describe_tools_condition(&found)
                    )
                });
                own.map(|(own, _)| add_source_label(cx, own, file, span))
            }
            ToolUseKind::BareTask((at, span)) => {
                let task = cx
                    .index
                    .find_definition(DefinitionKind::Task, &found.role.task.value);
                if task.is_some_and(|task| cx.names.open_source(cx.index, task).is_some()) {
                    continue;
                }
                let profile = found.role.profile.as_ref().zip(cx.config.files.first());
                let message = || {
                    format!(
                        "{}its agent is shown a value from outside, and {BARE_REASON}",
                        describe_tools_condition(&found)
                    )
                };
                let own = profile.map(|(profile, file)| {
                    Diagnostic::new(&RULE.meta, &file.path, profile.span, message())
                });
                own.map(|own| add_source_label(cx, own, at, span))
            }
        };
        out.extend(own.map(|own| add_role_label(cx, own, &found)));
    }
    for (role, profile) in cx
        .config
        .roles
        .values()
        .filter_map(|role| Some((role, role.profile.as_ref()?)))
    {
        let task = cx
            .index
            .find_definition(DefinitionKind::Task, &role.task.value)
            .filter(|_| profile.value == Profile::Bare);
        let source = task.and_then(|task| cx.names.open_source(cx.index, task));
        let Some(((at, span), file)) = source.zip(cx.config.files.first()) else {
            continue;
        };
        let message = format!(
            "the task `{}` shows its agent a value from outside, and {BARE_REASON}",
            short_excerpt(&role.task.value)
        );
        out.push(add_source_label(
            cx,
            Diagnostic::new(&RULE.meta, &file.path, profile.span, message),
            at,
            span,
        ));
    }
}

/// Adds the place that names the value, if any.
fn add_source_label(cx: &LinkCx<'_>, found: Diagnostic, file: u32, span: Span) -> Diagnostic {
    let found = if span.is_empty() {
        found
    } else {
        cx.add_label(found, file, span, "the value is named here")
    };
    found.help(BARE_HELP)
}
