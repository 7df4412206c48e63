//! The packages that a command line names: archives, and packages that this project uses.

use super::dependency_set::{VENDOR_FOLDER, read_lock};
use super::project_files::read_files;
use crate::base::folders::package_cache;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::prelude::*;
use crate::cli::project::find_root;
use crate::package::{PackedFile, UnpackedPackage, read_package, store};
use crate::project::dependencies::PackageSource;
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use crate::project::package_section::is_package_name;
use crate::rules::input::read_fault::describe_io_error;

/// The maximum size of an archive in bytes: no compression makes files larger.
const MAX_ARCHIVE_BYTES: u64 = 128 << 20;

/// A package that a project uses.
#[derive(Debug)]
pub(super) struct InstalledPackage {
    /// Its files.
    pub(super) files: Vec<PackedFile>,
    /// The lock of the project.
    pub(super) lock: LockFile,
    /// Its place.
    pub(super) lock_path: PathBuf,
}

/// Reads the archive of a package.
pub(super) fn read_archive(path: &Path) -> Result<UnpackedPackage> {
    let name = path.display();
    let bytes = RealFs.read(path, MAX_ARCHIVE_BYTES).map_err(|why| {
        let message = format!("{name} cannot be read: {}", describe_io_error(&why));
        CliError::new(CliErrorKind::Infrastructure, message)
    })?;
    read_package(&bytes).map_err(|why| {
        let message = escape_line(&format!("{name}: {why}")).into_owned();
        CliError::new(CliErrorKind::Findings, message)
            .with_hint("nothing of it was written or run; `ctxc package pack` writes such archives")
    })
}

/// Returns true if a subject names a package, not an archive.
pub(super) fn names_package(subject: &Path) -> bool {
    subject.to_str().is_some_and(is_package_name) && !fs::exists(subject)
}

/// Reads the files of a package from git as the lock of a project has them, if they are stored.
pub(super) fn read_stored(root: &Path, package: &LockedPackage) -> Option<Vec<PackedFile>> {
    let vendored = root.join(VENDOR_FOLDER).join(&package.name);
    let vendored = store::read_tree(&vendored, &package.tree);
    vendored.or_else(|| store::read_package(&package_cache()?, &package.tree))
}

/// Reads the files of a package that this project uses, each as its lock has it.
pub(super) fn read_installed(name: &str, cx: &Cx) -> Result<InstalledPackage> {
    let root = find_root(&cx.options)?;
    let lock_path = root.join(LOCK_FILE);
    let lock = read_lock(&root)?;
    if lock.packages.is_empty() {
        return Err(
            CliError::usage(format!("this project uses no package, and so not `{name}`"))
                .with_hint("`ctxc package add SOURCE` adds one"),
        );
    }
    let Some(package) = lock.package(name) else {
        let known = lock.packages.iter().map(|package| package.name.as_str());
        return Err(
            CliError::usage(format!("{LOCK_FILE} has no package `{name}`"))
                .with_hint(format!("packages there: {}", list_first(known))),
        );
    };
    let files = match &package.source {
        PackageSource::Path(folder) => Some(read_files(
            &Project::load_in(root.join(folder))?.require_no_errors()?,
        )?),
        PackageSource::Git { .. } => read_stored(&root, package),
    };
    let files = files.ok_or_else(|| {
        CliError::usage(format!("`{name}` is not here as {LOCK_FILE} has it"))
            .with_hint("`ctxc package update` fetches it")
    })?;
    Ok(InstalledPackage {
        files,
        lock,
        lock_path,
    })
}
