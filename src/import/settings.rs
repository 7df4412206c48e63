//! Which model a prompt asks for, and with which settings: nothing of a template, but worth a suggestion.

/// What a prompt says of its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub name: Option<String>,
    /// Who answers for it.
    pub provider: Option<String>,
    /// Settings by name, in the order of the prompt.
    pub settings: Vec<(String, String)>,
}

impl Model {
    /// A model by its name, which may stand behind its provider's: `googleai/gemini-2.0-flash`.
    pub(super) fn new(full: Option<&str>, settings: Vec<(String, String)>) -> Self {
        let (provider, name) = full.map_or((None, None), |full| match full.split_once('/') {
            Some((provider, name)) => (Some(provider.to_owned()), Some(name.to_owned())),
            None => (None, Some(full.to_owned())),
        });
        Self { name, provider, settings }
    }

    /// What it says, on one line.
    pub(super) fn shown(&self) -> String {
        let model = self.name.iter().map(|name| format!("model {name}"));
        let settings = self.settings.iter().map(|(name, value)| format!("{name} {value}"));
        model.chain(settings).collect::<Vec<_>>().join(", ")
    }

    /// The provider as `[models]` names it, where that can be told.
    pub fn vendor(&self) -> Option<&'static str> {
        let provider = self.provider.as_deref().unwrap_or("").to_ascii_lowercase();
        let name = self.name.as_deref().unwrap_or("").to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| provider.contains(word) || name.starts_with(word));
        match () {
            () if is(&["openai", "gpt", "o1", "o3", "o4"]) => Some("openai"),
            () if is(&["anthropic", "claude"]) => Some("anthropic"),
            () if is(&["google", "vertex", "gemini"]) => Some("gemini"),
            () if is(&["ollama"]) => Some("ollama"),
            () => None,
        }
    }
}
