//! Tokens: counts equal those of the vendors, a prefix is as long as its limit allows, no text does
//! harm.

use ctxc::internals::context::tokens::{DEFAULT_COUNTER, counter, counter_names, nearest_name};
use ctxc::internals::kernel::tokens::TokenCounter;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::sync::Arc;

/// Texts with their counts by `o200k_base` and `cl100k_base`, from tiktoken 0.14.0
/// (`encode_ordinary`).
const COUNTED: &[(&str, usize, usize)] = &[
    ("", 0, 0),
    ("a", 1, 1),
    ("Hello, world!", 4, 4),
    ("It's what they'VE said, isn't it?", 10, 12),
    (
        "    fn main() {\n        println!(\"{}\", 1234567);\n    }\n",
        15,
        15,
    ),
    ("a\n  ", 3, 3),
    ("a  \n", 2, 2),
    ("\n\n  \n ", 2, 3),
    ("\r\n\r\n\tx", 2, 2),
    ("naïve café — déjà vu", 7, 7),
    ("Straße, ИВАН иван", 8, 10),
    ("日本語のテキスト", 6, 8),
    ("👩\u{200d}👩\u{200d}👧 😀", 9, 14),
    ("e\u{301}\u{301} ſ 'ſ it'ſ", 10, 12),
    ("<|endoftext|>", 7, 7),
    ("<|fim_prefix|>x<|endofprompt|>", 14, 15),
    ("\u{200b}\u{3000}\u{2028}\u{a0}", 4, 5),
    ("½٣Ⅷ 12345", 7, 8),
    ("//////\n\n/", 3, 3),
    ("\u{0}\u{1}\u{2}", 3, 3),
    ("supercalifragilisticexpialidocious", 10, 11),
];

fn exact() -> [Arc<dyn TokenCounter>; 2] {
    ["o200k", "cl100k"].map(|name| counter(name).unwrap())
}

#[test]
fn counts_are_those_of_the_vendor() {
    let [o200k, cl100k] = exact();
    for &(text, first, second) in COUNTED {
        assert_eq!(
            (o200k.count(text), cl100k.count(text)),
            (first, second),
            "{text:?}"
        );
    }
    assert!(o200k.is_exact() && cl100k.is_exact());
}

#[test]
fn special_tokens_in_a_text_are_text() {
    for counter in exact() {
        let special = "<|endoftext|>";
        assert!(counter.count(special) > 1, "{}", counter.name());
        let end = counter.fit(special, 3);
        assert!(end > 0 && end < special.len(), "{}: {end}", counter.name());
    }
}

#[test]
fn every_name_has_a_counter_and_estimates_say_so() {
    for name in counter_names() {
        let found = counter(name).unwrap();
        let shown = if found.is_exact() || name == "bytes" {
            name.to_owned()
        } else {
            format!("{name} (estimate)")
        };
        assert_eq!(found.name(), shown);
        assert_eq!(
            counter(&shown).map(|again| again.name().to_owned()),
            Some(shown)
        );
    }
    assert_eq!(counter(DEFAULT_COUNTER).unwrap().name(), "o200k");
    assert_eq!(
        ["claude", "gemini", "llama"].map(|name| counter(name).unwrap().count(&"x".repeat(1000))),
        [286, 250, 254]
    );
    assert!(counter("gpt").is_none() && counter("").is_none());
    let meant = ["o200k_base", "cl100", "Claud", "lama", "xyz"].map(nearest_name);
    assert_eq!(
        meant,
        [
            Some("o200k"),
            Some("cl100k"),
            Some("claude"),
            Some("llama"),
            None
        ]
    );
}

/// Checks the offsets at which a text can be cut so that both a token and a character end: the
/// prefixes that `fit` gives for some limit.
fn holds_what_it_says(
    counter: &dyn TokenCounter,
    text: &str,
    limit: usize,
) -> Result<(), TestCaseError> {
    let end = counter.fit(text, limit);
    prop_assert!(text.is_char_boundary(end), "{end} of {text:?}");
    prop_assert!(
        counter.count(&text[..end]) <= limit,
        "{} tokens in {:?}",
        counter.count(&text[..end]),
        &text[..end]
    );
    if end < text.len() {
        // The next possible cut belongs to the next greater limit; there the limit is exceeded.
        let next = (limit + 1..=text.len())
            .map(|more| counter.fit(text, more))
            .find(|next| *next > end)
            .unwrap();
        prop_assert!(
            counter.count(&text[..next]) > limit,
            "{end}, not {next}, of {text:?} for {limit}"
        );
    }
    Ok(())
}

fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "\\PC{0,8}",
        "[a-zA-Z']{1,12}",
        "[ \\n\\r\\t]{1,9}",
        "[ \\u{3000}é日😀\\u{200d}]{1,6}",
        "[0-9/!=-]{1,9}",
        Just("<|endoftext|>".to_owned()),
        " {100,300}",
        "(ab){50,90}",
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_prefix_is_as_long_as_its_limit_allows(text in texts(), limit in 0_usize..60) {
        for counter in exact() {
            holds_what_it_says(&*counter, &text, limit)?;
        }
        for name in ["claude", "bytes"] {
            holds_what_it_says(&*counter(name).unwrap(), &text, limit)?;
        }
    }

    #[test]
    fn no_text_has_more_tokens_than_bytes(text in "\\PC{0,80}|[\\x00-\\x7f]{0,80}") {
        for name in counter_names() {
            let counter = counter(name).unwrap();
            prop_assert!(counter.count(&text) <= text.len());
            prop_assert_eq!(counter.fit(&text, text.len()), text.len());
        }
    }
}

#[test]
fn a_prefix_of_no_tokens_is_empty_and_a_character_of_several_tokens_stays_whole() {
    for counter in exact() {
        assert_eq!(counter.fit("word", 0), 0);
        // Three tokens make this one character; with fewer it cannot be cut.
        let mut text = "𓀀".to_owned();
        let tokens = counter.count(&text);
        assert!(tokens > 1);
        text.push_str(" and more words than the limit has tokens");
        assert_eq!(counter.fit(&text, tokens - 1), 0);
        assert_eq!(counter.fit(&text, tokens), 4);
    }
}

#[test]
fn hostile_texts_are_counted_and_cut() {
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as u8
    };
    let bytes: Vec<u8> = (0..20_000).map(|_| random()).collect();
    let lossy = String::from_utf8_lossy(&bytes).into_owned();
    let long = |text: &str| text.repeat(20_000 / text.len());
    for text in [
        long("a"),
        long(" "),
        long("\n"),
        long("é"),
        long("\0"),
        long("\u{301}"),
        long("'s"),
        long(" \n"),
        lossy,
    ] {
        for counter in exact() {
            let count = counter.count(&text);
            assert!(count > 0 && count <= text.len());
            let end = counter.fit(&text, 100);
            assert!(
                end > 0 && counter.count(&text[..end]) <= 100,
                "{:?}",
                &text[..9]
            );
        }
    }
}
