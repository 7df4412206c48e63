//! CTX315: variables of a task that declares no parameters.

use super::names_prelude::*;
use crate::rules::names::undeclared_variable::{MAX_LISTED, declare_parameters, list_names};
use crate::rules::names::unread_value::misnamed_spans;
use crate::template::scope::{ImplicitParameter, ParameterOrigin};
use std::borrow::Cow;

/// Most existing tasks are like this, and keep working.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        hint,
        315,
        "implicit-parameter",
        "a task uses variables without declaring any"
    )
    .with_fix(Fixable::Suggested),
    Check::FileAndLink(check_file, check_references),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    // Those that stand for values of a round are reported as such.
    let misnamed = misnamed_spans(cx);
    let mut implicit = Cow::Borrowed(cx.scopes.implicit.as_slice());
    if !misnamed.is_empty() {
        implicit
            .to_mut()
            .retain(|one| !misnamed.contains(&one.name.span));
    }
    for of_one in implicit.chunk_by(|one, two| one.owner == two.owner) {
        let definition = of_one
            .first()
            .and_then(|implicit| cx.file.definitions.get(implicit.owner as usize));
        if let Some(element) = definition.map(crate::template::model::Definition::element) {
            out.push(report(cx, element, of_one));
        }
    }
}

/// An unbound name of a definition that is used by `ref` or `use` becomes a parameter of the using
/// task.
fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for extra in cx.names.implicit.values() {
        for of_one in extra.chunk_by(|(_, one), (_, two)| one == two) {
            let Some((_, at)) = of_one.first() else {
                continue;
            };
            let listed = list_names(of_one.iter().map(|(param, _)| &*param.name));
            let what = if of_one.len() == 1 {
                "a variable"
            } else {
                "variables"
            };
            let found = cx.reference_finding(&RULE.meta, *at, |reference| {
                let word = reference.kind.definition_kind().word();
                format!(
                    "takes {what} that it does not declare: {listed}, for the {word} `{}`",
                    short_excerpt(&reference.name)
                )
            });
            out.extend(found.map(|(found, _)| found));
        }
    }
}

fn report(cx: &FileCx<'_>, task: Element<'_>, implicit: &[ImplicitParameter<'_>]) -> Diagnostic {
    let listed = list_names(implicit.iter().map(|implicit| &*implicit.name.value));
    let what = if implicit.len() == 1 {
        "a variable"
    } else {
        "variables"
    };
    let mut found = file_finding(
        &RULE.meta,
        cx,
        task.name_span(),
        format!("takes {what} that it does not declare: {listed}"),
    );
    for implicit in implicit.iter().take(MAX_LISTED) {
        found = found.label(implicit.name.span, "used here");
    }
    let names: Vec<&str> = implicit
        .iter()
        .map(|implicit| &*implicit.name.value)
        .collect();
    match declare_parameters(ParameterOrigin::Task(task), &names) {
        Some(edit) => found.fix(Fix::suggested(
            if names.len() == 1 {
                "declare it"
            } else {
                "declare them all"
            },
            vec![edit],
        )),
        None => found,
    }
}
