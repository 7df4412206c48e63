//! Facts about the model of a request: its token counter and prices. The project's `[models]` take
//! precedence over the built-in table.

use crate::context::tokens;
use crate::kernel::tokens::{ByteCounter, TokenCounter};
use crate::project::config::Config;
use crate::project::models::ModelConfig;
use crate::request::model::ModelRequest;
use crate::request::public_models::find_model;
use crate::request::segments::build_segments;
use crate::rules::request::cx::ModelFacts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Facts about a model.
#[derive(Debug)]
pub struct RequestModelFacts {
    /// The token counter.
    pub counter: Arc<dyn TokenCounter>,
    /// US$ per million input tokens; `None` if unknown.
    pub usd_input: Option<f64>,
    /// US$ per million cached input tokens.
    pub usd_cached: Option<f64>,
    /// The minimum length of a cacheable prefix in tokens; 0 if unknown.
    pub cache_floor: usize,
}

/// The facts about the model of a request.
pub fn model_facts(
    request: &ModelRequest,
    models: &BTreeMap<String, ModelConfig>,
) -> RequestModelFacts {
    let name = request.model.as_deref().unwrap_or_default();
    let own = models.values().find(|model| model.id == name);
    let public = find_model(name);
    let prices = own.and_then(|model| model.prices.as_ref());
    RequestModelFacts {
        counter: tokens::counter(tokenizer_name(request, own, name))
            .unwrap_or_else(|| Arc::new(ByteCounter)),
        usd_input: prices
            .map(|prices| prices.input)
            .or_else(|| public.and_then(|model| model.usd_input)),
        cache_floor: public
            .and_then(|model| usize::try_from(model.cache_floor).ok())
            .unwrap_or(0),
        usd_cached: prices
            .map(|prices| prices.cached_input)
            .or_else(|| public.and_then(|model| model.usd_cached)),
    }
}

fn tokenizer_name<'a>(request: &ModelRequest, own: Option<&'a ModelConfig>, name: &str) -> &'a str {
    let name = name.rsplit('/').next().unwrap_or(name);
    match own {
        Some(model) => model.tokenizer,
        None if name.starts_with("claude") => "claude",
        None if name.starts_with("gemini") => "gemini",
        None if name.starts_with("gpt-3.5") || name == "gpt-4" || name.starts_with("gpt-4-") => {
            "cl100k"
        }
        None => request.dialect.tokenizer(),
    }
}

impl RequestModelFacts {
    /// US$ for tokens that were sent although the cache could have supplied them; `None` if a price
    /// is unknown.
    pub fn lost_usd(&self, tokens: usize) -> Option<f64> {
        // Token counts are far below the limit of exact floats.
        #[allow(
            clippy::cast_precision_loss,
            reason = "windows have less than 2^53 tokens"
        )]
        let tokens = tokens as f64;
        let usd = tokens * (self.usd_input? - self.usd_cached?) / 1e6;
        Some((usd * 1e9).round() / 1e9)
    }
}

/// A lower bound of the tokens of a request: those of its texts, if its tokenizer is public. `None`
/// if that is unknown, or if the request fits into any window.
pub fn min_tokens(request: &ModelRequest, size: usize, config: &Config) -> Option<u64> {
    let window = ModelFacts::look_up(config, request.model.as_deref()).window?;
    let counter = model_facts(request, &config.models).counter;
    // Tokens of fewer than two bytes are rare, and counting takes ten times as long as reading.
    if !counter.is_exact() || (size as u64) / 2 < window {
        return None;
    }
    let texts = build_segments(request)
        .into_iter()
        .filter(|segment| segment.is_text);
    Some(
        texts
            .map(|segment| counter.count(&segment.text) as u64)
            .sum(),
    )
}
