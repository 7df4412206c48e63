//! Base64 in texts.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

/// Accepts padding or none, and a text cut after any group of four.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The decoded bytes; `None` if a character is not base64. White space is ignored, and the URL-safe
/// alphabet is accepted, which Gemini's clients use.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    ENGINE
        .decode(
            text.split_ascii_whitespace()
                .collect::<String>()
                .replace('-', "+")
                .replace('_', "/"),
        )
        .ok()
}

/// The base64 text of some bytes.
pub fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}
