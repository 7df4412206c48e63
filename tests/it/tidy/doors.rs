//! Third-party types stay behind one door, so that each can be replaced in one place.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use proc_macro2::{TokenStream, TokenTree};

/// A crate and the only paths that may name it.
const CRATE_DOORS: &[(&str, &[&str])] = &[
    ("blake3", &["src/base/"]),
    ("clap", &["src/cli/"]),
    ("clap_complete", &["src/cli/"]),
    ("clap_mangen", &["src/cli/"]),
    ("gen_lsp_types", &["src/lsp/"]),
    (
        "flate2",
        &["src/record/foreign/vcr.rs", "src/record/proxy/"],
    ),
    ("globset", &["src/project/glob.rs"]),
    ("granit_parser", &["src/syntax/yaml"]),
    ("jsonschema", &["src/scenario/json_schema/draft.rs"]),
    ("lsp_server", &["src/lsp/"]),
    ("miette", &["src/cli/render/"]),
    ("minijinja", &["src/jinja/"]),
    ("minijinja_contrib", &["src/jinja/"]),
    ("notify_debouncer_full", &["src/cli/watch/"]),
    (
        "http_body_util",
        &["src/record/proxy/", "src/work/webhook.rs"],
    ),
    ("hyper", &["src/record/proxy/", "src/work/webhook.rs"]),
    ("hyper_rustls", &["src/record/proxy/"]),
    ("hyper_util", &["src/record/proxy/", "src/work/webhook.rs"]),
    ("quick_xml", &["src/syntax/write"]),
    (
        "regex_automata",
        &["src/context/tokens/", "src/eval/compiled_patterns.rs"],
    ),
    ("regex_syntax", &["src/scenario/"]),
    ("ring", &["src/work/webhook.rs"]),
    ("rusqlite", &["src/store/sqlite"]),
    (
        "rustix",
        &[
            "src/base/fs.rs",
            "src/run/process.rs",
            "src/cli/context/label/keys.rs",
            "src/cli/record/recorded_command.rs",
            "src/cli/watch/",
        ],
    ),
    // Derived on the types that artifacts are written from.
    (
        "schemars",
        &[
            "src/base/",
            "src/cli/",
            "src/context/manifest/",
            "src/eval/",
            "src/import/",
            "src/kernel/",
            "src/package/",
            "src/record/",
            "src/registry/",
            "src/run/",
            "src/scenario/rubric.rs",
            "src/schema/json/",
            "src/session/",
            "src/settings/",
            "src/store/history.rs",
            "src/template/",
        ],
    ),
    ("sha2", &["src/base/sha256.rs"]),
    ("serde_json_path", &["src/scenario/"]),
    ("similar", &["src/base/lines.rs"]),
    ("tar", &["src/package/archive", "src/package/unpack"]),
    ("textwrap", &["src/cli/render/escape.rs"]),
    ("tokio", &["src/record/proxy/", "src/work/webhook.rs"]),
    ("toml", &["src/project/"]),
    ("unicode_normalization", &["src/package/"]),
    ("ureq", &["src/provider/http.rs"]),
    ("zstd", &["src/package/archive"]),
];

/// Words after which `::` starts at the root.
const ROOT_PATH_KEYWORDS: &[&str] = &["as", "dyn", "for", "impl", "in", "mut", "return", "use"];

/// Returns true if a token stream names a crate: at the start of a path (`clap::…`) or alone in a
/// `use`.
fn names_crate(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(found)) if found.as_char() == sign);
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => names_crate(group.stream(), name),
        TokenTree::Ident(found) if found == name => {
            // `::clap` and `{::clap` start at the root; `a::clap` is a module of the same name.
            let word =
                |token: &TokenTree| matches!(token, TokenTree::Ident(word) if !ROOT_PATH_KEYWORDS.contains(&word.to_string().as_str()));
            let inside = at >= 3 && punct(at - 1, ':') && punct(at - 2, ':') && word(&tokens[at - 3]);
            let used = at >= 1 && matches!(&tokens[at - 1], TokenTree::Ident(word) if word == "use" || word == "crate");
            !inside && (used || punct(at + 1, ':') && punct(at + 2, ':'))
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let tokens: TokenStream = source
            .text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", source.path));
        for (name, doors) in CRATE_DOORS {
            let inside = doors.iter().any(|door| source.path.starts_with(door));
            if !inside && names_crate(tokens.clone(), name) {
                faults.push(format!(
                    "{}: `{name}` is known only in {}",
                    source.path,
                    doors.join(", ")
                ));
            }
        }
    }
    faults
}

#[test]
fn third_party_crates_stay_in_their_modules() {
    assert_eq!(
        find_faults(&source::rust_sources(&["src/"])),
        Vec::<String>::new()
    );
}

#[test]
fn a_crate_outside_its_module_is_found() {
    let bad = |path: &str, text: &str| find_faults(&[SourceText::new(path, text)]);
    let clap = ["src/rules/a.rs: `clap` is known only in src/cli/"];
    assert_eq!(bad("src/rules/a.rs", "use clap::Parser;"), clap);
    assert_eq!(bad("src/rules/a.rs", "use clap;"), clap);
    assert_eq!(bad("src/rules/a.rs", "use ::clap::Parser;"), clap);
    assert_eq!(bad("src/rules/a.rs", "use {std::io, clap::Parser};"), clap);
    assert_eq!(
        bad("src/rules/a.rs", "#[derive(clap::Parser)] struct A;"),
        clap
    );
    assert_eq!(
        bad(
            "src/rules/a.rs",
            "fn a() -> impl std::fmt::Display { clap::crate_name!() }"
        ),
        clap
    );
    assert_eq!(
        bad("src/cli/render/full.rs", "use miette::Report;"),
        [""; 0]
    );
    assert_eq!(bad("src/cli/check.rs", "use miette::Report;").len(), 1);
    assert_eq!(
        bad(
            "src/rules/a.rs",
            "use crate::project::toml::read; fn a(toml: u8) -> u8 { toml }"
        ),
        [""; 0]
    );
    assert_eq!(
        bad("src/syntax/reader.rs", "use quick_xml::Writer;").len(),
        1
    );
}
