//! CTX304: a variable without a value.

use super::names_prelude::{fault_finding, *};
use crate::project::index::{DefId, RefId};
use crate::project::linked_names;
use crate::rules::structure::structure_prelude::{has_few_children, join_parts};
use crate::syntax::write::{insert_after, insert_child, insert_first_child};
use crate::template;
use crate::template::names::DefinitionKind;
use crate::template::scope::ParameterOrigin;
use std::collections::{BTreeMap, BTreeSet};

/// A variable is never rendered as an empty text.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        304,
        "undeclared-variable",
        "a variable that no parameter, input, step or loop gives a value"
    )
    .with_fix(Fixable::Suggested),
    Check::FileAndLink(check_file, check_references),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    // The same misspelling in several places is one finding.
    let mut misspellings: BTreeMap<(u32, &str), Vec<&ScopeFault<'_>>> = BTreeMap::new();
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::Undeclared {
            name,
            origin: ParameterOrigin::Function(own) | ParameterOrigin::Task(own),
            ..
        } = &fault.kind
        else {
            continue;
        };
        misspellings
            .entry((own.span().start, name))
            .or_default()
            .push(fault);
    }
    for (at, uses) in misspellings.values_mut().enumerate() {
        uses.sort_by_key(|fault| fault.span.start);
        let [fault, others @ ..] = uses.as_slice() else {
            continue;
        };
        let ScopeFaultKind::Undeclared {
            name,
            near,
            origin,
            needs,
        } = &fault.kind
        else {
            continue;
        };
        if at < MAX_SEARCHED_NAMES && is_given_by_unread_markup(cx, name) {
            continue;
        }
        let whose = match (needs, origin) {
            (Some(needed), _) => &*format!("the task has no `<{needed}>` to make it of"),
            (None, ParameterOrigin::Function(_)) => {
                "this function sees its parameters only, and none has that name"
            }
            (None, ParameterOrigin::Task(_)) => {
                "no parameter, input, earlier step or loop has that name"
            }
        };
        let named = short_excerpt(name);
        let mut found = fault_finding(
            &RULE.meta,
            cx,
            fault,
            format!("`{named}` would have no value: {whose}"),
        );
        for other in others.iter().take(MAX_LISTED) {
            found = found.label(other.span, "named here, too");
        }
        if others.len() > MAX_LISTED {
            found = found.note(format!("it is named in {} places", uses.len()));
        }
        let is_exact = uses
            .iter()
            .all(|fault| fault.span.slice(cx.document.text) == *name);
        if let Some(meant) = near {
            found = found.help(format!("did you mean `{}`?", short_excerpt(meant)));
            if is_exact {
                let edits = uses
                    .iter()
                    .map(|fault| Edit::replace(fault.span, meant.as_str()))
                    .collect();
                found = found.fix(Fix::suggested(
                    format!("write `{}`", short_excerpt(meant)),
                    edits,
                ));
            }
        }
        if let Some(needed) = needs {
            found = found.help(format!(
                "add `<{needed}>` to the task, or leave `{named}` out"
            ));
        } else if matches!(origin, ParameterOrigin::Function(_)) && near.is_none() {
            found = found.help(format!(
                "correct the name, or add `{named}` to `params` and give it in every call"
            ));
        } else if let (ParameterOrigin::Task(_), Some(edit)) =
            (origin, declare_parameters(*origin, &[&**name]))
        {
            found = found.fix(Fix::suggested(format!("declare `{named}`"), vec![edit]));
        }
        out.push(found);
    }
}

/// True if a name is given by markup that could not be read and has been reported: `<taskref="a"
/// as="name"/>`.
fn is_given_by_unread_markup(cx: &FileCx<'_>, name: &str) -> bool {
    let text = cx.document.text;
    let is_misplaced = |at: u32| {
        let mut faults = cx
            .file
            .faults
            .iter()
            .filter(|fault| fault.span.contains(at));
        faults.any(|fault| {
            matches!(
                fault.kind,
                template::fault::TemplateFaultKind::MisplacedText { .. }
            )
        })
    };
    let is_unread = |at: u32| match cx.document.attribute_at(at) {
        Some(_) => cx
            .document
            .element_at(at)
            .is_some_and(|element| ElementKind::parents_of_tag(element.name()).next().is_none()),
        None => is_misplaced(at),
    };
    let attributes = [format!(" as=\"{name}\""), format!(" as='{name}'")];
    attributes
        .iter()
        .flat_map(|attribute| text.match_indices(attribute.as_str()))
        .any(|(at, _)| is_unread(at as u32 + 1))
}

/// Maximum number of names that are searched for in unread markup.
const MAX_SEARCHED_NAMES: usize = 64;

/// A definition that is used by `ref` or `use` takes its names from the place of its use.
fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let lacking = missing_names_by_fragment(cx);
    let several = lacking
        .iter()
        .filter(|(_, lacking)| lacking.is_fragment_fault());
    out.extend(several.filter_map(|(fragment, lacking)| fragment_finding(cx, *fragment, lacking)));
    for fault in &cx.names.faults {
        let linked_names::LinkFaultKind::Undeclared(names) = &fault.kind else {
            continue;
        };
        if fragment_target(cx, fault.at).is_some_and(|id| {
            lacking
                .get(&id)
                .is_some_and(MissingNames::is_fragment_fault)
        }) {
            continue;
        }
        let listed = list_names(names.iter().map(|name| &**name));
        let have = if names.len() == 1 { "has" } else { "have" };
        let whose = if is_in_function(cx, fault.at) {
            "a function sees its parameters only"
        } else {
            "no parameter, input, earlier step or loop binds it"
        };
        let found = cx.reference_finding(&RULE.meta, fault.at, |reference| {
            let word = reference.kind.definition_kind().word();
            format!(
                "the {word} `{}` takes {listed}, which {have} no value here: {whose}",
                short_excerpt(&reference.name)
            )
        });
        out.extend(found.map(|(found, _)| {
            found.help("declare it as a parameter here, or bind it by an input or an earlier step")
        }));
    }
}

/// Names that a fragment takes and that have no value at its uses.
#[derive(Default)]
struct MissingNames<'n> {
    names: BTreeSet<&'n str>,
    uses: Vec<RefId>,
}

impl MissingNames<'_> {
    /// True if several uses lack names, which is one mistake of the fragment.
    fn is_fragment_fault(&self) -> bool {
        self.uses.len() > 1
    }
}

fn missing_names_by_fragment<'n>(cx: &LinkCx<'n>) -> BTreeMap<DefId, MissingNames<'n>> {
    let mut found: BTreeMap<DefId, MissingNames<'_>> = BTreeMap::new();
    for fault in &cx.names.faults {
        let linked_names::LinkFaultKind::Undeclared(names) = &fault.kind else {
            continue;
        };
        let Some(id) = fragment_target(cx, fault.at) else {
            continue;
        };
        let lacking = found.entry(id).or_default();
        lacking.names.extend(names.iter().map(|name| &**name));
        lacking.uses.push(fault.at);
    }
    found
}

/// Returns the fragment that a reference uses.
fn fragment_target(cx: &LinkCx<'_>, at: RefId) -> Option<DefId> {
    let target = cx.index.resolve_reference(cx.index.reference(at)?)?;
    cx.index
        .definition(target)
        .filter(|definition| definition.kind.is_text())
        .map(|_| target)
}

fn fragment_finding(cx: &LinkCx<'_>, id: DefId, lacking: &MissingNames<'_>) -> Option<Diagnostic> {
    let (file, fragment) = (cx.index.file(id.file)?, cx.index.definition(id)?);
    let listed = list_names(lacking.names.iter().copied());
    let have = if lacking.names.len() == 1 {
        "has"
    } else {
        "have"
    };
    let (name, uses) = (short_excerpt(&fragment.name), lacking.uses.len());
    let message = format!(
        "the fragment `{name}` takes {listed}, which {have} no value in {uses} of the places that use it"
    );
    let mut found = Diagnostic::new(&RULE.meta, file.path, fragment.span, message);
    for at in lacking.uses.iter().take(MAX_LISTED) {
        let span = cx.index.reference(*at)?.span;
        found = cx.add_label(found, at.file, span, "used here");
    }
    Some(found.help("correct the name in the fragment, or declare it where the fragment is used"))
}

/// Lists names for a message.
pub(super) fn list_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    let mut listed = join_parts(
        names
            .take(MAX_LISTED)
            .map(|name| format!("`{}`", short_excerpt(name))),
        " and ",
    );
    if count > MAX_LISTED {
        listed = format!(
            "{} and {} more",
            listed.replace(" and ", ", "),
            count - MAX_LISTED
        );
    }
    listed
}

fn is_in_function(cx: &LinkCx<'_>, at: RefId) -> bool {
    let owner = cx.index.reference(at).map(|reference| DefId {
        file: at.file,
        definition: reference.owner,
    });
    let definition = owner.and_then(|owner| cx.index.definition(owner));
    definition.is_some_and(|definition| definition.kind == DefinitionKind::Template)
}

/// Maximum number of names in a list.
pub(super) const MAX_LISTED: usize = 6;

/// Maximum size in bytes of a parameter list that a fix rewrites.
const MAX_PARAMS_BYTES: usize = 1_000;

/// Returns the edit that declares parameters: in the existing list if it is small, otherwise after
/// the description.
pub(crate) fn declare_parameters(origin: ParameterOrigin<'_>, names: &[&str]) -> Option<Edit> {
    match origin {
        ParameterOrigin::Function(template) => {
            let params = template
                .attribute("params")
                .map(|params| params.value().trim().to_owned())
                .unwrap_or_default();
            let separator = if params.contains(',') { ", " } else { " " };
            let params: Vec<&str> = Some(&*params)
                .filter(|params| !params.is_empty())
                .into_iter()
                .chain(names.iter().copied())
                .collect();
            let params = params.join(separator);
            (params.len() < MAX_PARAMS_BYTES).then(|| set_attribute(template, "params", &params))
        }
        ParameterOrigin::Task(task) => {
            let child =
                |kind: ElementKind| task.elements().find(|child| child.name() == kind.tag());
            let list: Vec<String> = names
                .iter()
                .map(|name| format!("<parameter name=\"{name}\" required=\"true\"/>"))
                .collect();
            if let Some(known) = child(ElementKind::Parameters) {
                return has_few_children(known).then(|| insert_child(known, &list.join("\n")));
            }
            let block = format!("<parameters>\n  {}\n</parameters>", list.join("\n  "));
            Some(match child(ElementKind::Description) {
                Some(description) => insert_after(description, &block),
                None => insert_first_child(task, &block),
            })
        }
    }
}
