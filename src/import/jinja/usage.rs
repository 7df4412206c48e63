//! Infers the inputs of a Jinja text from their use: types, defaults, and which ones a run may
//! omit.
//!
//! A lenient engine treats a missing input as empty; the language never does. So an input that the
//! text tests in a condition gets an empty default, and every other one is required. If uses
//! disagree or reveal nothing, an input has no type and accepts any value.

use super::uses::{MacroScopedName, NameEvidence, UseDifference, ValueUse, collect_uses};
use crate::base::source::LineIndex;
use crate::import::declared::empty_value;
use crate::import::note::{ImportNote, ImportNoteKind};
use crate::import::prompt_model::ImportedParameter;
use crate::jinja::parse::read_tree;
use std::collections::{BTreeMap, BTreeSet};

const ALWAYS_DEFINED: &str =
    "an input that a run leaves out has its default here, so it is always defined";
const NEVER_NONE: &str = "an input that a run leaves out has its default here, which is not none; use `if not …` in place of `is none`, and write the fallback text";
const PARTLY_SET: &str = "a `{% set %}` above sets it only in some cases; in the others it is an input here, but has no value in Jinja2: set it before in every case";

/// The inputs of a text, in the order of their first use.
pub(super) fn infer_parameters(
    path: &str,
    text: &str,
    variables: &BTreeSet<String>,
    notes: &mut Vec<ImportNote>,
) -> Vec<ImportedParameter> {
    let Some(tree) = read_tree(text).ok().filter(|_| !variables.is_empty()) else {
        return Vec::new();
    };
    let mut found = collect_uses(text, &tree);
    let lines = LineIndex::new(text);
    found.oddities.sort_by_key(|(_, at, _)| *at);
    for (name, at, oddity) in found
        .oddities
        .into_iter()
        .filter(|(name, ..)| variables.contains(*name))
    {
        let (what, difference) = match oddity {
            UseDifference::Tested(words) => (format!("`{name} is {words}`"), ALWAYS_DEFINED),
            UseDifference::DefaultNone => (format!("`{name}|default(none)`"), NEVER_NONE),
        };
        let kind = ImportNoteKind::Differs {
            what,
            difference: difference.to_owned(),
        };
        notes.push(ImportNote {
            path: path.to_owned(),
            line: lines.line_number(at as u32),
            kind,
        });
    }
    propagate_uses(&mut found.seen);
    let inputs = found
        .seen
        .into_iter()
        .filter(|((own, name), _)| own.is_none() && variables.contains(*name));
    let mut inputs: Vec<(&str, NameEvidence<'_>)> =
        inputs.map(|((_, name), seen)| (name, seen)).collect();
    inputs.sort_by_key(|(_, seen)| seen.first);
    for (name, seen) in inputs
        .iter()
        .filter(|(name, seen)| found.sets.get(name).is_some_and(|set| *set < seen.first))
    {
        let kind = ImportNoteKind::Differs {
            what: format!("`{name}`"),
            difference: PARTLY_SET.to_owned(),
        };
        notes.push(ImportNote {
            path: path.to_owned(),
            line: lines.line_number(seen.first as u32),
            kind,
        });
    }
    inputs
        .into_iter()
        .map(|(name, seen)| infer_parameter(name, &seen))
        .collect()
}

/// Propagates the uses of a name to every name that its value comes from. Each name passes on new
/// uses only, so the work is bounded by the number of uses.
fn propagate_uses(seen: &mut BTreeMap<MacroScopedName<'_>, NameEvidence<'_>>) {
    let mut from: BTreeMap<MacroScopedName<'_>, Vec<MacroScopedName<'_>>> = BTreeMap::new();
    for (name, one) in &*seen {
        for also in &one.also {
            from.entry(*also).or_default().push(*name);
        }
    }
    let mut open: Vec<MacroScopedName<'_>> = seen.keys().copied().collect();
    while let Some(name) = open.pop() {
        let Some(uses) = seen.get(&name).map(|one| one.uses.clone()) else {
            continue;
        };
        for to in from.get(&name).into_iter().flatten() {
            let Some(one) = seen.get_mut(to).filter(|one| !one.uses.is_superset(&uses)) else {
                continue;
            };
            one.uses.extend(&uses);
            open.push(*to);
        }
    }
}

fn infer_parameter(name: &str, seen: &NameEvidence<'_>) -> ImportedParameter {
    let is = |of: ValueUse| seen.uses.contains(&of);
    let types = [
        (ValueUse::List, "array"),
        (ValueUse::Object, "object"),
        (ValueUse::Number, "number"),
        (ValueUse::Text, "string"),
        (ValueUse::Truth, "boolean"),
    ];
    let mut known = types
        .into_iter()
        .filter(|(of, _)| is(*of))
        .map(|(_, kind)| kind);
    // Any value can be tested for presence.
    let kind = known.next().filter(|_| known.next().is_none());
    let default = seen
        .default
        .clone()
        .or_else(|| is(ValueUse::Asked).then(|| empty_value(kind).to_owned()));
    ImportedParameter {
        name: name.to_owned(),
        kind,
        default,
    }
}
