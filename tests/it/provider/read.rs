//! Responses are read as their vendors document them, whole and as streams.

use super::samples::SAMPLES;
use ctxc::internals::kernel::conversation::{Part, Turn};
use ctxc::internals::kernel::provider::{Answer, ProviderError};
use ctxc::internals::provider::read;
use ctxc::internals::provider::refusal::error_of_status;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::time::Duration;

fn answer(dialect: &str, body: &str) -> Result<Answer, ProviderError> {
    read::answer(read::find_dialect(dialect).unwrap(), body)
}

pub(super) fn words(answer: &Answer) -> String {
    let mut out = String::new();
    let Turn { parts, .. } = &answer.turn;
    for part in parts {
        match part {
            Part::Text(text) => write!(out, "text `{text}`").unwrap(),
            Part::Reasoning(reasoning) => {
                write!(out, "reasoning `{}`", reasoning.text).unwrap();
                for (word, value) in [
                    ("signed", &reasoning.signature),
                    ("hidden", &reasoning.redacted),
                ] {
                    if let Some(value) = value {
                        write!(out, " {word} {value}").unwrap();
                    }
                }
            }
            Part::Call(call) => {
                write!(out, "call {} {} {}", call.id, call.name, call.arguments).unwrap();
            }
            Part::Result(_) | Part::Media(_) | _ => panic!("{part:?}"),
        }
        out.push_str("; ");
    }
    let count =
        |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let usage = answer.usage;
    let (input, cached, output) = (count(usage.input), count(usage.cached), count(usage.output));
    let model = answer.model.as_deref().unwrap_or("-");
    write!(
        out,
        "{:?}; in {input} ({cached}) out {output} ({}); {model}",
        answer.stop,
        count(usage.reasoning)
    )
    .unwrap();
    out
}

#[test]
fn documented_responses_are_read() {
    for sample in SAMPLES {
        let answer = answer(sample.dialect, sample.body)
            .unwrap_or_else(|error| panic!("{}: {error}", sample.body));
        assert_eq!(words(&answer), sample.says);
    }
}

#[test]
fn a_response_that_ends_too_early_is_cut_at_every_byte_and_never_another_answer() {
    for sample in SAMPLES {
        let whole = answer(sample.dialect, sample.body).unwrap();
        let mut ended = false;
        for at in (0..sample.body.len()).filter(|at| sample.body.is_char_boundary(*at)) {
            match answer(sample.dialect, &sample.body[..at]) {
                Ok(read) => {
                    assert_eq!(read, whole, "cut at {at}: {}", sample.body);
                    ended = true;
                }
                // Nothing behind the end of a stream takes it back.
                Err(ProviderError::CutStream { bytes }) => {
                    assert!(bytes == at && !ended, "cut at {at}: {}", sample.body);
                }
                Err(error) => panic!("cut at {at}: {error}: {}", sample.body),
            }
        }
    }
}

#[test]
fn a_stream_is_the_same_with_every_end_of_line() {
    for sample in SAMPLES
        .iter()
        .filter(|sample| sample.body.contains("data:"))
    {
        for end in ["\n", "\r\n", "\r"] {
            let body = sample.body.replace("\r\n", "\n").replace('\n', end);
            assert_eq!(words(&answer(sample.dialect, &body).unwrap()), sample.says);
        }
    }
}

#[test]
fn what_is_no_response_is_not_understood() {
    let why = |dialect: &str, body: &str| match answer(dialect, body) {
        Err(ProviderError::NotUnderstood { why }) => why,
        other => panic!("{body}: {other:?}"),
    };
    assert_eq!(
        why("anthropic", "<html>\n<h1>Hi</h1>"),
        "expected JSON or server-sent events, found `<html> <h1>Hi</h1>`"
    );
    assert_eq!(
        why("openai-chat", r#"{"content":[],"type":"message"}"#),
        "expected `choices` of `openai-chat`, found an object with `content`, `type`"
    );
    assert_eq!(
        why("openai-chat", r#"{"choices":[]}"#),
        "expected `choices` of `openai-chat`, found an object with `choices`"
    );
    assert_eq!(
        why("gemini", "{}"),
        "expected `candidates` of `gemini`, found an empty object"
    );
    assert_eq!(
        why("ollama", r#"{"a":1,}"#),
        "it is not valid JSON: trailing comma at line 1 column 8"
    );
    assert_eq!(
        why("openai-chat", "data: {]\n\n"),
        "it is not valid JSON: key must be a string at line 1 column 2"
    );
}

#[test]
fn arguments_that_are_no_object_stay_the_text_that_they_are() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\": "}}]},"finish_reason":"length"}]}"#;
    assert_eq!(
        words(&answer("openai-chat", body).unwrap()),
        r#"call call_1 f "{\"a\": "; Length; in - (-) out - (-); -"#
    );
}

#[test]
fn what_is_no_text_is_no_answer() {
    let body = r#"{"choices":[{"message":{"content":42},"finish_reason":"stop"}]}"#;
    assert!(answer("openai-chat", body).is_err());
}

#[test]
fn strange_counts_are_no_counts() {
    let body = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-3,"completion_tokens":"many","prompt_tokens_details":7}}"#;
    assert_eq!(
        words(&answer("openai-chat", body).unwrap()),
        "text `a`; End; in - (-) out - (-); -"
    );
}

#[test]
fn an_error_inside_a_response_is_an_error() {
    let error = |dialect: &str, body: &str| {
        let error = answer(dialect, body).unwrap_err();
        format!("{} {}: {error}", error.as_str(), error.is_retryable())
    };
    // platform.claude.com/docs/en/build-with-claude/streaming#error-events
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    assert_eq!(
        error("anthropic", overloaded),
        "refused true: the provider answered with status 529: Overloaded"
    );
    // platform.openai.com/docs/api-reference/responses-streaming/response/failed
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"Try again.\"}}}\n\n";
    assert_eq!(
        error("openai-responses", failed),
        "refused true: the provider answered with status 500: Try again."
    );
    let limited = "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Slow down.\"}\n\n";
    assert_eq!(
        error("openai-responses", limited),
        "rate_limited true: the provider limits the rate of requests (status 429): Slow down."
    );
    // LiteLLM, in a stream that fails at its start.
    let quoted = "data: {\"error\": {\"message\": \"Error\", \"type\": \"internal_server_error\", \"code\": \"500\"}}\n\ndata: [DONE]\n\n";
    assert_eq!(
        error("openai-responses", quoted),
        "refused true: the provider answered with status 500: Error"
    );
    let gone = r#"{"error":"model \"x\" not found"}"#;
    assert_eq!(
        error("ollama", gone),
        "refused false: the provider answered with status 200: model \"x\" not found"
    );
    let exhausted =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    assert_eq!(
        error("gemini", exhausted),
        "refused true: the provider answered with status 503: The model is overloaded."
    );
}

#[test]
fn a_status_is_reported_with_the_message_of_its_vendor() {
    let status_error = |status, body| error_of_status(status, body, None);
    let refused = |status, message: &str| ProviderError::Refused {
        status,
        message: message.to_owned(),
        retry_after: None,
    };
    // platform.openai.com/docs/guides/error-codes
    assert_eq!(
        status_error(
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#
        ),
        refused(404, "The model `x` does not exist")
    );
    assert_eq!(
        status_error(
            429,
            r#"{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}"#
        ),
        refused(429, "You exceeded your current quota.")
    );
    assert_eq!(
        status_error(502, "<html>\n  Bad\u{7}  gateway </html>"),
        refused(502, "<html> Bad gateway </html>")
    );
    assert_eq!(
        status_error(422, r#"{"detail":"no such field"}"#),
        refused(422, "no such field")
    );
    assert_eq!(status_error(500, ""), refused(500, ""));
    // ai.google.dev/gemini-api/docs/troubleshooting
    let limited = r#"[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"a"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}]}}]"#;
    let expected = ProviderError::RateLimited {
        message: "Quota".to_owned(),
        retry_after: Some(Duration::from_millis(17_500)),
    };
    assert_eq!(status_error(429, limited), expected);
}

proptest! {
    #[test]
    fn a_damaged_response_gives_an_answer_or_an_error(
        sample in 0..SAMPLES.len(),
        dialect in 0..SAMPLES.len(),
        from in 0.0..1.0_f64,
        length in 0_usize..30,
        put in "[\\[\\]{}\",:0-9eE\n dta\u{0}\u{feff}ü-]{0,8}",
    ) {
        let body: Vec<char> = SAMPLES[sample].body.chars().collect();
        #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a place in a short text")]
        let from = (from * body.len() as f64) as usize;
        let to = (from + length).min(body.len());
        let damaged: String = body[..from].iter().copied().chain(put.chars()).chain(body[to..].iter().copied()).collect();
        for name in [SAMPLES[sample].dialect, SAMPLES[dialect].dialect] {
            if let Err(error) = answer(name, &damaged) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
