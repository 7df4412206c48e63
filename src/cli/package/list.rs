//! `ctxc package list`: the packages of a project, with what requires them.

use super::dependency_set::{VENDOR_FOLDER, read_folder, read_lock};
use crate::base::folders::package_cache;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, find_root};
use crate::package::release::{digest_of, file_digests};
use crate::package::store;
use crate::project::dependencies::PackageSource;
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use std::collections::BTreeSet;

/// Prints the packages as a tree.
pub(super) fn run_list(cx: &mut Cx) -> Result<Exit> {
    let root = find_root(&cx.options)?;
    let project = Project::load_in(root.clone())?;
    let lock = read_lock(&root)?;
    let required = project.config.dependencies;
    if required.is_empty() {
        cx.print_note(&format!("{PROJECT_FILE} has no `[dependencies]`"));
        return Ok(Exit::Success);
    }
    let mut tree = PackageTree {
        root: &root,
        lock: &lock,
        shown: BTreeSet::new(),
        lines: Vec::new(),
        exit: Exit::Success,
    };
    for (name, own) in &required {
        if let Some(package) = lock.package(name) {
            tree.add_package(package, 0);
        } else {
            tree.exit = Exit::Findings;
            tree.lines.push(format!(
                "{name}  {}  not in {LOCK_FILE}: `ctxc package update` fetches it",
                own.source.value
            ));
        }
    }
    tree.lines.iter().try_for_each(|line| cx.print_line(line))?;
    Ok(tree.exit)
}

/// The packages as lines, each below what requires it.
struct PackageTree<'l> {
    root: &'l Path,
    lock: &'l LockFile,
    shown: BTreeSet<&'l str>,
    lines: Vec<String>,
    exit: Exit,
}

impl<'l> PackageTree<'l> {
    fn add_package(&mut self, package: &'l LockedPackage, depth: usize) {
        let indent = "  ".repeat(depth);
        let (name, version) = (&package.name, &package.version);
        if !self.shown.insert(name) {
            self.lines
                .push(format!("{indent}{name} {version}  (as above)"));
            return;
        }
        let fault = find_fault(self.root, package);
        let is_edited = || {
            let PackageSource::Path(folder) = &package.source else {
                return false;
            };
            let release = read_folder(self.root, folder);
            release.is_ok_and(|release| digest_of(&file_digests(&release.files)) != package.tree)
        };
        let state = match (fault, &package.verified) {
            (Some(fault), _) => {
                self.exit = Exit::Findings;
                fault.to_owned()
            }
            (None, _) if is_edited() => {
                "changed since it was locked: `ctxc package update` locks it".to_owned()
            }
            (None, Some(proof)) => format!("verified with ctxc {}", proof.ctxc),
            (None, None) => "not verified here".to_owned(),
        };
        let source = &package.source;
        self.lines
            .push(format!("{indent}{name} {version}  {source}  {state}"));
        let required = package.dependencies.iter();
        for own in required.filter_map(|name| self.lock.package(name)) {
            self.add_package(own, depth + 1);
        }
    }
}

/// Returns the reason why the package is not there as the lock has it.
fn find_fault(root: &Path, package: &LockedPackage) -> Option<&'static str> {
    if let PackageSource::Path(folder) = &package.source {
        let is_missing = !fs::exists(&root.join(folder).join(PROJECT_FILE));
        return is_missing.then_some("its folder is not there");
    }
    if digest_of(&package.files) != package.tree {
        return Some("its hashes in ctxc.lock were edited: `ctxc package update` restores them");
    }
    let vendored = root.join(VENDOR_FOLDER).join(&package.name);
    if store::read_tree(&vendored, &package.tree).is_some() {
        return None;
    }
    if fs::exists(&vendored) {
        return Some("its copy in vendor/ctxc was changed: `ctxc package vendor` restores it");
    }
    let cached = package_cache().and_then(|cache| store::read_package(&cache, &package.tree));
    let missing = "not installed: `ctxc package update` fetches it";
    cached.is_none().then_some(missing)
}
