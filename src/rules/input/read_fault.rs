//! From the operating system's answer to the rule that words it.

use super::{file_too_large, unreadable_file};
use crate::base::diagnostic::Diagnostic;
use std::io;
use std::sync::Arc;

/// The finding for an input that could not be read. `limit` is the size in bytes above which files are refused.
pub fn word(path: &Arc<str>, err: &io::Error, limit: u64) -> Diagnostic {
    if err.kind() == io::ErrorKind::FileTooLarge {
        return file_too_large::word(path, limit);
    }
    unreadable_file::word(path, err)
}

/// The reason in an I/O error, in the words of a person rather than “(os error 13)”. A lower-case fragment.
pub fn reason(err: &io::Error) -> String {
    REASONS.iter().find(|(kind, _)| *kind == err.kind()).map_or_else(|| plain(err), |(_, words)| (*words).to_owned())
}

const REASONS: [(io::ErrorKind, &str); 9] = [
    (io::ErrorKind::NotFound, "it does not exist"),
    (io::ErrorKind::PermissionDenied, "permission denied"),
    (io::ErrorKind::ReadOnlyFilesystem, "the file system is read-only"),
    (io::ErrorKind::StorageFull, "no space is left on the disk"),
    (io::ErrorKind::QuotaExceeded, "the disk quota is used up"),
    (io::ErrorKind::IsADirectory, "it is a folder"),
    (io::ErrorKind::NotADirectory, "a part of the path is a file, not a folder"),
    (io::ErrorKind::FileTooLarge, "it is larger than the limit"),
    (io::ErrorKind::InvalidFilename, "the file system takes no such file name"),
];

fn plain(err: &io::Error) -> String {
    let text = err.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::reason;
    use std::io;

    #[test]
    fn reasons_are_words_and_not_numbers() {
        assert_eq!(reason(&io::Error::from_raw_os_error(13)), "permission denied");
        assert_eq!(reason(&io::Error::other("Something odd (os error 999)")), "something odd");
    }
}
