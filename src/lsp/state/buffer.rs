//! A text as an editor holds it, and the edits that the editor sends.

use crate::base::source::LineIndex;
use crate::lsp::encoding::Encoding;
use gen_lsp_types::{TextDocumentContentChangeEvent as Change, Uri};

/// Beyond this a text is checked for its structure alone: 5 MB.
const LARGE: usize = 5_000_000;

/// An open document.
#[derive(Clone, Debug)]
pub(in crate::lsp) struct Buffer {
    /// As the client names it.
    pub(in crate::lsp) uri: Uri,
    /// The client's number of this state.
    pub(in crate::lsp) version: i32,
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) index: LineIndex,
    /// The client says that it is XML, whatever its name.
    pub(in crate::lsp) is_xml: bool,
}

impl Buffer {
    /// A document as it was opened.
    pub(in crate::lsp) fn new(uri: Uri, version: i32, text: String) -> Self {
        let index = LineIndex::new(&text);
        Self { uri, version, text, index, is_xml: false }
    }

    /// Whether it is looked at for its structure alone.
    pub(in crate::lsp) const fn is_large(&self) -> bool {
        self.text.len() > LARGE
    }

    /// Whether a text is.
    pub(in crate::lsp) const fn is_large_text(text: &str) -> bool {
        text.len() > LARGE
    }

    /// Applies edits one after the other, each on the text that the ones before it made.
    pub(in crate::lsp) fn apply(&mut self, changes: Vec<Change>, version: i32, encoding: Encoding) {
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

#[cfg(test)]
#[path = "../../../tests/unit/lsp/state/buffer.rs"]
mod tests;
