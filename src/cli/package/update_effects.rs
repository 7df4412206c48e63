//! The effects of an update of packages on the project that uses them, computed in memory before
//! anything is written: the surfaces of the packages, the project's contracts with them, and the
//! contexts and scenarios of the project.

use super::dependency_set::DependencySet;
use super::proof::CompiledPackage;
use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::cli::context::contracts::{
    ConsumerSource, KnownVersions, check_contracts, project_surface,
};
use crate::cli::context::eval::affected_scenarios;
use crate::cli::context::manifest::markdown_changes;
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::package::PackedFile;
use crate::package::matrix::{Matrix, MatrixRow};
use crate::package::surface_diff::{SurfaceChange, compare_surfaces};
use crate::project::flat_keys::flatten_keys;
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use crate::record::fixed_mask::FixedMask;
use crate::registry::{ReferenceKind, Task};
use std::collections::BTreeSet;
use std::io;

/// The effects of an update.
pub(super) struct UpdateEffects<'l> {
    /// The packages that differ, by name.
    pub(super) packages: Vec<PackageEffect<'l>>,
    /// The changes of the project's contexts as Markdown, or the reason why they are not known.
    pub(super) contexts: Result<String>,
    /// The scenarios to run again, or the reason why they are not known.
    pub(super) scenarios: Result<Vec<String>>,
    /// True if the project compiles now, and no more with the new packages.
    pub(super) breaks_project: bool,
    /// The mask of texts of scenarios and packages.
    pub(super) mask: Option<FixedMask>,
}

/// A package that an update adds, removes or changes.
pub(super) struct PackageEffect<'l> {
    pub(super) name: &'l str,
    pub(super) before: Option<&'l LockedPackage>,
    pub(super) after: Option<&'l LockedPackage>,
    /// The comparison of two releases, or the reason why there is none; `None` without two.
    pub(super) comparison: Option<Result<ReleaseComparison>>,
    /// The exports that something outside of the package uses.
    pub(super) used: BTreeSet<String>,
}

/// The comparison of two releases of a package.
pub(super) struct ReleaseComparison {
    /// The changes of its exports, those that break first.
    pub(super) changes: Vec<SurfaceChange>,
    /// The verdicts on the project's contracts with it.
    pub(super) contracts: Vec<MatrixRow>,
}

/// The files of the machine with another lock file.
struct ChangedLock {
    path: PathBuf,
    text: String,
}

impl ReadFs for ChangedLock {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if path == self.path {
            return Ok(self.text.clone().into_bytes());
        }
        RealFs.read(path, limit)
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        RealFs.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        RealFs.is_regular(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        RealFs.canonicalize(path)
    }

    fn entry_names(&self, folder: &Path) -> Vec<String> {
        RealFs.entry_names(folder)
    }

    fn plain_file_names(&self, folder: &Path) -> Vec<String> {
        RealFs.plain_file_names(folder)
    }
}

/// Computes the effects of an update. Fetches the old releases if they are not stored.
pub(super) fn find_effects<'l>(
    set: &mut DependencySet,
    [old, new]: [&'l LockFile; 2],
    cx: &Cx,
) -> Result<UpdateEffects<'l>> {
    for package in old.packages.iter().filter(|own| own.resolved.is_some()) {
        set.read_locked(package)?;
    }
    let files = &set.project.config.files;
    let text = files.first().map(|file| file.text.to_string());
    let before = compile_with(set, &text.unwrap_or_default(), old);
    let after = compile_with(set, &set.text, new);
    let names: BTreeSet<&str> = old
        .packages
        .iter()
        .chain(&new.packages)
        .map(|package| package.name.as_str())
        .collect();
    let mut packages = Vec::new();
    for name in names {
        let (then, now) = (old.package(name), new.package(name));
        if then == now {
            continue;
        }
        packages.push(PackageEffect {
            name,
            before: then,
            after: now,
            comparison: compare_releases(set, [then, now], cx)?,
            used: before
                .as_ref()
                .map_or_else(|_| BTreeSet::new(), |before| used_exports(before, name)),
        });
    }
    let mask = before.as_ref().or(after.as_ref()).ok().map(fixed_mask);
    let breaks_project = before.is_ok() && after.is_err();
    let threads = cx.options.threads;
    let (contexts, scenarios) = match (before, after) {
        (Ok(before), Ok(after)) => {
            let scenarios = affected_scenarios(&before, &after, threads);
            (markdown_changes(before, after, threads), scenarios)
        }
        (Err(error), _) | (_, Err(error)) => (Err(error.clone()), Err(error)),
    };
    Ok(UpdateEffects {
        packages,
        contexts,
        scenarios,
        breaks_project,
        mask,
    })
}

/// Compiles the whole project with the packages of a lock.
fn compile_with(set: &DependencySet, text: &str, lock: &LockFile) -> Result<CompiledProject> {
    let root = &set.project.root;
    let files = ChangedLock {
        path: root.join(LOCK_FILE),
        text: lock.to_text(),
    };
    let project = Project::with_files(root.clone(), text, &files).require_no_errors()?;
    let project = CompiledProject::compile(project, "this project")?;
    project.broken.ensure_none("this project")?;
    Ok(project)
}

/// Compares two releases of a package. A folder has no old state to compare with.
fn compare_releases(
    set: &mut DependencySet,
    [then, now]: [Option<&LockedPackage>; 2],
    cx: &Cx,
) -> Result<Option<Result<ReleaseComparison>>> {
    let (Some(then), Some(now)) = (then, now) else {
        return Ok(None);
    };
    if then.tree == now.tree || then.resolved.is_none() || now.resolved.is_none() {
        return Ok(None);
    }
    let releases = [set.read_locked(then)?, set.read_locked(now)?];
    Ok(Some(compare_files(&releases, &set.project.root, cx)))
}

fn compare_files(
    [then, now]: &[Vec<PackedFile>; 2],
    root: &Path,
    cx: &Cx,
) -> Result<ReleaseComparison> {
    // Each has a folder that goes with it.
    let (old, new) = (
        CompiledPackage::from_files(then)?,
        CompiledPackage::from_files(now)?,
    );
    let (old, new) = (&old.project, &new.project);
    old.broken.ensure_none("its old release")?;
    new.broken.ensure_none("its new release")?;
    let mut changes = compare_surfaces(&project_surface(old)?, &project_surface(new)?);
    changes.sort_by_key(|change| !change.is_breaking);
    let consumer = [ConsumerSource::Folder(root.to_owned())];
    let check = |package: &CompiledProject, matrix: &Matrix| {
        let known = KnownVersions {
            matrix,
            revision: "HEAD",
        };
        check_contracts(package, &consumer, known, cx).map(|report| report.rows)
    };
    let kept = Matrix::from_rows(check(old, &Matrix::default())?);
    let contracts = check(new, &kept)?;
    Ok(ReleaseComparison { changes, contracts })
}

/// Returns the exports of a package that something outside of it uses, by kind and name.
fn used_exports(project: &CompiledProject, package: &str) -> BTreeSet<String> {
    let registry = &project.registry;
    let own_name = |name: &str| {
        let name = name.strip_prefix(package)?.strip_prefix('/')?;
        Some(name.to_owned())
    };
    let others = registry.tasks().chain(registry.templates());
    let others = others.filter(|task| own_name(task.name()).is_none());
    let references = others.flat_map(|task| Task::references(task).unwrap_or_default());
    let mut used: BTreeSet<String> = references
        .filter_map(|reference| {
            let is_fragment = reference.kind == ReferenceKind::Use;
            let kind = if is_fragment { "fragments" } else { "tasks" };
            Some(format!("{kind}/{}", own_name(&reference.name)?))
        })
        .collect();
    for role in project.config.roles.values() {
        let base = role.extends.as_ref().and_then(|base| own_name(&base.value));
        used.extend(base.map(|name| format!("roles/{name}")));
        used.extend(own_name(&role.task.value).map(|name| format!("tasks/{name}")));
    }
    let is_own = |path: &str| {
        path.strip_prefix(package)
            .is_some_and(|rest| rest.starts_with('@'))
    };
    let tools = project.config.tools.values();
    let tools = tools.filter(|tool| is_own(&tool.path));
    used.extend(tools.map(|tool| format!("tools/{}", tool.name)));
    let keys = project.config.files.first();
    let keys = keys
        .map(|file| flatten_keys(&file.text))
        .unwrap_or_default();
    let extends = keys.get(&vec!["extends".to_owned()]);
    if extends.is_some_and(|extends| extends.contains(&format!("\"{package}\""))) {
        used.insert("rules".to_owned());
    }
    used
}
