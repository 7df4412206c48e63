//! Names that a macro reads and that are set behind it: to Jinja2 they have the value that they have when the macro is called, here the
//! one that they have where it stands.

use super::bodies::targets;
use super::scan::{Kind, scan};
use super::uses::Tag;
use super::words::words;
use crate::base::source::LineIndex;
use crate::import::model::Imported;
use crate::import::note::{Note, NoteKind};
use std::collections::{BTreeMap, BTreeSet};

/// Tells each of them that would become an input.
pub(super) fn told(path: &str, text: &str, is_in_place: bool, imported: &mut Imported) {
    let inputs: BTreeSet<&str> = imported.parameters.iter().map(|one| one.name.as_str()).collect();
    let (mut inside, mut read, mut found): (Vec<String>, BTreeMap<String, (String, usize)>, Vec<_>) = Default::default();
    for piece in scan(text).into_iter().filter(|piece| matches!(piece.kind, Kind::Variable | Kind::Statement)) {
        let word = piece.word(text);
        let tokens = words(text, piece.inner.clone());
        let tag = Tag::new(text, &tokens);
        match word {
            "macro" => inside.push(tag.word(1).to_owned()),
            "endmacro" => drop(inside.pop()),
            "set" if inside.is_empty() => {
                let late = targets(text, &tokens).into_iter().filter_map(|name| read.remove_entry(&name));
                found.extend(late);
            }
            _ => {}
        }
        let Some(within) = inside.last() else { continue };
        for (at, token) in tokens.iter().enumerate() {
            let name = token.slice(text);
            if inputs.contains(name) && tag.is_value(at) {
                read.entry(name.to_owned()).or_insert_with(|| (within.clone(), token.range.start));
            }
        }
    }
    let lines = LineIndex::new(text);
    for (name, (within, at)) in found {
        let what = format!("`{name}` in macro `{within}`");
        let why = format!(
            "it is set behind the macro, which here has what is set before it; put `{{% set {name} = … %}}` before the macro"
        );
        let line = if is_in_place { lines.line(at as u32) } else { 0 };
        imported.notes.push(Note { path: path.to_owned(), line, kind: NoteKind::Unsupported { what, why } });
    }
}
