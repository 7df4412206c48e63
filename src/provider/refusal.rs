//! Reads error responses of vendors: the message, and the requested wait.

use super::dialect::{list_at, text_at};
use crate::kernel::provider::ProviderError;
use serde_json::Value;
use std::time::Duration;

/// The maximum number of characters of a vendor's message.
const MAX_MESSAGE_CHARS: usize = 500;

/// Returns the error of a response with a status other than success.
pub fn error_of_status(status: u16, body: &str, retry_after: Option<Duration>) -> ProviderError {
    let value: Value = serde_json::from_str(body).unwrap_or_else(|_| body.into());
    // Gemini wraps the error of a streaming request in a list.
    let value = value.get(0).unwrap_or(&value);
    // Errors of Azure and of many servers lack this key.
    let error = value.get("error").unwrap_or(value);
    vendor_error(status, error, retry_after)
}

/// Returns the error inside a response or event that was sent with a status of success.
pub(super) fn error_in_event(event: &Value) -> Option<ProviderError> {
    let own = event
        .get("error")
        .or_else(|| event.pointer("/response/error"))
        .filter(|error| !error.is_null() && *error != "");
    let error = own.or_else(|| (text_at(event, "/type") == Some("error")).then_some(event))?;
    let word = text_at(error, "/type")
        .filter(|word| *word != "error")
        .or_else(|| text_at(error, "/code"));
    // A number with Gemini, the same as a string with LiteLLM.
    let number = error
        .get("code")
        .and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let number = number.and_then(|code| u16::try_from(code).ok());
    let status = match word {
        _ if number.is_some_and(|code| code >= 400) => number.unwrap_or_default(),
        Some("rate_limit_error" | "rate_limit_exceeded") => 429,
        Some("overloaded_error") => 529,
        Some("timeout_error") => 504,
        Some("api_error" | "server_error" | "internal_error") => 500,
        _ => 200,
    };
    Some(vendor_error(status, error, None))
}

fn vendor_error(status: u16, error: &Value, retry_after: Option<Duration>) -> ProviderError {
    let message = ["/message", "/detail", ""]
        .into_iter()
        .find_map(|pointer| text_at(error, pointer))
        .unwrap_or_default();
    let words: Vec<&str> = message
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let message: String = words.join(" ").chars().take(MAX_MESSAGE_CHARS).collect();
    let retry_after = retry_after.or_else(|| retry_delay(error));
    // Waiting does not help against this error.
    let is_unpaid = ["/code", "/type"]
        .iter()
        .any(|pointer| text_at(error, pointer) == Some("insufficient_quota"));
    if status == 429 && !is_unpaid {
        ProviderError::RateLimited {
            message,
            retry_after,
        }
    } else {
        ProviderError::Refused {
            status,
            message,
            retry_after,
        }
    }
}

/// Returns the delay that Gemini puts into the error: `"retryDelay": "17s"`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let seconds = list_at(error, "/details")
        .find_map(|(_, detail)| text_at(detail, "/retryDelay")?.strip_suffix('s'))?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}
