//! Text that was never meant as a project file.

use super::reading::{read, shown};
use ctxc::internals::project::config::Config;
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use std::time::Instant;

/// Reads a text, and words all its findings.
fn survive(text: &str) -> Config {
    let config = read(text);
    let _ = shown(&config);
    for fault in &config.faults {
        let file = &config.files[usize::from(fault.file)];
        assert!(
            file.text
                .get(fault.span.start as usize..fault.span.end as usize)
                .is_some(),
            "{fault:?}"
        );
    }
    config
}

/// Fragments that come together to something close to a project file.
const PIECES: [&str; 24] = [
    "[defaults.atomic]\n",
    "[defaults.",
    "[operators.x]\n",
    "[[require]]\n",
    "[lints]\n",
    "[limits]\n",
    "extends = ",
    "must = ",
    "fresh_context = ",
    "inherit_context = ",
    "base = \"atomic\"\n",
    "\"enabled\"\n",
    "\"subset\"\n",
    "\"has owner\"\n",
    "all = ",
    "\"off\"\n",
    "{ path = \"x\" }",
    "= ",
    "\"",
    "\n",
    "[",
    "]",
    "depth = 9\n",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        survive(&text);
    }

    #[test]
    fn no_pieces_make_it_panic(picks in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        survive(&text);
    }
}

#[test]
fn large_and_deep_files_take_no_time() {
    let table = |n: usize| format!("[defaults.t{n}]\nfresh_context = \"enabled\"\n");
    let row =
        |n: usize| format!("[operators.t{n}]\nbase = \"atomic\"\nfresh_context = \"enabled\"\n");
    let unread = |n: usize| format!("[[require]]\nmust = \"has owner{n}\"\n");
    let texts: [String; 8] = [
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("a = {}", "[".repeat(100_000)),
        "[".repeat(100_000),
        "x\n".repeat(100_000),
        "a = 1\n".repeat(30_000),
        (0..10_000).map(table).collect(),
        (0..3_000).map(row).collect(),
        (0..10_000).map(unread).collect(),
    ];
    for text in texts {
        let started = Instant::now();
        let config = survive(&text);
        assert!(!config.faults.is_empty());
        let took = started.elapsed();
        assert!(took.as_secs() < 10, "{took:?} for {}…", &text[..20]);
    }
}
