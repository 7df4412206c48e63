//! The files that a configuration refers to.

use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::PromptLibrary;
use crate::import::prompt_names::folder;

/// The extensions of programs.
pub(super) const PROGRAM_EXTENSIONS: [&str; 9] =
    ["js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb", "go"];

/// The extension of a file name, without a function name after it.
pub(super) fn file_extension(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.rsplit_once('.')
        .map_or("", |(_, ending)| ending.split(':').next().unwrap_or(ending))
}

/// A configuration's path, and the access to its files.
pub(super) struct ConfigSource<'a> {
    pub(super) path: &'a str,
    pub(super) library: &'a dyn PromptLibrary,
}

impl ConfigSource<'_> {
    /// The path of a file, relative to the project's folder.
    pub(super) fn file_path(&self, name: &str) -> String {
        let mut parts: Vec<&str> = folder(self.path)
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        for part in name.trim_start_matches("file://").split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// The files that a name with `*` in its last part stands for, each as the configuration would
    /// name it; `None` where it has one elsewhere.
    pub(super) fn named_by(&self, pattern: &str) -> Option<Vec<String>> {
        let pattern = pattern.trim_start_matches("file://");
        let (above, last) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        if above.contains('*') || last.contains("**") {
            return None;
        }
        let names = self.library.names(&self.file_path(above));
        Some(
            names
                .into_iter()
                .filter(|name| matches(last, name))
                .map(|name| format!("{above}/{name}"))
                .collect(),
        )
    }

    /// The text of a file that is named.
    pub(super) fn read_text(&self, name: &str) -> Result<String, ImportNoteKind> {
        let shown = name.trim_start_matches("file://").to_owned();
        match self.library.text(&self.file_path(name)) {
            Ok(Some(text)) => Ok(text.replace("\r\n", "\n")),
            Ok(None) => Err(ImportNoteKind::LeftOut {
                what: format!("`{shown}`"),
                why: "there is no such file".to_owned(),
            }),
            Err(reason) => Err(ImportNoteKind::LeftOut {
                what: format!("`{shown}`"),
                why: reason,
            }),
        }
    }
}

/// Returns true if a pattern matches a name. `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(first) else {
        return false;
    };
    (0..=name.len())
        .filter_map(|at| name.get(at..))
        .any(|name| matches(rest, name))
}
