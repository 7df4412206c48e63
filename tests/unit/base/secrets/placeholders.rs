//! Values that are placeholders or paths as a whole, and secrets with such a word in them.

use super::{PUBLISHED_SAMPLES, is_path, is_sample, is_whole_placeholder};

#[test]
fn a_value_is_a_placeholder_only_as_a_whole() {
    for value in [
        "${TOKEN}",
        "$(pass db)",
        "$TOKEN",
        "<your key>",
        "{{token}}",
        "%TOKEN%",
        "changeme",
        "ChangeMe",
        "change-me-please",
        "your-key-here",
        "YOUR_API_KEY",
        "API_KEY",
        "[REDACTED]",
        "****",
        "sk-xxxxxxxx",
        "sk-...",
        "todo",
        "none",
        "your-supabase-anon-key",
        "<paste>",
        "⟦secret:12ab⟧",
        "replace-with-own-secret",
    ] {
        assert!(is_whole_placeholder(value), "{value}");
    }
    for value in include_str!("secrets_like_placeholders.txt").lines() {
        assert!(!is_whole_placeholder(value), "{value}");
    }
}

#[test]
fn samples_of_pages_are_placeholders_and_keys_like_them_are_none() {
    for value in PUBLISHED_SAMPLES
        .into_iter()
        .chain(["AKIAI44QH8DHBEXAMPLE"])
    {
        assert!(is_sample(value) && is_whole_placeholder(value), "{value}");
    }
    for value in [
        "AKIAI44QH8DHBEXAMPLF",
        "AKIAIOSFODNN7REALEXAMPLE",
        "XEXAMPLE",
    ] {
        assert!(!is_sample(value), "{value}");
    }
}

#[test]
fn a_path_leads_to_a_file() {
    for value in [
        "/run/secrets/db1",
        "/etc/ssl",
        "~/.ssh/id",
        "./key",
        "C:\\keys",
        "/unknown/of/names.txt",
        "server.pem",
        "/srv/Ann/key",
    ] {
        assert!(is_path(value), "{value}");
    }
    for value in [
        "/Fjord/99x",
        "~Fjord99x",
        "~",
        ".Fjord99",
        "Fjord/99x",
        "Fjord99.js",
    ] {
        assert!(!is_path(value), "{value}");
    }
}
