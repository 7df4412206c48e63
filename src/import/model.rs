//! What is read from a prompt of another format, before it is written as a template.

use super::note::{Note, NoteKind, Weight};
use super::settings::Model;
use std::collections::BTreeSet;

/// A format of prompts that is read; all of them are in [`FORMATS`](super::FORMATS).
#[derive(Debug)]
pub struct Format {
    /// Its word in reports and behind `--from`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What its files are, for the help of `--from`.
    pub help: &'static str,
    /// The same for the schema of reports.
    pub files: &'static str,
    /// The endings of its files.
    pub endings: &'static [&'static str],
    /// How the names of its files begin, where their endings do not tell.
    pub stem: Option<&'static str>,
    /// Those of them that tell a prompt only where a file is named itself.
    pub named_endings: &'static [&'static str],
    /// How the names of files begin that only others take in.
    pub part: Option<&'static str>,
    /// Whether a text is a prompt, where its ending alone does not tell.
    pub is_prompt: Option<fn(&str) -> bool>,
    /// Whether texts that are no prompts are worth a word: for what they are, they could be.
    pub reports_others: bool,
    /// The names of files that a text takes in, as they are written.
    pub(super) parts: fn(&str) -> Vec<String>,
    /// Reads a prompt. What cannot be carried over is among its notes.
    pub(super) read: fn(&Prompt<'_>, &dyn Library, Options) -> Imported,
}

impl Format {
    /// A format whose files its one ending tells, and which take in no others.
    pub(super) const fn new(
        (name, title): (&'static str, &'static str),
        endings: &'static [&'static str],
        read: fn(&Prompt<'_>, &dyn Library, Options) -> Imported,
    ) -> Self {
        Self {
            name,
            title,
            help: title,
            files: title,
            endings,
            stem: None,
            named_endings: &[],
            part: None,
            is_prompt: None,
            reports_others: false,
            parts: |_| Vec::new(),
            read,
        }
    }
}

/// A prompt as it lies in a file.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// The file, relative to the project's folder, with `/`.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its format.
    pub format: &'static Format,
}

/// Switches of the engine that rendered the prompts so far. The default is that engine's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Jinja's `trim_blocks`: the line break behind a statement goes.
    pub trim_blocks: bool,
    /// Jinja's `lstrip_blocks`: blanks before a statement at the start of a line go.
    pub lstrip_blocks: bool,
    /// Jinja's `keep_trailing_newline`: the last line break stays.
    pub keep_trailing_newline: bool,
}

/// Other files that a prompt takes in.
pub trait Library {
    /// The text of a file relative to the project's folder; `None` when there is none.
    ///
    /// # Errors
    /// Why an existing file cannot be read.
    fn text(&self, path: &str) -> Result<Option<String>, String>;

    /// The names of what lies in a folder relative to the project's, sorted.
    fn names(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }

    /// Folders in which names are looked up before those of the prompt itself.
    fn roots(&self) -> &[String];
}

/// Who says a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The system message.
    System,
    /// What the user says: the task.
    User,
    /// What the agent said, in an example.
    Assistant,
}

/// What stands for a value in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `{{name}}`.
    Plain,
    /// Jinja.
    Jinja,
    /// Nothing: every sign is itself.
    Verbatim,
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// In a file of its own, relative to the project's folder.
    InPlace {
        /// The file.
        path: String,
        /// Its text, to tell whether its layout counts.
        text: String,
    },
    /// In the template.
    Inline(String),
}

/// A text and who says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What.
    pub body: Body,
    /// How values stand in it.
    pub syntax: Syntax,
}

/// An input of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type, where it is known.
    pub kind: Option<&'static str>,
    /// Its default as the language writes it.
    pub default: Option<String>,
}

/// What a prompt was tested with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// What it is about.
    pub objective: String,
    /// How often each case is tried.
    pub runs: u64,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// One test of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its id, unique among those of the prompt.
    pub id: String,
    /// What it says about itself.
    pub name: Option<String>,
    /// Its values.
    pub inputs: Vec<(String, Given)>,
    /// Conditions on the answer, in order.
    pub expectations: Vec<Asserted>,
}

/// Something that a test asserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asserted {
    /// As a scenario says it.
    Expectation(serde_json::Value),
    /// Assertions that no expectation expresses.
    Todo {
        /// A description, with the reason why it is not carried over.
        what: String,
        /// As it was written, on one line; empty where that is not known.
        source: String,
        /// True if it could not fail the test.
        is_informal: bool,
    },
}

/// A value of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// In place.
    Value(serde_json::Value),
    /// The text of a file, relative to the project's folder.
    File(String),
}

/// A prompt that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// A name of its own, where the prompt has one.
    pub name: Option<String>,
    /// What it says about itself.
    pub description: Option<String>,
    /// Its texts, in order.
    pub turns: Vec<Turn>,
    /// Where the conversation stands among them: how many are before it, once for each place.
    pub history: Vec<usize>,
    /// Its inputs, in order.
    pub parameters: Vec<Parameter>,
    /// The input that holds what the user says, where the prompt is a system message alone.
    pub request: Option<String>,
    /// The model that it asks for.
    pub model: Option<Model>,
    /// Whether its answer is JSON.
    pub answers_json: bool,
    /// The JSON Schema of its answer.
    pub schema: Option<serde_json::Value>,
    /// Other files whose text it holds now.
    pub parts: BTreeSet<String>,
    /// What it was tested with.
    pub suite: Option<Suite>,
    /// The other prompts of its file.
    pub others: Vec<Self>,
    /// What is to be known.
    pub notes: Vec<Note>,
}

impl Imported {
    /// Adds a note.
    pub(super) fn note(&mut self, path: &str, line: u32, kind: NoteKind) {
        self.notes.push(Note { path: path.to_owned(), line, kind });
    }

    /// Says which model it asks for.
    pub(super) fn model(&mut self, path: &str, model: Model) {
        if let Some(kind) = model.note() {
            self.note(path, 0, kind);
        }
        self.model = Some(model);
    }

    /// The same as a system message; what the user says becomes an input.
    #[must_use]
    pub fn into_system(mut self) -> Self {
        for turn in &mut self.turns {
            turn.role = Role::System;
        }
        let name = ["request", "user_message", "user_request"]
            .into_iter()
            .find(|name| self.parameters.iter().all(|one| one.name != *name));
        if let Some(name) = name {
            self.request = Some(name.to_owned());
            // Where the prompt has the conversation, its last message may be what the user says.
            let default = (!self.history.is_empty()).then(String::new);
            self.parameters.push(Parameter { name: name.to_owned(), kind: Some("string"), default });
        }
        self
    }

    /// A system message and what the user says, as one prompt.
    #[must_use]
    pub fn with_system(mut self, mut system: Self) -> Self {
        for turn in &mut system.turns {
            turn.role = Role::System;
        }
        self.history.iter_mut().for_each(|before| *before += system.turns.len());
        self.turns.splice(0..0, system.turns);
        let new = system.parameters.into_iter().filter(|one| self.parameters.iter().all(|there| there.name != one.name));
        let new: Vec<Parameter> = new.collect();
        self.parameters.splice(0..0, new);
        self.model = self.model.or(system.model);
        self.parts.append(&mut system.parts);
        self.notes.append(&mut system.notes);
        self
    }

    /// Whether it could not be carried over.
    pub fn is_refused(&self) -> bool {
        self.notes.iter().any(|note| note.kind.weight() == Weight::Error)
    }
}
