//! Names of files in packages: each must mean the same file on every system.

use crate::base::hidden_text::hidden_runs;
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// The maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 1_000;
/// The maximum length of a part of a path in bytes.
const MAX_PART_BYTES: usize = 240;
/// Names of devices that Windows opens in place of a file, whatever stands behind a dot.
const DEVICES: [&str; 6] = ["aux", "con", "conin$", "conout$", "nul", "prn"];
/// Names of devices that a digit follows.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// The reason why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// It is not UTF-8.
    #[error("the name is not UTF-8")]
    NotText,
    /// It is empty, or a part of it is.
    #[error("the name has an empty part")]
    Empty,
    /// It begins at the root of a system.
    #[error("the path is absolute")]
    Absolute,
    /// It leaves the package.
    #[error("the path has `.` or `..`, and a file stays inside its package")]
    Relative,
    /// It is hidden, as the files of version control are.
    #[error("the file is hidden, and a package has none")]
    Hidden,
    /// It is too long.
    #[error("the name is too long")]
    Long,
    /// It has a character that some systems do not take.
    #[error("the name has {0:?}, which is no character of a name on every system")]
    Character(char),
    /// Windows takes it for another name.
    #[error("Windows reserves the name")]
    Reserved,
    /// Another file is the same one on some systems.
    #[error("some systems take it for `{0}`, which is there, too")]
    Duplicate(String),
}

/// The names of one package.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    /// Files, and folders above them, by the form that all systems compare.
    known: BTreeMap<String, (String, PathKind)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathKind {
    File,
    Folder,
}

impl NameTable {
    /// Adds the name of a file.
    pub(super) fn add(&mut self, name: &[u8]) -> Result<(), NameFault> {
        let path = std::str::from_utf8(name).map_err(|_| NameFault::NotText)?;
        check_name(path)?;
        let folders = path
            .match_indices('/')
            .filter_map(|(at, _)| Some((path.get(..at)?, PathKind::Folder)));
        for (path, kind) in folders.chain([(path, PathKind::File)]) {
            let own = (path.to_owned(), kind);
            match self.known.get(&fold_name(path)) {
                Some(other) if *other != own || kind == PathKind::File => {
                    return Err(NameFault::Duplicate(other.0.clone()));
                }
                Some(_) => {}
                None => drop(self.known.insert(fold_name(path), own)),
            }
        }
        Ok(())
    }
}

/// Returns the form of a name that is equal for all names that some system takes for one: without
/// case, and with one encoding of accents.
fn fold_name(path: &str) -> String {
    path.nfc()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

fn check_name(path: &str) -> Result<(), NameFault> {
    let mut first = path.chars();
    let is_drive = first
        .next()
        .is_some_and(|drive| drive.is_ascii_alphabetic())
        && first.next() == Some(':');
    if path.starts_with(['/', '\\']) || is_drive {
        return Err(NameFault::Absolute);
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(NameFault::Long);
    }
    if let Some(run) = hidden_runs(path).next() {
        return Err(NameFault::Character(run.first));
    }
    let is_bad = |one: char| one.is_control() || "\\:*?\"<>|".contains(one);
    if let Some(bad) = path.chars().find(|one| is_bad(*one)) {
        return Err(NameFault::Character(bad));
    }
    path.split('/').try_for_each(check_part)
}

fn check_part(part: &str) -> Result<(), NameFault> {
    let stem = part.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_lowercase();
    let is_numbered = |device: &&str| {
        stem.strip_prefix(*device)
            .is_some_and(|digit| digit.chars().count() == 1 && digit.chars().all(char::is_numeric))
    };
    match part {
        "" => Err(NameFault::Empty),
        "." | ".." => Err(NameFault::Relative),
        _ if part.starts_with('.') => Err(NameFault::Hidden),
        _ if part.len() > MAX_PART_BYTES => Err(NameFault::Long),
        _ if part.ends_with(['.', ' '])
            || DEVICES.contains(&stem.as_str())
            || NUMBERED_DEVICES.iter().any(is_numbered) =>
        {
            Err(NameFault::Reserved)
        }
        _ => Ok(()),
    }
}
