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
mod model;
mod mustache;
mod names;
mod note;
mod picoschema;
mod promptfoo;
mod prompty;
mod settings;
mod suite;

pub use convert::{convert, format_of, part_of};
pub use emit::{origin, schema_file, template};
pub use markdown::has_values;
pub use model::{
    Body, Case, Format, Given, Imported, Library, Options, Parameter, Prompt, Role, Suite, Syntax,
    Turn,
};
pub use names::{half, task_name};
pub use note::{Note, NoteKind, Weight};
pub use settings::{Model, OUTPUT, STOPS};
pub use suite::{ORIGIN as SUITE_ORIGIN, suite};

/// All formats, in the order of display.
pub static FORMATS: &[&Format] = &[
    &jinja::FORMAT,
    &dotprompt::FORMAT,
    &prompty::FORMAT,
    &promptfoo::FORMAT,
    &langchain::FORMAT,
    &markdown::FORMAT,
];
