//! CTX303: a call whose arguments do not match the parameters of its template.

use crate::project::index::{DefId, ProjectFileFacts};
use crate::rules::prelude::*;
use crate::template::names::{Arg, DefinitionFacts, ReferenceFacts, ReferenceKind};
use std::collections::BTreeSet;

/// Functions have strict scope: they see only the arguments of the call.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        303,
        "call-arguments",
        "a call with missing, unknown, repeated or too many arguments"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_links),
);

/// A call with its target.
struct LinkedCall<'a> {
    cx: &'a LinkCx<'a>,
    entry: ProjectFileFacts<'a>,
    reference: &'a ReferenceFacts,
    target: DefId,
    callee: &'a DefinitionFacts,
}

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut budget = ComparisonBudget::default();
    for (_, entry, reference) in cx.index.references() {
        if reference.kind != ReferenceKind::Call {
            continue;
        }
        let Some(target) = cx.index.resolve_reference(reference) else {
            continue;
        };
        let Some(callee) = cx.index.definition(target) else {
            continue;
        };
        check_arguments(
            &LinkedCall {
                cx,
                entry,
                reference,
                target,
                callee,
            },
            &mut budget,
            out,
        );
    }
}

fn check_arguments(
    call: &LinkedCall<'_>,
    budget: &mut ComparisonBudget,
    out: &mut Vec<Diagnostic>,
) {
    let params = &call.callee.params;
    let mut given = vec![false; params.len()];
    let mut meant_names: BTreeSet<&str> = BTreeSet::new();
    for (position, arg) in call.reference.args.iter().enumerate() {
        let slot = match &arg.name {
            Some(name) => params.iter().position(|param| param.name == *name),
            None => Some(position).filter(|position| *position < params.len()),
        };
        let Some(slot) = slot else {
            // A misspelt name is one finding, not two: the parameter that it meant is not missing.
            let near = arg.name.as_deref().and_then(|name| {
                budget.nearest_candidate(name, params.iter().map(|param| &*param.name))
            });
            meant_names.extend(near);
            out.push(unknown_argument(call, arg, near));
            continue;
        };
        if given
            .get_mut(slot)
            .is_some_and(|seen| std::mem::replace(seen, true))
        {
            let name = params.get(slot).map_or("", |param| &param.name);
            let message = format!("passes `{name}` twice in a call of `{}`", call.callee.name);
            out.push(call_finding(call, arg.span, message).help("keep one of them"));
        }
    }
    let absent = params
        .iter()
        .zip(&given)
        .filter(|(param, given)| param.required && !**given && !meant_names.contains(&*param.name));
    let absent: Vec<String> = absent
        .map(|(param, _)| format!("`{}`", param.name))
        .collect();
    if !absent.is_empty() {
        let names = absent.join(" and ");
        let message = format!("calls `{}` without {names}", call.callee.name);
        out.push(
            call_finding(call, call.reference.span, message)
                .help(format!("add an <arg name=\"…\"> for {names}")),
        );
    }
}

fn unknown_argument(call: &LinkedCall<'_>, arg: &Arg, near: Option<&str>) -> Diagnostic {
    let params = &call.callee.params;
    let Some(name) = &arg.name else {
        let message = format!(
            "passes more arguments than the {} that `{}` takes",
            params.len(),
            call.callee.name
        );
        return call_finding(call, arg.span, message)
            .help("remove the surplus ones, or name the parameters they are for");
    };
    let finding = call_finding(
        call,
        arg.span,
        format!("`{}` has no parameter `{name}`", call.callee.name),
    );
    if params.is_empty() {
        return finding.help("it takes no arguments");
    }
    let Some(meant) = near else {
        let names: Vec<String> = params
            .iter()
            .map(|param| format!("`{}`", param.name))
            .collect();
        return finding.help(format!("it takes {}", names.join(", ")));
    };
    finding
        .help(format!("did you mean `{meant}`?"))
        .fix(Fix::suggested(
            format!("write `{meant}`"),
            vec![Edit::replace(arg.span, meant)],
        ))
}

fn call_finding(call: &LinkedCall<'_>, span: Span, message: String) -> Diagnostic {
    let finding = Diagnostic::new(&RULE.meta, call.entry.path, span, message);
    call.cx.add_label(
        finding,
        call.target.file,
        call.callee.span,
        &format!("`{}` is defined here", call.callee.name),
    )
}
