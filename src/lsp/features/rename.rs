//! Renames a task, template, fragment, parameter, input or step with all its references.
//!
//! Refuses, with the reason, a name that is invalid or that would change the target of another
//! reference.

use super::mentions::Mention;
use super::navigate::{self, SymbolAtCursor};
use super::variables::{self, Occurrence, Role, Variable, VariableAtCursor, Web};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit};
use crate::base::rule_meta::Code;
use crate::base::source::LineIndex;
use crate::jinja::tags::said;
use crate::lsp::prelude::*;
use crate::lsp::state::read_cache::Traced;
use crate::lsp::workspace_edit;
use crate::rules::check::is_error;
use crate::template::expression::{self, Expression, Piece};
use crate::template::names::DefinitionKind;
use crate::template::scope::{Bound, How, Target, TracedUse};
use gen_lsp_types::RenameParams;
use std::collections::BTreeMap;

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
        Some((
            Arc::clone(path),
            server.client.encoding.edits(&text, &index, edits),
        ))
    };
    value(workspace_edit::of(
        &server.client,
        project,
        edits.iter().filter_map(of).collect(),
    ))
}

/// Returns the edits for a new name of a definition.
fn name(project: &ProjectState, meant: &SymbolAtCursor, new: &str) -> Result<Edits, Refusal> {
    if new.is_empty()
        || new.contains(['<', '>', '&', '"', '\'', '{', '}'])
        || new.contains(char::is_control)
    {
        return Err(Refusal::invalid(format!(
            "`{new}` cannot be a name: it must be on one line, without quotes, brackets and braces"
        )));
    }
    if meant.name != new && project.index().find(meant.kind, new).is_some() {
        return Err(Refusal::invalid(format!(
            "there is a {} named `{new}` already",
            meant.kind.word()
        )));
    }
    let mut edits = Edits::new();
    add_mentions(project, navigate::beside(project, meant), new, &mut edits);
    for (path, span) in navigate::uses(project, meant) {
        edits
            .entry(path)
            .or_default()
            .push(Edit::replace(span, new));
    }
    for (path, span) in navigate::definitions(project, meant) {
        let text = project
            .text(&path)
            .map(|(text, _)| text)
            .unwrap_or_default();
        // A task that is named by its file gets a `name` attribute.
        let is_written = span.slice(&text) == meant.name || meant.kind != DefinitionKind::Task;
        let edit = if is_written {
            Edit::replace(span, new)
        } else {
            Edit::insert(span.end, format!(" name=\"{new}\""))
        };
        edits.entry(path).or_default().push(edit);
    }
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    sound(project, new, &edits)?;
    Ok(edits)
}

/// Another name in the files beside the templates.
fn add_mentions(
    project: &ProjectState,
    mentions: impl Iterator<Item = Mention>,
    new: &str,
    edits: &mut Edits,
) {
    for mention in mentions {
        let text = project
            .text(&mention.file)
            .map(|(text, _)| text)
            .unwrap_or_default();
        if let Some(edit) = mention.rename(&text, new) {
            edits.entry(mention.file).or_default().push(edit);
        }
    }
}

/// Another name for a variable.
fn variable(
    project: &ProjectState,
    pointed: &VariableAtCursor,
    new: &str,
) -> Result<Edits, Refusal> {
    if pointed.variable.target == Target::Language {
        return Err(Refusal::invalid(format!(
            "`{}` is a name of the language, which cannot be changed",
            pointed.name
        )));
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
    for Occurrence { file, span, role } in web.occurrences() {
        if role == Role::Hides {
            let place = place(project, &file, span);
            let name = &pointed.name;
            return Err(Refusal::invalid(format!(
                "`{name}` is written with character references at {place}: write it as it is first"
            )));
        }
        edits
            .entry(file)
            .or_default()
            .push(Edit::replace(span, new));
    }
    add_mentions(
        project,
        navigate::web_beside(project, &web, &pointed.name),
        new,
        &mut edits,
    );
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    clashes(project, &web, new)?;
    sound(project, new, &edits)?;
    Ok(edits)
}

/// Checks the whole project with the edits in memory: a rename must add no error, and no finding in
/// a scenario.
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
            return Err(Refusal::invalid(format!(
                "with the name `{new}` there would be a new finding at {place}: {message}"
            )));
        }
    }
    Ok(())
}

/// Counts the errors, and the findings in scenarios, by file and rule, with one finding of each.
fn counted(project: &ProjectState) -> BTreeMap<(Arc<str>, Code), (usize, Diagnostic)> {
    let mut counts = BTreeMap::new();
    for finding in project
        .names()
        .into_iter()
        .flat_map(|name| project.found(&name))
    {
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
            Expression::Call(_)
            | Expression::Text(_)
            | Expression::Number(_)
            | Expression::Boolean(_) => false,
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

/// Refuses a name that another variable has: in a body around or inside the variable's own, or in a
/// Jinja text that uses both.
fn clashes(project: &ProjectState, web: &Web<'_>, new: &str) -> Result<(), Refusal> {
    for Variable { file, target } in &web.all {
        let Traced { text, trace } = variables::traced(project, file, "").unwrap_or_default();
        let is_own = |other: Target| trace.settled(other) == *target;
        let own: Vec<&Bound> = trace
            .bindings
            .iter()
            .filter(|bound| is_own(Target::Bound(bound.span)))
            .collect();
        let is_of = |owner: u32| {
            *target == Target::Free(owner) || own.iter().any(|bound| bound.owner == owner)
        };
        let meets = |other: &&Bound| {
            let nested =
                |bound: &&Bound| bound.body.encloses(other.body) || other.body.encloses(bound.body);
            other.name == new && (own.iter().any(nested) || *target == Target::Free(other.owner))
        };
        let twin = trace
            .bindings
            .iter()
            .find(meets)
            .map(|other| (other.kind.word(), other.span));
        let is_said = |used: &&TracedUse| match (used.name == new, used.target) {
            (true, Target::Free(owner)) => used.how != How::Taken && is_of(owner),
            (true, Target::Language) => true,
            (true, Target::Bound(_)) => false,
            (false, _) => {
                used.how == How::Jinja
                    && is_own(used.target)
                    && !said(used.span.slice(&text), new).is_empty()
            }
        };
        let used = || {
            trace
                .uses
                .iter()
                .find(is_said)
                .map(|used| ("variable", used.span))
        };
        if let Some((what, span)) = twin.or_else(used) {
            let line = LineIndex::new(&text).position(&text, span.start).line;
            let message = format!(
                "another {what} is named `{new}` already, at {file}:{line}; the two would be one"
            );
            return Err(Refusal::invalid(message));
        }
    }
    Ok(())
}
