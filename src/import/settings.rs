//! The model and settings that a prompt requests. Settings that a template can express become its
//! `<sampling>`; the others become a suggestion.

use super::note::ImportNoteKind;
use crate::kernel::sampling::Parameter;
use std::collections::BTreeMap;

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
            .filter_map(sampling_parameter)
            .collect()
    }

    /// The settings that a template cannot express.
    pub fn other_settings(&self) -> impl Iterator<Item = &(String, String)> {
        self.settings
            .iter()
            .filter(|setting| sampling_parameter(setting).is_none())
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
fn sampling_parameter((name, value): &(String, String)) -> Option<(Parameter, String)> {
    let parameter = match name.as_str() {
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
        Err(_) => value.clone(),
    };
    parameter.parse_value(&value).map(|_| (parameter, value))
}
