//! Reads the body of a response into an answer: whole or as a stream, live or recorded.

use super::dialect::ResponseDialect;
use super::dialects::DIALECTS;
use super::draft::AnswerDraft;
use super::events::{BrokenBody, read_events};
use super::refusal;
use crate::base::json::describe_kind;
use crate::kernel::provider::{Answer, ProviderError};

/// Returns the dialect with a name.
pub fn find_dialect(name: &str) -> Option<&'static ResponseDialect> {
    DIALECTS
        .iter()
        .copied()
        .find(|dialect| dialect.name == name)
}

/// Reads the body of a response with a status of success.
///
/// # Errors
/// The body ends too early, does not match its dialect, or contains an error.
pub fn answer(dialect: &ResponseDialect, body: &str) -> Result<Answer, ProviderError> {
    let cut = || ProviderError::CutStream { bytes: body.len() };
    let events = read_events(body).map_err(|broken| match broken {
        BrokenBody::Cut => cut(),
        BrokenBody::Other(why) => ProviderError::NotUnderstood { why },
    })?;
    let mut draft = AnswerDraft::default();
    let mut is_known = false;
    for event in &events.values {
        if let Some(error) = refusal::error_in_event(event) {
            return Err(error);
        }
        is_known |= (dialect.take_event)(event, &mut draft);
    }
    if draft.stop.is_none() && (events.is_stream || draft.is_open) {
        return Err(cut());
    }
    if !is_known {
        let found = events
            .values
            .first()
            .map_or_else(|| "nothing".to_owned(), describe_kind);
        let why = format!(
            "expected {} of `{}`, found {found}",
            dialect.expected, dialect.name
        );
        return Err(ProviderError::NotUnderstood { why });
    }
    Ok(draft.finish())
}
