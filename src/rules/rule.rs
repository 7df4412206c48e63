//! What a rule is to the engine: its metadata and the one function that words its findings.

use crate::base::diagnostic::{Diagnostic, Label};
use crate::base::quoted::shown;
use crate::base::rule_meta::RuleMeta;
use crate::base::source::Position;
use crate::base::span::Span;
use crate::project;
use crate::project::config::Config;
use crate::project::index::{Cycle, DefId, Index, RefId};
use crate::project::linked_names::LinkedNames;
use crate::rules::request::cx::RequestCx;
use crate::rules::scenario::cx::{CaseCx, ScenarioCx, SuitesCx};
use crate::scenario;
use crate::settings::bodies::{Bodies, Body};
use crate::syntax;
use crate::syntax::tree::Document;
use crate::template;
use crate::template::model::{File, Task};
use crate::template::names::Reference;
use crate::template::scope::Scopes;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A rule: everything about one diagnostic.
#[derive(Debug)]
pub struct Rule {
    /// Name, code, severity, page, examples.
    pub meta: RuleMeta,
    /// How it finds.
    pub check: Check,
}

impl Rule {
    /// A rule.
    pub const fn new(meta: RuleMeta, check: Check) -> Self {
        Self { meta, check }
    }
}

/// A kind of fault of the reader, and its words.
pub type SyntaxFault = (syntax::fault::FaultKind, fn(&SyntaxCx<'_>) -> Diagnostic);

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Words faults of the reader, each kind in its way.
    Syntax(&'static [SyntaxFault]),
    /// Words a fault of lowering; `None` when the fault is another rule's.
    Template(fn(&FileCx<'_>, &template::fault::Fault<'_>) -> Option<Diagnostic>),
    /// Words a fault of lowering, and then sees the whole model of a file.
    TemplateAndFile(fn(&FileCx<'_>, &template::fault::Fault<'_>) -> Option<Diagnostic>, fn(&FileCx<'_>, &mut Vec<Diagnostic>)),
    /// Sees each task body with its resolved settings.
    Node(fn(&NodeCx<'_>, &mut Vec<Diagnostic>)),
    /// Sees the whole model of a file.
    File(fn(&FileCx<'_>, &mut Vec<Diagnostic>)),
    /// Words a fault of the project file; `None` when the fault is another rule's.
    Config(fn(&ConfigCx<'_>, &project::fault::Fault) -> Option<Diagnostic>),
    /// Sees the names of all files.
    Link(fn(&LinkCx<'_>, &mut Vec<Diagnostic>)),
    /// Sees the whole model of a file, and then the names of all files.
    FileAndLink(fn(&FileCx<'_>, &mut Vec<Diagnostic>), fn(&LinkCx<'_>, &mut Vec<Diagnostic>)),
    /// Words a fault of a scenario file; `None` when the fault is another rule's.
    Scenario(fn(&ScenarioCx<'_>, &scenario::Fault) -> Option<Diagnostic>),
    /// Sees a case.
    Case(fn(&CaseCx<'_>, &mut Vec<Diagnostic>)),
    /// Sees the cases of all scenario files.
    Suites(fn(&SuitesCx<'_>, &mut Vec<Diagnostic>)),
    /// Sees a request to a model.
    Request(fn(&RequestCx<'_>, &mut Vec<Diagnostic>)),
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
    /// The model.
    pub file: &'a File<'a>,
    /// The settings of its task bodies.
    pub bodies: &'a Bodies,
    /// The variables that it uses.
    pub scopes: &'a Scopes<'a>,
    /// What cannot be read of the files that its tasks show to agents, by the path that is written.
    pub unread: &'a BTreeMap<Box<str>, Unread>,
    /// The project.
    pub config: &'a Config,
}

impl<'a> FileCx<'a> {
    /// The white space before an offset when its line has nothing else before it.
    pub fn indent(&self, offset: u32) -> Option<&'a str> {
        let before = self.document.text.get(..offset as usize).unwrap_or("");
        let others = before.trim_end_matches([' ', '\t']);
        before.get(others.len()..).filter(|_| others.is_empty() || others.ends_with(['\n', '\r']))
    }
}

/// Why a file of the project cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// In words: a lower-case fragment.
    pub why: String,
    /// The path that was meant, where one of that kind is there.
    pub near: Option<String>,
}

/// A fault of the reader that a rule words.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxCx<'a> {
    /// The rule that words it.
    pub rule: &'static RuleMeta,
    /// The file it is in.
    pub file: &'a FileCx<'a>,
    /// Text and tree of that file.
    pub document: Document<'a>,
    /// The fault.
    pub fault: &'a syntax::fault::Fault,
    /// The place to look at.
    pub span: Span,
}

impl<'a> SyntaxCx<'a> {
    /// A fault in a file, for one rule.
    pub fn new(rule: &'static RuleMeta, file: &'a FileCx<'a>, fault: &'a syntax::fault::Fault) -> Self {
        Self { rule, file, document: file.document, fault, span: fault.span }
    }

    /// A finding at the fault's place.
    pub fn found(&self, message: impl Into<String>) -> Diagnostic {
        self.found_at(self.span, message)
    }

    /// A finding at another place.
    pub fn found_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule, self.file.path, span, message)
    }

    /// What stands at the fault's place.
    pub fn written(&self) -> &'a str {
        self.span.slice(self.document.text)
    }

    /// What stands at the fault's place, cut where nobody would read on.
    pub fn shown(&self) -> Cow<'a, str> {
        self.cut(self.span)
    }

    /// What stands under a span, cut where nobody would read on.
    pub fn cut(&self, span: Span) -> Cow<'a, str> {
        shown(span.slice(self.document.text))
    }

    /// The second place of the fault; where there is none, the first.
    pub fn other(&self) -> Span {
        self.fault.other.unwrap_or(self.span)
    }

    /// The text before an offset.
    pub fn before(&self, offset: u32) -> &'a str {
        self.document.text.get(..offset as usize).unwrap_or("")
    }

    /// The text from an offset on.
    pub fn after(&self, offset: u32) -> &'a str {
        self.document.text.get(offset as usize..).unwrap_or("")
    }

    /// The white space before an offset when its line has nothing else before it.
    pub fn indent(&self, offset: u32) -> Option<&'a str> {
        self.file.indent(offset)
    }
}

/// One task body under check.
#[derive(Clone, Copy, Debug)]
pub struct NodeCx<'a> {
    /// The file it stands in.
    pub cx: &'a FileCx<'a>,
    /// The body as written.
    pub task: &'a Task<'a>,
    /// The body resolved: its settings, its operator, why it has no row.
    pub body: &'a Body,
}

/// The project file under check.
#[derive(Clone, Copy, Debug)]
pub struct ConfigCx<'a> {
    /// As read.
    pub config: &'a Config,
}

impl ConfigCx<'_> {
    /// The path of a project file by the index in a fault.
    pub fn path(&self, file: u16) -> Arc<str> {
        self.config.files.get(file as usize).map_or_else(|| Arc::from("ctxc.toml"), |file| Arc::clone(&file.path))
    }

    /// A finding at a fault's place.
    pub fn finding(&self, rule: &'static Rule, fault: &project::fault::Fault, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&rule.meta, &self.path(fault.file), fault.span, message)
    }

    /// Adds a place in a project file to a finding of one.
    #[must_use]
    pub fn label(&self, mut finding: Diagnostic, file: u16, span: Span, text: &str) -> Diagnostic {
        let path = self.path(file);
        let start = self.config.position(file, span.start).map_or_else(Position::default, |(_, start)| start);
        let path = (path != finding.path).then_some(path);
        finding.labels.push(Label { path, span, start, text: text.to_owned().into() });
        finding
    }
}

/// All files under check, by their names.
#[derive(Clone, Copy, Debug)]
pub struct LinkCx<'a> {
    /// Definitions and references.
    pub index: &'a Index<'a>,
    /// Definitions, each after those that it points at.
    pub order: &'a [DefId],
    /// What references make of names.
    pub names: &'a LinkedNames,
    /// References that lead back to where they start.
    pub cycles: &'a [Cycle],
    /// The project.
    pub config: &'a Config,
    /// Whether these are all of its files.
    pub scope: Scope,
}

/// How much of a project is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of its files.
    Whole,
    /// Those that were named.
    Part,
}

impl<'a> LinkCx<'a> {
    /// A finding at a reference, with what it says beside it. `None` where nothing is found under its name.
    pub fn at_reference(
        &self,
        rule: &'static RuleMeta,
        at: RefId,
        message: impl FnOnce(&Reference) -> String,
    ) -> Option<(Diagnostic, &'a Reference)> {
        let (file, reference) = (self.index.file(at.file)?, self.index.reference(at)?);
        let target = self.index.target(reference)?;
        let span = self.index.definition(target)?.span;
        let found = Diagnostic::new(rule, file.path, reference.span, message(reference));
        Some((self.label(found, target.file, span, &format!("`{}` is defined here", reference.name)), reference))
    }

    /// Adds a place in some file of the index to a finding. Its line is filled in where that file's text is at hand.
    #[must_use]
    pub fn label(&self, mut finding: Diagnostic, file: u32, span: Span, text: &str) -> Diagnostic {
        let path = self.index.file(file).map(|entry| Arc::clone(entry.path)).filter(|path| *path != finding.path);
        finding.labels.push(Label { path, span, start: Position::default(), text: text.to_owned().into() });
        finding
    }
}
