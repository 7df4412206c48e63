//! Infers the inputs of a Jinja text from their use: types, defaults, and which ones a run may
//! omit.
//!
//! A lenient engine treats a missing input as empty; the language never does. So an input that the
//! text tests in a condition gets an empty default, and every other one is required. If uses
//! disagree or reveal nothing, an input has no type and accepts any value.

use super::uses::{Name, Oddity, Seen, Use, uses};
use crate::base::source::LineIndex;
use crate::import::declared::nothing;
use crate::import::model::Parameter;
use crate::import::note::{Note, NoteKind};
use crate::jinja::parse::read_tree;
use crate::jinja::trial::failures;
use crate::template::value_type;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const DEFINED: &str =
    "an input that a run leaves out has its default here, so it is always defined";
const NONE: &str = "an input that a run leaves out has its default here, which is not none; use `if not …` in place of `is none`, and write the fallback text";
const PARTLY_SET: &str = "a `{% set %}` above sets it only in some cases; in the others it is an input here, but has no value in Jinja2: set it before in every case";

/// The inputs of a text, in the order of their first use.
pub(super) fn parameters(
    path: &str,
    text: &str,
    variables: &BTreeSet<String>,
    notes: &mut Vec<Note>,
) -> Vec<Parameter> {
    let Some(tree) = read_tree(text).ok().filter(|_| !variables.is_empty()) else {
        return Vec::new();
    };
    let mut found = uses(text, &tree);
    let lines = LineIndex::new(text);
    found.oddities.sort_by_key(|(_, at, _)| *at);
    for (name, at, oddity) in found
        .oddities
        .into_iter()
        .filter(|(name, ..)| variables.contains(*name))
    {
        let (what, difference) = match oddity {
            Oddity::Tested(words) => (format!("`{name} is {words}`"), DEFINED),
            Oddity::DefaultNone => (format!("`{name}|default(none)`"), NONE),
        };
        let kind = NoteKind::Differs {
            what,
            difference: difference.to_owned(),
        };
        notes.push(Note {
            path: path.to_owned(),
            line: lines.line(at as u32),
            kind,
        });
    }
    pass_on(&mut found.seen);
    let inputs = found
        .seen
        .into_iter()
        .filter(|((own, name), _)| own.is_none() && variables.contains(*name));
    let mut inputs: Vec<(&str, Seen<'_>)> = inputs.map(|((_, name), seen)| (name, seen)).collect();
    inputs.sort_by_key(|(_, seen)| seen.first);
    for (name, seen) in inputs
        .iter()
        .filter(|(name, seen)| found.sets.get(name).is_some_and(|set| *set < seen.first))
    {
        let kind = NoteKind::Differs {
            what: format!("`{name}`"),
            difference: PARTLY_SET.to_owned(),
        };
        notes.push(Note {
            path: path.to_owned(),
            line: lines.line(seen.first as u32),
            kind,
        });
    }
    let mut all: Vec<Parameter> = inputs
        .into_iter()
        .map(|(name, seen)| parameter(name, &seen))
        .collect();
    while let Some(name) = failing_default(text, &all) {
        all.iter_mut()
            .filter(|one| one.name == name)
            .for_each(|one| one.default = None);
    }
    all
}

/// The name of an input whose default makes a part of the text fail.
fn failing_default(text: &str, all: &[Parameter]) -> Option<String> {
    let default = |one: &Parameter| {
        Some((
            one.name.clone(),
            value_type::written(one.default.as_ref()?, one.kind),
        ))
    };
    let defaults: Map<String, Value> = all.iter().filter_map(default).collect();
    let failure = failures(text, &defaults, &BTreeSet::new())
        .into_iter()
        .find(|failure| failure.is_certain && !failure.defaults.is_empty())?;
    failure
        .part
        .map(|part| part.name)
        .or_else(|| failure.defaults.into_iter().next())
}

/// Propagates the uses of a name to every name that its value comes from. Each name passes on new
/// uses only, so the work is bounded by the number of uses.
fn pass_on(seen: &mut BTreeMap<Name<'_>, Seen<'_>>) {
    let mut from: BTreeMap<Name<'_>, Vec<Name<'_>>> = BTreeMap::new();
    for (name, one) in &*seen {
        for also in &one.also {
            from.entry(*also).or_default().push(*name);
        }
    }
    let mut open: Vec<Name<'_>> = seen.keys().copied().collect();
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

fn parameter(name: &str, seen: &Seen<'_>) -> Parameter {
    let is = |of: Use| seen.uses.contains(&of);
    let types = [
        (Use::List, "array"),
        (Use::Object, "object"),
        (Use::Number, "number"),
        (Use::Text, "string"),
        (Use::Truth, "boolean"),
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
        .or_else(|| is(Use::Asked).then(|| nothing(kind).to_owned()));
    Parameter {
        name: name.to_owned(),
        kind,
        default,
    }
}
