//! Messages for a call without an answer.

use ctxc::internals::kernel::provider::ProviderError as E;
use std::time::Duration;

#[test]
fn each_error_has_a_kind_of_its_own_and_reports_what_happened() {
    let refused = |status, message: &str| E::Refused {
        status,
        message: message.to_owned(),
        retry_after: None,
    };
    let all = [
        (
            refused(400, "max_tokens: too large"),
            "refused: the provider answered with status 400: max_tokens: too large",
        ),
        (
            refused(404, ""),
            "refused: the provider answered with status 404",
        ),
        (
            refused(529, "Overloaded"),
            "refused, retry: the provider answered with status 529: Overloaded",
        ),
        (
            E::RateLimited {
                message: String::new(),
                retry_after: None,
            },
            "rate_limited, retry: the provider limits the rate of requests (status 429)",
        ),
        (
            E::TimeLimit {
                limit: "the whole call",
                after: Duration::from_millis(1500),
            },
            "time_limit, retry: no answer within 1.5 s: the time limit for the whole call was reached",
        ),
        (
            E::Unreachable {
                host: "example.org".to_owned(),
                why: "connection refused".to_owned(),
            },
            "unreachable, retry: example.org could not be reached: connection refused",
        ),
        (
            E::CutStream { bytes: 12 },
            "cut_stream, retry: the answer ended before it was complete, after 12 bytes",
        ),
        (
            E::NotUnderstood {
                why: "expected JSON, found `<html>`".to_owned(),
            },
            "not_understood: the answer could not be read: expected JSON, found `<html>`",
        ),
        (
            E::TooLarge { limit: 50 },
            "too_large: the answer is larger than 50 bytes",
        ),
        (
            E::NoKey {
                variable: "A_KEY".to_owned(),
                why: "is not set",
            },
            "no_key: the environment variable `A_KEY`, which should hold the key of the provider, is not set",
        ),
        (
            E::Redirected {
                host: "a.example".to_owned(),
                to: "https://b.example".to_owned(),
            },
            "redirected: a.example redirects to https://b.example; keys and requests are not sent on to another address, so set \
             `base_url` to the one you trust",
        ),
        (
            E::OverBudget {
                why: "US$ 1 is spent".to_owned(),
            },
            "over_budget: the call was not made: US$ 1 is spent",
        ),
    ];
    for (error, expected) in all {
        let retry = if error.is_retryable() { ", retry" } else { "" };
        assert_eq!(format!("{}{retry}: {error}", error.as_str()), expected);
    }
}
