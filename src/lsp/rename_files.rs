//! Files that are about to get another name: what names them is changed along, and what a task is called that has its file's name.

use super::features::mentions;
use super::features::navigate::{self, SymbolAtCursor};
use super::{uri, workspace_edit};
use crate::base::contained_path;
use crate::base::fix::Edit;
use crate::base::fs;
use crate::lsp::prelude::*;
use crate::registry::compile::sources;
use crate::syntax::write::escape_attribute;
use crate::template::names::{DefinitionKind, SourceKind};
use gen_lsp_types::RenameFilesParams;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Edits by file.
type Edits = BTreeMap<Arc<str>, BTreeSet<Edit>>;

/// Answers `workspace/willRenameFiles`, for the project of the first file.
pub(super) fn answer(server: &Server<'_>, params: &RenameFilesParams) -> Answer {
    let moved = params.files.iter().filter_map(|file| Some((uri::path(&file.old_uri)?, uri::path(&file.new_uri)?)));
    let moved: Vec<_> = moved.collect();
    let Some((project, _)) = moved.first().and_then(|(old, _)| server.workspace.file(old)) else { return value(()) };
    let names = moved.iter().map(|(old, new)| (project.name(old), project.name(new)));
    // From outside of the project nothing can be named: what leaves it is reported as missing.
    let names: Vec<(Arc<str>, Arc<str>)> = names.filter(|(_, new)| !Path::new(&**new).is_absolute()).collect();
    let mut edits = Edits::new();
    for (path, template) in project.templates() {
        let here = after(&names, path);
        for source in &template.facts.sources {
            let Some(target) = sources::name_of_source(path, source) else { continue };
            let there = after(&names, &target);
            if here != **path && source.kind != SourceKind::File || there != target {
                let written =
                    if source.kind == SourceKind::File { there } else { contained_path::relative(folder(&here), &there) };
                let edit = Edit::replace(source.span, escape_attribute(&written));
                edits.entry(Arc::clone(path)).or_default().insert(edit);
            }
        }
        renamed_task(project, path, &here, &mut edits);
    }
    let config = project.config.files.first().map(|file| &file.path);
    for path in config.into_iter().chain(project.suites.keys()) {
        let (text, _) = project.text(path).unwrap_or_default();
        edits.entry(Arc::clone(path)).or_default().extend(beside(project, &names, path, &text));
    }
    edits.retain(|_, edits| !edits.is_empty());
    let of = |(path, edits): (&Arc<str>, &BTreeSet<Edit>)| {
        let (text, index) = project.text(path)?;
        let edits: Vec<Edit> = edits.iter().cloned().collect();
        Some((Arc::clone(path), server.client.encoding.edits(&text, &index, &edits)))
    };
    value(workspace_edit::of(&server.client, project, edits.iter().filter_map(of).collect()))
}

/// The paths that a scenario or the project file says, as they are from now on: values that name a file beside it, and keys that
/// name one of the project.
fn beside(project: &ProjectState, names: &[(Arc<str>, Arc<str>)], path: &str, text: &str) -> Vec<Edit> {
    let here = after(names, path);
    let is_end = |c: char| c.is_whitespace() || "\"',:@[]{}".contains(c);
    let mut found = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(is_end) {
        let span = Span::of(start, start + word.trim_end_matches(is_end).len());
        start += word.len();
        let (head, tail) = (text.get(..span.start as usize), text.get(span.end as usize..));
        let (Some(before), Some(behind)) = (head.and_then(|head| head.rsplit('\n').next()), tail) else { continue };
        // A path is all that a value or a key says.
        let before = before.trim_end();
        let is_begun =
            before.is_empty() || before.ends_with([':', '=', '-', '"', '\'', '@', '[', '{', ',']) || before.ends_with("!file");
        let behind = behind.trim_start_matches([' ', '\r']);
        if !is_begun || !(behind.is_empty() || behind.starts_with(['\n', '#', ':', '=', '"', '\'', ',', ']', '}'])) {
            continue;
        }
        let word = span.slice(text);
        let target = contained_path::beside(path, word)
            .filter(|_| !word.is_empty() && !behind.starts_with(':'))
            .filter(|target| here != *path || after(names, target) != *target);
        let is_there = |target: &String| after(names, target) != *target || fs::exists(&project.path(target));
        let written = match target.filter(is_there) {
            Some(target) => contained_path::relative(folder(&here), &after(names, &target)),
            None => after(names, word),
        };
        if written != word {
            found.push(Edit::replace(span, written));
        }
    }
    found
}

/// The name of a file once files and folders have their new ones.
fn after(names: &[(Arc<str>, Arc<str>)], file: &str) -> String {
    let moved = names.iter().find_map(|(old, new)| {
        let rest = file.strip_prefix(&**old)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{new}{rest}"))
    });
    moved.unwrap_or_else(|| file.to_owned())
}

/// The folder of a file.
fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whatever names the task that has its name of a file.
fn renamed_task(project: &ProjectState, old: &str, new: &str, edits: &mut Edits) {
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (old_stem, new_stem) = (stem(old), stem(new));
    let text = project.text(old).map(|(text, _)| text).unwrap_or_default();
    let definitions = project.template(old).map_or(&[][..], |template| &template.facts.definitions);
    let is_unnamed = definitions.iter().any(|own| {
        let is_written = Span::slice(own.span, &text) == &*own.name;
        own.kind == DefinitionKind::Task && *own.name == *old_stem && !is_written
    });
    if !is_unnamed || old_stem == new_stem {
        return;
    }
    let meant = SymbolAtCursor { kind: DefinitionKind::Task, name: old_stem, span: Span::at(0) };
    for (path, span) in navigate::uses(project, &meant) {
        edits.entry(path).or_default().insert(Edit::replace(span, escape_attribute(&new_stem)));
    }
    for mention in navigate::beside(project, &meant) {
        let text = project.text(&mention.file).map(|(text, _)| text).unwrap_or_default();
        if let Some(edit) = mentions::Mention::rename(&mention, &text, &new_stem) {
            edits.entry(mention.file).or_default().insert(edit);
        }
    }
}
