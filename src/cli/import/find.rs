//! The prompts of an import: the named files, and in folders the files whose extensions and texts
//! mark them as prompts. Only reads inside the project.

use crate::base::fs::{self, NOT_A_REGULAR_FILE, ReadFs, RealFs};
use crate::base::patterns::SkippedFolders;
use crate::cli::prelude::*;
use crate::cli::selection::no_such_path;
use crate::import::{PromptFormat, PromptLibrary, format_of, has_placeholders};
use crate::registry::compile::sources::{FileAccess, read_inside_project};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A prompt file.
#[derive(Debug)]
pub(super) struct FoundPrompt {
    /// Relative to the project's folder, with `/`.
    pub(super) path: String,
    /// Relative to the named folder, with `/`.
    pub(super) below: String,
    pub(super) format: &'static PromptFormat,
    pub(super) text: String,
    /// True if the command line names the file itself.
    pub(super) is_named: bool,
}

/// The files under the paths of a run.
#[derive(Debug, Default)]
pub(super) struct PromptSearch {
    pub(super) files: Vec<FoundPrompt>,
    /// Files that look like prompts but cannot be read: path and reason.
    pub(super) unreadable: Vec<(String, String)>,
    /// Pages without a placeholder.
    pub(super) plain: Vec<String>,
    /// Data files with placeholders that match no format.
    pub(super) others: Vec<String>,
    /// The named folders, relative to the project's folder.
    pub(super) roots: Vec<String>,
}

/// The files that prompts may include.
pub(super) struct IncludableFiles<'a> {
    pub(super) door: FileAccess<'a>,
    pub(super) roots: &'a [String],
    /// The texts read so far: many prompts include the same base.
    pub(super) texts: RefCell<BTreeMap<String, std::result::Result<Option<String>, String>>>,
}

impl PromptLibrary for IncludableFiles<'_> {
    fn text(&self, path: &str) -> std::result::Result<Option<String>, String> {
        if let Some(text) = self.texts.borrow().get(path) {
            return text.clone();
        }
        // A dangling link exists but cannot be read.
        let place = self.door.root.join(path);
        let is_there = fs::exists(&place) || fs::is_link(&place);
        let text = if is_there {
            read_inside_project(self.door, Path::new(path)).map(Some)
        } else {
            Ok(None)
        };
        self.texts
            .borrow_mut()
            .insert(path.to_owned(), text.clone());
        text
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let mut names = fs::list_names(&self.door.root.join(folder));
        names.sort();
        names
    }

    fn roots(&self) -> &[String] {
        self.roots
    }
}

/// The reason why a file without a UTF-8 name is left out.
const NON_UTF8_NAME: &str =
    "its name is not UTF-8, and a template cannot name it: give it another name";

/// Returns a path with `/`.
fn slash_path(path: &Path) -> String {
    path.iter()
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

impl PromptSearch {
    /// Collects the prompts of files and folders.
    pub(super) fn search(
        paths: &[PathBuf],
        from: Option<&'static PromptFormat>,
        door: FileAccess<'_>,
    ) -> Result<Self> {
        let mut found = Self::default();
        let root = door
            .files
            .canonicalize(door.root)
            .unwrap_or_else(|_| door.root.to_path_buf());
        for path in paths {
            let Ok(real) = RealFs.canonicalize(path) else {
                if fs::is_link(path) {
                    return Err(CliError::usage(format!(
                        "{}: the link leads nowhere",
                        path.display()
                    )));
                }
                return Err(no_such_path(path));
            };
            let Ok(inside) = real.strip_prefix(&root) else {
                return Err(CliError::usage(format!("{} lies outside the project's folder", path.display()))
                    .with_hint("a template takes its texts from its own project: copy the prompts into it, or start one there with `ctxc init`"));
            };
            if inside.to_str().is_none() {
                found
                    .unreadable
                    .push((slash_path(inside), NON_UTF8_NAME.to_owned()));
            } else if fs::is_dir(&real) {
                found.roots.push(slash_path(inside));
                found.search_folder(&real, &root, from, door);
            } else {
                let name = slash_path(inside);
                let Some(format) = from.or_else(|| format_of(&name)) else {
                    return Err(CliError::usage(format!(
                        "{name}: no prompt format has its extension"
                    ))
                    .with_hint("name the format: --from jinja, …"));
                };
                let short = name.rsplit('/').next().unwrap_or(&name).to_owned();
                found.add_file(name, short, format, true, door);
            }
        }
        found
            .files
            .sort_by(|a, b| a.path.cmp(&b.path).then(b.is_named.cmp(&a.is_named)));
        found.files.dedup_by(|a, b| a.path == b.path);
        Ok(found)
    }

    fn search_folder(
        &mut self,
        folder: &Path,
        root: &Path,
        from: Option<&'static PromptFormat>,
        door: FileAccess<'_>,
    ) {
        let barred = SkippedFolders::default();
        let mut walk = ignore::WalkBuilder::new(folder);
        barred.guard_own_files(&mut walk);
        walk.sort_by_file_path(Path::cmp);
        let entries = barred
            .allows_start(folder)
            .then(|| walk.build())
            .into_iter()
            .flatten();
        for entry in entries.filter_map(std::result::Result::ok) {
            let (Ok(name), Ok(short)) = (
                entry.path().strip_prefix(root),
                entry.path().strip_prefix(folder),
            ) else {
                continue;
            };
            let is_named_in_utf8 = name.to_str().is_some();
            let name = slash_path(name);
            let Some(format) = format_of(&name).filter(|_| !fs::is_dir(entry.path())) else {
                continue;
            };
            let is_part = format
                .part
                .is_some_and(|begin| entry.file_name().to_string_lossy().starts_with(begin));
            if is_part || from.is_none() && must_be_named(entry.path(), format) {
                continue;
            }
            if fs::exists(entry.path()) && !fs::is_file(entry.path()) {
                self.unreadable.push((name, NOT_A_REGULAR_FILE.to_owned()));
                continue;
            }
            if !is_named_in_utf8 {
                self.unreadable.push((name, NON_UTF8_NAME.to_owned()));
                continue;
            }
            self.add_file(name, slash_path(short), from.unwrap_or(format), false, door);
        }
        let why = |path: PathBuf| {
            (
                slash_path(path.strip_prefix(root).unwrap_or(&path)),
                format!("{NOT_A_REGULAR_FILE}, so its folder was not looked into"),
            )
        };
        self.unreadable
            .extend(barred.blocking_files().into_iter().map(why));
    }

    fn add_file(
        &mut self,
        path: String,
        inside: String,
        format: &'static PromptFormat,
        is_named: bool,
        door: FileAccess<'_>,
    ) {
        match read_inside_project(door, Path::new(&path)) {
            Ok(text)
                if !is_named && format.is_prompt.is_some_and(|is_prompt| !is_prompt(&text)) =>
            {
                if format.reports_others {
                    self.plain.push(path);
                } else if has_placeholders(&text) {
                    self.others.push(path);
                }
            }
            Ok(text) => self.files.push(FoundPrompt {
                path,
                below: inside,
                format,
                text,
                is_named,
            }),
            Err(_) if !is_named && format.is_prompt.is_some() && !format.reports_others => {}
            Err(reason) => self.unreadable.push((path, reason)),
        }
    }
}

/// Returns true if files with this extension are only read if the command line names them, because
/// other texts have the same extension.
fn must_be_named(path: &Path, format: &PromptFormat) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| format.named_endings.contains(&ending))
}

/// Returns the format of a prompt file, for `ctxc init`. Only pages and data files are opened.
pub(crate) fn prompt_format(path: &Path, limit: u64) -> Option<&'static PromptFormat> {
    let name = path.file_name()?.to_str()?;
    let format = format_of(name)?;
    let Some(is_prompt) = format.is_prompt else {
        return Some(format);
    };
    let bytes = if must_be_named(path, format) {
        None
    } else {
        RealFs.read(path, limit).ok()
    }?;
    std::str::from_utf8(&bytes)
        .is_ok_and(is_prompt)
        .then_some(format)
}
