//! Updates references to files that are about to be renamed, and to tasks that are named by their
//! files.

use super::features::mentions;
use super::features::navigate::{self, SymbolAtCursor};
use super::{uri, workspace_edit};
use crate::base::fix::Edit;
use crate::base::{contained_path, fs};
use crate::lsp::prelude::*;
use crate::project::suppressions::SUPPRESSIONS_FILE as SUPPRESSIONS;
use crate::project::{glob, read};
use crate::registry::compile::sources;
use crate::scenario::load::LoadedScenario;
use crate::scenario::named_things::{self, NamedThing};
use crate::scenario::table::NamedThingKind;
use crate::syntax::write::escape_attribute;
use crate::template::names::{DefinitionKind, LinkedFileKind};
use gen_lsp_types::RenameFilesParams;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files and folders with their new names, relative to the project.
type FileMoves = [(Arc<str>, Arc<str>)];
/// Edits by file.
type FileEditSets = BTreeMap<Arc<str>, BTreeSet<Edit>>;

/// Answers `workspace/willRenameFiles`, for the project of the first file.
pub(super) fn answer(server: &LspServer<'_>, params: &RenameFilesParams) -> RequestResult {
    let moves = params
        .files
        .iter()
        .filter_map(|file| Some((uri::to_path(&file.old_uri)?, uri::to_path(&file.new_uri)?)));
    let moves: Vec<_> = moves.collect();
    let Some((project, _)) = moves
        .first()
        .and_then(|(old, _)| server.workspace.project_of_file(old))
    else {
        return to_answer(());
    };
    let names = moves
        .iter()
        .map(|(old, new)| (project.name_of_path(old), project.name_of_path(new)));
    // A file that leaves the project cannot be referenced; its references are reported as missing
    // afterwards.
    let names: Vec<(Arc<str>, Arc<str>)> = names
        .filter(|(_, new)| !Path::new(&**new).is_absolute())
        .collect();
    let mut edits = FileEditSets::new();
    let mut tasks: Vec<(String, String)> = Vec::new();
    for (path, template) in project.templates() {
        let here = path_after(&names, path);
        for source in &template.facts.sources {
            let Some(target) = sources::source_name(path, source) else {
                continue;
            };
            let there = path_after(&names, &target);
            if here != **path && source.kind != LinkedFileKind::File || there != target {
                let written = if source.kind == LinkedFileKind::File {
                    there
                } else {
                    contained_path::relative_path(parent_folder(&here), &there)
                };
                let edit = Edit::replace(source.span, escape_attribute(&written));
                edits.entry(Arc::clone(path)).or_default().insert(edit);
            }
        }
        tasks.extend(rename_file_task(project, path, &here));
    }
    rename_tasks(project, &tasks, &mut edits);
    for (path, read) in &project.suites {
        let table = read.as_ref().and_then(LoadedScenario::table).map(Arc::from);
        for file in std::iter::once(Arc::clone(path)).chain(table) {
            let (text, _) = project.indexed_text(&file).unwrap_or_default();
            let is_table = file != *path;
            let found = if is_table {
                named_things::named_in_table(&file, &text)
            } else {
                named_things::find_named_things(&text)
            };
            let edit = |own: &NamedThing| {
                // The paths of a table begin where the suite is.
                let (old, new) = moved_path(project, &names, path, own)?;
                own.edit(&text, &old, &new, named_things::plain_in(&file))
            };
            edits
                .entry(Arc::clone(&file))
                .or_default()
                .extend(found.iter().flatten().filter_map(edit));
        }
    }
    if let Some(file) = project.config.files.first() {
        let (text, _) = project.indexed_text(&file.path).unwrap_or_default();
        edits
            .entry(Arc::clone(&file.path))
            .or_default()
            .extend(project_file_edits(project, &names, &file.path, &text));
    }
    if let Some((text, _)) = &project.suppressions {
        let found = read::named_things::suppressed_files(text);
        let edit = |named: &NamedThing| {
            let (old, new) = moved_path(project, &names, SUPPRESSIONS, named)?;
            named.edit(text, &old, &new, named_things::plain_in(SUPPRESSIONS))
        };
        edits
            .entry(Arc::from(SUPPRESSIONS))
            .or_default()
            .extend(found.iter().filter_map(edit));
    }
    edits.retain(|_, edits| !edits.is_empty());
    let of = |(path, edits): (&Arc<str>, &BTreeSet<Edit>)| {
        let (text, index) = project.indexed_text(path)?;
        let edits: Vec<Edit> = edits.iter().cloned().collect();
        Some((
            Arc::clone(path),
            server.client.encoding.text_edits(&text, &index, &edits),
        ))
    };
    to_answer(workspace_edit::file_edits(
        &server.client,
        project,
        edits.iter().filter_map(of).collect(),
    ))
}

/// The edits of the project file: its paths with the new names, and a longer `scenarios` list if a
/// scenario would otherwise no longer be found.
fn project_file_edits(
    project: &ProjectState,
    moves: &FileMoves,
    path: &str,
    text: &str,
) -> Vec<Edit> {
    let found = read::named_things::named_things(text);
    let edit = |own: &NamedThing| {
        let (old, new) = moved_path(project, moves, path, own)?;
        own.edit(text, &old, &new, named_things::plain_in(path))
    };
    found
        .iter()
        .filter_map(edit)
        .chain(scenario_list_edits(project, moves, text))
        .collect()
}

/// Returns the old and new path in a text; `None` if it does not change.
fn moved_path(
    project: &ProjectState,
    moves: &FileMoves,
    file: &str,
    named: &NamedThing,
) -> Option<(String, String)> {
    let value = named.value.as_str();
    let path = match named.thing {
        NamedThingKind::SiblingFile => {
            let here = path_after(moves, file);
            let target = contained_path::resolve_beside(file, value)?;
            let new =
                contained_path::relative_path(parent_folder(&here), &path_after(moves, &target));
            return (contained_path::relative_path(parent_folder(file), &target) != new)
                .then(|| (value.to_owned(), new));
        }
        NamedThingKind::Path => value.trim_end_matches('/'),
        NamedThingKind::Argument | NamedThingKind::Source => {
            Some(value).filter(|path| fs::is_file(&project.path(path)))?
        }
        NamedThingKind::Passage => value.split_once('#').map_or(value, |(path, _)| path),
        NamedThingKind::Segment => value.strip_prefix("file:")?,
        NamedThingKind::PlainText
        | NamedThingKind::Task
        | NamedThingKind::Role
        | NamedThingKind::Node
        | NamedThingKind::Parameter
        | NamedThingKind::Step => {
            return None;
        }
    };
    let target = contained_path::resolve_beside("", path)?;
    let new = path_after(moves, &target);
    (new != target).then(|| (path.to_owned(), new))
}

/// Adds the new paths of scenarios that `[eval] scenarios` no longer covers.
fn scenario_list_edits(project: &ProjectState, moves: &FileMoves, text: &str) -> Vec<Edit> {
    let eval = &project.config.eval;
    let places: Vec<String> = eval
        .scenarios
        .iter()
        .map(|place| path_after(moves, &place.value))
        .collect();
    let paths = project
        .suites
        .keys()
        .map(|path| (path, path_after(moves, path)))
        .filter(|(path, new)| ***path != **new);
    let lost = paths.filter(|(_, new)| !places.iter().any(|place| glob::contains_path(place, new)));
    let whole =
        lost.filter_map(|(path, _)| moves.iter().find(|(old, _)| glob::contains_path(old, path)));
    let lost: BTreeSet<String> = whole.map(|(_, new)| new.to_string()).collect();
    let written = eval
        .scenarios
        .iter()
        .filter(|place| !place.span.is_empty())
        .max_by_key(|place| place.span.end);
    let joined = |places: &mut dyn Iterator<Item = &String>| {
        places
            .map(|place| serde_json::to_string(place).unwrap_or_default())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match written {
        Some(_) if lost.is_empty() => Vec::new(),
        Some(end) => {
            let is_list = text
                .get(end.span.end as usize..)
                .is_some_and(|rest| rest.trim_start().starts_with([',', ']']));
            let (open, close) = if is_list { ("", "") } else { ("[", "]") };
            let more = Edit::insert(
                end.span.end,
                format!(", {}{close}", joined(&mut lost.iter())),
            );
            std::iter::once(more)
                .chain((!is_list).then(|| Edit::insert(end.span.start, open)))
                .collect()
        }
        None if lost.is_empty()
            && places
                .iter()
                .zip(&eval.scenarios)
                .all(|(new, old)| *new == old.value) =>
        {
            Vec::new()
        }
        None => {
            let stays = |place: &&String| {
                project
                    .suites
                    .keys()
                    .any(|path| glob::contains_path(place, &path_after(moves, path)))
            };
            let all = joined(&mut places.iter().filter(stays).chain(&lost));
            vec![eval_key_edit(
                text,
                eval.section,
                &format!("scenarios = [{all}]"),
            )]
        }
    }
}

/// Adds a key to `[eval]`, in the form of the section.
fn eval_key_edit(text: &str, section: Option<Span>, line: &str) -> Edit {
    let Some(section) = section else {
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        return Edit::insert(text.len() as u32, format!("{gap}[eval]\n{line}\n"));
    };
    let rest = text.get(section.end as usize..).unwrap_or_default();
    let behind = rest.trim_start_matches(['"', '\'', ' ', '\t']);
    let at = |tail: &str| text.len() as u32 - tail.len() as u32;
    if let Some(inner) = behind
        .strip_prefix('=')
        .and_then(|value| value.trim_start().strip_prefix('{'))
    {
        let comma = if inner.trim_start().starts_with('}') {
            " "
        } else {
            ","
        };
        return Edit::insert(at(inner), format!(" {line}{comma}"));
    }
    if behind.starts_with('.') {
        let start = text
            .get(..section.start as usize)
            .and_then(|head| head.rfind('\n'))
            .map_or(0, |end| end as u32 + 1);
        let is_header = text
            .get(start as usize..section.start as usize)
            .is_some_and(|head| head.trim_start().starts_with('['));
        return Edit::insert(
            start,
            if is_header {
                format!("[eval]\n{line}\n\n")
            } else {
                format!("eval.{line}\n")
            },
        );
    }
    match behind.find('\n') {
        Some(end) => Edit::insert(at(behind) + end as u32 + 1, format!("{line}\n")),
        None => Edit::insert(text.len() as u32, format!("\n{line}\n")),
    }
}

/// Returns the name of a file after the moves.
fn path_after(names: &FileMoves, file: &str) -> String {
    let new_path = names.iter().find_map(|(old, new)| {
        let rest = file.strip_prefix(&**old)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{new}{rest}"))
    });
    new_path.unwrap_or_else(|| file.to_owned())
}

/// Returns the folder of a file.
fn parent_folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the old and the new name of a task that is named by its file.
fn rename_file_task(project: &ProjectState, old: &str, new: &str) -> Option<(String, String)> {
    let stem = |name: &str| {
        Path::new(name)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let (old_stem, new_stem) = (stem(old), stem(new));
    if old_stem == new_stem {
        return None;
    }
    let (text, _) = project.indexed_text(old)?;
    let is_unnamed = project.template(old)?.facts.definitions.iter().any(|own| {
        let is_written = Span::slice(own.span, &text) == &*own.name;
        own.kind == DefinitionKind::Task && *own.name == *old_stem && !is_written
    });
    is_unnamed.then_some((old_stem, new_stem))
}

/// Adds the edits of every place that contains the name of a renamed task.
fn rename_tasks(project: &ProjectState, tasks: &[(String, String)], edits: &mut FileEditSets) {
    let mentions = if tasks.is_empty() {
        Vec::new()
    } else {
        mentions::all_mentions(project)
    };
    for (old, new) in tasks {
        let symbol = SymbolAtCursor {
            kind: DefinitionKind::Task,
            name: old.clone(),
            span: Span::empty_at(0),
        };
        for (path, span) in navigate::use_places(project, &symbol) {
            edits
                .entry(path)
                .or_default()
                .insert(Edit::replace(span, escape_attribute(new)));
        }
        let own = mentions.iter().filter(|own| {
            own.name == *old && own.definition_kind(project) == Some(DefinitionKind::Task)
        });
        for mention in own {
            let text = project
                .indexed_text(&mention.file)
                .map(|(text, _)| text)
                .unwrap_or_default();
            if let Some(edit) = mention.rename_edit(&text, new) {
                edits
                    .entry(Arc::clone(&mention.file))
                    .or_default()
                    .insert(edit);
            }
        }
    }
}
