//! What a rule is to the engine: its metadata and the one function that words its findings.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::RuleMeta;
use crate::syntax;
use crate::syntax::tree::Document;
use std::sync::Arc;

/// A rule: everything about one diagnostic.
#[derive(Debug)]
pub struct Rule {
    /// Name, code, severity, page, examples.
    pub meta: RuleMeta,
    /// How it finds.
    pub check: Check,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Words a fault of the reader; `None` when the fault is another rule's.
    Syntax(fn(&FileCx<'_>, &syntax::fault::Fault) -> Option<Diagnostic>),
    /// Worded where it arises: at the edge (9xx) or by the engine itself.
    Edge,
}

/// One file under check.
#[derive(Clone, Copy, Debug)]
pub struct FileCx<'a> {
    /// Relative to the project root; `-` for standard input.
    pub path: &'a Arc<str>,
    /// Text and tree.
    pub document: Document<'a>,
}
