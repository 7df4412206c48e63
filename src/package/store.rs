//! The packages in the user's cache folder: read-only files, a folder for each tree. A folder is
//! there completely or not at all, and is held against its hash whenever it is read.

use super::archive::PackedFile;
use super::release::{digest_of, file_digests};
use crate::base::contained_path::list_files_below;
use crate::base::fs::{self, ExistingFolder, ReadFs, RealFs};
use crate::base::sha256::sha256_hex;
use crate::project::dependencies::PackageSource;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folder of files that name the tree of a tag.
const TAG_FOLDER: &str = "tags";
/// The maximum size of a file in bytes.
pub const MAX_FILE_BYTES: u64 = 100 << 20;
/// The maximum size of a file that names a tree.
const MAX_TAG_BYTES: u64 = 1 << 10;
/// The maximum number of files of a package.
const MAX_FILES: usize = 10_000;

/// The content of a tag when it was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTag {
    /// The commit.
    pub commit: String,
    /// The hash of the package's files.
    pub tree: String,
}

/// Returns the files of a stored package; `None` if it is missing or damaged.
pub fn read_package(store: &Path, tree: &str) -> Option<Vec<PackedFile>> {
    read_tree(&store.join(tree), tree)
}
/// Returns the files in a folder; `None` unless they are those of a tree.
pub fn read_tree(folder: &Path, tree: &str) -> Option<Vec<PackedFile>> {
    let paths = list_files_below(folder, |_, _| false);
    if paths.len() > MAX_FILES {
        return None;
    }
    let read = |path: String| {
        let bytes = RealFs.read(&folder.join(&path), MAX_FILE_BYTES).ok()?;
        Some(PackedFile { path, bytes })
    };
    let files = paths.into_iter().map(read).collect::<Option<Vec<_>>>()?;
    (digest_of(&file_digests(&files)) == tree).then_some(files)
}

/// Stores a package. One that is stored already stays as it is, unless it is damaged.
pub fn install_package(store: &Path, tree: &str, files: &[PackedFile]) -> io::Result<()> {
    let folder = store.join(tree);
    if !fs::exists(&folder) {
        // Of two programs at once, the first stores it.
        return write_files(&folder, files, ExistingFolder::Unchanged);
    }
    if read_package(store, tree).is_none() {
        return write_files(&folder, files, ExistingFolder::Replaced);
    }
    Ok(())
}

/// Writes the files of a package into a folder of their own.
pub fn write_files(
    folder: &Path,
    files: &[PackedFile],
    existing: ExistingFolder,
) -> io::Result<()> {
    let files = files
        .iter()
        .map(|file| (file.path.as_str(), file.bytes.as_slice()));
    fs::install_folder(folder, files, existing)
}

/// Writes files into a temporary folder, which is removed with the result.
pub fn write_temp_folder(files: &[PackedFile]) -> io::Result<TempDir> {
    let folder = fs::temp_folder()?;
    for file in files {
        let path = folder.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
        fs::write_temp_file(&path, &file.bytes, false)?;
    }
    Ok(folder)
}

/// Returns what a tag contained when it was fetched.
pub fn read_tag(store: &Path, source: &PackageSource) -> Option<StoredTag> {
    let bytes = RealFs.read(&tag_path(store, source), MAX_TAG_BYTES).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (commit, tree) = text.trim_end().split_once(' ')?;
    Some(StoredTag {
        commit: commit.to_owned(),
        tree: tree.to_owned(),
    })
}

/// Records what a tag contains.
pub fn write_tag(store: &Path, source: &PackageSource, tag: &StoredTag) -> io::Result<()> {
    let path = tag_path(store, source);
    fs::create_private_dir(path.parent().unwrap_or(store))?;
    fs::write_cache(&path, format!("{} {}\n", tag.commit, tag.tree).as_bytes())
}

fn tag_path(store: &Path, source: &PackageSource) -> PathBuf {
    let name = sha256_hex(source.to_string().as_bytes());
    store.join(TAG_FOLDER).join(name)
}

#[cfg(test)]
#[path = "../../tests/unit/package/store.rs"]
mod tests;
