//! The place of a completion, and its items.

use super::docs;
use crate::base::source::LineIndex;
use crate::lsp::client::Client;
use crate::lsp::prelude::*;
use crate::project::config::Config;
use crate::syntax::tree::{Element, XmlDocument};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, Documentation, InsertReplaceEdit,
    InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};

/// A document with the place of a completion.
#[derive(Clone, Copy)]
pub(in crate::lsp) struct CompletionCx<'c> {
    pub(in crate::lsp) project: &'c ProjectState,
    /// The document's name.
    pub(in crate::lsp) name: &'c str,
    pub(in crate::lsp) document: XmlDocument<'c>,
    pub(in crate::lsp) place: CompletionPlace<'c>,
    /// The place in the template. For a text in a file of its own, that of the element with its
    /// path.
    pub(in crate::lsp) at: u32,
}

/// The text range that an item replaces.
#[derive(Clone, Copy)]
pub(in crate::lsp) struct CompletionPlace<'c> {
    pub(in crate::lsp) client: &'c Client,
    pub(in crate::lsp) text: &'c str,
    pub(in crate::lsp) index: &'c LineIndex,
    pub(in crate::lsp) offset: u32,
    /// The word at the cursor, which an item replaces.
    pub(in crate::lsp) word: Span,
    /// The start of the edit: before the word, at its tag. Some clients (eglot) treat the tag as a
    /// part of the word and match it with `filterText`.
    pub(in crate::lsp) start: u32,
}

impl<'c> CompletionPlace<'c> {
    /// Returns the text after the word.
    pub(in crate::lsp) fn text_after(&self) -> &'c str {
        self.text.get(self.word.end as usize..).unwrap_or("")
    }

    /// Returns an item that replaces the word.
    pub(in crate::lsp) fn item(
        &self,
        label: &str,
        kind: CompletionItemKind,
        doc: &str,
        insert: &str,
    ) -> CompletionItem {
        let lead = Span::new(self.start, self.word.start).slice(self.text);
        let new_text = format!("{lead}{insert}");
        let range = |end: u32| {
            self.client
                .encoding
                .range(self.text, self.index, Span::new(self.start, end))
        };
        let is_snippet = self.client.supports_snippets && insert.contains('$');
        let edit = if self.client.supports_insert_replace && self.word.end != self.offset {
            let edit = InsertReplaceEdit {
                new_text,
                insert: range(self.offset),
                replace: range(self.word.end),
            };
            CompletionItemTextEdit::InsertReplaceEdit(edit)
        } else {
            CompletionItemTextEdit::TextEdit(TextEdit {
                range: range(self.word.end),
                new_text,
            })
        };
        let documentation = if self.client.markdown_items {
            Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: doc.to_owned(),
            })
        } else {
            Documentation::String(docs::strip_markdown(doc))
        };
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation: (!doc.is_empty()).then_some(documentation),
            filter_text: (!lead.is_empty()).then(|| format!("{lead}{label}")),
            insert_text_format: is_snippet.then_some(InsertTextFormat::Snippet),
            text_edit: Some(edit),
            ..CompletionItem::default()
        }
    }
}

impl<'c> CompletionCx<'c> {
    pub(in crate::lsp) fn config(&self) -> &'c Config {
        &self.project.config
    }

    /// Returns the parent of the tag that begins at `open`.
    pub(in crate::lsp) fn parent_at(&self, open: usize) -> Option<Element<'c>> {
        let element = self.document.element_at(open as u32)?;
        if element.span().start == open as u32 {
            element.parent()
        } else {
            Some(element)
        }
    }

    /// Returns the element whose tag begins at `open`.
    pub(in crate::lsp) fn begun_element(&self, open: usize) -> Option<Element<'c>> {
        self.document
            .element_at(open as u32)
            .filter(|element| element.span().start == open as u32)
    }

    pub(in crate::lsp) fn item(
        &self,
        label: &str,
        kind: CompletionItemKind,
        doc: &str,
        insert: &str,
    ) -> CompletionItem {
        self.place.item(label, kind, doc, insert)
    }
}
