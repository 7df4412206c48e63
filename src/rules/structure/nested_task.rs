//! CTX119: a part of a task that is wrapped in a task of its own.

use super::structure_prelude::{whole_line_span, *};

/// Read as intended; reported so that all templates use one form.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        119,
        "nested-task",
        "a part is wrapped in an extra task"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::NestedBody { part, .. } = fault.kind else {
        return None;
    };
    let tag = part.tag();
    let found = file_finding(
        &RULE.meta,
        cx,
        fault.span,
        format!("`<{tag}>` is a task already: the `<task>` inside it is one too many"),
    );
    let element = fault.element;
    let plain = |name: &str, value: &str| {
        name == "type" && (value == "atomic" || (value == "script" && tag == "script_execution"))
    };
    if !element
        .attributes()
        .all(|attribute| plain(attribute.name(), &attribute.value()))
    {
        return Some(found.help(format!(
            "move what it holds into `<{tag}>`; a part has no attributes of its own"
        )));
    }
    let Some(end) = element.end_tag() else {
        return Some(found);
    };
    let edits = [element.start_tag(), end].map(|tag| Edit::delete(whole_line_span(cx, tag)));
    Some(found.fix(Fix::safe(
        "take the <task> out, keep what it holds",
        edits.to_vec(),
    )))
}
