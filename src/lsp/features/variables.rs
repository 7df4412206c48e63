//! Variables: the binding of a name at a place, and all its occurrences in the files through which
//! it is passed by name.
//!
//! A task used by `ref`, and a fragment, take their parameters from the names at the place of use:
//! these names are one variable. Arguments of calls name the parameters of a function template.

use crate::base::contained_path;
use crate::jinja::tags::find_uses;
use crate::lsp::prelude::*;
use crate::lsp::state::read_cache::{FactIndex, IndexedTrace, TracedFile};
use crate::project::index::{DefId, NameIndex};
use crate::template::expression::{self, Expression, ScanItem};
use crate::template::keywords::TextSyntax;
use crate::template::names::{DefinitionKind, ReferenceFacts, ReferenceKind};
use crate::template::scope::{
    self, NameTrace, TracedBinding, TracedBindingKind, TracedUse, UseForm, UseTarget,
};
use crate::template::{self};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A variable, by its binding in one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct FileVariable {
    pub(in crate::lsp) file: Arc<str>,
    pub(in crate::lsp) target: UseTarget,
}

/// The variable at the cursor.
#[derive(Clone, Debug)]
pub(in crate::lsp) struct VariableAtCursor {
    pub(in crate::lsp) variable: FileVariable,
    pub(in crate::lsp) name: String,
    /// The place of the name.
    pub(in crate::lsp) span: Span,
}

/// A place with a variable's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct Occurrence {
    pub(in crate::lsp) file: Arc<str>,
    pub(in crate::lsp) span: Span,
    pub(in crate::lsp) role: OccurrenceRole,
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum OccurrenceRole {
    /// It binds the name.
    Definition,
    /// It uses the name.
    Use,
    /// It contains the name, but written with character references.
    Escaped,
}

/// Traces the names of a file. Every referenced task and fragment is assumed to take the name
/// `wanted` from its place of use; none if it is empty.
pub(in crate::lsp) fn trace_file(
    project: &ProjectState,
    name: &str,
    wanted: &str,
) -> Option<TracedFile> {
    let text_of = |name: &str| project.indexed_text(name).map(|(text, _)| text);
    let text = text_of(name)?;
    let trace = place::with_document(&text, &project.config.limits, |document| {
        let file = template::lower_document(document);
        let source = |written: &str| {
            contained_path::resolve_beside(name, written)
                .and_then(|name| text_of(&name))
                .map(Arc::from)
        };
        scope::trace_names(&file, &source, wanted)
    });
    Some(TracedFile { text, trace })
}

/// Reads a file for its names, once until anything of the project changes.
pub(in crate::lsp) fn known_trace(project: &ProjectState, name: &str) -> Option<Rc<IndexedTrace>> {
    project.read.trace(name, || trace_file(project, name, ""))
}

/// Returns the definitions and references of a template by offset.
pub(in crate::lsp) fn known_facts(project: &ProjectState, name: &str) -> Option<Rc<FactIndex>> {
    project.read.facts(name, || {
        Some(FactIndex::new(&project.template(name)?.facts))
    })
}

/// The variable whose name stands at an offset.
pub(in crate::lsp) fn variable_at(
    project: &ProjectState,
    name: &Arc<str>,
    offset: u32,
) -> Option<VariableAtCursor> {
    if project.template(name).is_none() {
        return text_variable_at(project, name, offset);
    }
    let own = known_trace(project, name)?;
    let point = |name_of: &str, target: UseTarget, span: Span| VariableAtCursor {
        variable: FileVariable {
            file: Arc::clone(name),
            target: own.trace.resolve_target(target),
        },
        name: name_of.to_owned(),
        span,
    };
    let bindings = own.bindings.touching(offset);
    if let Some(bound) = bindings
        .first()
        .and_then(|number| own.trace.bindings.get(*number))
    {
        return Some(point(&bound.name, UseTarget::Bound(bound.span), bound.span));
    }
    let uses = own.uses.touching(offset);
    for used in uses
        .into_iter()
        .filter_map(|number| own.trace.uses.get(number))
    {
        let spans = use_spans(used, &own.text);
        if let Some(span) = spans.into_iter().find(|span| span.touches(offset)) {
            return Some(point(&used.name, used.target, span));
        }
    }
    let references = &project.template(name)?.facts.references;
    let known = known_facts(project, name)?;
    let args = known.argument_spans.touching(offset).into_iter();
    let mut args = args.filter_map(|number| {
        let (call, number) = *known.arguments.get(number)?;
        let call = references.get(call)?;
        Some((call, call.args.get(number)?))
    });
    let (call, arg) =
        args.find(|(call, arg)| call.kind == ReferenceKind::Call && arg.name.is_some())?;
    let arg_name = arg.name.as_deref()?;
    let index = project.index();
    let id = index.find_definition(DefinitionKind::Template, &call.name)?;
    let file = Arc::clone(index.file(id.file)?.path);
    let target = parameter_target(&known_trace(project, &file)?.trace, id.definition, arg_name)?;
    Some(VariableAtCursor {
        variable: FileVariable { file, target },
        name: arg_name.to_owned(),
        span: arg.span,
    })
}

/// Returns the variable at an offset of a text file, as bound in the first template that includes
/// the text.
fn text_variable_at(project: &ProjectState, name: &str, offset: u32) -> Option<VariableAtCursor> {
    let (text, _) = project.indexed_text(name)?;
    let mut users: Vec<&Arc<str>> = project
        .including_templates(name)
        .map(|(user, _)| user)
        .collect();
    users.dedup();
    users.into_iter().find_map(|user| {
        let own = known_trace(project, user)?;
        own.trace.uses.iter().find_map(|used| {
            let UseForm::Source(written, syntax) = &used.form else {
                return None;
            };
            if contained_path::resolve_beside(user, written).as_deref() != Some(name) {
                return None;
            }
            let span = text_spans(&text, &used.name, *syntax)
                .into_iter()
                .find(|span| span.touches(offset))?;
            let variable = FileVariable {
                file: Arc::clone(user),
                target: own.trace.resolve_target(used.target),
            };
            Some(VariableAtCursor {
                variable,
                name: used.name.clone(),
                span,
            })
        })
    })
}

/// Returns the places of a name in a text file.
fn text_spans(text: &str, name: &str, syntax: TextSyntax) -> Vec<Span> {
    match syntax {
        TextSyntax::Jinja => jinja_spans(text, name, 0),
        TextSyntax::Plain => plain_spans(text, name),
    }
}

/// Returns a parameter of a task, declared or not.
pub(in crate::lsp) fn task_parameter(
    project: &ProjectState,
    task: &str,
    name: &str,
) -> Option<FileVariable> {
    VariableWeb::without_variables(project, name).variable_in(
        project
            .index()
            .find_definition(DefinitionKind::Task, task)?,
    )
}

/// Returns an input or a result in a task, or in a definition that it references.
pub(in crate::lsp) fn task_variable(
    project: &ProjectState,
    task: &str,
    name: &str,
) -> Option<FileVariable> {
    let mut web = VariableWeb::without_variables(project, name);
    let mut open = vec![web.index.find_definition(DefinitionKind::Task, task)?];
    let mut seen: BTreeSet<DefId> = open.iter().copied().collect();
    let mut at = 0;
    while let Some(id) = open.get(at).copied() {
        at += 1;
        let entry = web.index.file(id.file)?;
        let file = Arc::clone(entry.path);
        let own = entry
            .facts
            .references
            .iter()
            .filter(|reference| reference.owner == id.definition);
        let new: Vec<DefId> = own
            .filter_map(|reference| web.index.resolve_reference(reference))
            .filter(|id| seen.insert(*id))
            .collect();
        open.extend(new);
        let trace = &web.traced_file(&file).trace;
        let is_it = |bound: &&TracedBinding| {
            bound.owner == id.definition
                && bound.name == name
                && bound.kind != TracedBindingKind::Outer
        };
        if let Some(bound) = trace.bindings.iter().find(is_it) {
            return Some(FileVariable {
                target: trace.resolve_target(UseTarget::Bound(bound.span)),
                file,
            });
        }
    }
    None
}

/// Returns the parameter that a definition declares under a name; `owner` is the index of the
/// definition in its file.
fn parameter_target(trace: &NameTrace, owner: u32, name: &str) -> Option<UseTarget> {
    let mut bindings = trace
        .bindings
        .iter()
        .filter(|bound| bound.kind == TracedBindingKind::Outer && bound.owner == owner);
    bindings
        .find(|bound| bound.name == name)
        .map(|bound| UseTarget::Bound(bound.span))
}

/// Returns the places of a name in a Jinja text that starts at an offset.
fn jinja_spans(text: &str, name: &str, offset: u32) -> Vec<Span> {
    find_uses(text, name)
        .into_iter()
        .map(|at| Span::new(offset + at as u32, offset + (at + name.len()) as u32))
        .collect()
}

/// Returns the places of a use's name in its own file; none if it is in another file or written
/// with character references.
pub(in crate::lsp) fn use_spans(used: &TracedUse, text: &str) -> Vec<Span> {
    let raw = used.span.slice(text);
    match used.form {
        UseForm::Taken | UseForm::Source(..) => Vec::new(),
        UseForm::Jinja => jinja_spans(raw, &used.name, used.span.start),
        UseForm::Word | UseForm::Again if raw == used.name => vec![used.span],
        // A condition with character references is parsed as the inside of a tag, which has the
        // same words and strings.
        UseForm::Word | UseForm::Again => {
            let tag = format!("{{{{{raw}}}}}");
            jinja_spans(&tag, &used.name, used.span.start.saturating_sub(2))
        }
    }
}

/// A variable with its bindings in all files.
pub(in crate::lsp) struct VariableWeb<'w> {
    project: &'w ProjectState,
    index: NameIndex<'w>,
    name: String,
    files: BTreeMap<Arc<str>, TracedFile>,
    /// The variable in each file and definition.
    pub(in crate::lsp) variables: BTreeSet<FileVariable>,
}

impl<'w> VariableWeb<'w> {
    fn without_variables(project: &'w ProjectState, name: &str) -> Self {
        Self {
            project,
            index: project.index(),
            name: name.to_owned(),
            files: BTreeMap::new(),
            variables: BTreeSet::new(),
        }
    }

    /// Follows a variable through all files.
    pub(in crate::lsp) fn new(project: &'w ProjectState, pointed: &VariableAtCursor) -> Self {
        let mut web = Self::without_variables(project, &pointed.name);
        let mut open = vec![pointed.variable.clone()];
        while let Some(next) = open.pop() {
            if next.target != UseTarget::Language && web.variables.insert(next.clone()) {
                web.push_neighbours(&next, &mut open);
            }
        }
        web
    }

    /// Returns a traced file; empty if it cannot be read.
    pub(in crate::lsp) fn traced_file(&mut self, name: &Arc<str>) -> &TracedFile {
        let project = self.project;
        let wanted = &self.name;
        self.files
            .entry(Arc::clone(name))
            .or_insert_with(|| trace_file(project, name, wanted).unwrap_or_default())
    }

    fn push_neighbours(&mut self, of: &FileVariable, out: &mut Vec<FileVariable>) {
        let trace = self.traced_file(&of.file).trace.clone();
        let references = self
            .project
            .template(&of.file)
            .map_or(&[][..], |template| &template.facts.references);
        let references: BTreeMap<u32, &ReferenceFacts> =
            references.iter().map(|own| (own.span.start, own)).collect();
        let taken = trace.uses.iter().filter(|used| {
            used.form == UseForm::Taken && trace.resolve_target(used.target) == of.target
        });
        for used in taken {
            let reference = references
                .range(used.span.start..)
                .next()
                .filter(|(_, own)| used.span.encloses(own.span));
            let Some(id) = reference.and_then(|(_, own)| self.index.resolve_reference(own)) else {
                continue;
            };
            out.extend(self.variable_in(id));
        }
        let Some(owner) = owning_definition(&trace, of.target) else {
            return;
        };
        let definitions = self
            .project
            .template(&of.file)
            .map(|template| &template.facts.definitions);
        let Some(definition) = definitions.and_then(|definitions| definitions.get(owner as usize))
        else {
            return;
        };
        if definition.kind == DefinitionKind::Template {
            return;
        }
        for (path, template) in self.project.templates() {
            let is_own = |own: &&ReferenceFacts| {
                own.kind.definition_kind() == definition.kind && own.name == definition.name
            };
            let own: Vec<Span> = template
                .facts
                .references
                .iter()
                .filter(is_own)
                .map(|own| own.span)
                .collect();
            if own.is_empty() {
                continue;
            }
            let trace = &self.traced_file(path).trace;
            let taken = trace.uses.iter().filter(|used| used.form == UseForm::Taken);
            let sites: BTreeMap<u32, &TracedUse> =
                taken.map(|used| (used.span.start, used)).collect();
            let site = |span: Span| {
                sites
                    .range(..=span.start)
                    .next_back()
                    .filter(|(_, used)| used.span.encloses(span))
            };
            let known = own.into_iter().filter_map(site);
            out.extend(known.map(|(_, used)| FileVariable {
                file: Arc::clone(path),
                target: trace.resolve_target(used.target),
            }));
        }
    }

    /// Returns the variable in a definition that takes its names from the place of use.
    fn variable_in(&mut self, id: DefId) -> Option<FileVariable> {
        let file = Arc::clone(self.index.file(id.file)?.path);
        let name = self.name.clone();
        let trace = &self.traced_file(&file).trace;
        let free = UseTarget::Free(id.definition);
        let is_free = || {
            trace
                .uses
                .iter()
                .any(|used| used.name == name && used.target == free)
        };
        let target =
            parameter_target(trace, id.definition, &name).or_else(|| is_free().then_some(free))?;
        Some(FileVariable { file, target })
    }

    /// Returns every occurrence of the name, in order.
    pub(in crate::lsp) fn occurrences(&mut self) -> Vec<Occurrence> {
        let mut found = BTreeSet::new();
        for variable in self.variables.clone() {
            let TracedFile { text, trace } = self.traced_file(&variable.file).clone();
            let here = |span: Span, role: OccurrenceRole| Occurrence {
                file: Arc::clone(&variable.file),
                span,
                role,
            };
            let is_own = |target: UseTarget| trace.resolve_target(target) == variable.target;
            let bindings = trace
                .bindings
                .iter()
                .filter(|bound| is_own(UseTarget::Bound(bound.span)));
            for bound in bindings {
                let role = if bound.span.slice(&text) == bound.name {
                    OccurrenceRole::Definition
                } else {
                    OccurrenceRole::Escaped
                };
                found.insert(here(bound.span, role));
            }
            for used in trace
                .uses
                .iter()
                .filter(|used| used.name == self.name && is_own(used.target))
            {
                self.add_use(&variable.file, &text, used, &mut found);
            }
            if let Some(owner) = owning_definition(&trace, variable.target) {
                self.add_arguments(&variable.file, owner, &mut found);
            }
        }
        found.into_iter().collect()
    }

    fn add_use(
        &self,
        file: &Arc<str>,
        text: &str,
        used: &TracedUse,
        found: &mut BTreeSet<Occurrence>,
    ) {
        let one = |file: &Arc<str>, span: Span, role: OccurrenceRole| Occurrence {
            file: Arc::clone(file),
            span,
            role,
        };
        match &used.form {
            UseForm::Taken => {}
            UseForm::Word | UseForm::Again | UseForm::Jinja => {
                let spans = use_spans(used, text);
                if spans.is_empty() {
                    found.insert(one(file, used.span, OccurrenceRole::Escaped));
                }
                found.extend(
                    spans
                        .into_iter()
                        .map(|span| one(file, span, OccurrenceRole::Use)),
                );
            }
            UseForm::Source(written, syntax) => {
                let Some(other) = contained_path::resolve_beside(file, written) else {
                    return;
                };
                let Some((text, _)) = self.project.indexed_text(&other) else {
                    return;
                };
                let other: Arc<str> = Arc::from(other);
                let spans = text_spans(&text, &used.name, *syntax);
                found.extend(
                    spans
                        .into_iter()
                        .map(|span| one(&other, span, OccurrenceRole::Use)),
                );
            }
        }
    }

    /// Adds the arguments of calls that name a parameter of a function template.
    fn add_arguments(&self, file: &Arc<str>, owner: u32, found: &mut BTreeSet<Occurrence>) {
        let definitions = self
            .project
            .template(file)
            .map(|template| &template.facts.definitions);
        let Some(definition) = definitions.and_then(|definitions| definitions.get(owner as usize))
        else {
            return;
        };
        if definition.kind != DefinitionKind::Template {
            return;
        }
        for (path, template) in self.project.templates() {
            let calls = template
                .facts
                .references
                .iter()
                .filter(|own| own.kind == ReferenceKind::Call);
            let args = calls
                .filter(|call| call.name == definition.name)
                .flat_map(|call| &call.args);
            let args = args.filter(|arg| arg.name.as_deref() == Some(&*self.name));
            found.extend(args.map(|arg| Occurrence {
                file: Arc::clone(path),
                span: arg.span,
                role: OccurrenceRole::Use,
            }));
        }
    }
}

/// Returns the definition through which callers can set the variable; `None` for a local variable.
fn owning_definition(trace: &NameTrace, target: UseTarget) -> Option<u32> {
    match target {
        UseTarget::Free(owner) => Some(owner),
        UseTarget::Bound(span) => {
            let mut outer = trace
                .bindings
                .iter()
                .filter(|bound| bound.kind == TracedBindingKind::Outer);
            outer
                .find(|bound| bound.span == span)
                .map(|bound| bound.owner)
        }
        UseTarget::Language => None,
    }
}

/// Returns the places of a name in the `{{…}}` of a text without character references.
fn plain_spans(text: &str, name: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for piece in expression::scan_plain(text, 0) {
        if let ScanItem::Expression(expression) = piece {
            push_expression_spans(&expression.value, name, &mut found);
        }
    }
    found
}

// Recurses as deep as the parser lets calls nest.
fn push_expression_spans(expression: &Expression<'_>, name: &str, found: &mut Vec<Span>) {
    match expression {
        Expression::Path(path) if path.root.value == name => found.push(path.root.span),
        Expression::Call(call) => {
            for value in call
                .positional
                .iter()
                .chain(call.named.iter().map(|(_, value)| value))
            {
                push_expression_spans(value, name, found);
            }
        }
        Expression::Path(_)
        | Expression::Text(_)
        | Expression::Number(_)
        | Expression::Boolean(_) => {}
    }
}
