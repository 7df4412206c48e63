//! A place of a document at which something is completed, and one item of a completion.

use super::docs;
use crate::base::source::LineIndex;
use crate::lsp::client::Client;
use crate::lsp::prelude::*;
use crate::project::config::Config;
use crate::syntax::tree::{Document, Element};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, Documentation, InsertReplaceEdit, InsertTextFormat,
    MarkupContent, MarkupKind, TextEdit,
};

/// A place of a document.
#[derive(Clone, Copy)]
pub(in crate::lsp) struct Cx<'c> {
    pub(in crate::lsp) project: &'c ProjectState,
    /// The document's name.
    pub(in crate::lsp) name: &'c str,
    pub(in crate::lsp) document: Document<'c>,
    pub(in crate::lsp) place: Place<'c>,
    /// The place in the document: that of the element that pulls a text in, where it is the text that is written.
    pub(in crate::lsp) at: u32,
}

/// Where an item goes.
#[derive(Clone, Copy)]
pub(in crate::lsp) struct Place<'c> {
    pub(in crate::lsp) client: &'c Client,
    pub(in crate::lsp) text: &'c str,
    pub(in crate::lsp) index: &'c LineIndex,
    pub(in crate::lsp) offset: u32,
    /// The word around the place, which an item replaces.
    pub(in crate::lsp) word: Span,
    /// Where the edit begins: before the word, at the tag that the word stands in. Some clients (eglot) take the tag for a part of
    /// the word, and offer what has it in its `filterText`.
    pub(in crate::lsp) start: u32,
}

impl<'c> Place<'c> {
    /// The text behind the word.
    pub(in crate::lsp) fn rest(&self) -> &'c str {
        self.text.get(self.word.end as usize..).unwrap_or("")
    }

    /// An item that takes the place of the word.
    pub(in crate::lsp) fn item(&self, label: &str, kind: CompletionItemKind, doc: &str, insert: &str) -> CompletionItem {
        let lead = Span::new(self.start, self.word.start).slice(self.text);
        let new_text = format!("{lead}{insert}");
        let range = |end: u32| self.client.encoding.range(self.text, self.index, Span::new(self.start, end));
        let is_snippet = self.client.snippets && insert.contains('$');
        let edit = if self.client.inserts && self.word.end != self.offset {
            let edit = InsertReplaceEdit { new_text, insert: range(self.offset), replace: range(self.word.end) };
            CompletionItemTextEdit::InsertReplaceEdit(edit)
        } else {
            CompletionItemTextEdit::TextEdit(TextEdit { range: range(self.word.end), new_text })
        };
        let documentation = if self.client.markdown_items {
            Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: doc.to_owned() })
        } else {
            Documentation::String(docs::plain(doc))
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

impl<'c> Cx<'c> {
    pub(in crate::lsp) fn config(&self) -> &'c Config {
        &self.project.config
    }

    /// The element that a tag begun at `open` stands in.
    pub(in crate::lsp) fn parent_of(&self, open: usize) -> Option<Element<'c>> {
        let element = self.document.element_at(open as u32)?;
        if element.span().start == open as u32 { element.parent() } else { Some(element) }
    }

    /// The element whose tag was begun at `open`.
    pub(in crate::lsp) fn own(&self, open: usize) -> Option<Element<'c>> {
        self.document.element_at(open as u32).filter(|element| element.span().start == open as u32)
    }

    pub(in crate::lsp) fn item(&self, label: &str, kind: CompletionItemKind, doc: &str, insert: &str) -> CompletionItem {
        self.place.item(label, kind, doc, insert)
    }
}
