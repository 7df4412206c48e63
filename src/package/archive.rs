//! Archives of packages, `.tar.zst`: the same files give the same bytes on every machine.

use std::io;
use tar::{Builder, EntryType, Header};

/// The file of an archive that describes it.
pub const PACKAGE_FILE: &str = "ctxc-package.json";
/// The level of compression. Another one would change the bytes of an archive.
const LEVEL: i32 = 12;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackedFile {
    /// Its path in the package, with `/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Returns an archive of some files, sorted by path, without times, owners and permissions.
pub fn write_archive<'f>(files: impl IntoIterator<Item = &'f PackedFile>) -> io::Result<Vec<u8>> {
    let mut sorted: Vec<_> = files.into_iter().collect();
    sorted.sort();
    let mut tar = Builder::new(zstd::Encoder::new(Vec::new(), LEVEL)?);
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
    tar.into_inner()?.finish()
}

#[cfg(test)]
#[path = "../../tests/unit/package/archive.rs"]
mod tests;
