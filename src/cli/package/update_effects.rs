//! The effects of an update of packages on the project that uses them, computed in memory before
//! anything is written: the surfaces of the packages, the project's contracts with them, and the
//! contexts and scenarios of the project.

use super::dependency_set::{DependencySet, VENDOR_FOLDER};
use crate::base::fs::{ReadFs, RealFs, Stamp, is_dir};
use crate::cli::context::contracts::{
    CompiledPackage, ConsumerSource, KnownVersions, check_contracts, compile_package,
    project_surface,
};
use crate::cli::context::eval::affected_scenarios;
use crate::cli::context::manifest::markdown_changes;
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::package::matrix::{ContractVerdict, Matrix, MatrixRow};
use crate::package::surface_diff::{SurfaceChange, compare_surfaces};
use crate::project::config::{Config, Packages};
use crate::project::flat_keys::flatten_keys;
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use crate::project::packages::CONTRACTS_FOLDER;
use crate::record::fixed_mask::FixedMask;
use crate::registry::{ReferenceKind, Task};
use std::collections::BTreeSet;
use std::io;

/// The effects of an update.
pub(super) struct UpdateEffects<'l> {
    /// The packages that differ, and those that differ through them, by name.
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
    /// The comparison of two releases, or the reason why there is none; `None` without two. A
    /// release differs from itself if a package that it uses does.
    pub(super) comparison: Option<Result<ReleaseComparison>>,
    /// The exports that something outside of the package uses; `None` if the project has errors.
    pub(super) used: Option<BTreeSet<String>>,
}

/// The comparison of two releases of a package.
pub(super) struct ReleaseComparison {
    /// The changes of its exports, those that break first; `None` for a folder, whose old content is
    /// lost.
    pub(super) changes: Option<Vec<SurfaceChange>>,
    /// The verdicts on the project's contracts with it.
    pub(super) contracts: Vec<MatrixRow>,
}

impl ReleaseComparison {
    /// Returns true if a contract that held is broken.
    pub(super) fn has_broken(&self) -> bool {
        let mut rows = self.contracts.iter();
        rows.any(|row| row.verdict == ContractVerdict::Broken)
    }
}

/// The files of the machine with another lock file, and without the vendored packages, which may be of
/// neither lock. The cache has the packages of both then.
struct ChangedLock {
    path: PathBuf,
    vendor: PathBuf,
    text: String,
}

impl ReadFs for ChangedLock {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if path == self.path {
            return Ok(self.text.clone().into_bytes());
        }
        if path.starts_with(&self.vendor) {
            return Err(io::ErrorKind::NotFound.into());
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

/// The project with the packages of one lock.
struct ProjectState {
    /// The packages that can be used.
    packages: Packages,
    compiled: Result<CompiledProject>,
}

impl ProjectState {
    /// Compiles the whole project with the packages of a lock.
    fn load(set: &DependencySet, text: &str, lock: &LockFile) -> Self {
        let root = &set.project.root;
        let files = ChangedLock {
            path: root.join(LOCK_FILE),
            vendor: root.join(VENDOR_FOLDER),
            text: lock.to_text(),
        };
        let project = Project::with_files(root.clone(), text, &files);
        let packages = project.config.packages.clone();
        let compiled = project.require_no_errors().and_then(|project| {
            let project = CompiledProject::compile(project, "this project")?;
            project.broken.ensure_none("this project")?;
            Ok(project)
        });
        Self { packages, compiled }
    }

    /// Compiles a package by itself, with the packages that it has in the project.
    fn compile_package(&self, name: &str, root: &Path, release: &str) -> Result<CompiledPackage> {
        let Some(package) = self.packages.get(name) else {
            let message = format!("{release} cannot be used");
            return Err(CliError::new(CliErrorKind::Findings, message));
        };
        let compiled = compile_package(package, root, &self.packages)?;
        compiled.project.broken.ensure_none(release)?;
        Ok(compiled)
    }
}

/// Computes the effects of an update. Fetches the old releases if they are not stored.
pub(super) fn find_effects<'l>(
    set: &mut DependencySet,
    [old, new]: [&'l LockFile; 2],
    cx: &Cx,
) -> Result<UpdateEffects<'l>> {
    let packages = old.packages.iter().chain(&new.packages);
    for package in packages.filter(|own| own.resolved.is_some()) {
        set.store_locked(package)?;
    }
    let files = &set.project.config.files;
    let text = files.first().map(|file| file.text.to_string());
    let states = [
        ProjectState::load(set, &text.unwrap_or_default(), old),
        ProjectState::load(set, &set.text, new),
    ];
    let mut packages = Vec::new();
    for name in find_changed(old, new) {
        let (then, now) = (old.package(name), new.package(name));
        let comparison = compare_releases([then, now], &states, &set.project.root, cx);
        let is_unchanged = |found: &Result<ReleaseComparison>| {
            let found = found.as_ref().ok();
            let changes = found.map(|found| (found.changes.as_deref(), found.has_broken()));
            changes.is_some_and(|found| found == (Some(&[][..]), false))
        };
        if then == now && comparison.as_ref().is_none_or(is_unchanged) {
            continue;
        }
        packages.push(PackageEffect {
            name,
            before: then,
            after: now,
            comparison,
            used: (states[0].compiled.as_ref().ok()).map(|before| used_exports(before, name)),
        });
    }
    let [before, after] = states.map(|state| state.compiled);
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

/// Returns the packages that differ between two locks, and those that use one of them.
fn find_changed<'l>(old: &'l LockFile, new: &'l LockFile) -> BTreeSet<&'l str> {
    let packages = || old.packages.iter().chain(&new.packages);
    let names = packages().map(|package| package.name.as_str());
    let mut changed: BTreeSet<&str> = names
        .filter(|name| old.package(name) != new.package(name))
        .collect();
    loop {
        let uses_changed = |package: &&LockedPackage| {
            let mut own = package.dependencies.iter();
            own.any(|name| changed.contains(name.as_str()))
        };
        let users: Vec<&str> = packages()
            .filter(uses_changed)
            .map(|package| package.name.as_str())
            .collect();
        let count = changed.len();
        changed.extend(users);
        if changed.len() == count {
            return changed;
        }
    }
}

/// Compares a package of the old lock with that of the new one, each with the packages that it has
/// there. `None` for a package that only one of the locks has, unless contracts are left over.
fn compare_releases(
    [then, now]: [Option<&LockedPackage>; 2],
    states: &[ProjectState; 2],
    root: &Path,
    cx: &Cx,
) -> Option<Result<ReleaseComparison>> {
    let then = then?;
    let Some(now) = now else {
        let folder = root.join(CONTRACTS_FOLDER).join(&then.name);
        let message = "the project has contracts with it, and uses it no more";
        let left = || CliError::new(CliErrorKind::Findings, message);
        return is_dir(&folder).then(|| Err(left()));
    };
    let is_lost = then.tree != now.tree && then.resolved.is_none();
    let compare = || {
        let [before, after] = states;
        let new = after.compile_package(&now.name, root, "its new release")?;
        let consumer = [ConsumerSource::from_folder(root.to_owned())];
        let check = |package: &CompiledPackage, matrix: &Matrix| {
            let known = KnownVersions {
                matrix,
                revision: "HEAD",
            };
            check_contracts(&package.project, &consumer, known, cx).map(|report| report.rows)
        };
        if is_lost {
            let mut contracts = check(&new, &Matrix::default())?;
            // They may have been kept before.
            let pending = contracts.iter_mut();
            for row in pending.filter(|row| row.verdict == ContractVerdict::Pending) {
                row.verdict = ContractVerdict::Broken;
            }
            let changes = None;
            return Ok(ReleaseComparison { changes, contracts });
        }
        let old = before.compile_package(&then.name, root, "its old release")?;
        let surfaces = (
            project_surface(&old.project)?,
            project_surface(&new.project)?,
        );
        let mut changes = compare_surfaces(&surfaces.0, &surfaces.1);
        changes.sort_by_key(|change| !change.is_breaking);
        let kept = Matrix::from_rows(check(&old, &Matrix::default())?);
        Ok(ReleaseComparison {
            changes: Some(changes),
            contracts: check(&new, &kept)?,
        })
    };
    Some(compare())
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
    let packages = project.config.packages.iter();
    let packages = packages.filter(|other| other.names.package != package);
    let configs = packages.map(|other| &*other.config);
    let configs: Vec<&Config> = configs.chain([&project.config]).collect();
    for role in configs.iter().flat_map(|config| config.roles.values()) {
        let base = role.extends.as_ref().and_then(|base| own_name(&base.value));
        used.extend(base.map(|name| format!("roles/{name}")));
        used.extend(own_name(&role.task.value).map(|name| format!("tasks/{name}")));
    }
    let is_own = |path: &str| {
        path.strip_prefix(package)
            .is_some_and(|rest| rest.starts_with('@'))
    };
    for config in configs {
        let tools = config.tools.values();
        let tools = tools.filter(|tool| is_own(&tool.path));
        used.extend(tools.map(|tool| format!("tools/{}", tool.name)));
        let keys = config.files.first();
        let keys = keys.map(|file| flatten_keys(&file.text));
        let extends = keys.and_then(|keys| keys.get(&vec!["extends".to_owned()]).cloned());
        if extends.is_some_and(|extends| extends.contains(&format!("\"{package}\""))) {
            used.insert("rules".to_owned());
        }
    }
    used
}
