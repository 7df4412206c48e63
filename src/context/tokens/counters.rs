//! The counters by name. An estimate is labelled as one in its name.

use crate::base::suggest;
use crate::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use std::sync::Arc;

/// The name of the default counter.
pub const DEFAULT_COUNTER: &str = if cfg!(feature = "tokens") {
    "o200k"
} else {
    "bytes"
};

/// The tables that are part of the program.
#[cfg(feature = "tokens")]
const EXACT_COUNTERS: &[&str] = &["o200k", "cl100k"];
#[cfg(not(feature = "tokens"))]
const EXACT_COUNTERS: &[&str] = &[];

/// Vendors whose tokenizer is not part of the program, with the bytes of a token according to their
/// documentation of English text. They count characters; a character is at least one byte, so texts
/// in other scripts are overestimated and never underestimated.
///
/// - Anthropic, glossary of the documentation, “Tokens”: a token is about 3.5 English characters.
/// - Google, documentation of the Gemini API, “Understand and count tokens”: a token is about 4
///   characters.
/// - Meta, “The Llama 3 Herd of Models”, 3.2: the tokenizer takes 3.94 characters of English to a
///   token.
const ESTIMATES: &[(&str, f64)] = &[("claude", 3.5), ("gemini", 4.0), ("llama", 3.94)];

/// The label behind the vendor's name of an estimate.
const ESTIMATE_LABEL: &str = " (estimate)";

/// Returns the counter with a name: `o200k`, `cl100k`, `claude`, `gemini`, `llama`, `bytes`.
/// Estimates are also found by their labelled name.
pub fn counter(name: &str) -> Option<Arc<dyn TokenCounter>> {
    let vendor = name.strip_suffix(ESTIMATE_LABEL).unwrap_or(name);
    if let Some((vendor, bytes)) = ESTIMATES.iter().find(|(known, _)| *known == vendor) {
        return Some(Arc::new(ByteEstimate::new(
            format!("{vendor}{ESTIMATE_LABEL}"),
            *bytes,
        )));
    }
    match name {
        #[cfg(feature = "tokens")]
        "o200k" => Some(Arc::new(&super::bpe::O200K)),
        #[cfg(feature = "tokens")]
        "cl100k" => Some(Arc::new(&super::bpe::CL100K)),
        "bytes" => Some(Arc::new(ByteCounter)),
        _ => None,
    }
}

/// Returns all names, those of exact counters first.
pub fn counter_names() -> impl Iterator<Item = &'static str> {
    EXACT_COUNTERS
        .iter()
        .copied()
        .chain(ESTIMATES.iter().map(|(name, _)| *name))
        .chain(["bytes"])
}

/// Returns the name nearest to an unknown one; `o200k_base`, the vendor's own name, leads to
/// `o200k`.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    let plain = name.strip_suffix("_base").unwrap_or(name);
    suggest::nearest_candidate(plain, counter_names())
}
