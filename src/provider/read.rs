//! Reads the body of a response into an answer: whole or as a stream, live or recorded.

use super::dialect::Dialect;
use super::dialects::DIALECTS;
use super::draft::Draft;
use super::events::{Broken, events};
use super::refusal;
use crate::base::json::kind;
use crate::kernel::provider::{Answer, ProviderError};

/// Returns the dialect with a name.
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS
        .iter()
        .copied()
        .find(|dialect| dialect.name == name)
}

/// Reads the body of a response with a status of success.
///
/// # Errors
/// The body ends too early, does not match its dialect, or contains an error.
pub fn answer(dialect: &Dialect, body: &str) -> Result<Answer, ProviderError> {
    let cut = || ProviderError::CutStream { bytes: body.len() };
    let events = events(body).map_err(|broken| match broken {
        Broken::Cut => cut(),
        Broken::Other(why) => ProviderError::NotUnderstood { why },
    })?;
    let mut draft = Draft::default();
    let mut is_known = false;
    for event in &events.values {
        if let Some(error) = refusal::inside(event) {
            return Err(error);
        }
        is_known |= (dialect.take)(event, &mut draft);
    }
    if draft.stop.is_none() && (events.is_stream || draft.is_open) {
        return Err(cut());
    }
    if !is_known {
        let found = events
            .values
            .first()
            .map_or_else(|| "nothing".to_owned(), kind);
        let why = format!(
            "expected {} of `{}`, found {found}",
            dialect.expected, dialect.name
        );
        return Err(ProviderError::NotUnderstood { why });
    }
    Ok(draft.finish())
}
