//! What the inputs of a Jinja text are, as far as their use tells: types, defaults, and whether a run may leave them out.
//!
//! An engine that is lenient takes a missing input as nothing; the language never does. So an input that the text asks for in a
//! condition has a default that is as good as nothing, and every other is required.

use super::scan::{Kind, scan};
use super::words::{Token, Word, literal, words};
use crate::base::source::LineIndex;
use crate::import::declared::nothing;
use crate::import::model::Parameter;
use crate::import::note::{Note, NoteKind};
use std::collections::{BTreeMap, BTreeSet};

/// What a use of a variable tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    List,
    Object,
    Number,
    /// It is put out, compared, or handed to a filter.
    Put,
    /// It is asked for, so it may be missing.
    Asked,
}

/// What was seen of one variable.
#[derive(Clone, Debug, Default)]
struct Seen {
    first: usize,
    uses: BTreeSet<Use>,
    default: Option<String>,
}

impl Seen {
    fn add(&mut self, of: Use) {
        self.uses.insert(of);
    }

    fn is(&self, of: Use) -> bool {
        self.uses.contains(&of)
    }
}

/// Filters that take lists.
const OF_LISTS: [&str; 14] = [
    "batch",
    "first",
    "groupby",
    "join",
    "last",
    "map",
    "reject",
    "rejectattr",
    "select",
    "selectattr",
    "slice",
    "sort",
    "sum",
    "unique",
];
/// Words beside which a variable is asked for, not put.
const ASKING: [&str; 6] = ["if", "elif", "not", "and", "or", "else"];

/// The inputs of a text, in the order in which it names them first.
pub(super) fn parameters(path: &str, text: &str, variables: &BTreeSet<String>, notes: &mut Vec<Note>) -> Vec<Parameter> {
    let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
    let lines = LineIndex::new(text);
    for piece in scan(text).iter().filter(|piece| matches!(piece.kind, Kind::Variable | Kind::Statement)) {
        let tokens = words(text, piece.inner.clone());
        for (at, token) in tokens.iter().enumerate() {
            let name = token.slice(text);
            let is_field = at > 0 && tokens.get(at - 1).is_some_and(|before| before.is(text, "."));
            let is_target = at == 1 && tokens.first().is_some_and(|token| token.is(text, "set"));
            if token.word != Word::Name || is_field || is_target || !variables.contains(name) {
                continue;
            }
            let one = seen.entry(name).or_insert_with(|| Seen { first: token.range.start, ..Seen::default() });
            look(one, text, &tokens, at);
            if tokens.get(at + 1).is_some_and(|token| token.is(text, "is"))
                && tokens.get(at + 2).is_some_and(|token| token.is(text, "defined") || token.is(text, "not"))
            {
                one.add(Use::Asked);
                let difference = "an input that a run leaves out has its default here, so it is always defined".to_owned();
                let kind = NoteKind::Differs { what: format!("`{name} is defined`"), difference };
                notes.push(Note { path: path.to_owned(), line: lines.line(token.range.start as u32), kind });
            }
        }
    }
    let mut found: Vec<(&str, Seen)> = seen.into_iter().collect();
    found.sort_by_key(|(_, seen)| seen.first);
    found.into_iter().map(|(name, seen)| parameter(name, &seen)).collect()
}

fn look(seen: &mut Seen, text: &str, tokens: &[Token], at: usize) {
    let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.slice(text));
    let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
    let second = tokens.get(at + 2);
    match after {
        "[" if second.is_some_and(|token| token.word == Word::Number) => return seen.add(Use::List),
        "." | "[" => return seen.add(Use::Object),
        _ => {}
    }
    if after == "|" {
        let filter = second.map_or("", |token| token.slice(text));
        match filter {
            "default" | "d" => return default(seen, text, tokens, at + 3),
            "items" | "dictsort" => return seen.add(Use::Object),
            filter if OF_LISTS.contains(&filter) => return seen.add(Use::List),
            _ => {}
        }
    }
    if before == "in" && tokens.first().is_some_and(|token| token.is(text, "for")) {
        seen.add(Use::List);
        return;
    }
    let is_sign = |sign: &str| matches!(sign, "<" | ">" | "+" | "-" | "*" | "/" | "%");
    let near_number = tokens.get(at + 2).or(tokens.get(at + 3)).is_some_and(|token| token.word == Word::Number);
    if is_sign(after) && near_number {
        seen.add(Use::Number);
        return;
    }
    let alone = ASKING.contains(&before) && (after.is_empty() || ASKING.contains(&after));
    let is_first_choice = after == "or" && !ASKING.contains(&before);
    if alone || is_first_choice {
        seen.add(Use::Asked);
        if is_first_choice || before == "else" {
            seen.add(Use::Put);
        }
    } else if after != "is" {
        seen.add(Use::Put);
    }
}

/// `default("…")`: what stands in the brackets.
fn default(seen: &mut Seen, text: &str, tokens: &[Token], open: usize) {
    let (Some(value), Some(close)) = (tokens.get(open + 1), tokens.get(open + 2)) else { return seen.add(Use::Asked) };
    let closes = close.is(text, ")") || close.is(text, ",");
    seen.add(Use::Asked);
    match value.word {
        Word::Text if closes => {
            seen.add(Use::Put);
            seen.default = literal(value.slice(text));
        }
        Word::Number if closes => {
            seen.add(Use::Number);
            seen.default = Some(value.slice(text).to_owned());
        }
        Word::Sign if value.is(text, "[") => seen.add(Use::List),
        Word::Sign if value.is(text, "{") => seen.add(Use::Object),
        Word::Name | Word::Number | Word::Text | Word::Sign => {}
    }
}

fn parameter(name: &str, seen: &Seen) -> Parameter {
    let kind = match (seen.is(Use::List), seen.is(Use::Object), seen.is(Use::Number)) {
        (true, true, _) => None,
        (true, false, _) => Some("array"),
        (false, true, _) => Some("object"),
        (false, false, true) => Some("number"),
        (false, false, false) if seen.is(Use::Asked) && !seen.is(Use::Put) => Some("boolean"),
        (false, false, false) => Some("string"),
    };
    let default = seen.default.clone().or_else(|| seen.is(Use::Asked).then(|| nothing(kind).to_owned()));
    Parameter { name: name.to_owned(), kind, default }
}
