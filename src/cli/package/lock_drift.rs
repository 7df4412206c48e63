//! `--locked`: the packages of a run are those of `ctxc.lock`. Fetches nothing, and writes nothing.
//!
//! Files of packages from git are held against the lock whenever they are read; here, the lock is
//! held against the project file, the packages in folders, whose edits count at once, and those from
//! git as they are stored.

use super::change_list::describe_changes;
use super::dependency_set::{
    SourceFault, describe_vendored_drift, read_folder, read_lock, required_sources, resolve_error,
};
use super::source::read_stored;
use crate::base::folders::package_cache;
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, find_root};
use crate::package::release::PackageRelease;
use crate::package::resolve::{Requirements, SelectedPackage, resolve};
use crate::package::store;
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
    let mut changes = describe_changes(&lock, &expected_lock(&project, &lock)?);
    changes.extend(describe_vendored_drift(&project.root, &lock)?);
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

/// Returns the lock that fits the project file and the packages. Those from git that are not stored
/// are as the lock has them.
fn expected_lock(project: &Project, lock: &LockFile) -> Result<LockFile> {
    let mut known: BTreeMap<String, LockedPackage> = BTreeMap::new();
    let read = |name: &str, source: &PackageSource| -> std::result::Result<_, SourceFault> {
        let PackageSource::Git { tag, .. } = source else {
            let release = read_folder(&project.root, source.place())?;
            let verified = lock.package(name).and_then(|own| own.verified.clone());
            let requirements = release.requirements();
            let entry = release.lock(source.clone());
            known.insert(name.to_owned(), LockedPackage { verified, ..entry });
            return Ok(requirements);
        };
        let locked = lock.package(name).filter(|own| own.source == *source);
        let stored = locked.and_then(|own| read_entry(&project.root, own));
        let locked = stored.as_ref().or(locked);
        let names = locked.into_iter().flat_map(|own| &own.dependencies);
        let source = |name: &String| Some((name.clone(), lock.package(name)?.source.clone()));
        let unknown = || split_version(tag).map_or(Version::new(0, 0, 0), |(_, version)| version);
        let requirements = Requirements {
            version: locked.map_or_else(unknown, |own| own.version.clone()),
            dependencies: names.filter_map(source).collect(),
        };
        known.extend(stored.map(|entry| (name.to_owned(), entry)));
        Ok(requirements)
    };
    let selected = resolve(&required_sources(&project.config)?, read)
        .map_err(|fault| resolve_error(&fault))?;
    let entry = |(name, own): (String, SelectedPackage)| {
        let is_selected = |entry: &LockedPackage| entry.source == own.source;
        let locked = lock.package(&name).filter(|own| is_selected(own));
        let known = known.remove(&name).filter(is_selected);
        known
            .or_else(|| locked.cloned())
            .unwrap_or_else(|| LockedPackage {
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

/// Returns the entry of a package from git that its stored files and commit give; `None` if they are
/// not stored.
fn read_entry(root: &Path, locked: &LockedPackage) -> Option<LockedPackage> {
    let release = PackageRelease::from_files(read_stored(root, locked)?).ok()?;
    let tag = package_cache().and_then(|cache| store::read_tag(&cache, &locked.source));
    let tag = tag.filter(|tag| tag.tree == locked.tree);
    Some(LockedPackage {
        resolved: tag
            .map(|tag| tag.commit)
            .or_else(|| locked.resolved.clone()),
        verified: locked.verified.clone(),
        ..release.lock(locked.source.clone())
    })
}
