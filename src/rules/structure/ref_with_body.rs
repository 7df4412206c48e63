//! CTX120: a task with a reference and a body.

use super::structure_prelude::*;

/// A reference uses the registered task unchanged, so the body would be ignored.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        120,
        "ref-with-body",
        "a task with `ref` also has a body"
    ),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::RefWithBody { child } = &fault.kind else {
        return None;
    };
    let element = fault.element;
    let attribute = element.attribute("ref")?;
    let name = attribute.value();
    let message = format!(
        "`<{}>` would be lost: this task is `{}` as it is registered",
        child.name(),
        short_excerpt(&name)
    );
    let found = file_finding(&RULE.meta, cx, fault.span, message)
        .label(attribute.span(), "the registered task is used here");
    Some(found.help(if matches!(child.name(), "inputs" | "parameters") {
        "give values to a registered task by `<call template=\"…\"><arg name=\"…\">…</arg></call>` in place of `<task ref>`; or remove `ref`, and write the task here"
    } else {
        "keep the one that is meant: remove the body, or remove `ref`"
    }))
}
