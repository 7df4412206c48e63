//! From a Jinja file to a prompt: in place where the language takes it as it is, else as one text.

use super::adapt::said;
use super::flatten::{Flat, flatten};
use super::late;
use super::layout::without_last_break;
use super::scan::scan;
use super::unset;
use super::usage;
use super::words::{Word, literal, words};
use crate::import::model::{Body, Imported, Library, Options, Parameter, Prompt, Role, Syntax, Turn};
use crate::import::note::{Note, NoteKind, Weight};
use crate::jinja::parse::parse;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a file.
pub(in crate::import) fn read(prompt: &Prompt<'_>, library: &dyn Library, options: Options) -> Imported {
    let mut flat = flatten(prompt.path, prompt.text, library, options);
    let is_settled = settle(prompt.path, prompt.text, &mut flat);
    let is_in_place = flat.text == prompt.text && !options.keep_trailing_newline;
    let mut imported = Imported { parts: flat.parts, notes: flat.notes, ..Imported::default() };
    let body = if is_in_place {
        Body::InPlace { path: prompt.path.to_owned(), text: prompt.text.to_owned() }
    } else {
        let why = why(&imported, options, is_settled);
        imported.note(prompt.path, 0, NoteKind::Inlined { why });
        Body::Inline(source(&flat.text, options))
    };
    imported.parameters = inputs(prompt.path, &flat.text, &mut imported.notes);
    foreign(prompt.path, &flat.modules, &flat.called, &mut imported);
    late::told(prompt.path, &flat.text, is_in_place, &mut imported);
    imported.turns.push(Turn { role: Role::User, body, syntax: Syntax::Jinja });
    imported
}

/// Gives names that an `{% if %}` alone sets no value where that does not run; whether there are any.
fn settle(path: &str, text: &str, flat: &mut Flat) -> bool {
    let is_foreign = |name: &str| flat.called.contains_key(name) || flat.modules.contains(name);
    let Some((text, notes)) = unset::settled(path, &flat.text, flat.text == text, &is_foreign) else { return false };
    flat.text = text;
    flat.notes.extend(notes);
    true
}

/// Tells names that would become inputs and are none: what one file calls an imported one where another file reads it, and what an
/// imported file does not set in every case.
fn foreign(path: &str, modules: &BTreeSet<String>, called: &BTreeMap<String, (String, String)>, imported: &mut Imported) {
    if imported.is_refused() {
        return;
    }
    let mut found = Vec::new();
    for one in &imported.parameters {
        if let Some((name, file)) = called.get(&one.name) {
            let why = "it is set in some cases alone, or behind what reads it; set it before, whatever the case".to_owned();
            found.push((file.clone(), NoteKind::Unsupported { what: format!("`{name}`"), why }));
        } else if modules.contains(&one.name) {
            let why = "it is the name of a file that another one imports; import it in each file that uses it".to_owned();
            found.push((path.to_owned(), NoteKind::Unsupported { what: format!("`{}`", one.name), why }));
        }
    }
    for (path, kind) in found {
        imported.note(&path, 0, kind);
    }
}

/// The text that renders as this one did: Jinja takes a last line break away, so one that stays is there twice.
fn source(text: &str, options: Options) -> String {
    if options.keep_trailing_newline && text.ends_with('\n') {
        return format!("{text}\n");
    }
    let bare = without_last_break(text);
    if bare.ends_with('\n') { text.to_owned() } else { bare.to_owned() }
}

/// Why a text cannot stay in its file.
fn why(imported: &Imported, options: Options, is_settled: bool) -> String {
    let mut reasons = Vec::new();
    if !imported.parts.is_empty() {
        let shown: Vec<&str> = imported.parts.iter().take(3).map(String::as_str).collect();
        let more = imported.parts.len().saturating_sub(3);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        reasons.push(format!("it takes in {}{more}, and a text of a template takes in no other", shown.join(", ")));
    }
    if imported.notes.iter().any(|note| matches!(note.kind, NoteKind::Rewritten { .. })) {
        reasons.push("it calls methods of Python".to_owned());
    }
    if is_settled {
        reasons.push("it reads a name that it sets in an `{% if %}` alone".to_owned());
    }
    if options != Options::default() {
        reasons.push("its engine treats white space in another way".to_owned());
    }
    if reasons.is_empty() {
        reasons.push("its blocks are put where they stand".to_owned());
    }
    reasons.join("; ")
}

/// The inputs of a text, and what cannot be rendered in it that was not told yet.
pub(in crate::import) fn inputs(path: &str, text: &str, notes: &mut Vec<Note>) -> Vec<Parameter> {
    let parsed = parse(text);
    if !notes.iter().any(|note| note.kind.weight() == Weight::Error) {
        let found = parsed.faults.into_iter().filter_map(|fault| said(fault.kind));
        notes.extend(found.map(|kind| Note { path: path.to_owned(), line: 0, kind }));
    }
    usage::parameters(path, text, &parsed.variables, notes)
}

/// A text of another format that is written in Jinja: adapted, with its inputs. `line` is the one that it begins on.
pub(in crate::import) fn text(path: &str, text: &str, line: u32, imported: &mut Imported) -> (String, Vec<Parameter>) {
    struct None;
    impl Library for None {
        fn text(&self, _: &str) -> Result<Option<String>, String> {
            Ok(Option::None)
        }
        fn roots(&self) -> &[String] {
            &[]
        }
    }
    let mut flat = flatten(path, text, &None, Options::default());
    settle(path, text, &mut flat);
    let parameters = inputs(path, &flat.text, &mut flat.notes);
    for note in &mut flat.notes {
        note.line = if note.line == 0 { line } else { note.line + line - 1 };
    }
    imported.notes.append(&mut flat.notes);
    (flat.text, parameters)
}

/// The names of files that a text takes in, as they are written.
pub(in crate::import) fn others(text: &str) -> Vec<String> {
    let of = ["include", "extends", "import", "from"];
    let pieces = scan(text);
    let taking = pieces.iter().filter(|piece| of.contains(&piece.word(text)));
    taking
        .filter_map(|piece| {
            let tokens = words(text, piece.inner.clone());
            let name = tokens.get(1).filter(|token| token.word == Word::Text)?;
            literal(name.slice(text))
        })
        .collect()
}
