//! Reads a Jinja file as a prompt: in place if the language accepts it unchanged, else flattened
//! into one text.

use super::flatten::{self, flatten};
use super::page::fault_note;
use super::pieces::without_last_break;
use super::usage;
use crate::import::model::{
    Body, Format, Imported, Library, Options, Parameter, Prompt, Role, Syntax, Turn,
};
use crate::import::note::{Note, NoteKind, Weight};
use crate::jinja::parse::parse;

pub(in crate::import) static FORMAT: Format = Format {
    help: "Jinja2",
    files: "`.j2`, `.jinja`, `.jinja2`.",
    parts: flatten::others,
    ..Format::new(("jinja", "Jinja"), &["j2", "jinja", "jinja2"], read)
};

pub(in crate::import) fn read(
    prompt: &Prompt<'_>,
    library: &dyn Library,
    options: Options,
) -> Imported {
    let flat = flatten(prompt.path, prompt.text, library, options);
    let is_in_place = flat.text == prompt.text && !options.keep_trailing_newline;
    let mut imported = Imported {
        parts: flat.parts,
        notes: flat.notes,
        ..Imported::default()
    };
    let body = if is_in_place {
        Body::InPlace {
            path: prompt.path.to_owned(),
            text: prompt.text.to_owned(),
        }
    } else {
        imported.note(
            prompt.path,
            0,
            NoteKind::Inlined {
                why: why(&imported, options),
            },
        );
        Body::Inline(source(&flat.text, options))
    };
    imported.parameters = inputs(prompt.path, &flat.text, &mut imported.notes);
    imported.turns.push(Turn {
        role: Role::User,
        body,
        syntax: Syntax::Jinja,
    });
    imported
}

/// The text whose output is unchanged: since Jinja removes a last line break, one to be retained is
/// doubled.
fn source(text: &str, options: Options) -> String {
    if options.keep_trailing_newline && text.ends_with('\n') {
        return format!("{text}\n");
    }
    let bare = without_last_break(text);
    if bare.ends_with('\n') {
        text.to_owned()
    } else {
        bare.to_owned()
    }
}

/// Describes why a text cannot stay in its file.
fn why(imported: &Imported, options: Options) -> String {
    let mut reasons = Vec::new();
    if !imported.parts.is_empty() {
        let shown: Vec<&str> = imported.parts.iter().take(3).map(String::as_str).collect();
        let more = imported.parts.len().saturating_sub(3);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        reasons.push(format!(
            "it includes {}{more}, and a text of a template cannot include others",
            shown.join(", ")
        ));
    }
    if options != Options::default() {
        reasons.push("its engine treats white space differently".to_owned());
    }
    if reasons.is_empty() {
        reasons.push("its blocks are replaced by their content".to_owned());
    }
    reasons.join("; ")
}

/// The inputs of a text. Adds notes on parts that cannot be rendered, unless errors were noted
/// before.
pub(in crate::import) fn inputs(path: &str, text: &str, notes: &mut Vec<Note>) -> Vec<Parameter> {
    let parsed = parse(text);
    if !notes.iter().any(|note| note.kind.weight() == Weight::Error) {
        let found = parsed
            .faults
            .into_iter()
            .filter_map(|fault| fault_note(fault.kind));
        notes.extend(found.map(|kind| Note {
            path: path.to_owned(),
            line: 0,
            kind,
        }));
    }
    usage::parameters(path, text, &parsed.variables, notes)
}

/// Reads a Jinja text inside another format: the adapted text, with its inputs. `line` is its first
/// line.
pub(in crate::import) fn text(
    path: &str,
    text: &str,
    line: u32,
    imported: &mut Imported,
) -> (String, Vec<Parameter>) {
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
    let parameters = inputs(path, &flat.text, &mut flat.notes);
    for note in &mut flat.notes {
        note.line = if note.line == 0 {
            line
        } else {
            note.line + line - 1
        };
    }
    imported.notes.append(&mut flat.notes);
    (flat.text, parameters)
}
