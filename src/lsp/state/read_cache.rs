//! Results of reading files, kept from one request to the next, so that a hover costs the same in a
//! short and a long file. Holds nothing beyond the next change of anything in the project.

use super::span_index::SpanIndex;
use crate::base::diagnostic::Diagnostic;
use crate::base::source::LineIndex;
use crate::settings::bodies::{ResolvedBodies, ResolvedBody};
use crate::settings::layers::Layers;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::{NodeId, XmlDocument};
use crate::template::model::TemplateFile;
use crate::template::names::FileFacts;
use crate::template::nodes::{self, TaskNode};
use crate::template::scope::NameTrace;
use crate::template::setting::WrittenSettings;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The text of a file with the meaning of its names.
#[derive(Clone, Debug, Default)]
pub(in crate::lsp) struct TracedFile {
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) trace: NameTrace,
}

/// The names of a file, with look-ups by offset.
#[derive(Debug)]
pub(in crate::lsp) struct IndexedTrace {
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) trace: NameTrace,
    pub(in crate::lsp) lines: LineIndex,
    pub(in crate::lsp) bindings: SpanIndex,
    pub(in crate::lsp) uses: SpanIndex,
}

impl IndexedTrace {
    pub(in crate::lsp) fn new(TracedFile { text, trace }: TracedFile) -> Self {
        Self {
            lines: LineIndex::new(&text),
            bindings: SpanIndex::new(trace.bindings.iter().map(|bound| bound.span)),
            uses: SpanIndex::new(trace.uses.iter().map(|used| used.span)),
            text,
            trace,
        }
    }
}

/// The definitions and references of a template by offset.
#[derive(Debug)]
pub(in crate::lsp) struct FactIndex {
    pub(in crate::lsp) definitions: SpanIndex,
    pub(in crate::lsp) references: SpanIndex,
    /// The numbers of a reference and of one of its arguments, for each argument.
    pub(in crate::lsp) arguments: Vec<(usize, usize)>,
    pub(in crate::lsp) argument_spans: SpanIndex,
}

impl FactIndex {
    pub(in crate::lsp) fn new(facts: &FileFacts) -> Self {
        let all = facts.references.iter().enumerate().flat_map(|(at, own)| {
            let numbers = own.args.iter().enumerate();
            numbers.map(move |(number, arg)| ((at, number), arg.span))
        });
        let (arguments, spans): (Vec<_>, Vec<_>) = all.unzip();
        Self {
            definitions: SpanIndex::new(facts.definitions.iter().map(|own| own.span)),
            references: SpanIndex::new(facts.references.iter().map(|own| own.span)),
            arguments,
            argument_spans: SpanIndex::new(spans),
        }
    }
}

/// The findings of a file by offset.
#[derive(Debug)]
pub(in crate::lsp) struct FindingIndex {
    pub(in crate::lsp) findings: Vec<Diagnostic>,
    pub(in crate::lsp) spans: SpanIndex,
}

impl FindingIndex {
    pub(in crate::lsp) fn new(findings: Vec<Diagnostic>) -> Self {
        Self {
            spans: SpanIndex::new(findings.iter().map(|finding| finding.span)),
            findings,
        }
    }
}

/// A task body of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::lsp) struct IndexedBody {
    /// Its settings; `None` for one that only refers to a task.
    pub(in crate::lsp) resolved: Option<ResolvedBody>,
    pub(in crate::lsp) written: WrittenSettings,
    /// The number of the definition that it is a node of, and its path there.
    pub(in crate::lsp) node: Option<(usize, String)>,
}

/// The task bodies of a file by their elements.
pub(in crate::lsp) type BodyTable = BTreeMap<NodeId, IndexedBody>;

/// Resolves all task bodies of a file.
pub(in crate::lsp) fn index_bodies(file: &TemplateFile<'_>, layers: &Layers) -> BodyTable {
    let mut bodies = ResolvedBodies::default();
    bodies.resolve(file, layers);
    let mut table = BodyTable::new();
    nodes::visit_bodies(file, |task, _| {
        let own = table.entry(task.element.id()).or_default();
        own.resolved = bodies.get(task).copied();
        own.written = task.written_settings();
    });
    for (number, definition) in file.definitions.iter().enumerate() {
        let Some(task) = definition.task() else {
            continue;
        };
        nodes::visit_nodes(task, &mut |node, path| {
            if let TaskNode::Task(task) = node {
                let own = table.entry(task.element.id()).or_default();
                own.node = Some((number, path.to_owned()));
            }
        });
    }
    table
}

/// All results of reading, by file.
#[derive(Debug, Default)]
pub(in crate::lsp) struct ReadCache {
    trees: KnownByFile<Rc<XmlReader>>,
    bodies: KnownByFile<Rc<BodyTable>>,
    traces: KnownByFile<Option<Rc<IndexedTrace>>>,
    facts: KnownByFile<Option<Rc<FactIndex>>>,
    findings: KnownByFile<Rc<FindingIndex>>,
}

type KnownByFile<T> = RefCell<BTreeMap<Arc<str>, T>>;

/// Returns the value of a file, which `read` makes at the first call.
fn remember<T: Clone>(known: &KnownByFile<T>, name: &str, read: impl FnOnce() -> T) -> T {
    if let Some(known) = known.borrow().get(name) {
        return known.clone();
    }
    let new = read();
    known.borrow_mut().insert(Arc::from(name), new.clone());
    new
}

impl ReadCache {
    /// Drops everything. To be called before any text or setting of the project changes.
    pub(in crate::lsp) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Passes on the tree of a file. `text` is the file's present text.
    pub(in crate::lsp) fn with_tree<T>(
        &self,
        name: &str,
        text: &str,
        limits: &XmlLimits,
        look: impl FnOnce(XmlDocument<'_>) -> T,
    ) -> T {
        let reader = remember(&self.trees, name, || {
            let mut reader = XmlReader::new();
            reader.read(text, limits);
            Rc::new(reader)
        });
        look(reader.document(text))
    }

    /// Returns the task bodies of a file.
    pub(in crate::lsp) fn bodies(
        &self,
        name: &str,
        read: impl FnOnce() -> BodyTable,
    ) -> Rc<BodyTable> {
        remember(&self.bodies, name, || Rc::new(read()))
    }

    /// Returns the variables of a file.
    pub(in crate::lsp) fn trace(
        &self,
        name: &str,
        read: impl FnOnce() -> Option<TracedFile>,
    ) -> Option<Rc<IndexedTrace>> {
        remember(&self.traces, name, || {
            read().map(|traced| Rc::new(IndexedTrace::new(traced)))
        })
    }

    /// Returns the definitions and references of a file.
    pub(in crate::lsp) fn facts(
        &self,
        name: &str,
        read: impl FnOnce() -> Option<FactIndex>,
    ) -> Option<Rc<FactIndex>> {
        remember(&self.facts, name, || read().map(Rc::new))
    }

    /// Returns the findings of a file.
    pub(in crate::lsp) fn findings(
        &self,
        name: &str,
        read: impl FnOnce() -> Vec<Diagnostic>,
    ) -> Rc<FindingIndex> {
        remember(&self.findings, name, || Rc::new(FindingIndex::new(read())))
    }
}
