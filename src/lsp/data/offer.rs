//! A completion in a scenario or in the project file, before it gets its range.

use gen_lsp_types::CompletionItemKind;

/// A possible completion.
pub(super) struct Offer {
    pub(super) label: String,
    pub(super) about: String,
    pub(super) insert: String,
    pub(super) kind: CompletionItemKind,
    /// The text after a key.
    pub(super) separator: String,
}

impl Offer {
    /// Creates a completion for a word of a value.
    pub(super) fn for_word(word: impl Into<String>, about: impl Into<String>) -> Self {
        let label = word.into();
        let kind = CompletionItemKind::EnumMember;
        Self {
            insert: label.clone(),
            label,
            about: about.into(),
            kind,
            separator: String::new(),
        }
    }

    /// Creates a completion for a TOML value, quoted unless it is a boolean.
    pub(super) fn for_toml_value(word: &str) -> Self {
        let insert = if matches!(word, "true" | "false") {
            word.to_owned()
        } else {
            serde_json::to_string(word).unwrap_or_default()
        };
        Self {
            insert,
            ..Self::for_word(word, "")
        }
    }

    /// Creates a completion for a key.
    pub(super) fn for_key(name: &str, about: impl Into<String>, separator: &str) -> Self {
        Self {
            kind: CompletionItemKind::Property,
            separator: separator.to_owned(),
            ..Self::for_word(name, about)
        }
    }
}
