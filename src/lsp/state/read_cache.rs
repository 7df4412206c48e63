//! Results of reading open documents, kept from one request to the next, so that a hover costs the
//! same in a short and a long file. Holds nothing beyond the next change of anything in the
//! project.

use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::XmlDocument;
use crate::template::scope::NameTrace;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The text of a file with the meaning of its names.
#[derive(Clone, Debug, Default)]
pub(in crate::lsp) struct Traced {
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) trace: NameTrace,
}

/// Trees and variables by file.
#[derive(Debug, Default)]
pub(in crate::lsp) struct ReadCache {
    trees: RefCell<BTreeMap<Arc<str>, Rc<XmlReader>>>,
    traces: RefCell<BTreeMap<Arc<str>, Option<Rc<Traced>>>>,
}

impl ReadCache {
    /// Drops everything. To be called before any text or setting of the project changes.
    pub(in crate::lsp) fn clear(&mut self) {
        self.trees.get_mut().clear();
        self.traces.get_mut().clear();
    }

    /// Passes on the tree of a file, which is read at the first call. `text` is the file's present
    /// text.
    pub(in crate::lsp) fn with_tree<T>(
        &self,
        name: &Arc<str>,
        text: &str,
        limits: &XmlLimits,
        look: impl FnOnce(XmlDocument<'_>) -> T,
    ) -> T {
        let known = self.trees.borrow().get(name).map(Rc::clone);
        let reader = known.unwrap_or_else(|| {
            let mut reader = XmlReader::new();
            reader.read(text, limits);
            let reader = Rc::new(reader);
            self.trees
                .borrow_mut()
                .insert(Arc::clone(name), Rc::clone(&reader));
            reader
        });
        look(reader.document(text))
    }

    /// Returns the variables of a file, which `read` finds at the first call.
    pub(in crate::lsp) fn trace(
        &self,
        name: &str,
        read: impl FnOnce() -> Option<Traced>,
    ) -> Option<Rc<Traced>> {
        if let Some(known) = self.traces.borrow().get(name) {
            return known.clone();
        }
        let found = read().map(Rc::new);
        self.traces
            .borrow_mut()
            .insert(Arc::from(name), found.clone());
        found
    }
}
