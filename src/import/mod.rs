//! Converts prompts of other formats into templates of the language: text in, template text and
//! notes out.
//!
//! Never reads or writes a file: included files come from a [`model::Library`]. Never drops
//! anything silently: every part that cannot be converted is a note with file and line. A text
//! stays in its own file if the language can refer to it. Linear in its output, which is bounded; a
//! cycle of includes is a note.

mod braces;
mod convert;
mod declared;
mod dotprompt;
mod emit;
mod front_matter;
mod fstring;
mod handlebars;
mod jinja;
mod langchain;
mod markdown;
mod mustache;
mod note;
mod picoschema;
mod prompt_model;
mod prompt_names;
mod promptfoo;
mod prompty;
mod suite;

pub use convert::{convert_prompt, format_of, included_files};
pub use emit::{PromptOrigin, schema_file, template_origin, write_template};
pub use markdown::has_placeholders;
pub use note::{ImportNote, ImportNoteKind, NoteWeight};
pub use prompt_model::{
    EngineOptions, ImportedCase, ImportedParameter, ImportedPrompt, ImportedSuite, ImportedTurn,
    ImportedValue, OUTPUT_LIMIT_KEYS, PlaceholderSyntax, PromptFile, PromptFormat, PromptLibrary,
    PromptText, RequestedModel, STOP_KEYS, TurnRole,
};
pub use prompt_names::{parse_half, task_name};
pub use suite::{SUITE_ORIGIN_PREFIX as SUITE_ORIGIN, write_suite};

/// All formats, in the order of display.
pub static FORMATS: &[&PromptFormat] = &[
    &jinja::FORMAT,
    &dotprompt::FORMAT,
    &prompty::FORMAT,
    &promptfoo::FORMAT,
    &langchain::FORMAT,
    &markdown::FORMAT,
];
