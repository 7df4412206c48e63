//! The packages in the user's cache folder: read-only files, a folder for each tree. A folder is
//! there completely or not at all, and is held against its hash whenever it is read.

use super::archive::PackedFile;
use super::release::digest_of;
use crate::base::contained_path::slash_path;
use crate::base::fs::{self, ExistingFolder, ReadFs, RealFs};
use crate::base::sha256::sha256_hex;
use crate::project::dependencies::PackageSource;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of files that name the tree of a tag.
const TAG_FOLDER: &str = "tags";
/// The maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 100 << 20;
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
    let files = read_folder(folder).ok()?;
    let digests: BTreeMap<String, String> = files
        .iter()
        .map(|file| (file.path.clone(), sha256_hex(&file.bytes)))
        .collect();
    (digest_of(&digests) == tree).then_some(files)
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

fn read_folder(root: &Path) -> io::Result<Vec<PackedFile>> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::list_folder(&folder) {
            if entry.is_folder {
                open.push(entry.path);
                continue;
            }
            let path = slash_path(entry.path.strip_prefix(root).unwrap_or(&entry.path));
            let bytes = RealFs.read(&entry.path, MAX_FILE_BYTES)?;
            files.push(PackedFile { path, bytes });
            if files.len() > MAX_FILES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[path = "../../tests/unit/package/store.rs"]
mod tests;
