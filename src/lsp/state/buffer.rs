//! The text of a document in the editor, and its edits.

use crate::base::source::LineIndex;
use crate::lsp::encoding::PositionEncoding;
use gen_lsp_types::{TextDocumentContentChangeEvent as Change, Uri};

/// The length above which only the structure of a text is checked: 5 MB.
const MAX_CHECKED_BYTES: usize = 5_000_000;

/// An open document.
#[derive(Clone, Debug)]
pub(in crate::lsp) struct DocumentBuffer {
    /// The URI as the client writes it.
    pub(in crate::lsp) uri: Uri,
    /// The client's version number.
    pub(in crate::lsp) version: i32,
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) index: LineIndex,
    /// True if the client declares it as XML, regardless of its name.
    pub(in crate::lsp) is_xml: bool,
}

impl DocumentBuffer {
    /// Creates the buffer of an opened document.
    pub(in crate::lsp) fn new(uri: Uri, version: i32, text: String) -> Self {
        let index = LineIndex::new(&text);
        Self {
            uri,
            version,
            text,
            index,
            is_xml: false,
        }
    }

    /// Returns true if only its structure is checked.
    pub(in crate::lsp) const fn is_large(&self) -> bool {
        self.text.len() > MAX_CHECKED_BYTES
    }

    /// Returns true if only the structure of a text is checked.
    pub(in crate::lsp) const fn is_large_text(text: &str) -> bool {
        text.len() > MAX_CHECKED_BYTES
    }

    /// Applies edits in order, each to the result of the previous one.
    pub(in crate::lsp) fn apply_changes(
        &mut self,
        changes: Vec<Change>,
        version: i32,
        encoding: PositionEncoding,
    ) {
        for change in changes {
            match change {
                Change::TextDocumentContentChangePartial(part) => {
                    let span = encoding.span(&self.text, &self.index, part.range);
                    self.text
                        .replace_range(span.start as usize..span.end as usize, &part.text);
                }
                Change::TextDocumentContentChangeWholeDocument(whole) => self.text = whole.text,
            }
            self.index = LineIndex::new(&self.text);
        }
        self.version = version;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/state/buffer.rs"]
mod tests;
