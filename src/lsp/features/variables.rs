//! Variables: the binding of a name at a place, and all its occurrences in the files through which
//! it is passed by name.
//!
//! A task used by `ref`, and a fragment, take their parameters from the names at the place of use:
//! these names are one variable. Arguments of calls name the parameters of a function template.

use crate::base::contained_path;
use crate::jinja::tags::said;
use crate::lsp::prelude::*;
use crate::lsp::state::read_cache::Traced;
use crate::project::index::{DefId, Index};
use crate::template::expression::{self, Expression, Piece};
use crate::template::keywords::TextSyntax;
use crate::template::names::{DefinitionKind, Reference, ReferenceKind};
use crate::template::scope::{self, Bound, BoundKind, How, Target, Trace, TracedUse};
use crate::template::{self};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A variable as it is bound in one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct Variable {
    pub(in crate::lsp) file: Arc<str>,
    pub(in crate::lsp) target: Target,
}

/// The variable at the cursor.
#[derive(Clone, Debug)]
pub(in crate::lsp) struct VariableAtCursor {
    pub(in crate::lsp) variable: Variable,
    pub(in crate::lsp) name: String,
    /// The place of the name.
    pub(in crate::lsp) span: Span,
}

/// A place with a variable's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct Occurrence {
    pub(in crate::lsp) file: Arc<str>,
    pub(in crate::lsp) span: Span,
    pub(in crate::lsp) role: Role,
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum Role {
    /// It binds the name.
    Defines,
    /// It uses the name.
    Says,
    /// It contains the name, but written with character references.
    Hides,
}

/// Reads a file for its names; `wanted` is followed into what takes it by name.
pub(in crate::lsp) fn traced(project: &ProjectState, name: &str, wanted: &str) -> Option<Traced> {
    let text_of = |name: &str| project.text(name).map(|(text, _)| text);
    let text = text_of(name)?;
    let trace = place::with(&text, &project.config.limits, |document| {
        let file = template::lower(document);
        let source = |written: &str| {
            contained_path::beside(name, written)
                .and_then(|name| text_of(&name))
                .map(Arc::from)
        };
        scope::trace(&file, &source, wanted)
    });
    Some(Traced { text, trace })
}

/// Reads a file for its names, once until anything of the project changes.
fn known_trace(project: &ProjectState, name: &str) -> Option<Rc<Traced>> {
    project.read.trace(name, || traced(project, name, ""))
}

/// The variable whose name stands at an offset.
pub(in crate::lsp) fn at(
    project: &ProjectState,
    name: &Arc<str>,
    offset: u32,
) -> Option<VariableAtCursor> {
    if project.template(name).is_none() {
        return in_text(project, name, offset);
    }
    let own = known_trace(project, name)?;
    let point = |name_of: &str, target: Target, span: Span| VariableAtCursor {
        variable: Variable {
            file: Arc::clone(name),
            target: own.trace.settled(target),
        },
        name: name_of.to_owned(),
        span,
    };
    if let Some(bound) = own
        .trace
        .bindings
        .iter()
        .find(|bound| bound.span.touches(offset))
    {
        return Some(point(&bound.name, Target::Bound(bound.span), bound.span));
    }
    for used in own
        .trace
        .uses
        .iter()
        .filter(|used| used.span.touches(offset))
    {
        let spans = spelled(used, &own.text);
        if let Some(span) = spans.into_iter().find(|span| span.touches(offset)) {
            return Some(point(&used.name, used.target, span));
        }
    }
    let calls = project
        .template(name)?
        .facts
        .references
        .iter()
        .filter(|own| own.kind == ReferenceKind::Call);
    let mut args = calls.flat_map(|call| call.args.iter().map(move |arg| (call, arg)));
    let (call, arg) = args.find(|(_, arg)| arg.name.is_some() && arg.span.touches(offset))?;
    let arg_name = arg.name.as_deref()?;
    let index = project.index();
    let id = index.find(DefinitionKind::Template, &call.name)?;
    let file = Arc::clone(index.file(id.file)?.path);
    let target = outer(&known_trace(project, &file)?.trace, id.definition, arg_name)?;
    Some(VariableAtCursor {
        variable: Variable { file, target },
        name: arg_name.to_owned(),
        span: arg.span,
    })
}

/// Returns the variable at an offset of a text file, as bound in the first template that includes
/// the text.
fn in_text(project: &ProjectState, name: &str, offset: u32) -> Option<VariableAtCursor> {
    let (text, _) = project.text(name)?;
    let mut users: Vec<&Arc<str>> = project.users(name).map(|(user, _)| user).collect();
    users.dedup();
    users.into_iter().find_map(|user| {
        let own = known_trace(project, user)?;
        own.trace.uses.iter().find_map(|used| {
            let How::Source(written, syntax) = &used.how else {
                return None;
            };
            if contained_path::beside(user, written).as_deref() != Some(name) {
                return None;
            }
            let span = in_source(&text, &used.name, *syntax)
                .into_iter()
                .find(|span| span.touches(offset))?;
            let variable = Variable {
                file: Arc::clone(user),
                target: own.trace.settled(used.target),
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
fn in_source(text: &str, name: &str, syntax: TextSyntax) -> Vec<Span> {
    match syntax {
        TextSyntax::Jinja => spans(text, name, 0),
        TextSyntax::Plain => plain_words(text, name),
    }
}

/// Returns a parameter of a task, declared or not.
pub(in crate::lsp) fn parameter(
    project: &ProjectState,
    task: &str,
    name: &str,
) -> Option<Variable> {
    Web::empty(project, name).known_as(project.index().find(DefinitionKind::Task, task)?)
}

/// Returns an input or a result in a task, or in a definition that it references.
pub(in crate::lsp) fn inside(project: &ProjectState, task: &str, name: &str) -> Option<Variable> {
    let mut web = Web::empty(project, name);
    let mut open = vec![web.index.find(DefinitionKind::Task, task)?];
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
            .filter_map(|reference| web.index.target(reference))
            .filter(|id| seen.insert(*id))
            .collect();
        open.extend(new);
        let trace = &web.file(&file).trace;
        let is_it = |bound: &&Bound| {
            bound.owner == id.definition && bound.name == name && bound.kind != BoundKind::Outer
        };
        if let Some(bound) = trace.bindings.iter().find(is_it) {
            return Some(Variable {
                target: trace.settled(Target::Bound(bound.span)),
                file,
            });
        }
    }
    None
}

/// Returns the declared parameter of a definition.
fn outer(trace: &Trace, owner: u32, name: &str) -> Option<Target> {
    let mut bindings = trace
        .bindings
        .iter()
        .filter(|bound| bound.kind == BoundKind::Outer && bound.owner == owner);
    bindings
        .find(|bound| bound.name == name)
        .map(|bound| Target::Bound(bound.span))
}

/// Returns the places of a name in a Jinja text that starts at an offset.
fn spans(text: &str, name: &str, offset: u32) -> Vec<Span> {
    said(text, name)
        .into_iter()
        .map(|at| Span::new(offset + at as u32, offset + (at + name.len()) as u32))
        .collect()
}

/// Returns the places of a use's name in its own file; none if it is in another file or written
/// with character references.
pub(in crate::lsp) fn spelled(used: &TracedUse, text: &str) -> Vec<Span> {
    let raw = used.span.slice(text);
    match used.how {
        How::Taken | How::Source(..) => Vec::new(),
        How::Jinja => spans(raw, &used.name, used.span.start),
        How::Word | How::Again if raw == used.name => vec![used.span],
        // A condition with character references is parsed as the inside of a tag, which has the
        // same words and strings.
        How::Word | How::Again => {
            let tag = format!("{{{{{raw}}}}}");
            spans(&tag, &used.name, used.span.start.saturating_sub(2))
        }
    }
}

/// A variable with its bindings in all files.
pub(in crate::lsp) struct Web<'w> {
    project: &'w ProjectState,
    index: Index<'w>,
    name: String,
    files: BTreeMap<Arc<str>, Traced>,
    /// The variable in each file and definition.
    pub(in crate::lsp) all: BTreeSet<Variable>,
}

impl<'w> Web<'w> {
    fn empty(project: &'w ProjectState, name: &str) -> Self {
        Self {
            project,
            index: project.index(),
            name: name.to_owned(),
            files: BTreeMap::new(),
            all: BTreeSet::new(),
        }
    }

    /// Follows a variable through all files.
    pub(in crate::lsp) fn new(project: &'w ProjectState, pointed: &VariableAtCursor) -> Self {
        let mut web = Self::empty(project, &pointed.name);
        let mut open = vec![pointed.variable.clone()];
        while let Some(next) = open.pop() {
            if next.target != Target::Language && web.all.insert(next.clone()) {
                web.neighbours(&next, &mut open);
            }
        }
        web
    }

    /// Returns a traced file; empty if it cannot be read.
    pub(in crate::lsp) fn file(&mut self, name: &Arc<str>) -> &Traced {
        let project = self.project;
        let wanted = &self.name;
        self.files
            .entry(Arc::clone(name))
            .or_insert_with(|| traced(project, name, wanted).unwrap_or_default())
    }

    fn neighbours(&mut self, of: &Variable, out: &mut Vec<Variable>) {
        let trace = self.file(&of.file).trace.clone();
        let references = self
            .project
            .template(&of.file)
            .map_or(&[][..], |template| &template.facts.references);
        let references: BTreeMap<u32, &Reference> =
            references.iter().map(|own| (own.span.start, own)).collect();
        let taken = trace
            .uses
            .iter()
            .filter(|used| used.how == How::Taken && trace.settled(used.target) == of.target);
        for used in taken {
            let reference = references
                .range(used.span.start..)
                .next()
                .filter(|(_, own)| used.span.encloses(own.span));
            let Some(id) = reference.and_then(|(_, own)| self.index.target(own)) else {
                continue;
            };
            out.extend(self.known_as(id));
        }
        let Some(owner) = owner(&trace, of.target) else {
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
            let is_own = |own: &&Reference| {
                own.kind.target() == definition.kind && own.name == definition.name
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
            let trace = &self.file(path).trace;
            let taken = trace.uses.iter().filter(|used| used.how == How::Taken);
            let sites: BTreeMap<u32, &TracedUse> =
                taken.map(|used| (used.span.start, used)).collect();
            let site = |span: Span| {
                sites
                    .range(..=span.start)
                    .next_back()
                    .filter(|(_, used)| used.span.encloses(span))
            };
            let known = own.into_iter().filter_map(site);
            out.extend(known.map(|(_, used)| Variable {
                file: Arc::clone(path),
                target: trace.settled(used.target),
            }));
        }
    }

    /// Returns the variable in a definition that takes its names from the place of use.
    fn known_as(&mut self, id: DefId) -> Option<Variable> {
        let file = Arc::clone(self.index.file(id.file)?.path);
        let name = self.name.clone();
        let trace = &self.file(&file).trace;
        let free = Target::Free(id.definition);
        let is_free = || {
            trace
                .uses
                .iter()
                .any(|used| used.name == name && used.target == free)
        };
        let target = outer(trace, id.definition, &name).or_else(|| is_free().then_some(free))?;
        Some(Variable { file, target })
    }

    /// Returns every occurrence of the name, in order.
    pub(in crate::lsp) fn occurrences(&mut self) -> Vec<Occurrence> {
        let mut found = BTreeSet::new();
        for variable in self.all.clone() {
            let Traced { text, trace } = self.file(&variable.file).clone();
            let here = |span: Span, role: Role| Occurrence {
                file: Arc::clone(&variable.file),
                span,
                role,
            };
            let is_own = |target: Target| trace.settled(target) == variable.target;
            let bindings = trace
                .bindings
                .iter()
                .filter(|bound| is_own(Target::Bound(bound.span)));
            for bound in bindings {
                let role = if bound.span.slice(&text) == bound.name {
                    Role::Defines
                } else {
                    Role::Hides
                };
                found.insert(here(bound.span, role));
            }
            for used in trace
                .uses
                .iter()
                .filter(|used| used.name == self.name && is_own(used.target))
            {
                self.say(&variable.file, &text, used, &mut found);
            }
            if let Some(owner) = owner(&trace, variable.target) {
                self.arguments(&variable.file, owner, &mut found);
            }
        }
        found.into_iter().collect()
    }

    fn say(&self, file: &Arc<str>, text: &str, used: &TracedUse, found: &mut BTreeSet<Occurrence>) {
        let one = |file: &Arc<str>, span: Span, role: Role| Occurrence {
            file: Arc::clone(file),
            span,
            role,
        };
        match &used.how {
            How::Taken => {}
            How::Word | How::Again | How::Jinja => {
                let spans = spelled(used, text);
                if spans.is_empty() {
                    found.insert(one(file, used.span, Role::Hides));
                }
                found.extend(spans.into_iter().map(|span| one(file, span, Role::Says)));
            }
            How::Source(written, syntax) => {
                let Some(other) = contained_path::beside(file, written) else {
                    return;
                };
                let Some((text, _)) = self.project.text(&other) else {
                    return;
                };
                let other: Arc<str> = Arc::from(other);
                let spans = in_source(&text, &used.name, *syntax);
                found.extend(spans.into_iter().map(|span| one(&other, span, Role::Says)));
            }
        }
    }

    /// Adds the arguments of calls that name a parameter of a function template.
    fn arguments(&self, file: &Arc<str>, owner: u32, found: &mut BTreeSet<Occurrence>) {
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
                role: Role::Says,
            }));
        }
    }
}

/// Returns the definition through which callers can set the variable; `None` for a local variable.
fn owner(trace: &Trace, target: Target) -> Option<u32> {
    match target {
        Target::Free(owner) => Some(owner),
        Target::Bound(span) => {
            let mut outer = trace
                .bindings
                .iter()
                .filter(|bound| bound.kind == BoundKind::Outer);
            outer
                .find(|bound| bound.span == span)
                .map(|bound| bound.owner)
        }
        Target::Language => None,
    }
}

/// Returns the places of a name in the `{{…}}` of a text without character references.
fn plain_words(text: &str, name: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for piece in expression::scan_plain(text, 0) {
        if let Piece::Expression(expression) = piece {
            in_expression(&expression.value, name, &mut found);
        }
    }
    found
}

// Recurses as deep as the parser lets calls nest.
fn in_expression(expression: &Expression<'_>, name: &str, found: &mut Vec<Span>) {
    match expression {
        Expression::Path(path) if path.root.value == name => found.push(path.root.span),
        Expression::Call(call) => {
            for value in call
                .positional
                .iter()
                .chain(call.named.iter().map(|(_, value)| value))
            {
                in_expression(value, name, found);
            }
        }
        Expression::Path(_)
        | Expression::Text(_)
        | Expression::Number(_)
        | Expression::Boolean(_) => {}
    }
}
