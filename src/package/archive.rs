//! Archives of packages, `.tar.zst`: the same files give the same bytes on every machine.

use std::io::{self, Read};
use tar::{Archive, Builder, EntryType, Header};

/// The file of an archive that describes it.
pub const PACKAGE_FILE: &str = "ctxc-package.json";
/// The level of compression. Another one would change the bytes of an archive.
const LEVEL: i32 = 12;
/// The binary logarithm of the greatest window that an archive may ask for: 8 MiB.
const MAX_WINDOW_LOG: u32 = 23;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackedFile {
    /// Its path in the package, with `/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// An entry of an archive as it stands there.
#[derive(Debug)]
pub(super) struct TarEntry {
    pub(super) path: Vec<u8>,
    pub(super) kind: EntryType,
    pub(super) bytes: Vec<u8>,
}

/// Returns an archive of some files, sorted by path, without times, owners and permissions.
pub fn write_archive(files: &[PackedFile]) -> io::Result<Vec<u8>> {
    zstd::encode_all(write_tar(files)?.as_slice(), LEVEL)
}

/// Returns the archive before its compression.
pub(super) fn write_tar(files: &[PackedFile]) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<_> = files.iter().collect();
    sorted.sort();
    let mut tar = Builder::new(Vec::new());
    for file in sorted {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(file.bytes.len() as u64);
        tar.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    tar.into_inner()
}

/// Returns the entries of an archive.
pub(super) fn read_tar(tar: &[u8]) -> io::Result<Vec<TarEntry>> {
    let mut archive = Archive::new(tar);
    let mut entries = Vec::new();
    for entry in archive.entries()? {
        let entry = entry?;
        let path = entry.path_bytes().into_owned();
        let kind = entry.header().entry_type();
        // A sparse file can claim any size, and an entry is no larger than its archive.
        let mut bytes = Vec::new();
        if kind == EntryType::Regular {
            entry.take(tar.len() as u64).read_to_end(&mut bytes)?;
        }
        entries.push(TarEntry { path, kind, bytes });
    }
    Ok(entries)
}

/// Unpacks the compression; `None` if the result has more than `most` bytes.
pub(super) fn decompress(bytes: &[u8], most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut decoder = zstd::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    let mut out = Vec::new();
    decoder.take(most + 1).read_to_end(&mut out)?;
    Ok((out.len() as u64 <= most).then_some(out))
}

#[cfg(test)]
#[path = "../../tests/unit/package/archive.rs"]
mod tests;
