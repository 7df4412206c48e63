//! The files that a configuration names.

use crate::import::model::Library;
use crate::import::names::folder;
use crate::import::note::NoteKind;

/// What programs are written in.
pub(super) const PROGRAMS: [&str; 9] = ["js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb", "go"];

/// The ending of a file's name, without the function that may stand behind it.
pub(super) fn ending(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.rsplit_once('.').map_or("", |(_, ending)| ending.split(':').next().unwrap_or(ending))
}

/// Where a configuration lies, and how the files that it names are had.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) library: &'a dyn Library,
}

impl Source<'_> {
    /// The path of a file that is named, relative to the project's folder.
    pub(super) fn place(&self, name: &str) -> String {
        let mut parts: Vec<&str> = folder(self.path).split('/').filter(|part| !part.is_empty()).collect();
        for part in name.trim_start_matches("file://").split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// The text of a file that is named.
    pub(super) fn text(&self, name: &str) -> Result<String, NoteKind> {
        let shown = name.trim_start_matches("file://").to_owned();
        match self.library.text(&self.place(name)) {
            Ok(Some(text)) => Ok(text.replace("\r\n", "\n")),
            Ok(None) => Err(NoteKind::LeftOut { what: format!("`{shown}`"), why: "there is no such file".to_owned() }),
            Err(reason) => Err(NoteKind::LeftOut { what: format!("`{shown}`"), why: reason }),
        }
    }
}
