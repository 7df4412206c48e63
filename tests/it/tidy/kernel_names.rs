//! The kernel names no vendor, no concurrency mechanism, no template language and no kind of
//! repository.

use super::source::{self, SourceText};
use proc_macro2::{TokenStream, TokenTree};

/// Words that no kernel name contains.
const FOREIGN_WORDS: &[&str] = &[
    "anthropic",
    "async",
    "await",
    "claude",
    "future",
    "gemini",
    "git",
    "github",
    "gpt",
    "jinja",
    "ollama",
    "openai",
    "repository",
    "thread",
    "tokio",
    "worktree",
    "xml",
];
/// Names with another meaning: a layout of an agent's text.
const ALLOWED_WORDS: &[(&str, &str)] = &[("src/kernel/profile.rs", "xml")];

/// Splits a name into words: `GitWorktrees` and `git_worktrees` have two.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if (c == '_' || c.is_uppercase()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
    }
    words
}

fn collect_foreign_words(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_foreign_words(group.stream(), found),
            TokenTree::Ident(name) => {
                found.extend(name_words(&name.to_string()).into_iter().filter(|word| {
                    FOREIGN_WORDS.contains(&word.as_str())
                        || FOREIGN_WORDS.contains(&word.trim_end_matches('s'))
                }));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let mut found = Vec::new();
        collect_foreign_words(source.text.parse().unwrap(), &mut found);
        let is_foreign =
            |word: &String| !ALLOWED_WORDS.contains(&(source.path.as_str(), word.as_str()));
        faults.extend(
            found
                .into_iter()
                .filter(is_foreign)
                .map(|word| format!("{}: {word}", source.path)),
        );
    }
    faults
}

#[test]
fn the_kernel_names_no_vendor_and_no_way_to_wait() {
    let kernel = source::rust_sources(&["src/kernel/"]);
    assert!(kernel.len() > 20);
    assert_eq!(find_faults(&kernel), Vec::<String>::new());
}

#[test]
fn a_foreign_name_is_found() {
    let bad = |text: &str| find_faults(&[SourceText::new("src/kernel/a.rs", text)]).len();
    assert_eq!(bad("async fn f() { g().await }"), 2);
    assert_eq!(bad("struct GitWorktrees; use std::thread::spawn;"), 3);
    assert_eq!(bad("struct Digit; fn thread_pool() {}"), 1);
}
