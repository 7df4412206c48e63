//! The scenario files of a project: which they are, and all of them read. The only part of this floor that opens files, and
//! it does so by `base/fs` alone.

use super::fault::Fault;
use super::model::{SCENARIO_SCHEMA, SUITE_SCHEMA, Suite};
use super::paths::beside;
use super::read::{Options, read_with};
use super::request_body::is_request_body;
use crate::base::contained_path::{self, Refused};
use crate::base::fs;
use crate::syntax::decode::{self, DecodeFault};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where scenarios lie when the project says nothing.
pub const FOLDER: &str = "scenarios";

/// Folders in which no scenario is looked for: recorded answers, stored requests, frozen files.
pub const PASSED_OVER: [&str; 5] = ["cassettes", "recordings", "snapshots", "files", "fixtures"];

/// Bytes by which the kind of a file is recognised.
const HEAD: u64 = 1 << 20;

/// Folders inside each other at most.
const DEPTH: usize = 32;

/// A file with what was read of it.
#[derive(Debug)]
pub struct Loaded {
    /// Relative to the project root.
    pub path: Arc<str>,
    /// Its text; empty where it cannot be read.
    pub text: Arc<str>,
    /// What it says.
    pub suite: Option<Suite>,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
    /// Why it could not be read at all.
    pub unread: Option<Unread>,
}

/// Why a file could not be read.
#[derive(Debug)]
pub enum Unread {
    /// The system refused, or it is too large.
    Io(io::Error),
    /// It is no text.
    NoText(DecodeFault),
}

impl Loaded {
    /// Whether its cases can be run: it was read, and nothing is wrong with it.
    pub fn is_sound(&self) -> bool {
        self.suite.is_some() && self.faults.is_empty()
    }

    /// The path of its table of further cases, from the project's folder.
    pub fn table(&self) -> Option<String> {
        beside(&self.path, &self.suite.as_ref()?.cases_from.as_ref()?.value)
    }

    /// The same file, if it is sound and its text alone decides what it holds: tables of cases are files of their own.
    pub fn without_tables(&self) -> Option<Self> {
        let is_alone = self.is_sound() && !self.text.contains("cases_from");
        let (path, text) = (Arc::clone(&self.path), Arc::clone(&self.text));
        is_alone.then(|| Self { path, text, suite: self.suite.clone(), faults: Vec::new(), unread: None })
    }
}

/// The scenario files among paths that are relative to the root: files as they are, folders with everything in them. Sorted,
/// each once.
pub fn files(root: &Path, given: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for path in given {
        let path = path.trim_end_matches('/');
        let full = root.join(path);
        if fs::is_dir(&full) {
            walk(root, path, DEPTH, &mut found);
        } else if fs::is_file(&full) {
            found.push(path.to_owned());
        }
    }
    found.sort();
    found.dedup();
    found
}

fn walk(root: &Path, folder: &str, depth: usize, found: &mut Vec<String>) {
    if fs::why_unlisted(&root.join(folder)).is_some() {
        // Read as a file it says why, so that what is in it is not taken for nothing.
        found.push(folder.to_owned());
        return;
    }
    for (name, full) in fs::entries_in(&root.join(folder)) {
        let path = if folder.is_empty() || folder == "." { name.clone() } else { format!("{folder}/{name}") };
        if name.starts_with('.') || fs::is_link(&full) && fs::is_dir(&full) {
            continue;
        }
        let is_strange = full.file_name() != Some(name.as_ref());
        if fs::is_dir(&full) && !is_strange {
            if depth > 0 && !PASSED_OVER.contains(&name.as_str()) {
                walk(root, &path, depth - 1, found);
            }
        } else if fs::is_dir(&full) || is_scenario(&full, &name) {
            // A folder whose name is no text is read as a file as well, and says that.
            found.push(path);
        }
    }
}

/// YAML is a scenario unless it is a request to a model; JSON is much else beside: it is one where it says so.
fn is_scenario(full: &Path, name: &str) -> bool {
    says_scenario(name, || head(full))
}

/// The same of a file whose text is known by other means.
pub fn says_scenario(name: &str, text: impl FnOnce() -> Option<String>) -> bool {
    let has_ending =
        |endings: &[&str]| name.rsplit('.').next().is_some_and(|own| endings.iter().any(|one| own.eq_ignore_ascii_case(one)));
    let is_yaml = has_ending(&["yaml", "yml"]);
    if !is_yaml && !has_ending(&["json"]) {
        return false;
    }
    // What cannot be read as a file says why, where its name says what it is.
    let Some(text) = text() else { return is_yaml };
    let start = text.get(..text.floor_char_boundary(4096)).unwrap_or("");
    (is_yaml || start.contains(SCENARIO_SCHEMA) || start.contains(SUITE_SCHEMA)) && !is_request_body(&text)
}

/// Whether a file is the body of a request to a model.
pub fn is_request(file: &Path) -> bool {
    head(file).is_some_and(|text| is_request_body(&text))
}

fn head(file: &Path) -> Option<String> {
    fs::head(file, HEAD).ok().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads files. What cannot be read comes back without a suite.
pub fn load(root: &Path, paths: &[String], limit: u64, options: &Options<'_>) -> Vec<Loaded> {
    paths.iter().map(|path| one(root, path, limit, options)).collect()
}

fn one(root: &Path, path: &str, limit: u64, options: &Options<'_>) -> Loaded {
    let unread = |why| {
        let unread = Some(why);
        Loaded { path: Arc::from(path), text: Arc::from(""), suite: None, faults: Vec::new(), unread }
    };
    match contained_path::read(&fs::RealFs, root, Path::new(path), limit) {
        Ok(bytes) => match decode::decode(&bytes) {
            Ok(text) => of_text(root, path, &text, limit, options),
            Err(fault) => unread(Unread::NoText(fault)),
        },
        Err(refused) => {
            let full = root.join(path);
            let folder = fs::is_dir(&full).then(|| fs::why_unlisted(&full)).flatten();
            let strange = path.contains(char::REPLACEMENT_CHARACTER) && !fs::exists(&full);
            let strange = strange.then(|| io::Error::other(fs::STRANGE));
            unread(Unread::Io(folder.or(strange).unwrap_or_else(|| refused.into())))
        }
    }
}

/// Reads a text that stands for a file. Its tables of cases are looked for beside it.
pub fn of_text(root: &Path, path: &str, text: &str, limit: u64, options: &Options<'_>) -> Loaded {
    let tables = |table: &str| table_text(root, path, table, limit);
    let options = Options { rule: options.rule, tables: Some(options.tables.unwrap_or(&tables)) };
    let (suite, faults) = read_with(path, text, &options);
    Loaded { path: Arc::from(path), text: Arc::from(text), suite, faults, unread: None }
}

/// The text of a table beside a file; why there is none.
pub fn table_text(root: &Path, path: &str, table: &str, limit: u64) -> Result<String, String> {
    let table = beside(path, table).ok_or_else(|| Refused::Outside.to_string())?;
    let bytes = contained_path::read(&fs::RealFs, root, Path::new(&table), limit).map_err(|refused| refused.to_string())?;
    let text = decode::decode(&bytes).map_err(|fault| fault.to_string())?;
    Ok(text.into_owned())
}
