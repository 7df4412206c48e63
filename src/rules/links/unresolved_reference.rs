//! CTX300: a `ref`, `call` or `use` of a name that no file defines.

use crate::rules::prelude::*;
use crate::template::names::{DefinitionKind, Reference, ReferenceKind};

/// Names are not looked up at run time, so a missing definition stays missing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        300,
        "unresolved-reference",
        "a reference to a task, template or fragment that does not exist"
    )
    .fixed(Fixable::Suggested),
    Check::Link(check),
);

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut budget = Budget::default();
    for (_, entry, reference) in cx.index.references() {
        if cx.index.target(reference).is_some() {
            continue;
        }
        let verb = match reference.kind {
            ReferenceKind::Ref => "refers to",
            ReferenceKind::Call => "calls",
            ReferenceKind::Use => "uses",
        };
        let message = format!(
            "{verb} the {} `{}`, which no file defines",
            reference.kind.target().word(),
            reference.name
        );
        out.push(advise(
            cx,
            Diagnostic::new(&RULE.meta, entry.path, reference.span, message),
            reference,
            &mut budget,
        ));
    }
}

fn advise(
    cx: &LinkCx<'_>,
    finding: Diagnostic,
    reference: &Reference,
    budget: &mut Budget,
) -> Diagnostic {
    let kind = reference.kind.target();
    let kinds = [
        DefinitionKind::Task,
        DefinitionKind::Template,
        DefinitionKind::Fragment,
    ];
    if let Some(other) = kinds
        .into_iter()
        .find(|other| *other != kind && cx.index.find(*other, &reference.name).is_some())
    {
        return finding
            .note(format!(
                "there is a {} of that name, but this place takes a {}",
                other.word(),
                kind.word()
            ))
            .help(match other {
                DefinitionKind::Task => "a task is used by <task ref=\"…\"/>",
                DefinitionKind::Template => "a template is called by <call template=\"…\"/>",
                DefinitionKind::Fragment => {
                    "a fragment is used by <use fragment=\"…\"/> inside a text"
                }
            });
    }
    match budget.nearest(&reference.name, cx.index.names(kind)) {
        Some(meant) => finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(reference.span, meant)],
            )),
        None => finding.help(format!(
            "define the {}, or add the file that does to `[templates] include`",
            kind.word()
        )),
    }
}
