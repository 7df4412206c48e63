//! Every dependency has a reason in `docs/DESIGN.md`, and every reason belongs to a dependency.

use pretty_assertions::assert_eq;
use std::collections::BTreeSet;

/// Returns the names in `[dependencies]` and `[dev-dependencies]`, including those of single
/// platforms.
fn declared_dependencies(manifest: &str) -> BTreeSet<String> {
    let manifest: toml::Table = manifest.parse().expect("Cargo.toml is TOML");
    let systems = manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten();
    let owners = systems
        .filter_map(|(_, system)| system.as_table())
        .chain([&manifest]);
    let tables = owners.flat_map(|owner| {
        ["dependencies", "dev-dependencies"].map(|name| owner.get(name)?.as_table())
    });
    tables
        .flatten()
        .flat_map(|table| table.keys().cloned())
        .collect()
}

/// Returns the names in the first column of the tables below the heading `## Dependencies` that
/// have a reason.
fn explained_dependencies(page: &str) -> BTreeSet<String> {
    let below = page
        .split_once("\n## Dependencies\n")
        .map_or("", |(_, below)| below);
    let section = below
        .split_once("\n## ")
        .map_or(below, |(section, _)| section);
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.filter(|(_, reason)| reason.trim_end_matches('|').trim().len() > 20)
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn find_faults(manifest: &str, page: &str) -> Vec<String> {
    let (have, explained) = (
        declared_dependencies(manifest),
        explained_dependencies(page),
    );
    let missing = have
        .difference(&explained)
        .map(|name| format!("`{name}` has no reason in docs/DESIGN.md"));
    let stale = explained
        .difference(&have)
        .map(|name| format!("docs/DESIGN.md explains `{name}`, which is no dependency"));
    missing.chain(stale).collect()
}

#[test]
fn every_dependency_has_a_reason() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/DESIGN.md")).unwrap();
    let manifest = include_str!("../../../Cargo.toml");
    assert!(declared_dependencies(manifest).contains("memchr"));
    assert_eq!(find_faults(manifest, &page), Vec::<String>::new());
}

#[test]
fn a_dependency_without_a_reason_is_found() {
    let page = "# Design\n| `above` | the section does not count, whatever it says |\n\n## Dependencies\n\
                | `a` | finds bytes eight at a time |\n| `b` | short |\n\n## Next\n| `c` | is in another section of the page |\n";
    let manifest = "[dependencies]\nb = \"1\"\n[dev-dependencies]\nc = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\nd = \"1\"\n";
    let expected = [
        "`b` has no reason in docs/DESIGN.md",
        "`c` has no reason in docs/DESIGN.md",
        "`d` has no reason in docs/DESIGN.md",
        "docs/DESIGN.md explains `a`, which is no dependency",
    ];
    assert_eq!(find_faults(manifest, page), expected);
}

/// Crates for terminals, databases, networks, files and processes, which an agent loop either has
/// itself or must not have.
const FOREIGN_CRATES: [&str; 29] = [
    "clap",
    "crossterm",
    "ctrlc",
    "curl",
    "hyper",
    "ignore",
    "libsqlite3-sys",
    "lsp-server",
    "miette",
    "mio",
    "native-tls",
    "notify-debouncer-full",
    "openssl",
    "postgres",
    "reqwest",
    "rusqlite",
    "rustix",
    "rustls",
    "signal-hook",
    "socket2",
    "sqlx",
    "supports-color",
    "tempfile",
    "terminal_size",
    "tokio",
    "ureq",
    "walkdir",
    "which",
    "winapi",
];

/// Returns the crates that a choice of features depends on.
fn dependency_tree(features: &[&str]) -> BTreeSet<String> {
    let tree = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        tree.status.success(),
        "{}",
        String::from_utf8_lossy(&tree.stderr)
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn contexts_and_registries_need_no_parser_of_templates() {
    let direct = |features: &str| {
        let mut tree = dependency_tree(&[
            "--no-default-features",
            "--depth",
            "1",
            "--features",
            features,
        ]);
        assert!(tree.remove("ctxc"));
        tree
    };
    let reader = [
        "blake3",
        "memchr",
        "serde",
        "serde_json",
        "strsim",
        "thiserror",
    ]
    .map(str::to_owned);
    assert_eq!(direct(""), BTreeSet::from(reader.clone()));
    // Patterns select the tools of a role.
    let brought = ["globset", "minijinja", "minijinja-contrib"].map(str::to_owned);
    assert_eq!(
        direct("assemble"),
        reader.into_iter().chain(brought).collect()
    );
    for parser in [
        "granit-parser",
        "quick-xml",
        "regex-syntax",
        "serde_json_path",
        "toml",
    ] {
        assert!(direct("compile").contains(parser), "{parser}");
    }
}

#[test]
fn contexts_need_no_terminal_database_or_network() {
    let foreign = |tree: &BTreeSet<String>| {
        FOREIGN_CRATES
            .into_iter()
            .filter(|name| tree.contains(*name))
            .collect::<Vec<_>>()
    };
    let alone = dependency_tree(&["--no-default-features", "--features", "assemble"]);
    assert!(alone.contains("minijinja"));
    assert_eq!(foreign(&alone), Vec::<&str>::new());
    let all = foreign(&dependency_tree(&[]));
    assert!(
        all.contains(&"clap") && all.contains(&"rustix"),
        "the names are those of crates that the program has: {all:?}"
    );
}
