//! CTX310: a value from outside that reaches the system text.

use super::names_prelude::{
    add_role_label, describe_tools_condition, fault_finding, untrusted_tool_uses, *,
};
use crate::project::linked_parts::UsePosition;
use crate::project::linked_tools::ToolUseKind;
use crate::project::linked_trust::UntrustedUse;
use crate::rules::names::unknown_field::use_finding;
use crate::template::names::Unfenced;

/// Otherwise the author of a ticket would write the system prompt.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        310,
        "untrusted-in-system",
        "a value from outside reaches the system text"
    ),
    Check::FileAndLink(check_file, check_references),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let message = "the system text itself is marked as coming from outside";
    out.extend(marked_texts(&RULE.meta, cx, Unfenced::System, message));
}

fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let words = UnfencedWording {
        would: "would be part of the system text",
        help: "name it in `<instructions>`, where it is fenced, and take it out of `<system>`",
    };
    out.extend(unfenced_values(&RULE.meta, cx, Unfenced::System, words));
}

/// Returns findings for texts that are themselves marked as coming from outside.
pub(super) fn marked_texts(
    rule: &'static RuleMeta,
    cx: &FileCx<'_>,
    place: Unfenced,
    message: &'static str,
) -> impl Iterator<Item = Diagnostic> {
    let faults = cx.scopes.faults.iter();
    let faults = faults.filter(
        move |fault| matches!(fault.kind, ScopeFaultKind::FromOutside(unfenced) if unfenced == place),
    );
    let help =
        "put what comes from outside into an <input>; where the text is your own, remove the mark";
    faults.map(move |fault| fault_finding(rule, cx, fault, message).help(help))
}

/// The wording of findings about an unfenced place.
#[derive(Clone, Copy)]
pub(crate) struct UnfencedWording<'w> {
    /// The consequence.
    pub(crate) would: &'w str,
    /// The remedy.
    pub(crate) help: &'static str,
}

/// Returns findings for values that reach an unfenced place across fragments, tasks, functions,
/// results and files.
pub(crate) fn unfenced_values(
    rule: &'static RuleMeta,
    cx: &LinkCx<'_>,
    place: Unfenced,
    UnfencedWording { would, help }: UnfencedWording<'_>,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let of_place = |used: &UntrustedUse| used.unfenced == place;
    for used in cx.names.unfenced.iter().filter(|used| of_place(used)) {
        out.extend(unfenced_value(rule, cx, used, would, help, ""));
    }
    for found in untrusted_tool_uses(cx) {
        let ToolUseKind::Value(used) = found.kind else {
            continue;
        };
        if of_place(used) {
            let found = unfenced_value(
                rule,
                cx,
                used,
                would,
                help,
                &describe_tools_condition(&found),
            )
            .map(|own| add_role_label(cx, own, &found));
            out.extend(found);
        }
    }
    for (at, _) in cx
        .names
        .outside_used
        .iter()
        .filter(|(_, unfenced)| *unfenced == place)
    {
        let Some(reference) = cx.index.reference(*at) else {
            continue;
        };
        let Some((marked, source)) = cx
            .index
            .resolve_reference(reference)
            .and_then(|target| cx.names.outside.get(&target))
        else {
            continue;
        };
        let found = cx.reference_finding(rule, *at, |reference| {
            format!(
                "the fragment `{}` comes from outside and {would}",
                short_excerpt(&reference.name)
            )
        });
        let found = found.map(|(found, _)| {
            cx.add_label(found, marked.file, *source, "its text is marked here")
                .help(help)
        });
        out.extend(found);
    }
    out
}

/// Returns the finding for one unfenced value. `given`: the condition under which it comes from
/// outside, empty if there is none.
fn unfenced_value(
    rule: &'static RuleMeta,
    cx: &LinkCx<'_>,
    used: &UntrustedUse,
    would: &str,
    help: &'static str,
    given: &str,
) -> Option<Diagnostic> {
    let name = short_excerpt(&used.name);
    let (source, span) = &used.source;
    let comes = match short_excerpt(source) {
        source if name.is_empty() && source.is_empty() => {
            "the context used here comes from outside".to_owned()
        }
        source if name.is_empty() => {
            format!("the context used here contains untrusted `{source}`")
        }
        source if source == name => format!("`{name}` comes from outside"),
        source if source.is_empty() => format!("`{name}` is made of what comes from outside"),
        source => format!("`{name}` is made of `{source}`, which comes from outside,"),
    };
    let comes = [given, &comes].concat();
    let found = match used.reference {
        Some(at) => {
            let found = cx.reference_finding(rule, at, |reference| {
                let (word, of) = (
                    reference.kind.definition_kind().word(),
                    short_excerpt(&reference.name),
                );
                format!("{comes} and {would}, by the {word} `{of}`")
            });
            found.map(|(found, _)| found)
        }
        None => use_finding(
            rule,
            cx,
            UsePosition {
                file: used.file,
                span: used.span,
                inside: used.position_inside,
            },
            format!("{comes} and {would}"),
        ),
    };
    let found = match found? {
        found if span.is_empty() => found,
        found => cx.add_label(found, used.file, *span, "it gets its value here"),
    };
    let checked =
        "; or, if its text is checked before, say `trust=\"trusted\"` where it is passed on";
    let help = if name.is_empty() {
        "keep it out of that context with `inherit_context`, `accumulate_data` or `fresh_context`"
    } else {
        help
    };
    let is_checked_elsewhere = given.is_empty() && *source == used.name && !name.is_empty();
    Some(found.help(if is_checked_elsewhere {
        help.to_owned()
    } else {
        [help, checked].concat()
    }))
}
