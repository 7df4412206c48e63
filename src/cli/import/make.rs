//! Converts prompts to templates in memory: pairs the halves of a prompt, chooses names, compiles
//! each template.
//!
//! Never returns a template that does not compile.

use super::find::{FoundPrompt, IncludableFiles, PromptSearch};
use crate::base::fs;
use crate::base::rule_meta::Severity;
use crate::import::{
    self, EngineOptions, ImportNote, ImportNoteKind, ImportedPrompt, NoteWeight, PromptFile,
    PromptFormat, PromptLibrary, PromptText, TurnRole, included_files, task_name,
};
use crate::project::config::Config;
use crate::registry::Registry;
use crate::registry::library::compile_sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Bytes at the head of a template that are searched for its origin.
const HEAD_BYTES: u64 = 4096;

/// A converted prompt.
#[derive(Debug)]
pub(super) struct ConvertedPrompt {
    /// The prompt file; for a pair, the user half.
    pub(super) path: String,
    /// The system half.
    pub(super) system: Option<String>,
    pub(super) format: &'static PromptFormat,
    pub(super) imported: ImportedPrompt,
    /// The name of its task.
    pub(super) name: String,
    /// The file of its template, relative to the project's folder.
    pub(super) output: String,
    /// The text of its template.
    pub(super) text: String,
    /// The file with the schema of its answers, and its text.
    pub(super) schema: Option<(String, String)>,
    /// The file with its tests as scenarios, and its text.
    pub(super) suite: Option<(String, String)>,
}

impl ConvertedPrompt {
    /// Returns true if the prompt gives no template.
    pub(super) fn has_no_template(&self) -> bool {
        self.imported.has_errors()
    }

    /// Returns the files of the template with their texts. The schema comes first, so that a
    /// template never names a file that does not exist yet.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let others = self
            .schema
            .iter()
            .chain(&self.suite)
            .map(|(path, text)| (path.as_str(), text.as_str()));
        others.chain([(self.output.as_str(), self.text.as_str())])
    }
}

/// All converted prompts of a run.
#[derive(Debug, Default)]
pub(super) struct ImportBatch {
    pub(super) converted: Vec<ConvertedPrompt>,
    /// Files that other prompts include, each with one of those prompts.
    pub(super) parts: Vec<(String, String)>,
    /// The tasks of all templates that compile.
    pub(super) registry: Option<Registry>,
}

/// The output folders, relative to the project's folder.
#[derive(Clone, Copy)]
pub(super) struct OutputFolders<'a> {
    pub(super) templates: &'a str,
    pub(super) scenarios: &'a str,
}

/// Converts prompts to templates and scenarios.
pub(super) fn convert_prompts(
    found: &PromptSearch,
    library: &IncludableFiles<'_>,
    options: EngineOptions,
    folders: OutputFolders<'_>,
) -> ImportBatch {
    let folder = folders.templates;
    let mut batch = ImportBatch::default();
    let taken = find_included_files(found, library);
    let mut alone: Vec<&FoundPrompt> = Vec::new();
    for file in &found.files {
        match taken.get(&file.path).filter(|_| !file.is_named) {
            Some(whole) => batch.parts.push((file.path.clone(), whole.clone())),
            None => alone.push(file),
        }
    }
    let mut names = BTreeSet::new();
    let earlier = EarlierTemplates::search(library.door.root, folder);
    for (file, system) in pair_halves(&alone) {
        let read = |file: &FoundPrompt| {
            let prompt = PromptFile {
                path: &file.path,
                text: &file.text,
                format: file.format,
            };
            import::convert_prompt(&prompt, library, options)
        };
        let mut imported = match system {
            Some(system) => read(file).with_system(read(system)),
            // A prompt with a system message is complete, whatever its name: `hello.system.prompt`
            // is a variant of `hello`.
            None => match read(file) {
                whole if whole.turns.iter().any(|turn| turn.role == TurnRole::System) => whole,
                half if matches!(import::parse_half(&file.path), Some((_, TurnRole::System))) => {
                    half.into_system()
                }
                whole => whole,
            },
        };
        let below = file.below.rsplit_once('/').map_or("", |(below, _)| below);
        let parts: Vec<&str> = [folder, below]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        let usual = parts.join("/");
        let others = std::mem::take(&mut imported.others);
        let is_one = others.is_empty();
        for (number, imported) in std::iter::once(imported).chain(others).enumerate() {
            let whole = if is_one {
                file.path.clone()
            } else {
                format!("{}#{}", file.path, number + 1)
            };
            let origin =
                system.map_or(whole, |system| format!("{} and {}", system.path, file.path));
            // An earlier template of the same prompt is replaced, whatever paths are named.
            let (place, name) = match earlier
                .converted
                .iter()
                .find(|(_, one)| one.prompt == origin)
            {
                Some((name, one)) if names.insert(name.clone()) => {
                    (one.folder.clone(), name.clone())
                }
                _ => (
                    usual.clone(),
                    unused_name(
                        NamelessTemplate {
                            folder: &usual,
                            prompt: &file.path,
                            name: prompt_name(file, system, &imported),
                        },
                        &mut names,
                        &earlier,
                    ),
                ),
            };
            let output = join(&place, &format!("{name}.xml"));
            let origin = import::PromptOrigin {
                path: &origin,
                format: file.format.title,
            };
            let text = import::write_template(&imported, &name, &place, origin);
            let schema = imported.schema.as_ref().map(|schema| {
                let path = join(&place, &import::schema_file(&name));
                // A value in memory is written without error.
                (
                    path,
                    serde_json::to_string_pretty(schema).unwrap_or_default() + "\n",
                )
            });
            let suite = imported.suite.as_ref().map(|suite| {
                let text = import::write_suite(suite, &name, folders.scenarios, origin);
                (format!("{}/{name}.yaml", folders.scenarios), text)
            });
            let system = system.map(|system| system.path.clone());
            let path = file.path.clone();
            batch.converted.push(ConvertedPrompt {
                path,
                system,
                format: file.format,
                imported,
                name,
                output,
                text,
                schema,
                suite,
            });
        }
    }
    batch.registry = compile_all(&mut batch.converted, library);
    // Details of the conversion are useless for a prompt that was not converted.
    for one in batch
        .converted
        .iter_mut()
        .filter(|one| one.has_no_template())
    {
        one.imported
            .notes
            .retain(|note| note.kind.weight() != NoteWeight::Info);
    }
    batch
}

/// Returns the files that other prompts include, each with one of those prompts.
fn find_included_files(
    found: &PromptSearch,
    library: &IncludableFiles<'_>,
) -> BTreeMap<String, String> {
    let mut taken = BTreeMap::new();
    for file in &found.files {
        let prompt = PromptFile {
            path: &file.path,
            text: &file.text,
            format: file.format,
        };
        for part in included_files(&prompt, library)
            .into_iter()
            .filter(|part| *part != file.path)
        {
            taken.entry(part).or_insert_with(|| file.path.clone());
        }
    }
    // Files that include each other are converted as prompts, so that the cycle is reported.
    let whole = |path: &String| {
        let mut at = path;
        let mut steps = 0;
        while let Some(next) = taken.get(at).filter(|_| steps <= taken.len()) {
            (at, steps) = (next, steps + 1);
        }
        steps <= taken.len()
    };
    let whole_paths: BTreeSet<String> = taken.keys().filter(|path| whole(path)).cloned().collect();
    taken
        .into_iter()
        .filter(|(path, _)| whole_paths.contains(path))
        .collect()
}

/// Returns each prompt. The user half of a pair comes with its system half.
fn pair_halves<'f>(files: &[&'f FoundPrompt]) -> Vec<(&'f FoundPrompt, Option<&'f FoundPrompt>)> {
    let mut systems: BTreeMap<String, &FoundPrompt> = BTreeMap::new();
    let mut users = BTreeSet::new();
    for file in files {
        match import::parse_half(&file.path) {
            Some((both, TurnRole::System)) => drop(systems.insert(both, file)),
            Some((both, _)) => drop(users.insert(both)),
            None => {}
        }
    }
    let whole = |file: &&'f FoundPrompt| match import::parse_half(&file.path) {
        Some((both, TurnRole::System)) if users.contains(&both) => None,
        Some((both, TurnRole::User)) => Some((*file, systems.get(&both).copied())),
        _ => Some((*file, None)),
    };
    files.iter().filter_map(whole).collect()
}

/// An existing template that was converted from a prompt.
struct EarlierTemplate {
    /// Relative to the project's folder.
    folder: String,
    prompt: String,
}

/// The templates of earlier imports, by their names, and the files of all tasks, by theirs.
#[derive(Default)]
struct EarlierTemplates {
    converted: BTreeMap<String, EarlierTemplate>,
    task_files: BTreeMap<String, String>,
}

/// The maximum depth of folders that are searched for templates.
const MAX_FOLDER_DEPTH: usize = 16;

impl EarlierTemplates {
    /// Finds the templates in a folder and below it. In the project's own folder, only the top
    /// level is searched.
    fn search(root: &Path, folder: &str) -> Self {
        let mut known = Self::default();
        known.add_folder(
            root,
            folder,
            if folder.is_empty() {
                0
            } else {
                MAX_FOLDER_DEPTH
            },
        );
        known
    }

    fn add_folder(&mut self, root: &Path, folder: &str, depth: usize) {
        let folder_path = root.join(folder);
        for name in fs::list_names(&folder_path) {
            let path = folder_path.join(&name);
            if depth > 0 && fs::is_dir(&path) && !fs::is_link(&path) {
                self.add_folder(root, &format!("{folder}/{name}"), depth - 1);
                continue;
            }
            let Some(stem) = name.strip_suffix(".xml") else {
                continue;
            };
            let head = fs::read_head(&path, HEAD_BYTES)
                .ok()
                .flatten()
                .unwrap_or_default();
            let head = String::from_utf8_lossy(&head);
            let named = head.split_once("<task").and_then(|(_, tag)| {
                tag.split('>')
                    .next()?
                    .split_once(" name=\"")?
                    .1
                    .split('"')
                    .next()
            });
            self.task_files
                .insert(named.unwrap_or(stem).to_owned(), join(folder, &name));
            if let Some(prompt) = import::template_origin(&head) {
                self.converted.insert(
                    stem.to_owned(),
                    EarlierTemplate {
                        folder: folder.to_owned(),
                        prompt,
                    },
                );
            }
        }
    }
}

fn join(folder: &str, file: &str) -> String {
    if folder.is_empty() {
        file.to_owned()
    } else {
        format!("{folder}/{file}")
    }
}

/// Returns the name that a prompt itself suggests: its own, or that of its file; `system` is the
/// other file of a pair.
fn prompt_name(
    file: &FoundPrompt,
    system: Option<&FoundPrompt>,
    imported: &ImportedPrompt,
) -> String {
    let both = import::parse_half(&file.path)
        .filter(|_| system.is_some())
        .map(|(both, _)| both)
        .filter(|both| !both.is_empty());
    imported
        .name
        .clone()
        .unwrap_or_else(|| task_name(both.as_deref().unwrap_or(&file.path)))
}

/// A template for which a name is chosen.
struct NamelessTemplate<'a> {
    /// The folder in which it is written.
    folder: &'a str,
    /// The path of its prompt.
    prompt: &'a str,
    /// The name that is taken if it is free.
    name: String,
}

/// Adds and returns a name that no other prompt has, of this run or of an earlier one, and no other
/// task of the project.
fn unused_name(
    template: NamelessTemplate<'_>,
    names: &mut BTreeSet<String>,
    earlier: &EarlierTemplates,
) -> String {
    let NamelessTemplate {
        folder,
        prompt,
        name,
    } = template;
    let above = prompt
        .rsplit('/')
        .nth(1)
        .map(|folder| format!("{}-{name}", task_name(folder)));
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut all = std::iter::once(name.clone()).chain(above).chain(numbered);
    // A template at the very place is left alone, and reported.
    let is_other = |name: &String| {
        earlier
            .task_files
            .get(name)
            .is_some_and(|path| *path != join(folder, &format!("{name}.xml")))
    };
    let free = all
        .find(|name| {
            !names.contains(name) && !earlier.converted.contains_key(name) && !is_other(name)
        })
        .unwrap_or(name);
    names.insert(free.clone());
    free
}

/// Compiles all templates. Compile errors become notes of their prompts. Returns the tasks of the
/// remaining templates.
fn compile_all(
    converted: &mut [ConvertedPrompt],
    library: &IncludableFiles<'_>,
) -> Option<Registry> {
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for one in converted.iter() {
        sources.extend(one.schema.clone());
        for turn in &one.imported.turns {
            if let PromptText::InPlace { path, .. } = &turn.body
                && let Ok(Some(text)) = library.text(path)
            {
                sources.insert(path.clone(), text);
            }
        }
    }
    // Errors of one template may hide errors of others, so the remaining ones are compiled a second
    // time.
    for _ in 0..2 {
        let left = converted.iter().filter(|one| !one.has_no_template());
        let texts = left.map(|one| (one.output.as_str(), one.text.as_str()));
        let built = compile_sources(
            &Config::default(),
            texts.chain(sources.iter().map(|(path, text)| (&**path, &**text))),
        );
        let errors: Vec<(String, String)> = built
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| (finding.path.to_string(), finding.message.clone()))
            .collect();
        if errors.is_empty() {
            return built.registry;
        }
        for one in converted.iter_mut() {
            for (_, message) in errors.iter().filter(|(path, _)| *path == one.output) {
                let note = ImportNote {
                    path: one.path.clone(),
                    line: 0,
                    kind: ImportNoteKind::Broken(message.clone()),
                };
                one.imported.notes.push(note);
            }
        }
    }
    None
}
