//! Finds and reads the scenario files of a project. The only part of this floor that opens files,
//! and only through `base/fs`.

use super::model::{SCENARIO_SCHEMA, SUITE_SCHEMA, Suite};
use super::paths::resolve_beside;
use super::read::{ScenarioReadOptions, read_suite_with};
use super::request_source::is_request_body;
use super::scenario_fault::ScenarioFault;
use crate::base::contained_path::{self, PathRefusal};
use crate::base::fs;
use crate::syntax::decode::{self, DecodeFault};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The default folder of scenarios.
pub const DEFAULT_FOLDER: &str = "scenarios";

/// Folders that are not searched for scenarios: recorded answers, stored requests, frozen files.
pub const SKIPPED_FOLDERS: [&str; 5] =
    ["cassettes", "recordings", "snapshots", "files", "fixtures"];

/// The maximum number of bytes read to recognise the kind of a file.
const HEAD_BYTES: u64 = 1 << 20;

/// The maximum depth of nested folders.
const MAX_DEPTH: usize = 32;

/// A scenario file after reading.
#[derive(Debug)]
pub struct LoadedScenario {
    /// Relative to the project root.
    pub path: Arc<str>,
    /// Its text; empty if it cannot be read.
    pub text: Arc<str>,
    /// The parsed suite.
    pub suite: Option<Suite>,
    /// Its faults.
    pub faults: Vec<ScenarioFault>,
    /// The reason why it could not be read.
    pub read_error: Option<ScenarioReadError>,
}

/// The reason why a file could not be read.
#[derive(Debug)]
pub enum ScenarioReadError {
    /// The system returned an error, or the file is too large.
    Io(io::Error),
    /// The bytes are not text.
    NotText(DecodeFault),
}

impl LoadedScenario {
    /// Returns true if its cases can be run: it was read and has no faults.
    pub fn is_sound(&self) -> bool {
        self.suite.is_some() && self.faults.is_empty()
    }

    /// The path of its table of further cases, from the project's folder.
    pub fn table(&self) -> Option<String> {
        resolve_beside(&self.path, &self.suite.as_ref()?.cases_from.as_ref()?.value)
    }

    /// A copy of the file without its faults; `None` if it has faults, or if its cases come from a
    /// table, which is a file of its own.
    pub fn without_tables(&self) -> Option<Self> {
        let is_alone = self.is_sound() && !self.text.contains("cases_from");
        let (path, text) = (Arc::clone(&self.path), Arc::clone(&self.text));
        is_alone.then(|| Self {
            path,
            text,
            suite: self.suite.clone(),
            faults: Vec::new(),
            read_error: None,
        })
    }
}

/// Returns the scenario files among paths relative to the root: files as given, folders with all
/// their files. Sorted, without duplicates.
pub fn find_files(root: &Path, given: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for path in given {
        let path = path.trim_end_matches('/');
        let full = root.join(path);
        if fs::is_dir(&full) {
            collect_files(root, path, MAX_DEPTH, &mut found);
        } else if fs::is_file(&full) {
            found.push(path.to_owned());
        }
    }
    found.sort();
    found.dedup();
    found
}

fn collect_files(root: &Path, folder: &str, depth: usize, found: &mut Vec<String>) {
    if fs::listing_error(&root.join(folder)).is_some() {
        // Added as a file, so that reading reports the error and the folder does not pass for
        // empty.
        found.push(folder.to_owned());
        return;
    }
    for (name, full) in fs::list_entries(&root.join(folder)) {
        let path = if folder.is_empty() || folder == "." {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if name.starts_with('.') || fs::is_link(&full) && fs::is_dir(&full) {
            continue;
        }
        let is_strange = full.file_name() != Some(name.as_ref());
        if fs::is_dir(&full) && !is_strange {
            if depth > 0 && !SKIPPED_FOLDERS.contains(&name.as_str()) {
                collect_files(root, &path, depth - 1, found);
            }
        } else if fs::is_dir(&full) || is_scenario_file(&full, &name) {
            // A folder whose name is not valid text is also added, so that reading reports it.
            found.push(path);
        }
    }
}

/// A YAML file is a scenario unless it is a model request; a JSON file only if it has the key
/// `schema`.
fn is_scenario_file(full: &Path, name: &str) -> bool {
    is_scenario_text(name, || read_head(full))
}

/// Like `is_scenario_file`, for a file whose text is already loaded or buffered.
pub fn is_scenario_text(name: &str, text: impl FnOnce() -> Option<String>) -> bool {
    let has_ending = |endings: &[&str]| {
        name.rsplit('.')
            .next()
            .is_some_and(|own| endings.iter().any(|one| own.eq_ignore_ascii_case(one)))
    };
    let is_yaml = has_ending(&["yaml", "yml"]);
    if !is_yaml && !has_ending(&["json"]) {
        return false;
    }
    // An unreadable YAML file counts as a scenario, so that the error is reported.
    let Some(text) = text() else { return is_yaml };
    let start = text.get(..text.floor_char_boundary(4096)).unwrap_or("");
    (is_yaml || start.contains(SCENARIO_SCHEMA) || start.contains(SUITE_SCHEMA))
        && !is_request_body(&text)
}

/// Returns true if a file is the body of a model request.
pub fn is_request_file(file: &Path) -> bool {
    read_head(file).is_some_and(|text| is_request_body(&text))
}

fn read_head(file: &Path) -> Option<String> {
    fs::read_head(file, HEAD_BYTES)
        .ok()
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads files. A file that cannot be read has no suite.
pub fn load_files(
    root: &Path,
    paths: &[String],
    limit: u64,
    options: &ScenarioReadOptions<'_>,
) -> Vec<LoadedScenario> {
    paths
        .iter()
        .map(|path| load_file(root, path, limit, options))
        .collect()
}

fn load_file(
    root: &Path,
    path: &str,
    limit: u64,
    options: &ScenarioReadOptions<'_>,
) -> LoadedScenario {
    let unread = |why| {
        let unread = Some(why);
        LoadedScenario {
            path: Arc::from(path),
            text: Arc::from(""),
            suite: None,
            faults: Vec::new(),
            read_error: unread,
        }
    };
    match contained_path::read_file(&fs::RealFs, root, Path::new(path), limit) {
        Ok(bytes) => match decode::decode(&bytes) {
            Ok(text) => load_text(root, path, &text, limit, options),
            Err(fault) => unread(ScenarioReadError::NotText(fault)),
        },
        Err(refused) => {
            let full = root.join(path);
            let folder = fs::is_dir(&full)
                .then(|| fs::listing_error(&full))
                .flatten();
            let strange = path.contains(char::REPLACEMENT_CHARACTER) && !fs::exists(&full);
            let strange = strange.then(|| io::Error::other(fs::NAME_NOT_UTF8));
            unread(ScenarioReadError::Io(
                folder.or(strange).unwrap_or_else(|| refused.into()),
            ))
        }
    }
}

/// Reads a text in place of a file. Its tables of cases are searched beside the file.
pub fn load_text(
    root: &Path,
    path: &str,
    text: &str,
    limit: u64,
    options: &ScenarioReadOptions<'_>,
) -> LoadedScenario {
    let tables = |table: &str| read_table_text(root, path, table, limit);
    let options = ScenarioReadOptions {
        rule: options.rule,
        tables: Some(options.tables.unwrap_or(&tables)),
    };
    let (suite, faults) = read_suite_with(path, text, &options);
    LoadedScenario {
        path: Arc::from(path),
        text: Arc::from(text),
        suite,
        faults,
        read_error: None,
    }
}

/// The text of a table beside a file; why there is none.
pub fn read_table_text(root: &Path, path: &str, table: &str, limit: u64) -> Result<String, String> {
    let table = resolve_beside(path, table).ok_or_else(|| PathRefusal::Outside.to_string())?;
    let bytes = contained_path::read_file(&fs::RealFs, root, Path::new(&table), limit)
        .map_err(|refused| refused.to_string())?;
    let text = decode::decode(&bytes).map_err(|fault| fault.to_string())?;
    Ok(text.into_owned())
}
