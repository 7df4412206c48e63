//! The texts that the checks read. Paths are relative to the package and use `/`.

use std::path::Path;

/// One file of the repository.
pub(super) struct SourceText {
    pub(super) path: String,
    pub(super) text: String,
}

impl SourceText {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Parses the file. A file that does not parse is left to the compiler.
    pub(super) fn parse(&self) -> syn::File {
        syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path))
    }

    fn is_rust(&self) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// Returns the names from the crate's root: `src/rules/rule.rs` is `["rules", "rule"]`,
    /// `src/lib.rs` is `[]`.
    pub(super) fn module_path(&self) -> Vec<&str> {
        let inside = self
            .path
            .trim_start_matches("src/")
            .trim_start_matches("tests/it/")
            .trim_end_matches(".rs");
        let mut parts: Vec<&str> = inside.split('/').collect();
        if matches!(parts.last(), Some(&"mod")) || matches!(parts.as_slice(), ["lib" | "main"]) {
            parts.pop();
        }
        parts
    }
}

/// Returns every text file that git does not ignore, sorted by path. Files that are not UTF-8 are
/// left out.
pub(super) fn all_sources() -> Vec<SourceText> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let walk = ignore::WalkBuilder::new(root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut sources: Vec<SourceText> = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let text = String::from_utf8(std::fs::read(entry.path()).ok()?).ok()?;
            let path = entry
                .path()
                .strip_prefix(root)
                .ok()?
                .to_str()?
                .replace('\\', "/");
            Some(SourceText { path, text })
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(
        sources.iter().any(|source| source.path == "src/lib.rs"),
        "the walk found no sources"
    );
    sources
}

/// Returns the Rust files under the given folders, each written with its closing `/`.
pub(super) fn rust_sources(folders: &[&str]) -> Vec<SourceText> {
    let mut sources = all_sources();
    sources.retain(|source| {
        source.is_rust() && folders.iter().any(|folder| source.path.starts_with(folder))
    });
    sources
}
