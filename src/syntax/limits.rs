//! Limits on input, each checked before any step with more than linear cost.

/// Upper bounds; the defaults suffice for every template written by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlLimits {
    /// Elements open at once.
    pub depth: u32,
    /// Attributes on one element.
    pub attributes: u32,
    /// Namespace bindings in scope.
    pub namespaces: u32,
    /// Bytes of a file.
    pub file: u64,
    /// Bytes of one text node or attribute value.
    pub text: u32,
    /// Bytes of a name.
    pub name: u32,
    /// Nodes in a tree.
    pub nodes: u32,
    /// Findings in one file.
    pub diagnostics: u32,
}

impl Default for XmlLimits {
    fn default() -> Self {
        Self {
            depth: 256,
            attributes: 256,
            namespaces: 128,
            file: 10 << 20,
            text: 10_000_000,
            name: 1_000,
            nodes: 1_000_000,
            diagnostics: 10_000,
        }
    }
}
