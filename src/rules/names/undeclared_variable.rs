//! CTX304: a variable that would have no value.

use crate::project::index::{DefId, RefId};
use crate::project::linked_names;
use crate::rules::names::fault_location::finding;
use crate::rules::prelude::*;
use crate::rules::structure::family::{is_small, joined, shown};
use crate::syntax::write::{insert_child, set_attribute};
use crate::template::elements::Kind;
use crate::template::names::DefinitionKind;
use crate::template::scope::{FaultKind, Origin};

/// Nothing is ever rendered as an empty place.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        304,
        "undeclared-variable",
        "a variable that no parameter, input, step or loop gives a value",
        case!("undeclared-variable"),
    )
    .fixed(Fixable::Suggested),
    check: Check::FileAndLink(check, check_references),
};

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::Undeclared { name, near, origin } = &fault.kind else { continue };
        let whose = match origin {
            Origin::Function(_) => "this function sees its parameters only, and none has that name",
            Origin::Task(_) => "no parameter, input, earlier step or loop has that name",
        };
        let named = shown(name);
        let mut found = finding(&RULE.meta, cx, fault, format!("`{named}` would have no value: {whose}"));
        let is_exact = fault.span.slice(cx.document.text) == *name;
        if let Some(meant) = near {
            found = found.help(format!("did you mean `{}`?", shown(meant)));
            if is_exact {
                let edits = vec![Edit::replace(fault.span, meant.as_str())];
                found = found.fix(Fix::suggested(format!("write `{}`", shown(meant)), edits));
            }
        }
        if let Some(edit) = declare(*origin, name) {
            found = found.fix(Fix::suggested(format!("declare `{named}`"), vec![edit]));
        }
        out.push(found);
    }
}

/// What is used by `ref` or `use` takes its names from where it is used.
fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.names.faults {
        let linked_names::FaultKind::Undeclared(names) = &fault.kind else { continue };
        let listed = listed(names.iter().map(|name| &**name));
        let have = if names.len() == 1 { "has" } else { "have" };
        let whose = if in_function(cx, fault.at) {
            "a function sees its parameters only"
        } else {
            "no parameter, input, earlier step or loop binds it"
        };
        let found = cx.at_reference(&RULE.meta, fault.at, |reference| {
            let word = reference.kind.target().word();
            format!("the {word} `{}` takes {listed}, which {have} no value here: {whose}", shown(&reference.name))
        });
        out.extend(
            found.map(|(found, _)| found.help("declare it as a parameter here, or bind it by an input or an earlier step")),
        );
    }
}

/// Names in words.
pub(super) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    let mut listed = joined(names.take(NAMED).map(|name| format!("`{}`", shown(name))), " and ");
    if count > NAMED {
        listed = format!("{} and {} more", listed.replace(" and ", ", "), count - NAMED);
    }
    listed
}

fn in_function(cx: &LinkCx<'_>, at: RefId) -> bool {
    let owner = cx.index.reference(at).map(|reference| DefId { file: at.file, definition: reference.owner });
    let definition = owner.and_then(|owner| cx.index.definition(owner));
    definition.is_some_and(|definition| definition.kind == DefinitionKind::Template)
}

/// How many names are listed.
pub(super) const NAMED: usize = 6;

/// Bytes of a list of parameters that is not written anew for each of many findings.
const LONG: usize = 1_000;

/// Adds a parameter to those that are declared, where there are not too many of them.
fn declare(origin: Origin<'_>, name: &str) -> Option<Edit> {
    let xml = format!("<parameter name=\"{name}\" required=\"true\"/>");
    match origin {
        Origin::Function(template) => {
            let params = template.attribute("params").map(|params| params.value().trim().to_owned()).unwrap_or_default();
            let params = match (params.is_empty(), params.contains(',')) {
                (true, _) => name.to_owned(),
                (false, true) => format!("{params}, {name}"),
                (false, false) => format!("{params} {name}"),
            };
            (params.len() < LONG).then(|| set_attribute(template, "params", &params))
        }
        Origin::Task(task) => {
            let is_list = |child: &crate::syntax::tree::Element<'_>| child.name() == Kind::Parameters.tag();
            let list = task.elements().find(is_list)?;
            is_small(list).then(|| insert_child(list, &xml))
        }
    }
}
