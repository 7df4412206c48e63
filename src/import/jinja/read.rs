//! Reads a Jinja file as a prompt: in place if the language accepts it unchanged, else flattened
//! into one text.

use super::flatten::{self, flatten_template};
use super::page::fault_note;
use super::pieces::without_last_break;
use super::usage;
use crate::import::note::{ImportNote, ImportNoteKind, NoteWeight};
use crate::import::prompt_model::{
    EngineOptions, ImportedParameter, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptFile,
    PromptFormat, PromptLibrary, PromptText, TurnRole,
};
use crate::jinja::parse::analyze;

pub(in crate::import) static FORMAT: PromptFormat = PromptFormat {
    help: "Jinja2",
    files: "`.j2`, `.jinja`, `.jinja2`.",
    parts: flatten::included_names,
    ..PromptFormat::new("jinja", "Jinja", &["j2", "jinja", "jinja2"], read_jinja)
};

pub(in crate::import) fn read_jinja(
    prompt: &PromptFile<'_>,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> ImportedPrompt {
    let flat = flatten_template(prompt.path, prompt.text, library, options);
    let is_in_place = flat.text == prompt.text && !options.keep_trailing_newline;
    let mut imported = ImportedPrompt {
        parts: flat.parts,
        notes: flat.notes,
        ..ImportedPrompt::default()
    };
    let body = if is_in_place {
        PromptText::InPlace {
            path: prompt.path.to_owned(),
            text: prompt.text.to_owned(),
        }
    } else {
        imported.add_note(
            prompt.path,
            0,
            ImportNoteKind::Inlined {
                why: inline_reason(&imported, options),
            },
        );
        PromptText::Inline(inline_source(&flat.text, options))
    };
    imported.parameters = find_inputs(prompt.path, &flat.text, &mut imported.notes);
    imported.turns.push(ImportedTurn {
        role: TurnRole::User,
        body,
        syntax: PlaceholderSyntax::Jinja,
    });
    imported
}

/// The text whose output is unchanged: since Jinja removes a last line break, one to be retained is
/// doubled.
fn inline_source(text: &str, options: EngineOptions) -> String {
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
fn inline_reason(imported: &ImportedPrompt, options: EngineOptions) -> String {
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
    if options != EngineOptions::default() {
        reasons.push("its engine treats white space differently".to_owned());
    }
    if reasons.is_empty() {
        reasons.push("its blocks are replaced by their content".to_owned());
    }
    reasons.join("; ")
}

/// The inputs of a text. Adds notes on parts that cannot be rendered, unless errors were noted
/// before.
pub(in crate::import) fn find_inputs(
    path: &str,
    text: &str,
    notes: &mut Vec<ImportNote>,
) -> Vec<ImportedParameter> {
    let parsed = analyze(text);
    if !notes
        .iter()
        .any(|note| note.kind.weight() == NoteWeight::Error)
    {
        let found = parsed
            .faults
            .into_iter()
            .filter_map(|fault| fault_note(fault.kind));
        notes.extend(found.map(|kind| ImportNote {
            path: path.to_owned(),
            line: 0,
            kind,
        }));
    }
    usage::infer_parameters(path, text, &parsed.variables, notes)
}

/// Reads a Jinja text inside another format: the adapted text, with its inputs. `line` is its first
/// line.
pub(in crate::import) fn adapt_text(
    path: &str,
    text: &str,
    line: u32,
    imported: &mut ImportedPrompt,
) -> (String, Vec<ImportedParameter>) {
    struct None;
    impl PromptLibrary for None {
        fn text(&self, _: &str) -> Result<Option<String>, String> {
            Ok(Option::None)
        }
        fn roots(&self) -> &[String] {
            &[]
        }
    }
    let mut flat = flatten_template(path, text, &None, EngineOptions::default());
    let parameters = find_inputs(path, &flat.text, &mut flat.notes);
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
