//! Renames a task, template, fragment, parameter, input, step or role with all its references.
//!
//! Refuses, with the reason, a name that is invalid or that would change the target of another
//! reference.

use super::mentions::{self, Mention, MentionTarget};
use super::navigate::{self, SymbolAtCursor};
use super::variables::{
    self, FileVariable, Occurrence, OccurrenceRole, VariableAtCursor, VariableWeb,
};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{self, Edit};
use crate::base::rule_meta::Code;
use crate::base::source::LineIndex;
use crate::jinja::tags::find_uses;
use crate::lsp::prelude::*;
use crate::lsp::state::read_cache::TracedFile;
use crate::lsp::workspace_edit;
use crate::rules::check::is_error;
use crate::template::expression::{self, Expression, ScanItem};
use crate::template::names::DefinitionKind;
use crate::template::scope::{TracedBinding, TracedUse, UseForm, UseTarget};
use gen_lsp_types::RenameParams;
use std::collections::BTreeMap;

/// Edits by file.
type FileEdits = BTreeMap<Arc<str>, Vec<Edit>>;

/// Answers `textDocument/rename`.
pub(in crate::lsp) fn answer(server: &LspServer<'_>, params: &RenameParams) -> RequestResult {
    let new = params.new_name.trim();
    let at = &params.text_document_position_params;
    let (project, ..) = server.document(&at.text_document.uri)?;
    if let Some(Mention { name, .. }) = navigate::role_at(server, at)? {
        return edits_answer(server, project, &rename_role(project, &name, new)?);
    }
    if let Some(meant) = navigate::symbol_at(server, at)? {
        return edits_answer(server, project, &rename_definition(project, &meant, new)?);
    }
    let Some(pointed) = navigate::variable_at(server, at)? else {
        return Err(RequestError::invalid("there is no name to change here"));
    };
    edits_answer(server, project, &rename_variable(project, &pointed, new)?)
}

fn edits_answer(
    server: &LspServer<'_>,
    project: &ProjectState,
    edits: &FileEdits,
) -> RequestResult {
    let of = |(path, edits): (&Arc<str>, &Vec<Edit>)| {
        let (text, index) = project.indexed_text(path)?;
        Some((
            Arc::clone(path),
            server.client.encoding.text_edits(&text, &index, edits),
        ))
    };
    to_answer(workspace_edit::file_edits(
        &server.client,
        project,
        edits.iter().filter_map(of).collect(),
    ))
}

/// Returns the edits for a new name of a role. Its task keeps its name.
fn rename_role(project: &ProjectState, role: &str, new: &str) -> Result<FileEdits, RequestError> {
    check_name(new)?;
    let mut edits = FileEdits::new();
    if new == role {
        return Ok(edits);
    }
    if project.config.roles.contains_key(new) {
        return Err(RequestError::invalid(format!(
            "there is a role named `{new}` already"
        )));
    }
    let named: Vec<Mention> = mentions::all_mentions(project)
        .into_iter()
        .filter(|own| own.name == role)
        .collect();
    if let Some(own) = named
        .iter()
        .find(|own| own.target == MentionTarget::OwnTask)
    {
        let (text, _) = project.indexed_text(&own.file).unwrap_or_default();
        let Some(edit) = own.rename_edit(&text, role) else {
            return Err(RequestError::invalid(format!(
                "the role `{role}` plays the task of its own name, which it would lose: add `template = \"{role}\"` to the role first"
            )));
        };
        edits.entry(Arc::clone(&own.file)).or_default().push(edit);
    }
    let roles = named
        .into_iter()
        .filter(|own| own.target == MentionTarget::Role);
    add_mentions(project, roles, new, &mut edits);
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    check_result(project, new, &edits)?;
    Ok(edits)
}

/// Refuses a text that cannot be a name in every file.
fn check_name(new: &str) -> Result<(), RequestError> {
    if new.is_empty()
        || new.contains(['<', '>', '&', '"', '\'', '{', '}'])
        || new.contains(char::is_control)
    {
        return Err(RequestError::invalid(format!(
            "`{new}` cannot be a name: it must be on one line, without quotes, brackets and braces"
        )));
    }
    Ok(())
}

/// Returns the edits for a new name of a definition.
fn rename_definition(
    project: &ProjectState,
    symbol: &SymbolAtCursor,
    new: &str,
) -> Result<FileEdits, RequestError> {
    check_name(new)?;
    navigate::check_owner(project, symbol)?;
    if symbol.name != new && project.index().find_definition(symbol.kind, new).is_some() {
        return Err(RequestError::invalid(format!(
            "there is a {} named `{new}` already",
            symbol.kind.word()
        )));
    }
    let mut edits = FileEdits::new();
    add_mentions(
        project,
        navigate::definition_mentions(project, symbol),
        new,
        &mut edits,
    );
    for (path, span) in navigate::use_places(project, symbol) {
        edits
            .entry(path)
            .or_default()
            .push(Edit::replace(span, new));
    }
    for (path, span) in navigate::definition_places(project, symbol) {
        let text = project
            .indexed_text(&path)
            .map(|(text, _)| text)
            .unwrap_or_default();
        // A task that is named by its file gets a `name` attribute.
        let is_written = span.slice(&text) == symbol.name || symbol.kind != DefinitionKind::Task;
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
    check_result(project, new, &edits)?;
    Ok(edits)
}

/// Another name in the files beside the templates.
fn add_mentions(
    project: &ProjectState,
    mentions: impl Iterator<Item = Mention>,
    new: &str,
    edits: &mut FileEdits,
) {
    for mention in mentions {
        let text = project
            .indexed_text(&mention.file)
            .map(|(text, _)| text)
            .unwrap_or_default();
        if let Some(edit) = mention.rename_edit(&text, new) {
            edits.entry(mention.file).or_default().push(edit);
        }
    }
}

/// Another name for a variable.
fn rename_variable(
    project: &ProjectState,
    pointed: &VariableAtCursor,
    new: &str,
) -> Result<FileEdits, RequestError> {
    if pointed.variable.target == UseTarget::Language {
        return Err(RequestError::invalid(format!(
            "`{}` is a name of the language, which cannot be changed",
            pointed.name
        )));
    }
    if !is_variable_name(new) {
        return Err(RequestError::invalid(format!(
            "`{new}` cannot be a variable: a name begins with a letter or `_` and goes on with letters, digits, `_` and `-`"
        )));
    }
    let mut web = VariableWeb::new(project, pointed);
    let mut edits = FileEdits::new();
    if new == pointed.name {
        return Ok(edits);
    }
    for Occurrence { file, span, role } in web.occurrences() {
        if role == OccurrenceRole::Escaped {
            let place = format_place(project, &file, span);
            let name = &pointed.name;
            return Err(RequestError::invalid(format!(
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
        navigate::variable_mentions(project, &web, &pointed.name),
        new,
        &mut edits,
    );
    for edits in edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    check_clashes(project, &web, new)?;
    check_result(project, new, &edits)?;
    Ok(edits)
}

/// Checks the whole project with the edits in memory: a rename must add no error, and no finding in
/// a scenario.
fn check_result(project: &ProjectState, new: &str, edits: &FileEdits) -> Result<(), RequestError> {
    let of = |(file, edits): (&Arc<str>, &Vec<Edit>)| {
        let (text, _) = project.indexed_text(file)?;
        Some((Arc::clone(file), fix::apply_edits(&text, edits)?))
    };
    let after = project.with_texts(edits.iter().filter_map(of).collect());
    let before = count_findings(project);
    for (key, (count, finding)) in count_findings(&after) {
        if before.get(&key).is_none_or(|(known, _)| *known < count) {
            let place = format_place(&after, &finding.path, finding.span);
            let Diagnostic { message, .. } = finding;
            return Err(RequestError::invalid(format!(
                "with the name `{new}` there would be a new finding at {place}: {message}"
            )));
        }
    }
    Ok(())
}

/// Counts the errors, and the findings in scenarios, by file and rule, with one finding of each.
fn count_findings(project: &ProjectState) -> BTreeMap<(Arc<str>, Code), (usize, Diagnostic)> {
    let mut counts = BTreeMap::new();
    for finding in project
        .file_names()
        .into_iter()
        .flat_map(|name| project.findings(&name))
    {
        if is_error(&finding) || finding.rule.code.family() == 6 {
            let key = (Arc::clone(&finding.path), finding.rule.code);
            counts.entry(key).or_insert((0, finding)).0 += 1;
        }
    }
    counts
}

fn is_variable_name(new: &str) -> bool {
    let text = format!("{{{{{new}}}}}");
    let mut pieces = expression::scan_plain(&text, 0);
    let is_path = |piece: ScanItem<'_>| match piece {
        ScanItem::Expression(found) => match found.value {
            Expression::Path(path) => path.rest.is_empty() && path.root.value == new,
            Expression::Call(_)
            | Expression::Text(_)
            | Expression::Number(_)
            | Expression::Boolean(_) => false,
        },
        ScanItem::Text(_) | ScanItem::Escaped(_) | ScanItem::Fault(_) => false,
    };
    pieces.next().is_some_and(is_path) && pieces.next().is_none()
}

fn format_place(project: &ProjectState, file: &str, span: Span) -> String {
    let (text, index) = project.indexed_text(file).unwrap_or_default();
    let found = index.position(&text, span.start);
    format!("{file}:{}:{}", found.line, found.column)
}

/// Refuses a name that another variable has: in a body around or inside the variable's own, or in a
/// Jinja text that uses both.
fn check_clashes(
    project: &ProjectState,
    web: &VariableWeb<'_>,
    new: &str,
) -> Result<(), RequestError> {
    for FileVariable { file, target } in &web.variables {
        let TracedFile { text, trace } =
            variables::trace_file(project, file, "").unwrap_or_default();
        let is_own = |other: UseTarget| trace.resolve_target(other) == *target;
        let own: Vec<&TracedBinding> = trace
            .bindings
            .iter()
            .filter(|bound| is_own(UseTarget::Bound(bound.span)))
            .collect();
        let is_of = |owner: u32| {
            *target == UseTarget::Free(owner) || own.iter().any(|bound| bound.owner == owner)
        };
        let meets = |other: &&TracedBinding| {
            let nested = |bound: &&TracedBinding| {
                bound.body.encloses(other.body) || other.body.encloses(bound.body)
            };
            other.name == new && (own.iter().any(nested) || *target == UseTarget::Free(other.owner))
        };
        let twin = trace
            .bindings
            .iter()
            .find(meets)
            .map(|other| (other.kind.describe(), other.span));
        let is_free_use = |used: &&TracedUse| match (used.name == new, used.target) {
            (true, UseTarget::Free(owner)) => used.form != UseForm::Taken && is_of(owner),
            (true, UseTarget::Language) => true,
            (true, UseTarget::Bound(_)) => false,
            (false, _) => {
                used.form == UseForm::Jinja
                    && is_own(used.target)
                    && !find_uses(used.span.slice(&text), new).is_empty()
            }
        };
        let used = || {
            trace
                .uses
                .iter()
                .find(is_free_use)
                .map(|used| ("variable", used.span))
        };
        if let Some((what, span)) = twin.or_else(used) {
            let line = LineIndex::new(&text).position(&text, span.start).line;
            let message = format!(
                "another {what} is named `{new}` already, at {file}:{line}; the two would be one"
            );
            return Err(RequestError::invalid(message));
        }
    }
    Ok(())
}
