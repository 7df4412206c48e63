//! The interface of a rule: its metadata, its check, and the contexts that checks receive.

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
    /// The function that produces the findings.
    pub check: Check,
}

impl Rule {
    /// Creates a rule.
    pub const fn new(meta: RuleMeta, check: Check) -> Self {
        Self { meta, check }
    }
}

/// A kind of reader fault with the function that reports it.
pub type SyntaxFault = (syntax::fault::FaultKind, fn(&SyntaxCx<'_>) -> Diagnostic);

/// The check of a rule, by its input.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Reports faults of the reader, each kind by its own function.
    Syntax(&'static [SyntaxFault]),
    /// Reports a fault of lowering; `None` if another rule handles the fault.
    Template(fn(&FileCx<'_>, &template::fault::Fault<'_>) -> Option<Diagnostic>),
    /// Reports a fault of lowering, then checks the whole model of a file.
    TemplateAndFile(
        fn(&FileCx<'_>, &template::fault::Fault<'_>) -> Option<Diagnostic>,
        fn(&FileCx<'_>, &mut Vec<Diagnostic>),
    ),
    /// Checks each task body with its resolved settings.
    Node(fn(&NodeCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks the whole model of a file.
    File(fn(&FileCx<'_>, &mut Vec<Diagnostic>)),
    /// Reports a fault of the project file; `None` if another rule handles the fault.
    Config(fn(&ConfigCx<'_>, &project::fault::Fault) -> Option<Diagnostic>),
    /// Checks the names of all files.
    Link(fn(&LinkCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks the whole model of a file, then the names of all files.
    FileAndLink(
        fn(&FileCx<'_>, &mut Vec<Diagnostic>),
        fn(&LinkCx<'_>, &mut Vec<Diagnostic>),
    ),
    /// Reports a fault of a scenario file; `None` if another rule handles the fault.
    Scenario(fn(&ScenarioCx<'_>, &scenario::Fault) -> Option<Diagnostic>),
    /// Checks a case.
    Case(fn(&CaseCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks the cases of all scenario files.
    Suites(fn(&SuitesCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks a request to a model.
    Request(fn(&RequestCx<'_>, &mut Vec<Diagnostic>)),
    /// Reported by its caller: at the edge (9xx) or by the engine.
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
    /// The scopes of its variables.
    pub scopes: &'a Scopes<'a>,
    /// Files of `<file_paths>` that cannot be read, by the path as written.
    pub unread: &'a BTreeMap<Box<str>, Unread>,
    /// The project.
    pub config: &'a Config,
}

impl<'a> FileCx<'a> {
    /// Returns the white space before an offset if nothing else precedes the offset on its line.
    pub fn indent(&self, offset: u32) -> Option<&'a str> {
        let before = self.document.text.get(..offset as usize).unwrap_or("");
        let others = before.trim_end_matches([' ', '\t']);
        before
            .get(others.len()..)
            .filter(|_| others.is_empty() || others.ends_with(['\n', '\r']))
    }
}

/// A file of the project that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The reason: a lower-case fragment.
    pub why: String,
    /// A similar path that exists.
    pub near: Option<String>,
}

/// A fault of the reader that a rule reports.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxCx<'a> {
    /// The rule that reports it.
    pub rule: &'static RuleMeta,
    /// The file that contains it.
    pub file: &'a FileCx<'a>,
    /// Text and tree of that file.
    pub document: Document<'a>,
    /// The fault.
    pub fault: &'a syntax::fault::Fault,
    /// The span of the fault.
    pub span: Span,
}

impl<'a> SyntaxCx<'a> {
    /// Creates the context of a fault, for one rule.
    pub fn new(
        rule: &'static RuleMeta,
        file: &'a FileCx<'a>,
        fault: &'a syntax::fault::Fault,
    ) -> Self {
        Self {
            rule,
            file,
            document: file.document,
            fault,
            span: fault.span,
        }
    }

    /// Creates a finding at the fault's span.
    pub fn found(&self, message: impl Into<String>) -> Diagnostic {
        self.found_at(self.span, message)
    }

    /// Creates a finding at another span.
    pub fn found_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule, self.file.path, span, message)
    }

    /// The source text of the fault.
    pub fn written(&self) -> &'a str {
        self.span.slice(self.document.text)
    }

    /// The source text of the fault, shortened for messages.
    pub fn shown(&self) -> Cow<'a, str> {
        self.cut(self.span)
    }

    /// The source text of a span, shortened for messages.
    pub fn cut(&self, span: Span) -> Cow<'a, str> {
        shown(span.slice(self.document.text))
    }

    /// The second span of the fault, or its span if it has only one.
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

    /// Returns the white space before an offset if nothing else precedes the offset on its line.
    pub fn indent(&self, offset: u32) -> Option<&'a str> {
        self.file.indent(offset)
    }
}

/// One task body under check.
#[derive(Clone, Copy, Debug)]
pub struct NodeCx<'a> {
    /// The file that contains it.
    pub cx: &'a FileCx<'a>,
    /// The body as written.
    pub task: &'a Task<'a>,
    /// The resolved body: its settings, its operator, and the fault if its type has no row.
    pub body: &'a Body,
}

/// The project file under check.
#[derive(Clone, Copy, Debug)]
pub struct ConfigCx<'a> {
    /// The project file as read.
    pub config: &'a Config,
}

impl ConfigCx<'_> {
    /// The path of a project file, by the index in a fault.
    pub fn path(&self, file: u16) -> Arc<str> {
        self.config
            .files
            .get(file as usize)
            .map_or_else(|| Arc::from("ctxc.toml"), |file| Arc::clone(&file.path))
    }

    /// Creates a finding at a fault's span.
    pub fn finding(
        &self,
        rule: &'static Rule,
        fault: &project::fault::Fault,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(&rule.meta, &self.path(fault.file), fault.span, message)
    }

    /// Adds a label in a project file to a finding.
    #[must_use]
    pub fn label(&self, mut finding: Diagnostic, file: u16, span: Span, text: &str) -> Diagnostic {
        let path = self.path(file);
        let start = self
            .config
            .position(file, span.start)
            .map_or_else(Position::default, |(_, start)| start);
        let path = (path != finding.path).then_some(path);
        finding.labels.push(Label {
            path,
            span,
            start,
            text: text.to_owned().into(),
        });
        finding
    }
}

/// All files under check, by their names.
#[derive(Clone, Copy, Debug)]
pub struct LinkCx<'a> {
    /// Definitions and references.
    pub index: &'a Index<'a>,
    /// Definitions, each after those that it refers to.
    pub order: &'a [DefId],
    /// The result of linking the names of references.
    pub names: &'a LinkedNames,
    /// References that lead back to their own definition.
    pub cycles: &'a [Cycle],
    /// The project.
    pub config: &'a Config,
    /// The part of the project that these files are.
    pub scope: Scope,
}

/// The part of a project that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of its files.
    Whole,
    /// Only the files named on the command line.
    Part,
}

impl<'a> LinkCx<'a> {
    /// Creates a finding at a reference, and returns the reference too. `None` if the reference has
    /// no target.
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
        Some((
            self.label(
                found,
                target.file,
                span,
                &format!("`{}` is defined here", reference.name),
            ),
            reference,
        ))
    }

    /// Adds a label in any file of the index to a finding. Its line is filled in later, once that
    /// file's text is available.
    #[must_use]
    pub fn label(&self, mut finding: Diagnostic, file: u32, span: Span, text: &str) -> Diagnostic {
        let path = self
            .index
            .file(file)
            .map(|entry| Arc::clone(entry.path))
            .filter(|path| *path != finding.path);
        finding.labels.push(Label {
            path,
            span,
            start: Position::default(),
            text: text.to_owned().into(),
        });
        finding
    }
}
