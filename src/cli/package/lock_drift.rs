//! `--locked`: the packages of a run are those of `ctxc.lock`. Fetches nothing, and writes nothing.
//!
//! Packages from git are held against the lock whenever they are read; here, the lock is held
//! against the project file and the packages in folders, whose edits count at once.

use super::change_list::describe_changes;
use super::dependency_set::{SourceFault, read_folder, read_lock, required_sources, resolve_error};
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, find_root};
use crate::package::resolve::{Requirements, SelectedPackage, resolve};
use crate::project::dependencies::{PackageSource, split_version};
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use semver::Version;
use std::collections::BTreeMap;

/// Returns an error if `--locked` is given and `ctxc package update` would change the lock file of
/// this run's project. The root of a workspace uses no package itself.
pub(crate) fn require_locked(cx: &Cx) -> Result<()> {
    if !cx.options.is_locked {
        return Ok(());
    }
    let project = Project::load_in(find_root(&cx.options)?)?;
    if project.config.workspace.is_some() {
        return Ok(());
    }
    // A verb reports the errors of the file itself.
    if required_sources(&project.config).is_err() {
        return Ok(());
    }
    let lock = read_lock(&project.root)?;
    let changes = describe_changes(&lock, &expected_lock(&project, &lock)?);
    if changes.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{LOCK_FILE} does not fit {PROJECT_FILE} and the packages: {}",
        changes.join("; ")
    );
    Err(CliError::new(CliErrorKind::Findings, escape_line(&message))
        .with_hint("`ctxc package update` brings it up to date; commit it"))
}

/// Returns the lock that fits the project file and the packages in folders. The requirements of a
/// package from git follow from its commit, so they are those of the lock.
fn expected_lock(project: &Project, lock: &LockFile) -> Result<LockFile> {
    let mut folders: BTreeMap<String, LockedPackage> = BTreeMap::new();
    let read = |name: &str, source: &PackageSource| -> std::result::Result<_, SourceFault> {
        let PackageSource::Git { tag, .. } = source else {
            let release = read_folder(&project.root, source.place())?;
            let verified = lock.package(name).and_then(|own| own.verified.clone());
            let requirements = release.requirements();
            let entry = release.lock(source.clone());
            folders.insert(name.to_owned(), LockedPackage { verified, ..entry });
            return Ok(requirements);
        };
        let locked = lock.package(name).filter(|own| own.source == *source);
        let names = locked.into_iter().flat_map(|own| &own.dependencies);
        let source = |name: &String| Some((name.clone(), lock.package(name)?.source.clone()));
        let unknown = || split_version(tag).map_or(Version::new(0, 0, 0), |(_, version)| version);
        Ok(Requirements {
            version: locked.map_or_else(unknown, |own| own.version.clone()),
            dependencies: names.filter_map(source).collect(),
        })
    };
    let selected = resolve(&required_sources(&project.config)?, read)
        .map_err(|fault| resolve_error(&fault))?;
    let entry = |(name, own): (String, SelectedPackage)| {
        let locked = lock.package(&name).filter(|old| old.source == own.source);
        let known = folders.remove(&name).or_else(|| locked.cloned());
        known.unwrap_or_else(|| LockedPackage {
            name,
            version: own.version,
            source: own.source,
            resolved: None,
            tree: String::new(),
            dependencies: own.dependencies,
            verified: None,
            files: BTreeMap::new(),
        })
    };
    Ok(LockFile {
        packages: selected.into_iter().map(entry).collect(),
    })
}
