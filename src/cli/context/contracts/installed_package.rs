//! A package that a project uses, compiled by itself: with the packages that it requires as the
//! project has them, of the versions in the project's lock.

use crate::base::contained_path::describe_io_error;
use crate::base::fs::{ReadFs, RealFs};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::package::PackedFile;
use crate::package::store::{MAX_FILE_BYTES, write_temp_folder};
use crate::project::config::{Config, InstalledPackage, Packages};
use crate::project::package_files::PackageFiles;
use crate::project::packages::{PackageFolder, PackageNames, PackagePlace};
use crate::project::read::packages::find_outside;
use crate::rules::check::config_findings;
use crate::template::keywords::Trust;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tempfile::TempDir;

/// A compiled package, whose files lie in a folder of their own.
#[derive(Debug)]
pub(in crate::cli) struct CompiledPackage {
    /// The compiled files.
    pub(in crate::cli) project: CompiledProject,
    /// The folder, which is removed with this value; `None` for a folder of the user.
    pub(in crate::cli) _folder: Option<TempDir>,
}

/// Compiles a package of the project in a folder, which has these packages. Of a locked package, only
/// the files of the lock count, each as it was locked.
pub(in crate::cli) fn compile_package(
    package: &InstalledPackage,
    user: &Path,
    packages: &Packages,
) -> Result<CompiledPackage> {
    let folder = match &package.folder.hashes {
        Some(hashes) => Some(copy_locked(&package.folder, user, hashes.keys())?),
        None => None,
    };
    let config = Config {
        packages: required_packages(package, user, packages),
        ..(*package.config).clone()
    };
    let live = || package.folder.path(user);
    let project = Project {
        root: folder
            .as_ref()
            .map_or_else(live, |folder| folder.path().to_owned()),
        findings: config_findings(&config),
        config,
    };
    let project = CompiledProject::compile(project.require_no_errors()?, &package.folder.prefix)?;
    Ok(CompiledPackage {
        project,
        _folder: folder,
    })
}

/// Copies the locked files of a package into a temporary folder: beside them, in the cache or in
/// `vendor/`, there may be others, or rules of git that ignore them.
fn copy_locked<'h>(
    folder: &PackageFolder,
    user: &Path,
    paths: impl Iterator<Item = &'h String>,
) -> Result<TempDir> {
    let files = PackageFiles::new(folder, user, &RealFs);
    let read = |path: &String| {
        let full = format!("{}/{path}", folder.prefix);
        let bytes = files
            .read(Path::new(&full), MAX_FILE_BYTES)
            .map_err(|why| {
                let message = format!("{full}: {}", describe_io_error(&why));
                CliError::new(CliErrorKind::Findings, escape_line(&message))
                    .with_hint("`ctxc package update` restores changed files")
            })?;
        let path = path.clone();
        Ok(PackedFile { path, bytes })
    };
    let files: Vec<PackedFile> = paths.map(read).collect::<Result<_>>()?;
    write_temp_folder(&files).map_err(|why| temp_folder_error(&why))
}

/// Returns the error of a temporary folder.
pub(in crate::cli) fn temp_folder_error(why: &std::io::Error) -> CliError {
    let why = describe_io_error(why);
    let message = format!("a temporary folder cannot be written: {why}");
    CliError::new(CliErrorKind::Infrastructure, message)
}

/// Returns the packages that a package requires, itself or through others, with the trust that it
/// states.
fn required_packages(package: &InstalledPackage, user: &Path, packages: &Packages) -> Packages {
    let own = package.names.dependencies.iter().rev();
    let mut open: Vec<(&str, bool)> = own.map(|name| (name.as_str(), false)).collect();
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    let mut required = BTreeMap::new();
    while let Some((name, is_left)) = open.pop() {
        let Some(found) = packages.get(name) else {
            continue;
        };
        if is_left {
            order.push(name);
        } else if seen.insert(name) {
            open.push((name, true));
            let inner = found.names.dependencies.iter().rev();
            open.extend(inner.map(|name| (name.as_str(), false)));
            // Its folder is relative to the user's project.
            let folder = PackageFolder {
                place: PackagePlace::Cache(found.folder.path(user)),
                ..found.folder.clone()
            };
            let names = PackageNames {
                trust: Trust::Trusted,
                ..(*found.names).clone()
            };
            let found = InstalledPackage {
                names: Arc::new(names),
                folder,
                ..found.clone()
            };
            required.insert(name, found);
        }
    }
    for name in find_outside(&order, &required, &package.config.dependencies) {
        if let Some(found) = required.get_mut(name.as_str()) {
            Arc::make_mut(&mut found.names).trust = Trust::Untrusted;
        }
    }
    Packages::new(required.into_values().collect())
}
