//! Something that can be written in a scenario or in the project file.

use gen_lsp_types::CompletionItemKind;

/// Something that can be written.
pub(super) struct Offer {
    pub(super) label: String,
    pub(super) about: String,
    pub(super) insert: String,
    pub(super) kind: CompletionItemKind,
    /// What stands behind a key.
    pub(super) separator: String,
}

impl Offer {
    /// A word of a value.
    pub(super) fn word(word: impl Into<String>, about: impl Into<String>) -> Self {
        let label = word.into();
        let kind = CompletionItemKind::EnumMember;
        Self { insert: label.clone(), label, about: about.into(), kind, separator: String::new() }
    }

    /// A word of TOML, in quotes.
    pub(super) fn quoted(word: &str) -> Self {
        let insert =
            if matches!(word, "true" | "false") { word.to_owned() } else { serde_json::to_string(word).unwrap_or_default() };
        Self { insert, ..Self::word(word, "") }
    }

    /// A key.
    pub(super) fn key(name: &str, about: impl Into<String>, separator: &str) -> Self {
        Self { kind: CompletionItemKind::Property, separator: separator.to_owned(), ..Self::word(name, about) }
    }
}
