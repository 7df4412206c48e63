//! The content of a prompt in another format, before it is written as a template, with the model
//! and settings that it requests.

use super::note::{ImportNote, ImportNoteKind, NoteWeight};
use crate::kernel::sampling::Parameter;
use std::collections::{BTreeMap, BTreeSet};

/// A supported prompt format; [`FORMATS`](super::FORMATS) lists all of them.
#[derive(Debug)]
pub struct PromptFormat {
    /// Its name in reports and after `--from`.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// The description of its files in the help of `--from`.
    pub help: &'static str,
    /// The description of its files in the schema of reports.
    pub files: &'static str,
    /// The extensions of its files.
    pub endings: &'static [&'static str],
    /// The prefix of its file names, if the extension alone is ambiguous.
    pub stem: Option<&'static str>,
    /// The extensions that count only if a file is named explicitly.
    pub named_endings: &'static [&'static str],
    /// The prefix of files that are only included by others.
    pub part: Option<&'static str>,
    /// Tests the text of a file, if the extension alone is not enough.
    pub is_prompt: Option<fn(&str) -> bool>,
    /// True if texts that are not prompts are worth a report, since such files often are.
    pub reports_others: bool,
    /// Returns the names of included files, as written.
    pub(super) parts: fn(&str) -> Vec<String>,
    /// Reads a prompt. Parts that cannot be converted become notes.
    pub(super) read: fn(&PromptFile<'_>, &dyn PromptLibrary, EngineOptions) -> ImportedPrompt,
}

impl PromptFormat {
    /// A format with unambiguous extensions and without included files.
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        endings: &'static [&'static str],
        read: fn(&PromptFile<'_>, &dyn PromptLibrary, EngineOptions) -> ImportedPrompt,
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

/// A prompt and its file.
#[derive(Clone, Copy, Debug)]
pub struct PromptFile<'a> {
    /// The file, relative to the project's folder, with `/`.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its format.
    pub format: &'static PromptFormat,
}

/// The settings of the engine that rendered the prompts so far. The default is that engine's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Jinja's `trim_blocks`: removes the line break after a statement.
    pub trim_blocks: bool,
    /// Jinja's `lstrip_blocks`: removes blanks before a statement at the start of a line.
    pub lstrip_blocks: bool,
    /// Jinja's `keep_trailing_newline`: retains the last line break.
    pub keep_trailing_newline: bool,
}

/// The files that a prompt can include.
pub trait PromptLibrary {
    /// The text of a file relative to the project's folder; `None` if it does not exist.
    ///
    /// # Errors
    /// The reason why an existing file cannot be read.
    fn text(&self, path: &str) -> Result<Option<String>, String>;

    /// The names of what lies in a folder relative to the project's, sorted.
    fn names(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }

    /// Folders in which names are looked up before those of the prompt itself.
    fn roots(&self) -> &[String];
}

/// The speaker of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TurnRole {
    /// The system message.
    System,
    /// The user's message: the task.
    User,
    /// The agent's message in an example.
    Assistant,
}

/// The syntax of placeholders in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderSyntax {
    /// `{{name}}`.
    Plain,
    /// Jinja.
    Jinja,
    /// No placeholders: all characters are literal.
    Verbatim,
}

/// The location of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptText {
    /// In a file of its own, relative to the project's folder.
    InPlace {
        /// The file.
        path: String,
        /// Its text, whose layout decides how it is included.
        text: String,
    },
    /// In the template.
    Inline(String),
}

/// A text with its speaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedTurn {
    /// The speaker.
    pub role: TurnRole,
    /// The text.
    pub body: PromptText,
    /// The syntax of its placeholders.
    pub syntax: PlaceholderSyntax,
}

/// An input of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedParameter {
    /// Its name.
    pub name: String,
    /// Its type, if known.
    pub kind: Option<&'static str>,
    /// Its default, as the language writes it.
    pub default: Option<String>,
}

/// The tests of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSuite {
    /// The objective.
    pub objective: String,
    /// The number of trials of each case.
    pub runs: u64,
    /// Its cases.
    pub cases: Vec<ImportedCase>,
}

/// One test of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedCase {
    /// Its id, unique among those of the prompt.
    pub id: String,
    /// Its description.
    pub name: Option<String>,
    /// Its inputs.
    pub inputs: Vec<(String, ImportedValue)>,
    /// The score from which it passes; `None` if each expectation has to hold.
    pub min_score: Option<String>,
    /// Conditions on the answer, in order.
    pub expectations: Vec<ImportedAssertion>,
}

/// An assertion of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedAssertion {
    /// An equivalent expectation of a scenario.
    Expectation(serde_json::Value),
    /// Assertions without an equivalent expectation.
    Todo {
        /// A description, with the reason why it is not converted.
        what: String,
        /// Its source on one line; empty if unknown.
        source: String,
        /// Its weight, as a line of an expectation; `None` for the default.
        weight: Option<String>,
    },
}

/// An input of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedValue {
    /// An inline value.
    Value(serde_json::Value),
    /// The text of a file, relative to the project's folder.
    File(String),
}

/// A prompt that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedPrompt {
    /// Its own name, if any.
    pub name: Option<String>,
    /// Its own description.
    pub description: Option<String>,
    /// Its texts, in order.
    pub turns: Vec<ImportedTurn>,
    /// The positions of the conversation: the number of texts before it, once for each occurrence.
    pub history: Vec<usize>,
    /// Its inputs, in order.
    pub parameters: Vec<ImportedParameter>,
    /// The input that contains the user's message, if the prompt is only a system message.
    pub request: Option<String>,
    /// The requested model.
    pub model: Option<RequestedModel>,
    /// True if its answer is JSON.
    pub answers_json: bool,
    /// The JSON Schema of its answer.
    pub schema: Option<serde_json::Value>,
    /// Included files whose text is now part of the prompt.
    pub parts: BTreeSet<String>,
    /// Its tests.
    pub suite: Option<ImportedSuite>,
    /// The other prompts of its file.
    pub others: Vec<Self>,
    /// The notes on the conversion.
    pub notes: Vec<ImportNote>,
}

impl ImportedPrompt {
    /// Adds a note.
    pub(super) fn add_note(&mut self, path: &str, line: u32, kind: ImportNoteKind) {
        self.notes.push(ImportNote {
            path: path.to_owned(),
            line,
            kind,
        });
    }

    /// Sets the requested model, with a note on its settings.
    pub(super) fn set_model(&mut self, path: &str, model: RequestedModel) {
        if let Some(kind) = model.settings_note() {
            self.add_note(path, 0, kind);
        }
        self.model = Some(model);
    }

    /// Turns the prompt into a system message; the user's message becomes an input.
    #[must_use]
    pub fn into_system(mut self) -> Self {
        for turn in &mut self.turns {
            turn.role = TurnRole::System;
        }
        let name = ["request", "user_message", "user_request"]
            .into_iter()
            .find(|name| self.parameters.iter().all(|one| one.name != *name));
        if let Some(name) = name {
            self.request = Some(name.to_owned());
            // In a prompt with a conversation, its last message can be the user's.
            let default = (!self.history.is_empty()).then(String::new);
            self.parameters.push(ImportedParameter {
                name: name.to_owned(),
                kind: Some("string"),
                default,
            });
        }
        self
    }

    /// Joins a system message and a user's message into one prompt.
    #[must_use]
    pub fn with_system(mut self, mut system: Self) -> Self {
        for turn in &mut system.turns {
            turn.role = TurnRole::System;
        }
        self.history
            .iter_mut()
            .for_each(|before| *before += system.turns.len());
        self.turns.splice(0..0, system.turns);
        let new = system
            .parameters
            .into_iter()
            .filter(|one| self.parameters.iter().all(|there| there.name != one.name));
        let new: Vec<ImportedParameter> = new.collect();
        self.parameters.splice(0..0, new);
        self.model = self.model.or(system.model);
        self.parts.append(&mut system.parts);
        self.notes.append(&mut system.notes);
        self
    }

    /// Returns true if it could not be converted.
    pub fn has_errors(&self) -> bool {
        self.notes
            .iter()
            .any(|note| note.kind.weight() == NoteWeight::Error)
    }
}

/// The model that a prompt requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedModel {
    /// Its name.
    pub name: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// Settings by name, in the order of the prompt.
    pub settings: Vec<(String, String)>,
}

impl RequestedModel {
    /// A model by its name, with an optional provider before it: `googleai/gemini-2.0-flash`.
    pub(super) fn new(full: Option<&str>, settings: Vec<(String, String)>) -> Self {
        let (provider, name) = full.map_or((None, None), |full| match full.split_once('/') {
            Some((provider, name)) => (Some(provider.to_owned()), Some(name.to_owned())),
            None => (None, Some(full.to_owned())),
        });
        Self {
            name,
            provider,
            settings,
        }
    }

    /// The note on settings that a template cannot express.
    pub(super) fn settings_note(&self) -> Option<ImportNoteKind> {
        let model = self.name.iter().map(|name| format!("model {name}"));
        let settings = self
            .other_settings()
            .map(|(name, value)| format!("{name} {value}"));
        let what = model.chain(settings).collect::<Vec<_>>().join(", ");
        (!what.is_empty()).then_some(ImportNoteKind::ModelSettings { what })
    }

    /// The settings that a template can express.
    pub(super) fn sampling(&self) -> BTreeMap<Parameter, String> {
        self.settings
            .iter()
            .rev()
            .filter_map(|(name, value)| sampling_parameter(name, value))
            .collect()
    }

    /// The settings that a template cannot express.
    pub fn other_settings(&self) -> impl Iterator<Item = &(String, String)> {
        self.settings
            .iter()
            .filter(|(name, value)| sampling_parameter(name, value).is_none())
    }

    /// The provider's name in `[models]`, if known.
    pub fn vendor(&self) -> Option<&'static str> {
        let provider = self.provider.as_deref().unwrap_or("").to_ascii_lowercase();
        let name = self.name.as_deref().unwrap_or("").to_ascii_lowercase();
        let is = |words: &[&str]| {
            words
                .iter()
                .any(|word| provider.contains(word) || name.starts_with(word))
        };
        match () {
            () if is(&["openai", "gpt", "o1", "o3", "o4"]) => Some("openai"),
            () if is(&["anthropic", "claude"]) => Some("anthropic"),
            () if is(&["google", "vertex", "gemini"]) => Some("gemini"),
            () if is(&["ollama"]) => Some("ollama"),
            () => None,
        }
    }
}

/// The names of stop sequences in prompts.
pub const STOP_KEYS: [&str; 3] = ["stop", "stop_sequences", "stopSequences"];

/// The names of the token limit of an answer in prompts.
pub const OUTPUT_LIMIT_KEYS: [&str; 6] = [
    "max_tokens",
    "maxTokens",
    "maxOutputTokens",
    "max_output_tokens",
    "max_completion_tokens",
    "maxCompletionTokens",
];

/// A setting as a template's sampling parameter; `None` if the template cannot express it or its
/// value.
fn sampling_parameter(name: &str, value: &str) -> Option<(Parameter, String)> {
    let parameter = match name {
        "temperature" => Parameter::Temperature,
        "top_p" | "topP" => Parameter::TopP,
        "seed" => Parameter::Seed,
        "effort" | "reasoning_effort" | "reasoningEffort" => Parameter::Effort,
        name if STOP_KEYS.contains(&name) => Parameter::Stop,
        name if OUTPUT_LIMIT_KEYS.contains(&name) => Parameter::MaxOutputTokens,
        _ => return None,
    };
    let value = match serde_json::from_str::<Vec<String>>(value) {
        Ok(list) => <[String; 1]>::try_from(list).map(|[one]| one).ok()?,
        Err(_) => value.to_owned(),
    };
    parameter.parse_value(&value).map(|_| (parameter, value))
}
