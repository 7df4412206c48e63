//! The address of a model, and its key.

use crate::project::reading::read;
use ctxc::internals::provider::endpoint::{Endpoint, ProviderAddress};
use ctxc::internals::provider::retry::parse_retry_after;
use pretty_assertions::assert_eq;
use std::time::Duration;

/// The endpoint of the only model; these variables are set.
fn endpoint(providers: &str, provider: &str, variables: &[(&str, &str)]) -> String {
    let config = read(&format!(
        "[models.m]\nprovider = \"{provider}\"\ntier = \"economy\"\ncontext_window = 9\n{providers}"
    ));
    let env = |name: &str| {
        variables
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    match Endpoint::resolve(&config.models["m"], &config, &env) {
        Ok(Some(endpoint)) => {
            let key = if endpoint.key.is_some() {
                " with a key"
            } else {
                ""
            };
            format!(
                "{} {}{key}",
                endpoint.dialect.name,
                (endpoint.dialect.address)(&endpoint.base_url, "m")
            )
        }
        Ok(None) => "none".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_vendor_is_asked_at_its_own_address_with_its_usual_key() {
    let keys = [
        ("OPENAI_API_KEY", "a"),
        ("ANTHROPIC_API_KEY", "b"),
        ("GEMINI_API_KEY", "c"),
    ];
    for (name, expected) in [
        (
            "openai",
            "openai-chat https://api.openai.com/v1/chat/completions with a key",
        ),
        (
            "openai-responses",
            "openai-responses https://api.openai.com/v1/responses with a key",
        ),
        (
            "anthropic",
            "anthropic https://api.anthropic.com/v1/messages with a key",
        ),
        (
            "gemini",
            "gemini https://generativelanguage.googleapis.com/v1beta/models/m:generateContent with a key",
        ),
        ("ollama", "ollama http://127.0.0.1:11434/api/chat"),
    ] {
        assert_eq!(endpoint("", name, &keys), expected);
    }
    let missing = "the environment variable `OPENAI_API_KEY`, which should hold the key of the provider, is not set";
    assert_eq!(endpoint("", "openai", &[]), missing);
    assert_eq!(endpoint("", "nobody", &keys), "none");
}

#[test]
fn an_address_of_the_project_gets_a_key_only_from_the_variable_that_is_named_for_it() {
    let keys = [("OPENAI_API_KEY", "a"), ("CELLAR_KEY", "b")];
    let cellar = |rest: &str| format!("[providers.cellar]\nkind = \"openai\"\n{rest}");
    let local = cellar("base_url = \"http://localhost:8000/v1/\"");
    assert_eq!(
        endpoint(&local, "cellar", &keys),
        "openai-chat http://localhost:8000/v1/chat/completions"
    );
    let named = format!("{local}\napi_key_env = \"CELLAR_KEY\"");
    assert_eq!(
        endpoint(&named, "cellar", &keys),
        "openai-chat http://localhost:8000/v1/chat/completions with a key"
    );
    let missing = "the environment variable `CELLAR_KEY`, which should hold the key of the provider, is not set";
    assert_eq!(endpoint(&named, "cellar", &keys[..1]), missing);
    let strange = "the environment variable `CELLAR_KEY`, which should hold the key of the provider, holds characters that no key has";
    assert_eq!(
        endpoint(&named, "cellar", &[("CELLAR_KEY", "a\r\nx-other: b")]),
        strange
    );
    let empty = "the environment variable `CELLAR_KEY`, which should hold the key of the provider, is empty";
    assert_eq!(endpoint(&named, "cellar", &[("CELLAR_KEY", " \n")]), empty);
    // The vendor's own address, with a key of another name.
    let second = cellar("api_key_env = \"CELLAR_KEY\"");
    assert_eq!(
        endpoint(&second, "cellar", &keys[1..]),
        "openai-chat https://api.openai.com/v1/chat/completions with a key"
    );
}

#[test]
fn addresses_are_written_with_and_without_their_version() {
    let at = |kind: &str, url: &str| {
        endpoint(
            &format!("[providers.p]\nkind = \"{kind}\"\nbase_url = \"{url}\""),
            "p",
            &[],
        )
    };
    assert_eq!(
        at("anthropic", "https://a.example/v1"),
        "anthropic https://a.example/v1/messages"
    );
    assert_eq!(
        at("anthropic", "https://a.example/x/"),
        "anthropic https://a.example/x/v1/messages"
    );
    assert_eq!(
        at("gemini", "https://a.example/v1beta"),
        "gemini https://a.example/v1beta/models/m:generateContent"
    );
}

#[test]
fn an_address_over_a_network_that_everybody_reads_is_known() {
    let is_open = |url: &str| {
        let config = read(&format!(
            "[providers.p]\nkind = \"openai\"\nbase_url = \"{url}\""
        ));
        ProviderAddress::resolve("p", &config)
            .unwrap()
            .is_unencrypted()
    };
    for url in [
        "http://localhost:8000/v1",
        "http://a.localhost",
        "http://127.0.0.1:1",
        "http://127.9.9.9/v1",
        "http://[::1]:80/v1",
        "https://a.example",
    ] {
        assert!(!is_open(url), "{url}");
    }
    for url in [
        "http://a.example/v1",
        "http://10.0.0.7:8000",
        "http://localhost.example",
        "http://[fe80::1]/v1",
        "http://127.0.0.1.example",
    ] {
        assert!(is_open(url), "{url}");
    }
}

#[test]
fn a_wait_is_read_in_seconds_and_as_a_date() {
    // Seconds since 1970 of Wed, 21 Oct 2015 07:28:00 GMT.
    let now = 1_445_412_480;
    let wait = |value: &str| parse_retry_after(value, now);
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(wait(" 120 "), seconds(120));
    assert_eq!(wait("0.25"), Some(Duration::from_millis(250)));
    assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), seconds(0));
    assert_eq!(wait("Wed, 21 Oct 2015 07:29:30 GMT"), seconds(90));
    assert_eq!(
        wait("Mon, 29 Feb 2016 00:00:00 GMT"),
        seconds(1_456_704_000 - now)
    );
    assert_eq!(wait("Thu, 01 Jan 1970 00:00:00 GMT"), seconds(0));
    assert_eq!(
        parse_retry_after("Sat, 01 Jan 2000 00:00:00 GMT", 0),
        seconds(946_684_800)
    );
    assert_eq!(
        parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", 0),
        seconds(253_402_300_799)
    );
    for other in [
        "",
        "-1",
        "soon",
        "NaN",
        "inf",
        "1e300",
        "Wed, 21 Foo 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 07:28 GMT",
        "Wed, 99 Oct 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 07:28:00 CET",
    ] {
        assert_eq!(wait(other), None, "{other}");
    }
}
