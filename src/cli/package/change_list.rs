//! The difference between two states of the packages of a project, for people.

use crate::project::lock_file::{LockFile, LockedPackage};
use std::collections::BTreeSet;

/// Returns a line for each package that differs, sorted by name.
pub(super) fn describe_changes(before: &LockFile, after: &LockFile) -> Vec<String> {
    let names: BTreeSet<&str> = before
        .packages
        .iter()
        .chain(&after.packages)
        .map(|package| package.name.as_str())
        .collect();
    let change = |name: &str| match (before.package(name), after.package(name)) {
        (None, Some(new)) => Some(format!("+ {name} {}  {}", new.version, new.source)),
        (Some(old), None) => Some(format!("- {name} {}", old.version)),
        (Some(old), Some(new)) => describe_change(old, new),
        (None, None) => None,
    };
    names.into_iter().filter_map(change).collect()
}

fn describe_change(old: &LockedPackage, new: &LockedPackage) -> Option<String> {
    let name = &new.name;
    if old.version != new.version {
        return Some(format!(
            "~ {name} {} → {}  {}",
            old.version, new.version, new.source
        ));
    }
    if old.tree != new.tree || old.files != new.files {
        let paths: BTreeSet<&String> = old.files.keys().chain(new.files.keys()).collect();
        let differs = |path: &&&String| old.files.get(**path) != new.files.get(**path);
        let changed: Vec<&str> = paths
            .iter()
            .filter(differs)
            .map(|path| path.as_str())
            .collect();
        // The files of one tree are always the same, so the lock was edited.
        let change = match (old.tree == new.tree, changed.is_empty()) {
            (true, _) => "restored in ctxc.lock: the hash of ",
            (false, true) => "restored in ctxc.lock: `tree`",
            (false, false) => "changed: ",
        };
        return Some(format!(
            "~ {name} {}  {change}{}",
            new.version,
            changed.join(", ")
        ));
    }
    if old.source == new.source && old.resolved != new.resolved {
        return Some(format!(
            "~ {name} {}  restored in ctxc.lock: `resolved`",
            new.version
        ));
    }
    let is_other = old.source != new.source || old.dependencies != new.dependencies;
    is_other.then(|| format!("~ {name} {}  {}", new.version, new.source))
}
