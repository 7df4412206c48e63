//! Renames a task, a template, a fragment, a parameter, an input or a step, wherever its name is used.
//!
//! Refuses, with the reason, a name that is not valid or that would change what another name refers to.

use super::navigate::{self, SymbolAtCursor};
use super::variables::{self, Occurrence, Role, Texts, Traced, VariableAtCursor, Web};
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit};
use crate::base::rule_meta::Code;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::lsp::server::{Answer, Refusal, Server, value};
use crate::lsp::state::project::ProjectState;
use crate::lsp::workspace_edit;
use crate::rules::check::is_error;
use crate::template::expression::{self, Expression, Piece};
use crate::template::names::DefinitionKind;
use crate::template::scope::{How, Target};
use gen_lsp_types::RenameParams;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Edits by file.
type Edits = BTreeMap<Arc<str>, Vec<Edit>>;

/// Answers `textDocument/rename`.
pub(in crate::lsp) fn answer(server: &Server<'_>, params: &RenameParams) -> Answer {
    let new = params.new_name.trim();
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    if let Some(meant) = navigate::symbol_at(server, at)? {
        return answered(server, project, &name(project, &meant, new)?);
    }
    let Some(pointed) = navigate::variable_at(server, at)? else {
        return Err(Refusal::invalid("there is no name to change here"));
    };
    answered(server, project, &variable(project, &pointed, new)?)
}

fn answered(server: &Server<'_>, project: &ProjectState, edits: &Edits) -> Answer {
    let of = |(path, edits): (&Arc<str>, &Vec<Edit>)| {
        let (text, index) = project.text(path)?;
        Some((Arc::clone(path), server.client.encoding.edits(&text, &index, edits)))
    };
    value(workspace_edit::of(&server.client, project, edits.iter().filter_map(of).collect()))
}

/// Another name for a definition.
fn name(project: &ProjectState, meant: &SymbolAtCursor, new: &str) -> Result<Edits, Refusal> {
    if new.is_empty() || new.contains(['<', '>', '&', '"', '\'', '{', '}']) || new.contains(char::is_control) {
        return Err(Refusal::invalid(format!(
            "`{new}` cannot be a name: it must be on one line, without quotes, brackets and braces"
        )));
    }
    if meant.name != new && project.index().find(meant.kind, new).is_some() {
        return Err(Refusal::invalid(format!("there is a {} named `{new}` already", meant.kind.word())));
    }
    let mut edits = Edits::new();
    for mention in navigate::beside(project, meant) {
        let text = project.text(&mention.file).map(|(text, _)| text).unwrap_or_default();
        if let Some(edit) = mention.rename(&text, new) {
            edits.entry(mention.file).or_default().push(edit);
        }
    }
    for (path, span) in navigate::uses(project, meant) {
        edits.entry(path).or_default().push(Edit::replace(span, new));
    }
    for (path, span) in navigate::definitions(project, meant) {
        let text = project.text(&path).map(|(text, _)| text).unwrap_or_default();
        // A task that is named by its file says its new name from now on.
        let is_written = span.slice(&text) == meant.name || meant.kind != DefinitionKind::Task;
        let edit = if is_written { Edit::replace(span, new) } else { Edit::insert(span.end, format!(" name=\"{new}\"")) };
        edits.entry(path).or_default().push(edit);
    }
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    sound(project, new, &edits)?;
    Ok(edits)
}

/// Another name for a variable.
fn variable(project: &ProjectState, pointed: &VariableAtCursor, new: &str) -> Result<Edits, Refusal> {
    if pointed.variable.target == Target::Language {
        return Err(Refusal::invalid(format!("`{}` is a name of the language, which cannot be changed", pointed.name)));
    }
    if !is_name(new) {
        return Err(Refusal::invalid(format!(
            "`{new}` cannot be a variable: a name begins with a letter or `_` and goes on with letters, digits, `_` and `-`"
        )));
    }
    let mut web = Web::new(project, pointed);
    let mut edits = Edits::new();
    if new == pointed.name {
        return Ok(edits);
    }
    let beside = navigate::web_beside(project, &web, &pointed.name);
    for Occurrence { file, span, role } in web.occurrences().into_iter().chain(beside) {
        if role == Role::Hides {
            let place = place(project, &file, span);
            let name = &pointed.name;
            return Err(Refusal::invalid(format!(
                "`{name}` is written with character references at {place}: write it as it is first"
            )));
        }
        edits.entry(file).or_default().push(Edit::replace(span, new));
    }
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    prove(project, &mut web, (&pointed.name, new), &edits)?;
    sound(project, new, &edits)?;
    Ok(edits)
}

/// Makes the edits in memory and checks the whole project with them: a name brings no new error, and nothing new in a scenario.
fn sound(project: &ProjectState, new: &str, edits: &Edits) -> Result<(), Refusal> {
    let of = |(file, edits): (&Arc<str>, &Vec<Edit>)| {
        let (text, _) = project.text(file)?;
        Some((Arc::clone(file), fix::apply(&text, edits)?))
    };
    let after = project.with_texts(edits.iter().filter_map(of).collect());
    let before = counted(project);
    for (key, (count, finding)) in counted(&after) {
        if before.get(&key).is_none_or(|(known, _)| *known < count) {
            let place = place(&after, &finding.path, finding.span);
            let Diagnostic { message, .. } = finding;
            return Err(Refusal::invalid(format!("with the name `{new}` there would be a new finding at {place}: {message}")));
        }
    }
    Ok(())
}

/// How often a file has an error of a rule, or a finding about a scenario, with one of each.
fn counted(project: &ProjectState) -> BTreeMap<(Arc<str>, Code), (usize, Diagnostic)> {
    let mut counts = BTreeMap::new();
    for finding in project.names().into_iter().flat_map(|name| project.found(&name)) {
        if is_error(&finding) || finding.rule.code.family() == 6 {
            let key = (Arc::clone(&finding.path), finding.rule.code);
            counts.entry(key).or_insert((0, finding)).0 += 1;
        }
    }
    counts
}

fn is_name(new: &str) -> bool {
    let text = format!("{{{{{new}}}}}");
    let mut pieces = expression::scan_plain(&text, 0);
    let is_path = |piece: Piece<'_>| match piece {
        Piece::Expression(found) => match found.value {
            Expression::Path(path) => path.rest.is_empty() && path.root.value == new,
            Expression::Call(_) | Expression::Text(_) | Expression::Number(_) | Expression::Boolean(_) => false,
        },
        Piece::Text(_) | Piece::Escaped(_) | Piece::Fault(_) => false,
    };
    pieces.next().is_some_and(is_path) && pieces.next().is_none()
}

fn place(project: &ProjectState, file: &str, span: Span) -> String {
    let (text, index) = project.text(file).unwrap_or_default();
    let found = index.position(&text, span.start);
    format!("{file}:{}:{}", found.line, found.column)
}

/// Makes the edits in memory, and poll whether every name stands for what it stood for.
fn prove(project: &ProjectState, web: &mut Web<'_>, (old, new): (&str, &str), edits: &Edits) -> Result<(), Refusal> {
    let mut instead = Texts::new();
    for (file, edits) in edits {
        let text = project.text(file).map(|(text, _)| text).unwrap_or_default();
        let after = fix::apply(&text, edits).ok_or_else(|| Refusal::invalid("two of the places to change lie in each other"))?;
        instead.insert(Arc::clone(file), after);
    }
    let pulls =
        |file: &str, written: &str| contained_path::beside(file, written).is_some_and(|name| instead.contains_key(name.as_str()));
    let touched = project.templates().filter(|(file, template)| {
        let files = web.all.iter().any(|variable| variable.file == **file);
        files || instead.contains_key(*file) || template.facts.sources.iter().any(|source| pulls(file, &source.path))
    });
    let touched: BTreeSet<Arc<str>> =
        touched.map(|(file, _)| Arc::clone(file)).chain(web.all.iter().map(|own| Arc::clone(&own.file))).collect();
    for file in touched {
        let own: BTreeSet<Target> = web.all.iter().filter(|own| own.file == file).map(|own| own.target).collect();
        let before = web.file(&file).clone();
        collisions(&file, &before, &own, new)?;
        let after = variables::traced(project, &file, new, &instead).unwrap_or_default();
        let moved = MovedName::new(edits.get(&file).map_or(&[][..], Vec::as_slice));
        let expected = meaning(&before, &own, &moved, (old, new));
        let own = own.iter().map(|target| moved.target(*target)).collect();
        let found = meaning(&after, &own, &MovedName::new(&[]), (new, new));
        if let Some(first) = expected.symmetric_difference(&found).next() {
            let index = LineIndex::new(&after.text);
            let line = index.position(&after.text, first.0.start).line;
            return Err(Refusal::invalid(format!(
                "with the name `{new}` something else would be meant at {file}:{line}; choose another name"
            )));
        }
    }
    Ok(())
}

/// Names that would be there twice.
fn collisions(file: &str, before: &Traced, own: &BTreeSet<Target>, new: &str) -> Result<(), Refusal> {
    let Traced { text, trace } = before;
    let is_own = |span: Span| own.contains(&trace.settled(Target::Bound(span)));
    let bodies: BTreeSet<Span> = trace.bindings.iter().filter(|bound| is_own(bound.span)).map(|bound| bound.body).collect();
    let twin = trace.bindings.iter().find(|bound| bound.name == new && bodies.contains(&bound.body));
    let (what, span) = if let Some(twin) = twin {
        (twin.kind.word(), twin.span)
    } else {
        let free = trace.uses.iter().find(|used| used.name == new && used.how != How::Taken && own.contains(&used.target));
        let Some(used) = free else { return Ok(()) };
        ("variable", used.span)
    };
    let line = LineIndex::new(text).position(text, span.start).line;
    Err(Refusal::invalid(format!("there is a {what} named `{new}` already, at {file}:{line}; the two would be one")))
}

/// Where things stand once edits are made: by the end of each edit, what went and what came up to there.
struct MovedName(Vec<(u32, u32, u32)>);

impl MovedName {
    fn new(edits: &[Edit]) -> Self {
        let mut gone = 0;
        let mut came = 0;
        let one = |edit: &Edit| {
            (gone, came) = (gone + edit.span.len(), came + edit.insert.len() as u32);
            (edit.span.end, gone, came)
        };
        Self(edits.iter().map(one).collect())
    }

    fn offset(&self, offset: u32) -> u32 {
        let before = self.0.partition_point(|(end, ..)| *end <= offset);
        let last = before.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(offset, |(_, gone, came)| offset - gone + came)
    }

    /// A span that an edit replaces becomes that of what comes in its place.
    fn span(&self, span: Span) -> Span {
        Span::new(self.offset(span.start), self.offset(span.end))
    }

    fn target(&self, target: Target) -> Target {
        match target {
            Target::Bound(span) => Target::Bound(self.span(span)),
            Target::Language | Target::Free(_) => target,
        }
    }
}

/// What stands where for what.
type Meaning = BTreeSet<(Span, String, Target)>;

/// What everything in a file means: names of the variable itself as `new`.
fn meaning(traced: &Traced, own: &BTreeSet<Target>, moved: &MovedName, (old, new): (&str, &str)) -> Meaning {
    let trace = &traced.trace;
    let one = |span: Span, name: &str, target: Target| {
        let target = trace.settled(target);
        let name = if name == old && own.contains(&target) { new } else { name };
        (moved.span(span), name.to_owned(), moved.target(target))
    };
    // What others take by name matters where it is this variable that they take.
    let uses = trace.uses.iter().filter(|used| used.how != How::Taken || own.contains(&trace.settled(used.target)));
    let uses = uses.map(|used| one(used.span, &used.name, used.target));
    uses.chain(trace.bindings.iter().map(|bound| one(bound.span, &bound.name, Target::Bound(bound.span)))).collect()
}
