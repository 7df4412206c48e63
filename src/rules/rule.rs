//! The interface of a rule: its metadata, its check, and the contexts that checks receive.

use crate::base::diagnostic::{Diagnostic, Label};
use crate::base::quoted::short_excerpt;
use crate::base::rule_meta::RuleMeta;
use crate::base::source::Position;
use crate::base::span::Span;
use crate::project::config::Config;
use crate::project::index::{DefId, NameIndex, RefId, ReferenceCycle};
use crate::project::linked_names::LinkedNames;
use crate::rules::request::cx::RequestCx;
use crate::rules::scenario::cx::{CaseCx, ScenarioCx, SuitesCx};
use crate::settings::bodies::{ResolvedBodies, ResolvedBody};
use crate::syntax::tree::XmlDocument;
use crate::template::model::{TaskBody, TemplateFile};
use crate::template::names::ReferenceFacts;
use crate::template::scope::Scopes;
use crate::{project, scenario, syntax, template};
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
pub type SyntaxReporter = (syntax::fault::XmlFaultKind, fn(&SyntaxCx<'_>) -> Diagnostic);

/// The check of a rule, by its input.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Reports faults of the reader, each kind by its own function.
    Syntax(&'static [SyntaxReporter]),
    /// Reports a fault of lowering; `None` if another rule handles the fault.
    Template(fn(&FileCx<'_>, &template::fault::TemplateFault<'_>) -> Option<Diagnostic>),
    /// Reports a fault of lowering, then checks the whole model of a file.
    TemplateAndFile(
        fn(&FileCx<'_>, &template::fault::TemplateFault<'_>) -> Option<Diagnostic>,
        fn(&FileCx<'_>, &mut Vec<Diagnostic>),
    ),
    /// Checks each task body with its resolved settings.
    Node(fn(&NodeCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks the whole model of a file.
    File(fn(&FileCx<'_>, &mut Vec<Diagnostic>)),
    /// Reports a fault of the project file; `None` if another rule handles the fault.
    Config(fn(&ConfigCx<'_>, &project::project_fault::ProjectFault) -> Option<Diagnostic>),
    /// Checks the names of all files.
    Link(fn(&LinkCx<'_>, &mut Vec<Diagnostic>)),
    /// Checks the whole model of a file, then the names of all files.
    FileAndLink(
        fn(&FileCx<'_>, &mut Vec<Diagnostic>),
        fn(&LinkCx<'_>, &mut Vec<Diagnostic>),
    ),
    /// Reports a fault of a scenario file; `None` if another rule handles the fault.
    Scenario(fn(&ScenarioCx<'_>, &scenario::ScenarioFault) -> Option<Diagnostic>),
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
    pub document: XmlDocument<'a>,
    /// The model.
    pub file: &'a TemplateFile<'a>,
    /// The settings of its task bodies.
    pub bodies: &'a ResolvedBodies,
    /// The scopes of its variables.
    pub scopes: &'a Scopes<'a>,
    /// Files of `<file_paths>` that cannot be read, by the path as written.
    pub unread: &'a BTreeMap<Box<str>, UnreadableFile>,
    /// The findings of hidden characters in the texts that it includes.
    pub included: &'a [Diagnostic],
    /// The project.
    pub config: &'a Config,
}

impl<'a> FileCx<'a> {
    /// Returns the white space before an offset if nothing else precedes the offset on its line.
    pub fn line_indent(&self, offset: u32) -> Option<&'a str> {
        let before = self.document.text.get(..offset as usize).unwrap_or("");
        let others = before.trim_end_matches([' ', '\t']);
        before
            .get(others.len()..)
            .filter(|_| others.is_empty() || others.ends_with(['\n', '\r']))
    }
}

/// A file of the project that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
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
    pub document: XmlDocument<'a>,
    /// The fault.
    pub fault: &'a syntax::fault::XmlFault,
    /// The span of the fault.
    pub span: Span,
}

impl<'a> SyntaxCx<'a> {
    /// Creates the context of a fault, for one rule.
    pub fn new(
        rule: &'static RuleMeta,
        file: &'a FileCx<'a>,
        fault: &'a syntax::fault::XmlFault,
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
    pub fn finding(&self, message: impl Into<String>) -> Diagnostic {
        self.finding_at(self.span, message)
    }

    /// Creates a finding at another span.
    pub fn finding_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.rule, self.file.path, span, message)
    }

    /// The source text of the fault.
    pub fn source_text(&self) -> &'a str {
        self.span.slice(self.document.text)
    }

    /// The source text of the fault, shortened for messages.
    pub fn quoted_text(&self) -> Cow<'a, str> {
        self.quote_span(self.span)
    }

    /// The source text of a span, shortened for messages.
    pub fn quote_span(&self, span: Span) -> Cow<'a, str> {
        short_excerpt(span.slice(self.document.text))
    }

    /// The second span of the fault, or its span if it has only one.
    pub fn second_span(&self) -> Span {
        self.fault.other.unwrap_or(self.span)
    }

    /// The text before an offset.
    pub fn text_before(&self, offset: u32) -> &'a str {
        self.document.text.get(..offset as usize).unwrap_or("")
    }

    /// The text from an offset on.
    pub fn text_after(&self, offset: u32) -> &'a str {
        self.document.text.get(offset as usize..).unwrap_or("")
    }

    /// Returns the white space before an offset if nothing else precedes the offset on its line.
    pub fn line_indent(&self, offset: u32) -> Option<&'a str> {
        self.file.line_indent(offset)
    }
}

/// One task body under check.
#[derive(Clone, Copy, Debug)]
pub struct NodeCx<'a> {
    /// The file that contains it.
    pub cx: &'a FileCx<'a>,
    /// The body as written.
    pub task: &'a TaskBody<'a>,
    /// The resolved body: its settings, its operator, and the fault if its type has no row.
    pub body: &'a ResolvedBody,
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
        fault: &project::project_fault::ProjectFault,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(&rule.meta, &self.path(fault.file), fault.span, message)
    }

    /// Adds a label in a project file to a finding.
    #[must_use]
    pub fn add_label(
        &self,
        mut finding: Diagnostic,
        file: u16,
        span: Span,
        text: &str,
    ) -> Diagnostic {
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
    pub index: &'a NameIndex<'a>,
    /// Definitions, each after those that it refers to.
    pub order: &'a [DefId],
    /// The result of linking the names of references.
    pub names: &'a LinkedNames,
    /// References that lead back to their own definition.
    pub cycles: &'a [ReferenceCycle],
    /// The project.
    pub config: &'a Config,
    /// The part of the project that these files are.
    pub scope: CheckScope,
}

/// The part of a project that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckScope {
    /// All of its files.
    WholeProject,
    /// Only the files named on the command line.
    NamedFiles,
}

impl<'a> LinkCx<'a> {
    /// Creates a finding at a reference, and returns the reference too. `None` if the reference has
    /// no target.
    pub fn reference_finding(
        &self,
        rule: &'static RuleMeta,
        at: RefId,
        message: impl FnOnce(&ReferenceFacts) -> String,
    ) -> Option<(Diagnostic, &'a ReferenceFacts)> {
        let (file, reference) = (self.index.file(at.file)?, self.index.reference(at)?);
        let target = self.index.resolve_reference(reference)?;
        let span = self.index.definition(target)?.span;
        let found = Diagnostic::new(rule, file.path, reference.span, message(reference));
        Some((
            self.add_label(
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
    pub fn add_label(
        &self,
        mut finding: Diagnostic,
        file: u32,
        span: Span,
        text: &str,
    ) -> Diagnostic {
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
