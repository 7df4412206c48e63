//! Reads archives of strangers. Nothing is written: files are returned only if every entry is a
//! plain file with a harmless name, and if the archive holds what its description lists.

use super::archive::{PACKAGE_FILE, PackedFile, decompress, read_tar, write_tar};
use super::document::{DocumentFault, PackageDocument};
use super::file_name::{NameFault, NameTable};
use super::release::find_hidden_text;
use crate::base::sha256::sha256_hex;
use std::collections::BTreeMap;
use std::io;
use tar::EntryType;

/// The maximum number of files.
pub(super) const MAX_FILES: usize = 10_000;
/// The maximum size of all files together, in bytes.
pub(super) const MAX_BYTES: u64 = 100 << 20;
/// The maximum size of the unpacked archive for each of its bytes.
pub(super) const MAX_RATIO: u64 = 100;

/// A package with its description.
#[derive(Debug)]
pub struct UnpackedPackage {
    /// Its description.
    pub document: PackageDocument,
    /// Its files, sorted, without the description.
    pub files: Vec<PackedFile>,
}

/// The reason why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveFault {
    /// Its bytes are no archive.
    #[error("it is no archive of a package: {0}")]
    Damaged(#[from] io::Error),
    /// It has more files than the limit.
    #[error("it has more than {MAX_FILES} files")]
    TooMany,
    /// Its files are larger than the limit.
    #[error("its files have more than 100 MiB together")]
    TooLarge,
    /// It unpacks to far more than it is.
    #[error("it unpacks to more than {MAX_RATIO} times its own size")]
    Bomb,
    /// An entry that is no file.
    #[error("`{path}` is {kind}; a package has files only")]
    NoFile {
        /// The entry.
        path: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A name that is not safe on every system.
    #[error("`{path}`: {fault}")]
    Name {
        /// The name.
        path: String,
        /// The reason.
        #[source]
        fault: NameFault,
    },
    /// An archive that another program wrote.
    #[error(
        "its entries are not as `ctxc package pack` writes them: sorted, without times, owners and permissions"
    )]
    Foreign,
    /// No description.
    #[error("it has no {PACKAGE_FILE}")]
    NoDocument,
    /// A description that cannot be read.
    #[error("its {PACKAGE_FILE} cannot be read: {0}")]
    BadDocument(#[from] DocumentFault),
    /// A text with characters that hide instructions.
    #[error(
        "{0}: models read this character, no editor displays it, and the package gives no reason for it"
    )]
    HiddenText(String),
    /// A file that the description does not list.
    #[error("`{0}` is not listed in its {PACKAGE_FILE}")]
    Unlisted(String),
    /// A file of the description that is not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A file with another content than the description has.
    #[error("`{0}` was changed: its SHA-256 is not that of {PACKAGE_FILE}")]
    Changed(String),
}

/// Reads the archive of a package.
pub fn read_package(bytes: &[u8]) -> Result<UnpackedPackage, ArchiveFault> {
    let mut files = read_archive(bytes)?;
    let at = files.iter().position(|file| file.path == PACKAGE_FILE);
    let document = files.remove(at.ok_or(ArchiveFault::NoDocument)?);
    let document = PackageDocument::read(&document.bytes)?;
    let mut listed: BTreeMap<&str, &str> = document
        .files
        .iter()
        .map(|(path, hash)| (path.as_str(), hash.as_str()))
        .collect();
    for file in &files {
        match listed.remove(file.path.as_str()) {
            None => return Err(ArchiveFault::Unlisted(file.path.clone())),
            Some(hash) if hash != sha256_hex(&file.bytes) => {
                return Err(ArchiveFault::Changed(file.path.clone()));
            }
            Some(_) => {}
        }
    }
    if let Some(path) = listed.keys().next() {
        return Err(ArchiveFault::Missing((*path).to_owned()));
    }
    match find_hidden_text(&files) {
        Some(place) if document.hidden_text.is_none() => Err(ArchiveFault::HiddenText(place)),
        _ => Ok(UnpackedPackage { document, files }),
    }
}

/// Reads the files of an archive, whatever they are.
fn read_archive(bytes: &[u8]) -> Result<Vec<PackedFile>, ArchiveFault> {
    let tar = unpack_bytes(bytes)?;
    let mut names = NameTable::default();
    let mut files = Vec::new();
    let mut total = 0_u64;
    for entry in read_tar(&tar)? {
        let path = String::from_utf8_lossy(&entry.path).into_owned();
        if let Some(kind) = describe_kind(entry.kind) {
            return Err(ArchiveFault::NoFile { path, kind });
        }
        if let Err(fault) = names.add(&entry.path) {
            return Err(ArchiveFault::Name { path, fault });
        }
        total += entry.bytes.len() as u64;
        if total > MAX_BYTES {
            return Err(ArchiveFault::TooLarge);
        }
        if files.len() == MAX_FILES {
            return Err(ArchiveFault::TooMany);
        }
        let bytes = entry.bytes;
        files.push(PackedFile { path, bytes });
    }
    // One comparison for all that another program could hide in headers, padding and order.
    if write_tar(&files)? != tar {
        return Err(ArchiveFault::Foreign);
    }
    Ok(files)
}

/// Unpacks the compression within the limits.
fn unpack_bytes(bytes: &[u8]) -> Result<Vec<u8>, ArchiveFault> {
    // Each file has a head and is filled up to a block.
    let most = MAX_BYTES + MAX_FILES as u64 * 2048;
    let by_ratio = (bytes.len() as u64).saturating_mul(MAX_RATIO);
    let tar = decompress(bytes, most.min(by_ratio))?;
    tar.ok_or(if by_ratio < most {
        ArchiveFault::Bomb
    } else {
        ArchiveFault::TooLarge
    })
}

/// Returns the kind of an entry that is no file.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "further kinds are named alike"
)]
const fn describe_kind(kind: EntryType) -> Option<&'static str> {
    Some(match kind {
        EntryType::Regular => return None,
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::Directory => "a folder",
        EntryType::Block | EntryType::Char => "a device",
        EntryType::Fifo => "a pipe",
        _ => "an entry of another kind",
    })
}

#[cfg(test)]
#[path = "../../tests/unit/package/unpack.rs"]
mod tests;
