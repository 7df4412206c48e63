//! Namespace bindings in scope.

use crate::base::span::Span;
use std::collections::HashMap;

/// The prefixes in scope, innermost last, and all URIs so far.
#[derive(Debug, Default)]
pub(super) struct NamespaceScope {
    pub(super) scope: Vec<NamespaceBinding>,
    /// URI to 1 + its index in the tree.
    pub(super) uris: HashMap<Box<str>, u16>,
    /// The first few prefixes that were reported; further ones are reported each time.
    pub(super) undeclared: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NamespaceBinding {
    /// Empty for the default namespace.
    pub(super) prefix: Span,
    /// 0: none.
    pub(super) uri: u16,
}

impl NamespaceScope {
    pub(super) fn clear(&mut self) {
        self.scope.clear();
        self.uris.clear();
        self.undeclared.clear();
    }

    pub(super) fn len(&self) -> u32 {
        self.scope.len() as u32
    }

    #[inline]
    pub(super) fn truncate(&mut self, len: u32) {
        self.scope.truncate(len as usize);
    }
}
