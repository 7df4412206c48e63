//! CTX305: a call whose result has another type than its place requires.

use crate::project::linked_names;
use crate::project::linked_parts::PartFaultReason;
use crate::rules::names::unknown_field::use_finding;
use crate::rules::names::untrusted_in_system::{UnfencedWording, unfenced_values};
use crate::rules::prelude::*;
use crate::template::names::{ReferenceKind, Unfenced};

/// Otherwise a mismatch would appear only with the first answer.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        305,
        "return-type",
        "a call returns another type than its place takes"
    ),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, entry, reference) in cx.index.references() {
        let (ReferenceKind::Call, Some(expected)) = (reference.kind, &reference.expects) else {
            continue;
        };
        let Some(target) = cx.index.resolve_reference(reference) else {
            continue;
        };
        let Some(callee) = cx.index.definition(target) else {
            continue;
        };
        let returned = callee.returns.as_deref().unwrap_or("string");
        if fits_type(returned, expected) {
            continue;
        }
        let message = format!(
            "`{}` returns {returned}, but this place takes {expected}",
            callee.name
        );
        let finding =
            Diagnostic::new(&RULE.meta, entry.path, reference.span, message).help(format!(
                "call a template that returns {expected}, or change what `{}` returns",
                callee.name
            ));
        out.push(cx.add_label(
            finding,
            target.file,
            callee.span,
            &format!("returns {returned}"),
        ));
    }
    for fault in &cx.names.faults {
        let linked_names::LinkFaultKind::WrongType {
            name,
            found,
            wanted,
        } = &fault.kind
        else {
            continue;
        };
        let finding = cx.reference_finding(&RULE.meta, fault.at, |reference| {
            let word = reference.kind.definition_kind().word();
            format!(
                "the {word} `{}` takes `{name}` as {wanted}, but `{name}` is {found} here",
                reference.name
            )
        });
        out.extend(finding.map(|(finding, _)| finding.help(TYPE_HELP)));
    }
    let typed = UnfencedWording {
        would: "is a text here, but would be trusted as a number or a truth value",
        help: "pass the value itself with `from`",
    };
    out.extend(unfenced_values(&RULE.meta, cx, Unfenced::Typed, typed));
    for fault in &cx.names.parts {
        let PartFaultReason::WrongType { found, wanted } = &fault.reason else {
            continue;
        };
        let message = format!(
            "`{}` is declared as {wanted}, but its value is {found}",
            fault.used_part
        );
        out.extend(
            use_finding(&RULE.meta, cx, fault.position(), message)
                .map(|finding| finding.help(TYPE_HELP)),
        );
    }
}

const TYPE_HELP: &str = "declare both with the same type, or pass another value";

fn fits_type(returned: &str, expected: &str) -> bool {
    returned == expected
        || (expected == "array" && returned == "string[]")
        || (expected == "string" && returned == "text")
}
