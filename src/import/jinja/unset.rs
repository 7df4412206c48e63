//! Names that a text sets in an `{% if %}` alone: Jinja2 has no value for them where that does not run, and the language would ask for an
//! input. Each is set to a value that there is not, before the outermost `{% if %}` around it, on the same line.
//!
//! A name that something reads where none of its `set` could have run is an input, and is left alone.

use super::bodies::{is_kept, targets};
use super::scan::{Kind, Piece, scan};
use super::uses::Tag;
use super::words::{Word, words};
use crate::base::source::LineIndex;
use crate::import::note::{Note, NoteKind};
use crate::jinja::parse::parse;
use std::collections::{BTreeMap, BTreeSet};

/// Where a statement stands: the `if` around it from the outside in, each with the number of its branch.
type Place = Vec<(usize, usize)>;

/// A statement that waits for its end.
enum Open {
    /// The place of its tag in the text, its number, and the branch.
    If(usize, usize, usize),
    /// One with names of its own, and the statement that ends it.
    Scope(String, BTreeMap<String, Vec<Place>>),
}

#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    /// What is set outside of all of them.
    outside: BTreeMap<String, Vec<Place>>,
    ifs: usize,
    /// Names that are read where nothing has set them, and those that a macro reads before they are set again: to it they are what they
    /// were where it stands, which is told elsewhere.
    inputs: BTreeSet<String>,
    in_macros: BTreeSet<String>,
    /// For each name the tags before which it needs a value.
    before: BTreeMap<String, BTreeSet<usize>>,
}

/// The text with those values, and what is to be known. `is_in_place` is whether lines are those of the file.
pub(super) fn settled(path: &str, text: &str, is_in_place: bool, others: &dyn Fn(&str) -> bool) -> Option<(String, Vec<Note>)> {
    let pieces = scan(text);
    if !["if", "set"].iter().all(|word| pieces.iter().any(|piece| piece.word(text) == *word)) {
        return None;
    }
    let parsed = parse(text);
    let mut walk = Walk::default();
    for piece in pieces.iter().filter(|piece| matches!(piece.kind, Kind::Variable | Kind::Statement)) {
        walk.over(text, piece, &parsed.variables);
    }
    let (mut at, mut notes, lines) = (BTreeMap::<usize, Vec<String>>::new(), Vec::new(), LineIndex::new(text));
    for (name, places) in walk.before {
        if walk.inputs.contains(&name) || !parsed.variables.contains(&name) || others(&name) {
            continue;
        }
        let line = places.first().filter(|_| is_in_place).map_or(0, |place| lines.line(*place as u32));
        let difference = format!(
            "it is no input: as in Jinja2 it has no value where that does not run, for which `{{% set {name} = {NOTHING} %}}` is put \
             before it; what a run hands in as `{name}` does not reach the text"
        );
        let what = format!("`{name}` is set in an `{{% if %}}` alone");
        notes.push(Note { path: path.to_owned(), line, kind: NoteKind::Differs { what, difference } });
        for place in places {
            at.entry(place).or_default().push(name.clone());
        }
    }
    if at.is_empty() {
        return None;
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for piece in &pieces {
        let Some(names) = at.get(&piece.range.start) else { continue };
        out.push_str(text.get(done..piece.range.start)?);
        done = piece.range.start;
        for name in names {
            out.extend(["{%", piece.left.sign(), " set ", name, " = ", NOTHING, " %}"]);
        }
    }
    out.push_str(text.get(done..)?);
    Some((out, notes))
}

/// What has no value, is not defined, and is put out as nothing.
const NOTHING: &str = "none if false";

/// Statements with names of their own.
const SCOPES: [&str; 7] = ["autoescape", "block", "call", "filter", "for", "macro", "with"];

impl Walk {
    fn over(&mut self, text: &str, piece: &Piece, variables: &BTreeSet<String>) {
        let word = piece.word(text);
        let tokens = words(text, piece.inner.clone());
        let tag = Tag::new(text, &tokens);
        let own = if word == "set" { targets(text, &tokens) } else { Vec::new() };
        let equal = tokens.iter().position(|token| token.is(text, "=")).unwrap_or(0);
        for (at, token) in tokens.iter().enumerate() {
            let name = token.slice(text);
            let is_target = word == "set" && (equal == 0 || at < equal) && own.iter().any(|own| own == name);
            if token.word == Word::Name && !is_target && tag.is_value(at) && variables.contains(name) {
                self.read(name);
            }
        }
        for name in own.into_iter().filter(|name| variables.contains(name)) {
            self.set(name);
        }
        match word {
            "if" => {
                self.ifs += 1;
                self.open.push(Open::If(piece.range.start, self.ifs, 0));
            }
            "elif" | "else" => match self.open.last_mut() {
                Some(Open::If(_, _, branch)) => *branch += 1,
                // The `else` of a loop has names of its own.
                Some(Open::Scope(_, names)) => names.clear(),
                None => {}
            },
            "endif" => drop(self.open.pop_if(|open| matches!(open, Open::If(..)))),
            word if SCOPES.contains(&word) || is_kept(text, piece) => {
                self.open.push(Open::Scope(format!("end{word}"), BTreeMap::new()));
            }
            word if word.starts_with("end") => {
                drop(self.open.pop_if(|open| matches!(open, Open::Scope(end, _) if end == word)));
            }
            _ => {}
        }
    }

    fn place(&self) -> Place {
        self.open.iter().filter_map(|open| if let Open::If(_, id, branch) = open { Some((*id, *branch)) } else { None }).collect()
    }

    /// Whether a `set` of the name may have run before.
    fn is_set(&self, name: &str) -> bool {
        let here = self.place();
        let runs = |there: &Place| !there.iter().any(|(id, branch)| here.iter().any(|(own, at)| own == id && at != branch));
        let inner = self.open.iter().filter_map(|open| if let Open::Scope(_, names) = open { Some(names) } else { None });
        inner.chain([&self.outside]).any(|names| names.get(name).is_some_and(|places| places.iter().any(runs)))
    }

    fn is_in_macro(&self) -> bool {
        self.open.iter().any(|open| matches!(open, Open::Scope(end, _) if end == "endmacro"))
    }

    fn read(&mut self, name: &str) {
        if !self.is_set(name) {
            self.inputs.insert(name.to_owned());
        }
        if self.is_in_macro() {
            self.in_macros.insert(name.to_owned());
        }
    }

    fn set(&mut self, name: String) {
        let is_new = !self.is_set(&name);
        if self.in_macros.contains(&name) && !self.is_in_macro() {
            self.inputs.insert(name.clone());
        }
        let place = self.place();
        let scope = self.open.iter().rposition(|open| matches!(open, Open::Scope(..)));
        let first = scope.map_or(0, |scope| scope + 1);
        if let Some(Open::If(at, ..)) = self.open.get(first).filter(|_| is_new) {
            self.before.entry(name.clone()).or_default().insert(*at);
        }
        let names = match scope.and_then(|scope| self.open.get_mut(scope)) {
            Some(Open::Scope(_, names)) => names,
            Some(Open::If(..)) | None => &mut self.outside,
        };
        names.entry(name).or_default().push(place);
    }
}
