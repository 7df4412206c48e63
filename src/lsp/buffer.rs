//! A text as an editor holds it, and the edits that the editor sends.

use super::encoding::Encoding;
use crate::base::source::LineIndex;
use gen_lsp_types::{TextDocumentContentChangeEvent as Change, Uri};

/// An open document.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// As the client names it.
    pub(super) uri: Uri,
    /// The client's number of this state.
    pub(super) version: i32,
    pub(super) text: String,
    pub(super) index: LineIndex,
}

impl Buffer {
    /// A document as it was opened.
    pub(super) fn new(uri: Uri, version: i32, text: String) -> Self {
        let index = LineIndex::new(&text);
        Self { uri, version, text, index }
    }

    /// Applies edits one after the other, each on the text that the ones before it made.
    pub(super) fn apply(&mut self, changes: Vec<Change>, version: i32, encoding: Encoding) {
        for change in changes {
            match change {
                Change::TextDocumentContentChangePartial(part) => {
                    let span = encoding.span(&self.text, &self.index, part.range);
                    self.text.replace_range(span.start as usize..span.end as usize, &part.text);
                }
                Change::TextDocumentContentChangeWholeDocument(whole) => self.text = whole.text,
            }
            self.index = LineIndex::new(&self.text);
        }
        self.version = version;
    }
}
