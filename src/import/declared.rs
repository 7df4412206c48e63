//! Merges the declared inputs of a prompt with those that its texts use: declared ones first, in
//! their order, then undeclared ones.

use super::note::ImportNoteKind;
use super::prompt_model::{ImportedParameter, ImportedPrompt, PlaceholderSyntax, PromptText};
use crate::jinja::parse::read_tree;
use crate::jinja::trial::find_failures;
use crate::template::value_type;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A declared input, and true if a run may omit it.
pub(super) type DeclaredInput = (ImportedParameter, bool);

/// The empty value of a type.
pub(super) const fn empty_value(kind: Option<&str>) -> &'static str {
    match kind {
        Some(kind) => match kind.as_bytes() {
            b"array" | b"string[]" => "[]",
            b"object" => "{}",
            b"boolean" => "false",
            b"number" | b"integer" => "0",
            _ => "",
        },
        None => "",
    }
}

/// Merges declared and used inputs. `line` is the line of the declarations; 0 if there are none.
pub(super) fn merge_inputs(
    declared: Vec<DeclaredInput>,
    used: &[ImportedParameter],
    path: &str,
    line: u32,
    imported: &mut ImportedPrompt,
) {
    let is_declared = !declared.is_empty();
    let mut all: Vec<ImportedParameter> = Vec::new();
    for (mut one, is_optional) in declared {
        let Some(found) = used.iter().find(|used| used.name == one.name) else {
            imported.add_note(path, line, ImportNoteKind::Unused { name: one.name });
            continue;
        };
        one.kind = one.kind.or(found.kind);
        if one.default.is_none() && is_optional {
            // A condition on an input does not reveal its type; the declared type does.
            let default = found.default.clone().filter(|default| !default.is_empty());
            one.default = default.or_else(|| Some(empty_value(one.kind).to_owned()));
        }
        all.push(one);
    }
    for used in used
        .iter()
        .filter(|used| !all.iter().any(|one| one.name == used.name))
        .cloned()
        .collect::<Vec<_>>()
    {
        if is_declared {
            imported.add_note(
                path,
                line,
                ImportNoteKind::Undeclared {
                    name: used.name.clone(),
                },
            );
        }
        all.push(used);
    }
    imported.parameters = all;
}

/// Requires the inputs whose defaults make a part of the text fail, such as an object without fields
/// of which a field is read.
pub(super) fn require_inputs_with_failing_defaults(imported: &mut ImportedPrompt) {
    let ImportedPrompt {
        turns, parameters, ..
    } = imported;
    for turn in turns
        .iter()
        .filter(|turn| turn.syntax != PlaceholderSyntax::Verbatim)
    {
        let (PromptText::InPlace { text, .. } | PromptText::Inline(text)) = &turn.body;
        if parameters.iter().all(|one| one.default.is_none()) || read_tree(text).is_err() {
            continue;
        }
        while let Some(name) = failing_default(text, parameters) {
            parameters
                .iter_mut()
                .filter(|one| one.name == name)
                .for_each(|one| one.default = None);
        }
    }
}

/// The name of an input whose default makes a part of the text fail.
fn failing_default(text: &str, all: &[ImportedParameter]) -> Option<String> {
    let default = |one: &ImportedParameter| {
        Some((
            one.name.clone(),
            value_type::parse_default(one.default.as_ref()?, one.kind),
        ))
    };
    let defaults: Map<String, Value> = all.iter().filter_map(default).collect();
    let failure = find_failures(text, &defaults, &BTreeSet::new())
        .into_iter()
        .find(|failure| !failure.defaults.is_empty())?;
    failure
        .part
        .map(|part| part.name)
        .or_else(|| failure.defaults.into_iter().next())
        .filter(|name| defaults.contains_key(name))
}

/// Removes the type of an input whose default does not match it, so that the text without a value
/// stays the same.
pub(super) fn drop_mismatched_types(parameters: &mut [ImportedParameter]) {
    for one in parameters {
        let default = one.default.as_deref();
        one.kind = one.kind.filter(|kind| {
            default.is_none_or(|default| value_type::is_valid_default(default, kind))
        });
    }
}

/// Adds the inputs of another text.
pub(super) fn add_inputs(all: &mut Vec<ImportedParameter>, more: Vec<ImportedParameter>) {
    for one in more {
        match all.iter_mut().find(|there| there.name == one.name) {
            Some(there) => {
                there.kind = match (there.kind, one.kind) {
                    (Some(kind), Some(other)) => Some(kind).filter(|_| kind == other),
                    (kind, other) => kind.or(other),
                };
                there.default = there.default.take().or(one.default);
            }
            None => all.push(one),
        }
    }
}
