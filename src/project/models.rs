//! `[models.NAME]` and `[providers.NAME]` as read. Never makes a call, and never reads an API key:
//! a provider names the variable that contains one.

use super::roles::Tier;
use crate::base::span::Spanned;
use crate::base::words::words;
use crate::kernel::sampling::{Parameter, Sampling};
use std::collections::BTreeSet;

/// The names of tokenizers, as used by the token counters.
pub const TOKENIZERS: [&str; 6] = ["o200k", "cl100k", "claude", "gemini", "llama", "bytes"];

/// A model that roles can use.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// Its name in this project.
    pub name: Spanned<String>,
    /// `id`: its name at the provider; the local name if the key is absent.
    pub id: String,
    /// `provider`: one of `[providers]`, or the kind itself for a vendor at its own address.
    pub provider: Spanned<String>,
    /// The protocol of the provider; `None` if the provider is unknown.
    pub kind: Option<ProviderKind>,
    /// `tier`.
    pub tier: Tier,
    /// `capabilities`: words of the project's own, such as `tools` or `vision`.
    pub capabilities: BTreeSet<String>,
    /// `context_window` in tokens.
    pub window: u64,
    /// `output_reserve`: tokens of the window that are reserved for the answer.
    pub reserve: u64,
    /// `usd_per_million`; `None` if the project does not contain its prices.
    pub prices: Option<Prices>,
    /// `tokenizer`: one of [`TOKENIZERS`]; if the key is absent, the usual one for models of its
    /// provider.
    pub tokenizer: &'static str,
    /// The sampling parameters, if neither role nor task sets others.
    pub sampling: Sampling,
}

/// US$ for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Input tokens.
    pub input: f64,
    /// Input tokens that the provider has cached from an earlier call; equal to `input` if it has
    /// no such price.
    pub cached_input: f64,
    /// Output tokens.
    pub output: f64,
}

/// An endpoint that answers requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its name in this project.
    pub name: Spanned<String>,
    /// `kind`: its protocol.
    pub kind: ProviderKind,
    /// `base_url`; `None` for the vendor's own address.
    pub base_url: Option<String>,
    /// `api_key_env`: the variable that contains its key. Never read here.
    pub api_key_env: Option<String>,
    /// `timeout_s`: the maximum duration of a call in seconds; `None` for the default limits.
    pub timeout_s: Option<u64>,
}

words! {
    /// The protocol of a provider.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ProviderKind {
        /// `openai`: the chat protocol of most servers, including local ones.
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
    /// The usual tokenizer of models behind this protocol.
    pub const fn tokenizer(self) -> &'static str {
        match self {
            Self::Openai | Self::OpenaiResponses => "o200k",
            Self::Anthropic => "claude",
            Self::Gemini => "gemini",
            Self::Ollama => "llama",
        }
    }

    /// The dialect that its requests are rendered for.
    pub const fn dialect(self) -> &'static str {
        match self {
            Self::Openai => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The kind of a provider by its name: as configured in the project, otherwise the vendor of
    /// this name.
    pub fn for_provider(name: &str, own: Option<&ProviderConfig>) -> Option<Self> {
        own.map(|own| own.kind).or_else(|| Self::parse(name))
    }
}

impl ModelConfig {
    /// The maximum tokens of a context: the window without the tokens reserved for the answer, or
    /// without the maximum length of the answer if that is more.
    pub fn context_room(&self) -> u64 {
        self.context_room_with(&Sampling::default())
    }

    /// Like [`Self::context_room`], with another maximum length of the answer.
    pub fn context_room_with(&self, sampling: &Sampling) -> u64 {
        let answer = [sampling, &self.sampling]
            .into_iter()
            .find_map(|sampling| sampling.get(&Parameter::MaxOutputTokens)?.as_u64());
        self.window
            .saturating_sub(self.reserve.max(answer.unwrap_or(0)))
    }
}

impl Prices {
    /// One figure to compare models by, for three input tokens per output token, as is usual for
    /// agents.
    pub fn blended_price(&self) -> f64 {
        self.input.mul_add(3.0, self.output) / 4.0
    }

    /// The cost in US$ of a call with this number of input tokens, of cached tokens among them, and of
    /// output tokens.
    pub fn call_cost(&self, input: u64, cached: u64, output: u64) -> f64 {
        // Counts of tokens are far below what a float holds exactly.
        #[allow(
            clippy::cast_precision_loss,
            reason = "windows have less than 2^53 tokens"
        )]
        let written = output as f64 * self.output;
        round_usd(self.input_cost(input, cached) + written / 1e6)
    }

    /// The cost in US$ of input tokens, some of which the provider has cached.
    pub fn input_cost(&self, tokens: u64, cached: u64) -> f64 {
        let cached = cached.min(tokens);
        // Counts of tokens are far below what a float holds exactly.
        #[allow(
            clippy::cast_precision_loss,
            reason = "windows have less than 2^53 tokens"
        )]
        let (new, old) = ((tokens - cached) as f64, cached as f64);
        round_usd(new.mul_add(self.input, old * self.cached_input) / 1e6)
    }
}

/// Rounds to a billionth of a US$, so that two machines write the same figure.
fn round_usd(usd: f64) -> f64 {
    (usd * 1e9).round() / 1e9
}
