//! Bytes that a text holds in base64.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

/// With or without `=` at its end, or cut behind any group of four.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes; `None` where a sign is none of base64. White space counts for nothing, and signs may be those of URLs, as Gemini's clients
/// write them.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    ENGINE.decode(text.split_ascii_whitespace().collect::<String>().replace('-', "+").replace('_', "/")).ok()
}

/// The text of bytes in base64.
pub fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}
