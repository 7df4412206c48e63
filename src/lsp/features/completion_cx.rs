//! A place of a document at which something is completed, and one item of a completion.

use super::docs;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::lsp::client::Client;
use crate::lsp::state::project::ProjectState;
use crate::project::config::Config;
use crate::syntax::tree::{Document, Element};
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, Documentation, InsertTextFormat, MarkupContent, MarkupKind,
    TextEdit,
};

/// A place of a document.
pub(in crate::lsp) struct Cx<'c> {
    pub(in crate::lsp) project: &'c ProjectState,
    /// The document's name.
    pub(in crate::lsp) name: &'c str,
    pub(in crate::lsp) client: &'c Client,
    pub(in crate::lsp) document: Document<'c>,
    pub(in crate::lsp) text: &'c str,
    pub(in crate::lsp) index: &'c LineIndex,
    pub(in crate::lsp) offset: u32,
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

    pub(in crate::lsp) fn item(
        &self,
        label: &str,
        kind: CompletionItemKind,
        doc: &str,
        insert: String,
        typed: &str,
    ) -> CompletionItem {
        let start = self.offset - typed.len() as u32;
        let range = self.client.encoding.range(self.text, self.index, Span::new(start, self.offset));
        let documentation = if self.client.markdown_items {
            Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: doc.to_owned() })
        } else {
            Documentation::String(docs::plain(doc))
        };
        CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            documentation: (!doc.is_empty()).then_some(documentation),
            insert_text_format: insert.contains('$').then_some(InsertTextFormat::Snippet),
            text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit { range, new_text: insert })),
            ..CompletionItem::default()
        }
    }
}
