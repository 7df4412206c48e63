//! CTX303: a call whose arguments do not match the parameters of its template.

use crate::project::index::{DefId, Entry};
use crate::rules::prelude::*;
use crate::template::names::{Arg, Definition, Reference, ReferenceKind};
use std::collections::BTreeSet;

/// Functions have strict scope: they see only the arguments of the call.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        303,
        "call-arguments",
        "a call with missing, unknown, repeated or too many arguments"
    )
    .fixed(Fixable::Suggested),
    Check::Link(check),
);

/// A call with its target.
struct Call<'a> {
    cx: &'a LinkCx<'a>,
    entry: Entry<'a>,
    reference: &'a Reference,
    target: DefId,
    callee: &'a Definition,
}

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut budget = Budget::default();
    for (_, entry, reference) in cx.index.references() {
        if reference.kind != ReferenceKind::Call {
            continue;
        }
        let Some(target) = cx.index.target(reference) else {
            continue;
        };
        let Some(callee) = cx.index.definition(target) else {
            continue;
        };
        arguments(
            &Call {
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

fn arguments(call: &Call<'_>, budget: &mut Budget, out: &mut Vec<Diagnostic>) {
    let params = &call.callee.params;
    let mut given = vec![false; params.len()];
    let mut meant: BTreeSet<&str> = BTreeSet::new();
    for (position, arg) in call.reference.args.iter().enumerate() {
        let slot = match &arg.name {
            Some(name) => params.iter().position(|param| param.name == *name),
            None => Some(position).filter(|position| *position < params.len()),
        };
        let Some(slot) = slot else {
            // A misspelt name is one finding, not two: the parameter that it meant is not missing.
            let near = arg
                .name
                .as_deref()
                .and_then(|name| budget.nearest(name, params.iter().map(|param| &*param.name)));
            meant.extend(near);
            out.push(unknown(call, arg, near));
            continue;
        };
        if given
            .get_mut(slot)
            .is_some_and(|seen| std::mem::replace(seen, true))
        {
            let name = params.get(slot).map_or("", |param| &param.name);
            let message = format!("passes `{name}` twice in a call of `{}`", call.callee.name);
            out.push(found(call, arg.span, message).help("keep one of them"));
        }
    }
    let absent = params
        .iter()
        .zip(&given)
        .filter(|(param, given)| param.required && !**given && !meant.contains(&*param.name));
    let absent: Vec<String> = absent
        .map(|(param, _)| format!("`{}`", param.name))
        .collect();
    if !absent.is_empty() {
        let names = absent.join(" and ");
        let message = format!("calls `{}` without {names}", call.callee.name);
        out.push(
            found(call, call.reference.span, message)
                .help(format!("add an <arg name=\"…\"> for {names}")),
        );
    }
}

fn unknown(call: &Call<'_>, arg: &Arg, near: Option<&str>) -> Diagnostic {
    let params = &call.callee.params;
    let Some(name) = &arg.name else {
        let message = format!(
            "passes more arguments than the {} that `{}` takes",
            params.len(),
            call.callee.name
        );
        return found(call, arg.span, message)
            .help("remove the surplus ones, or name the parameters they are for");
    };
    let finding = found(
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

fn found(call: &Call<'_>, span: Span, message: String) -> Diagnostic {
    let finding = Diagnostic::new(&RULE.meta, call.entry.path, span, message);
    call.cx.label(
        finding,
        call.target.file,
        call.callee.span,
        &format!("`{}` is defined here", call.callee.name),
    )
}
