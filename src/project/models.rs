//! `[models.NAME]` and `[providers.NAME]` as read. Nothing here calls anybody, and no key is ever read: a provider names the
//! variable that holds one.

use super::roles::Tier;
use crate::base::span::Spanned;
use crate::base::words::words;
use crate::kernel::sampling::{Parameter, Sampling};
use std::collections::BTreeSet;

/// The names of tokenizers, as the counters have them.
pub const TOKENIZERS: [&str; 6] = ["o200k", "cl100k", "claude", "gemini", "llama", "bytes"];

/// A model that roles can be given.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name in this project.
    pub name: Spanned<String>,
    /// `id`: what its provider calls it; the name where the key is absent.
    pub id: String,
    /// `provider`: one of `[providers]`, or the kind itself for a vendor at its own address.
    pub provider: Spanned<String>,
    /// Which protocol that is; `None` where the provider is not known.
    pub kind: Option<ProviderKind>,
    /// `tier`.
    pub tier: Tier,
    /// `capabilities`: words of the project's own, such as `tools` or `vision`.
    pub capabilities: BTreeSet<String>,
    /// `context_window` in tokens.
    pub window: u64,
    /// `output_reserve`: tokens of the window that are kept free for the answer.
    pub reserve: u64,
    /// `usd_per_million`; `None` where the project does not say what it costs.
    pub prices: Option<Prices>,
    /// `tokenizer`: who counts for it, one of [`TOKENIZERS`]; where the key is absent, the one that models of its provider have.
    pub tokenizer: &'static str,
    /// How it is asked to answer, where neither role nor task says otherwise.
    pub sampling: Sampling,
}

/// US$ for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// What is sent.
    pub input: f64,
    /// What is sent and was sent before, so that the provider's cache has it; `input` where it has none.
    pub cached_input: f64,
    /// What is answered.
    pub output: f64,
}

/// Who is asked for answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name in this project.
    pub name: Spanned<String>,
    /// `kind`: which protocol it speaks.
    pub kind: ProviderKind,
    /// `base_url`; `None` for the vendor's own address.
    pub base_url: Option<String>,
    /// `api_key_env`: the variable that holds its key. Never read here.
    pub api_key_env: Option<String>,
    /// `timeout_s`: seconds that a call may take; `None` for the usual limits.
    pub timeout_s: Option<u64>,
}

words! {
    /// Which protocol a provider speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ProviderKind {
        /// `openai`: the chat protocol that most servers speak, those that run at home too.
        Openai = "openai",
        /// `openai-responses`: the later protocol of OpenAI.
        OpenaiResponses = "openai-responses",
        /// `anthropic`: Anthropic's messages.
        Anthropic = "anthropic",
        /// `gemini`: Google's Gemini.
        Gemini = "gemini",
        /// `ollama`: Ollama's own protocol.
        Ollama = "ollama",
    }
}

impl ProviderKind {
    /// The tokenizer of the models that this protocol mostly leads to.
    pub const fn tokenizer(self) -> &'static str {
        match self {
            Self::Openai | Self::OpenaiResponses => "o200k",
            Self::Anthropic => "claude",
            Self::Gemini => "gemini",
            Self::Ollama => "llama",
        }
    }

    /// The target that its requests are rendered for.
    pub const fn dialect(self) -> &'static str {
        match self {
            Self::Openai => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// That of a provider by its name: what the project says of it, else the vendor of this name.
    pub fn of(name: &str, own: Option<&Provider>) -> Option<Self> {
        own.map(|own| own.kind).or_else(|| Self::parse(name))
    }
}

impl Model {
    /// Tokens that a context can have: the window less what is kept free for the answer, or what the answer may have, if that is more.
    pub fn room(&self) -> u64 {
        self.room_beside(&Sampling::default())
    }

    /// The same, where somebody else says how long an answer may be.
    pub fn room_beside(&self, sampling: &Sampling) -> u64 {
        let answer =
            [sampling, &self.sampling].into_iter().find_map(|sampling| sampling.get(&Parameter::MaxOutputTokens)?.as_u64());
        self.window.saturating_sub(self.reserve.max(answer.unwrap_or(0)))
    }
}

impl Prices {
    /// One figure to compare models by: three tokens are read for each one written, as agents do.
    pub fn blended(&self) -> f64 {
        self.input.mul_add(3.0, self.output) / 4.0
    }

    /// US$ for a call of so many tokens, sent and written.
    pub fn of_call(&self, (input, cached): (u64, u64), output: u64) -> f64 {
        // Counts of tokens are far below what a float holds exactly.
        #[allow(clippy::cast_precision_loss, reason = "windows have less than 2^53 tokens")]
        let written = output as f64 * self.output;
        rounded(self.of_input(input, cached) + written / 1e6)
    }

    /// US$ for sending so many tokens, of which the provider's cache has some.
    pub fn of_input(&self, tokens: u64, cached: u64) -> f64 {
        let cached = cached.min(tokens);
        // Counts of tokens are far below what a float holds exactly.
        #[allow(clippy::cast_precision_loss, reason = "windows have less than 2^53 tokens")]
        let (new, old) = ((tokens - cached) as f64, cached as f64);
        rounded(new.mul_add(self.input, old * self.cached_input) / 1e6)
    }
}

/// To a billionth of a US$, so that two machines write the same figure.
fn rounded(usd: f64) -> f64 {
    (usd * 1e9).round() / 1e9
}
