//! CTX300: a `ref`, `call` or `use` of a name that no file defines.

use crate::rules::prelude::*;
use crate::template::names::{DefinitionKind, ReferenceFacts, ReferenceKind};

/// Names are not looked up at run time, so a missing definition stays missing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        300,
        "unresolved-reference",
        "a reference to a task, template or fragment that does not exist"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut budget = ComparisonBudget::default();
    for (_, entry, reference) in cx.index.references() {
        if cx.index.resolve_reference(reference).is_some() {
            continue;
        }
        let verb = match reference.kind {
            ReferenceKind::Ref => "refers to",
            ReferenceKind::Call => "calls",
            ReferenceKind::Use => "uses",
        };
        let message = format!(
            "{verb} the {} `{}`, which no file defines",
            reference.kind.definition_kind().word(),
            reference.name
        );
        out.push(add_advice(
            cx,
            Diagnostic::new(&RULE.meta, entry.path, reference.span, message),
            reference,
            &mut budget,
        ));
    }
}

fn add_advice(
    cx: &LinkCx<'_>,
    finding: Diagnostic,
    reference: &ReferenceFacts,
    budget: &mut ComparisonBudget,
) -> Diagnostic {
    let kind = reference.kind.definition_kind();
    let kinds = [
        DefinitionKind::Task,
        DefinitionKind::Template,
        DefinitionKind::Fragment,
    ];
    if let Some(other) = kinds
        .into_iter()
        .find(|other| *other != kind && cx.index.find_definition(*other, &reference.name).is_some())
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
    match budget.nearest_candidate(&reference.name, cx.index.names_of_kind(kind)) {
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
