//! What the inputs of a Jinja text are, as far as their use tells: types, defaults, and whether a run may leave them out.
//!
//! An engine that is lenient takes a missing input as nothing; the language never does. So an input that the text asks for in a
//! condition has a default that is as good as nothing, and every other is required. Where uses do not agree, or tell nothing, an input
//! has no type: it takes whatever it is given.

use super::scan::{Kind, Piece, scan};
use super::uses::{Slot, Tag, Use};
use super::words::{Token, words};
use crate::base::source::LineIndex;
use crate::import::declared::nothing;
use crate::import::model::Parameter;
use crate::import::note::{Note, NoteKind};
use std::collections::{BTreeMap, BTreeSet};

/// A name, and the macro that it is a parameter of.
type Name<'t> = (Option<&'t str>, &'t str);

/// What was seen of one name.
#[derive(Clone, Debug, Default)]
struct Seen<'t> {
    first: usize,
    uses: BTreeSet<Use>,
    default: Option<String>,
    /// What else its value is called.
    also: BTreeSet<Name<'t>>,
}

const DEFINED: &str = "an input that a run leaves out has its default here, so it is always defined";
const NONE: &str = "an input that a run leaves out has its default here, which is not none; ask `if not …` in place of `is none`, and write what is to be put out";
const SORTED: &str = "the fields of what is handed in come in the order of their names, and not in the one that they were put in";

/// The parameters of macros.
type Macros<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// The inputs of a text, in the order in which it names them first.
pub(super) fn parameters(path: &str, text: &str, variables: &BTreeSet<String>, notes: &mut Vec<Note>) -> Vec<Parameter> {
    let pieces: Vec<(Piece, Vec<Token>)> = scan(text)
        .into_iter()
        .filter(|piece| matches!(piece.kind, Kind::Variable | Kind::Statement))
        .map(|piece| (piece.clone(), words(text, piece.inner)))
        .collect();
    let macros: Macros<'_> =
        pieces.iter().filter(|(piece, _)| piece.word(text) == "macro").map(|(_, tokens)| named(text, tokens)).collect();
    let (mut seen, mut inside): (BTreeMap<Name<'_>, Seen<'_>>, Vec<&str>) = (BTreeMap::new(), Vec::new());
    let lines = LineIndex::new(text);
    for (piece, tokens) in &pieces {
        let tag = Tag::new(text, tokens);
        match piece.word(text) {
            "macro" => inside.push(tag.word(1)),
            "endmacro" => {
                inside.pop();
            }
            _ => {}
        }
        for (at, token) in tokens.iter().enumerate() {
            let name = token.slice(text);
            let is_set = at == 1 && tag.word(0) == "set";
            let is_head = tag.word(0) == "macro" && (at == 1 || tag.is_entry(at, 2));
            // What is called is a function or a macro.
            if !tag.is_value(at) || is_set || is_head || tag.word(at + 1) == "(" {
                continue;
            }
            let own = inside.last().filter(|own| macros.get(**own).is_some_and(|all| all.contains(&name))).copied();
            let told = tag.told(at);
            let is_set = tag.word(0) == "set" && tag.word(2) == "=" && at == 3 && told.is_bare && is_whole(&tag, at);
            let one = seen.entry((own, name)).or_insert_with(|| Seen { first: token.range.start, ..Seen::default() });
            one.also.extend(is_set.then(|| (None, tag.word(1))));
            one.also.extend(told.handed.and_then(|(called, slot)| Some((Some(called), parameter_of(&macros, called, slot)?))));
            let is_asked = told.uses.contains(&Use::Asked) && told.is_bare && tag.word(at + 1) == "is";
            // A value that only goes on is put where it is put there.
            let is_passed = !one.also.is_empty() && (is_set || told.handed.is_some());
            one.uses.extend(told.uses.into_iter().filter(|found| !(is_passed && *found == Use::Put)));
            one.default = one.default.take().or(told.default);
            let mut differs = |what: String, difference: &str| {
                let kind = NoteKind::Differs { what, difference: difference.to_owned() };
                notes.push(Note { path: path.to_owned(), line: lines.line(token.range.start as u32), kind });
            };
            let is_input = own.is_none() && variables.contains(name);
            if is_asked && is_input {
                differs(format!("`{name} is {}`", tested(&tag, at + 2)), DEFINED);
            }
            if is_input && is_none_where_missing(&tag, at + 1) {
                differs(format!("`{name}|default(none)`"), NONE);
            }
            if is_input && tag.word(at + 1) == "|" && tag.word(at + 2) == "items" {
                differs(format!("`{name}|items`"), SORTED);
            }
        }
    }
    pass_on(&mut seen);
    let inputs = seen.into_iter().filter(|((own, name), _)| own.is_none() && variables.contains(*name));
    let mut found: Vec<(&str, Seen<'_>)> = inputs.map(|((_, name), seen)| (name, seen)).collect();
    found.sort_by_key(|(_, seen)| seen.first);
    found.into_iter().map(|(name, seen)| parameter(name, &seen)).collect()
}

/// A test as it is written, from behind its `is`.
fn tested(tag: &Tag<'_, '_>, at: usize) -> String {
    let word = tag.word(at);
    if word == "not" { format!("not {}", tag.word(at + 1)) } else { word.to_owned() }
}

/// Whether `|default(none)` stands at a place.
fn is_none_where_missing(tag: &Tag<'_, '_>, at: usize) -> bool {
    let is = |by: usize, words: &[&str]| words.contains(&tag.word(at + by));
    is(0, &["|"]) && is(1, &["default", "d"]) && is(2, &["("]) && is(3, &["none", "None"])
}

/// The name of a macro and its parameters.
fn named<'t>(text: &'t str, tokens: &[Token]) -> (&'t str, Vec<&'t str>) {
    let tag = Tag::new(text, tokens);
    let heads = (3..tokens.len()).filter(|at| tag.is_entry(*at, 2));
    (tag.word(1), heads.map(|at| tag.word(at)).collect())
}

fn parameter_of<'t>(macros: &Macros<'t>, called: &str, slot: Slot<'t>) -> Option<&'t str> {
    let all = macros.get(called)?;
    match slot {
        Slot::At(at) => all.get(at).copied(),
        Slot::Named(name) => all.contains(&name).then_some(name),
    }
}

/// Whether a statement sets a name to nothing but the value at a place, or to a choice that begins with it.
fn is_whole(tag: &Tag<'_, '_>, at: usize) -> bool {
    let after = tag.word(at + 1);
    after.is_empty() || matches!(after, "|" | "or" | "[")
}

/// What is told of a name is told of all values that are called by it. Each name passes on what is new, so often as there are uses.
fn pass_on(seen: &mut BTreeMap<Name<'_>, Seen<'_>>) {
    let mut from: BTreeMap<Name<'_>, Vec<Name<'_>>> = BTreeMap::new();
    for (name, one) in &*seen {
        for also in &one.also {
            from.entry(*also).or_default().push(*name);
        }
    }
    let mut open: Vec<Name<'_>> = seen.keys().copied().collect();
    while let Some(name) = open.pop() {
        let Some(uses) = seen.get(&name).map(|one| one.uses.clone()) else { continue };
        for to in from.get(&name).into_iter().flatten() {
            let Some(one) = seen.get_mut(to).filter(|one| !one.uses.is_superset(&uses)) else { continue };
            one.uses.extend(&uses);
            open.push(*to);
        }
    }
}

fn parameter(name: &str, seen: &Seen<'_>) -> Parameter {
    let is = |of: Use| seen.uses.contains(&of);
    let types =
        [(Use::List, "array"), (Use::Object, "object"), (Use::Number, "number"), (Use::Text, "string"), (Use::Truth, "boolean")];
    let mut told = types.into_iter().filter(|(of, _)| is(*of)).map(|(_, kind)| kind);
    let kind = match (told.next(), told.next()) {
        (kind @ Some(_), None) => kind,
        (None, _) if is(Use::Alone) && !is(Use::Put) && seen.default.is_none() => Some("boolean"),
        (None | Some(_), _) => None,
    };
    let default = seen.default.clone().or_else(|| is(Use::Asked).then(|| nothing(kind).to_owned()));
    Parameter { name: name.to_owned(), kind, default }
}
