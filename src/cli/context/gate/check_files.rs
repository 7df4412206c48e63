//! The files that the custom checks of a project read: those named by a command, and then those
//! named by the text of a file found this way. A name is a path, a file name, or a module name that
//! a text imports. Nothing is run.

use crate::base::contained_path::{describe_io_error, link_out_error};
use crate::cli::context::project::ProjectFiles;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::expect::own_check::{CheckProgram, OwnCheck};
use crate::scenario::model::ScenarioCase;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// The maximum number of files of one check.
const MAX_FILES: usize = 10_000;
/// The maximum number of bytes of a text that is searched for names.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// The maximum number of bytes of a compared file.
const MAX_FILE_BYTES: u64 = 1 << 28;
/// Extensions of files that other code imports without an extension.
const CODE_EXTENSIONS: [&str; 16] = [
    "py", "pyc", "pyd", "so", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json", "rb",
    "lua", "sh",
];
/// Stems of files that represent their folder.
const FOLDER_STEMS: [&str; 3] = ["__init__", "__main__", "index"];
/// Programs that run the scripts of a package.
const PACKAGE_MANAGERS: [&str; 5] = ["npm", "npx", "pnpm", "yarn", "bun"];
/// The file with these scripts.
const PACKAGE_FILE: &str = "package.json";
/// The default files of `make`.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
/// Words that mark a line as an import: anywhere in it, and at its beginning.
const IMPORT_WORDS: [&str; 5] = [
    "import",
    "import_module",
    "__import__",
    "require",
    "require_relative",
];
const LEADING_IMPORT_WORD: &str = "from";

/// The files of both sides of a comparison, by their possible names.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    /// Paths, by file name.
    files: BTreeMap<String, BTreeSet<String>>,
    /// Paths of code, by the last part of the module name.
    modules: BTreeMap<String, BTreeSet<String>>,
    /// File names that are not a single word.
    odd: BTreeSet<String>,
    /// Files that differ between the sides.
    changed: BTreeSet<String>,
}

/// The content of a file, or the reason why it cannot be read.
pub(super) type FileContent = Result<Vec<u8>, String>;
/// The files of a check, by path.
type FoundFiles = Rc<BTreeMap<String, FileContent>>;

/// The files that the checks of one side read.
#[derive(Debug)]
pub(super) struct CheckFiles<'f> {
    names: &'f FileNames,
    files: &'f ProjectFiles<'f>,
    found: RefCell<BTreeMap<String, FoundFiles>>,
}

impl FileNames {
    /// Creates the table from the paths of a project and those of them that differ.
    pub(super) fn new(paths: impl Iterator<Item = String>, changed: BTreeSet<String>) -> Self {
        let mut names = Self {
            changed,
            ..Self::default()
        };
        for path in paths.chain(names.changed.clone()) {
            let file = file_name(&path).to_owned();
            if !file.chars().all(is_name_char) {
                names.odd.insert(file.clone());
            }
            if let Some(module) = module_path(&path) {
                names
                    .modules
                    .entry(file_name(&module).to_owned())
                    .or_default()
                    .insert(path.clone());
            }
            names.files.entry(file).or_default().insert(path);
        }
        names
    }

    /// Returns the files named in a text, which is a file at `place` or a command.
    fn named_files<'n>(&'n self, text: &'n str, place: &str) -> BTreeSet<&'n str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        // Data may contain such a word too.
        let is_code =
            !file_name(place).contains('.') || module_path(place).is_some_and(|_| !is_json(place));
        let mut is_open = false;
        for line in text.lines() {
            let words = || {
                line.split(|c: char| !is_name_char(c))
                    .filter(|word| !word.is_empty())
            };
            let is_import = is_open
                || is_code && words().next() == Some(LEADING_IMPORT_WORD)
                || is_code
                    && words().any(|word| word.split('.').any(|part| IMPORT_WORDS.contains(&part)));
            // A list of names in parentheses continues on the next line.
            is_open = is_import && (line.contains('(') || is_open) && !line.contains(')');
            for word in words() {
                if PACKAGE_MANAGERS.contains(&word) {
                    found.extend(self.files_named(PACKAGE_FILE));
                }
                if word == "make" {
                    found.extend(MAKEFILES.iter().flat_map(|name| self.files_named(name)));
                }
                found.extend(self.files_of_word(word));
                found.extend(self.files_of_module(word, place, is_import));
            }
        }
        let odd = self.odd.iter().filter(|name| text.contains(name.as_str()));
        found.extend(odd.flat_map(|name| self.files_named(name)));
        found
    }

    fn files_named(&self, name: &str) -> impl Iterator<Item = &str> {
        self.files
            .get(name)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Returns the files for a path or a file name: those whose path ends with it, or else those
    /// with its last part as file name.
    fn files_of_word(&self, word: &str) -> Vec<&str> {
        // The target of `../` cannot be seen from the text alone.
        let path = word
            .rsplit("../")
            .next()
            .unwrap_or(word)
            .trim_start_matches("./");
        let path = path.trim_start_matches('/').trim_end_matches(['/', '.']);
        let all = || self.files_named(file_name(path));
        let exact: Vec<&str> = all().filter(|file| ends_with_path(file, path)).collect();
        if exact.is_empty() {
            all().collect()
        } else {
            exact
        }
    }

    /// Returns the files of a module: a path matches anywhere, a bare name only in an import. Files
    /// near the text have priority.
    fn files_of_module(&self, word: &str, place: &str, is_import: bool) -> Vec<&str> {
        let path = word.replace("../", "").replace('.', "/");
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut found = Vec::new();
        let of_last = |name: &str| {
            self.modules
                .get(name)
                .into_iter()
                .flatten()
                .map(String::as_str)
        };
        if let [_, .., name] = parts.as_slice() {
            let whole = parts.join("/");
            found.extend(
                of_last(name).filter(|file| {
                    module_path(file).is_some_and(|own| ends_with_path(&own, &whole))
                }),
            );
        }
        for part in parts
            .iter()
            .filter(|_| is_import || word.contains('/') && parts.len() == 1)
        {
            let is_near = |file: &&str| {
                module_path(file).is_some_and(|own| is_around(parent_folder(&own), place))
            };
            let near: Vec<&str> = of_last(part).filter(is_near).collect();
            found.extend(if near.is_empty() {
                of_last(part).collect()
            } else {
                near
            });
        }
        found
    }

    /// Returns the files that belong to a code file: its compiled form, and the packages around it.
    fn companion_files(&self, path: &str) -> Vec<&str> {
        let own = module_path(path)
            .filter(|_| !is_json(path))
            .unwrap_or_default();
        let ends = own.match_indices('/').map(|(at, _)| at).chain([own.len()]);
        let around = ends
            .filter_map(|end| own.get(..end))
            .filter(|name| !name.is_empty());
        let of_name = |name| {
            let files = self
                .modules
                .get(file_name(name))
                .into_iter()
                .flatten()
                .map(String::as_str);
            files.filter(move |file| module_path(file).as_deref() == Some(name))
        };
        around.flat_map(of_name).collect()
    }
}

impl<'f> CheckFiles<'f> {
    /// Creates the empty cache of one side.
    pub(super) const fn new(names: &'f FileNames, files: &'f ProjectFiles<'f>) -> Self {
        Self {
            names,
            files,
            found: RefCell::new(BTreeMap::new()),
        }
    }

    /// Returns the files that the checks of a case read, by path: all that a check names directly,
    /// and of the others those that differ.
    pub(super) fn files_of_case(&self, case: &ScenarioCase) -> BTreeMap<String, FileContent> {
        let checks = all_tests(&case.expectations).filter_map(|(test, _)| test.own_check());
        let all = checks.map(|check| {
            let known = self.found.borrow().get(&check.describe()).cloned();
            known.unwrap_or_else(|| {
                let found = Rc::new(self.find_files(check));
                self.found
                    .borrow_mut()
                    .insert(check.describe(), Rc::clone(&found));
                found
            })
        });
        all.flat_map(|found| (*found).clone()).collect()
    }

    fn find_files(&self, check: &OwnCheck) -> BTreeMap<String, FileContent> {
        let command = match &check.what {
            CheckProgram::Command(argv) => argv
                .iter()
                .map(|word| word.value.as_str())
                .collect::<Vec<_>>()
                .join(" "),
            CheckProgram::Python(_) => String::new(),
        };
        let own: BTreeSet<String> = check.possible_files().into_iter().collect();
        let mut words = split_words(&command);
        let mut open: VecDeque<String> = own.iter().cloned().collect();
        open.extend(
            self.names
                .named_files(&command, "")
                .into_iter()
                .map(str::to_owned),
        );
        let mut found = BTreeMap::new();
        while let Some(path) = open.pop_front().filter(|_| found.len() < MAX_FILES) {
            if found.contains_key(&path) {
                continue;
            }
            let mut content = self.file_content(&path);
            if file_name(&path) == PACKAGE_FILE && !own.contains(&path) {
                content = content.map(|bytes| collect_scripts(&bytes, &mut words));
            }
            let text = content
                .as_ref()
                .ok()
                .filter(|bytes| bytes.len() <= MAX_TEXT_BYTES)
                .and_then(|bytes| std::str::from_utf8(bytes).ok());
            let text = text.unwrap_or_default();
            words.extend(split_words(text));
            for named in self
                .names
                .named_files(text, &path)
                .into_iter()
                .chain(self.names.companion_files(&path))
            {
                // The scripts of a package that run are only known at the end.
                let named = named.to_owned();
                if file_name(&named) == PACKAGE_FILE {
                    open.push_back(named);
                } else {
                    open.push_front(named);
                }
            }
            found.insert(path, content);
        }
        found.retain(|path, _| own.contains(path) || self.names.changed.contains(path));
        found
    }

    fn file_content(&self, path: &str) -> FileContent {
        let ProjectFiles { root, files } = self.files;
        let place = root.join(path);
        let read = link_out_error(*files, root, &place)
            .map_or_else(|| files.read(&place, MAX_FILE_BYTES), Err);
        read.map_err(|err| describe_io_error(&err))
    }
}

/// Returns the scripts of a package that the words name, directly or by other scripts, and adds
/// their words.
fn collect_scripts(package: &[u8], words: &mut BTreeSet<String>) -> Vec<u8> {
    let package: Value = serde_json::from_slice(package).unwrap_or_default();
    let all = package
        .get("scripts")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut own: BTreeMap<&String, &Value> = BTreeMap::new();
    loop {
        let is_named = |name: &str| {
            ["", "pre", "post"]
                .iter()
                .any(|when| name.strip_prefix(when).is_some_and(|of| words.contains(of)))
        };
        let new: Vec<_> = all
            .iter()
            .filter(|(name, _)| !own.contains_key(name) && is_named(name))
            .collect();
        if new.is_empty() {
            let lines: Vec<String> = own
                .iter()
                .map(|(name, script)| format!("{name}: {script}"))
                .collect();
            return lines.join("\n").into_bytes();
        }
        words.extend(
            new.iter()
                .flat_map(|(_, script)| split_words(script.as_str().unwrap_or_default())),
        );
        own.extend(new);
    }
}

fn split_words(text: &str) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`;&|()<>[]{},=$".contains(c);
    text.split(is_between)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns true if a character can be part of an unquoted path.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-./@+".contains(c)
}

fn is_json(path: &str) -> bool {
    path.strip_suffix(".json").is_some()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns true if a path is equal to another one, or ends with it.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns true if a folder contains a file, directly or deeper.
fn is_around(folder: &str, file: &str) -> bool {
    folder.is_empty()
        || file
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the module of a code file, as a path without extension; that of its folder for a stem
/// that represents it.
fn module_path(path: &str) -> Option<String> {
    let (place, file) = (parent_folder(path), file_name(path));
    let (stem, ending) = (file.split('.').next()?, file.rsplit_once('.')?.1);
    // Python's compiled files are in a folder of their own.
    let place = if file_name(place) == "__pycache__" {
        parent_folder(place)
    } else {
        place
    };
    let module = if FOLDER_STEMS.contains(&stem) {
        place.to_owned()
    } else {
        format!("{place}/{stem}")
    };
    CODE_EXTENSIONS
        .contains(&ending)
        .then(|| module.trim_start_matches('/').to_owned())
}
