//! `ctxc package list`: the packages of a project, with what requires them.

use super::dependency_set::read_lock;
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, find_root};
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
    let mut shown = BTreeSet::new();
    for (name, own) in &required {
        match lock.package(name) {
            Some(package) => print_package(package, &lock, 0, &mut shown, cx)?,
            None => cx.print_line(&format!(
                "{name}  {}  not in {LOCK_FILE}: `ctxc package update` fetches it",
                own.source.value
            ))?,
        }
    }
    Ok(Exit::Success)
}

fn print_package<'l>(
    package: &'l LockedPackage,
    lock: &'l LockFile,
    depth: usize,
    shown: &mut BTreeSet<&'l str>,
    cx: &mut Cx,
) -> Result<()> {
    let indent = "  ".repeat(depth);
    let (name, version) = (&package.name, &package.version);
    if !shown.insert(name) {
        return cx.print_line(&format!("{indent}{name} {version}  (as above)"));
    }
    let verified = match &package.verified {
        Some(proof) => format!("verified with ctxc {}", proof.ctxc),
        None => "not verified here".to_owned(),
    };
    cx.print_line(&format!(
        "{indent}{name} {version}  {}  {verified}",
        package.source
    ))?;
    let required = package.dependencies.iter();
    required
        .filter_map(|name| lock.package(name))
        .try_for_each(|own| print_package(own, lock, depth + 1, shown, cx))
}
