//! Loads the packages of `ctxc.lock` that a project requires, each after those that it requires.
//! Fetches nothing.

use super::value::FaultSink;
use crate::base::contained_path::describe_io_error;
use crate::base::folders;
use crate::base::fs::{ReadFs, RealFs};
use crate::base::sha256::sha256_hex;
use crate::base::span::{Span, Spanned};
use crate::project::config::{Config, ConfigInput, InstalledPackage, MAX_FILE_BYTES, Packages};
use crate::project::dependencies::{
    Dependency, PackageSource, PackageTrust, has_same_major, split_version,
};
use crate::project::lock_file::{LOCK_FILE, LockFile, LockedPackage};
use crate::project::package_fault::PackageFault;
use crate::project::package_files::PackageFiles;
use crate::project::packages::{PackageFolder, PackageNames, PackagePlace};
use crate::template::keywords::Trust;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The maximum size of a lock file, in bytes.
const MAX_LOCK_BYTES: u64 = 64 << 20;
/// The name of a project file.
const PROJECT_FILE: &str = "ctxc.toml";
/// The folder of a project that holds copies of its packages.
const VENDOR_FOLDER: &str = "vendor/ctxc";

/// Loads the packages that a project requires; `own` is its name if it is a package.
pub(super) fn load_packages(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    required: &BTreeMap<String, Dependency>,
    own: Option<&str>,
) -> Packages {
    let Some(first) = required.values().next() else {
        return Packages::default();
    };
    if let Some(itself) = own.and_then(|own| required.get(own)) {
        sink.report_package(
            itself.name.as_ref().map(String::as_str),
            PackageFault::Itself,
        );
        return Packages::default();
    }
    let lock = match read_lock(input) {
        Ok(lock) => lock,
        Err(fault) => {
            sink.report_package(first.name.as_ref().map(String::as_str), fault);
            return Packages::default();
        }
    };
    let mut loaded: BTreeMap<&str, InstalledPackage> = BTreeMap::new();
    let order = order_packages(sink, &lock, required);
    for found in &order {
        let own = found.locked.dependencies.iter();
        let visible = own.filter_map(|name| loaded.get(name.as_str()).cloned());
        let visible = Packages::new(visible.collect());
        match load_package(input, found, &visible) {
            Ok(package) => drop(loaded.insert(&found.locked.name, package)),
            Err(fault) => {
                sink.report_package(Spanned::new(found.locked.name.as_str(), found.span), fault);
            }
        }
    }
    let order: Vec<&str> = order.iter().map(|own| own.locked.name.as_str()).collect();
    for name in find_outside(&order, &loaded, required) {
        if let Some(package) = loaded.get_mut(name.as_str()) {
            Arc::make_mut(&mut package.names).trust = Trust::Untrusted;
        }
    }
    Packages::new(loaded.into_values().collect())
}

fn read_lock(input: &ConfigInput<'_>) -> Result<LockFile, PackageFault> {
    let bytes = match input
        .files
        .read(&input.root.join(LOCK_FILE), MAX_LOCK_BYTES)
    {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LockFile::default()),
        Err(error) => return Err(PackageFault::BadLock(describe_io_error(&error))),
    };
    LockFile::read(&String::from_utf8_lossy(&bytes))
        .map_err(|fault| PackageFault::BadLock(fault.to_string()))
}

/// A package to load.
struct RequiredPackage<'l> {
    locked: &'l LockedPackage,
    /// The span of the dependency that brings it.
    span: Span,
}

/// Returns false if the lock file is of another source or major version, or older than what is
/// required.
fn fits(locked: &LockedPackage, required: &PackageSource) -> bool {
    if locked.source == *required {
        return true;
    }
    let is_other = match required {
        PackageSource::Git { tag, .. } => split_version(tag).is_some_and(|(_, version)| {
            version > locked.version || !has_same_major(&version, &locked.version)
        }),
        PackageSource::Path(_) => false,
    };
    locked.source.place() == required.place() && !is_other
}

/// Returns the packages that are required, each after those that it requires itself. Reports those
/// that the lock file does not have.
fn order_packages<'l>(
    sink: &mut FaultSink,
    lock: &'l LockFile,
    required: &BTreeMap<String, Dependency>,
) -> Vec<RequiredPackage<'l>> {
    let mut open = Vec::new();
    for (name, dependency) in required.iter().rev() {
        match lock.package(name) {
            None => sink.report_package(
                dependency.name.as_ref().map(String::as_str),
                PackageFault::NotLocked,
            ),
            Some(locked) if !fits(locked, &dependency.source.value) => {
                let source = locked.source.to_string();
                sink.report_package(
                    dependency.name.as_ref().map(String::as_str),
                    PackageFault::OtherSource(source),
                );
            }
            Some(locked) => open.push((locked, dependency.name.span, false)),
        }
    }
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    while let Some((locked, span, is_left)) = open.pop() {
        if is_left {
            let own = required.get(&locked.name);
            order.push(RequiredPackage {
                locked,
                span: own.map_or(span, |own| own.name.span),
            });
        } else if seen.insert(&locked.name) {
            open.push((locked, span, true));
            let own = locked.dependencies.iter().rev();
            open.extend(own.filter_map(|name| Some((lock.package(name)?, span, false))));
        }
    }
    order
}

/// Returns the packages that come from outside: those that the project marks so, and, unless it names
/// them itself, those that a package marks so or that a package from outside requires.
pub(crate) fn find_outside(
    order: &[&str],
    loaded: &BTreeMap<&str, InstalledPackage>,
    required: &BTreeMap<String, Dependency>,
) -> BTreeSet<String> {
    let mut outside = BTreeSet::new();
    for name in order.iter().rev() {
        let Some(package) = loaded.get(name) else {
            continue;
        };
        let is_outside = required.get(*name).map_or_else(
            || outside.contains(*name),
            |own| own.trust == PackageTrust::Outside,
        );
        if is_outside {
            outside.insert((*name).to_owned());
            outside.extend(package.names.dependencies.iter().cloned());
        } else {
            outside.remove(*name);
        }
        let stated = package.config.dependencies.iter();
        let stated = stated.filter(|(_, own)| own.trust == PackageTrust::Outside);
        outside.extend(stated.map(|(name, _)| name.clone()));
    }
    outside
}

fn load_package(
    input: &ConfigInput<'_>,
    required: &RequiredPackage<'_>,
    visible: &Packages,
) -> Result<InstalledPackage, PackageFault> {
    let locked = required.locked;
    let folder = find_folder(input, locked)?;
    let files = PackageFiles::new(&folder, input.root, input.files);
    let path = format!("{}/{PROJECT_FILE}", folder.prefix);
    let not_package = |reason: String| PackageFault::NotPackage {
        path: path.clone(),
        reason,
    };
    let bytes = files
        .read(Path::new(&path), MAX_FILE_BYTES)
        .map_err(|error| not_package(format!("cannot be read: {}", describe_io_error(&error))))?;
    let text = String::from_utf8(bytes).map_err(|_| not_package("is not UTF-8".to_owned()))?;
    // A folder may take over sections of its workspace, and extend a file beside it.
    let is_live = folder.hashes.is_none();
    let live = folder.path(input.root);
    let own = ConfigInput {
        path: &path,
        text: &text,
        root: if is_live {
            &live
        } else {
            Path::new(&folder.prefix)
        },
        files: if is_live { input.files } else { &files },
        rules: input.rules,
    };
    let config = Config::read_package(&own, visible);
    match &config.package {
        None => return Err(not_package("has no sound [package]".to_owned())),
        Some(section) if section.name.value != locked.name => {
            return Err(not_package(format!("is that of {}", section.name.value)));
        }
        Some(_) => {}
    }
    let names = PackageNames {
        package: locked.name.clone(),
        dependencies: locked.dependencies.iter().cloned().collect(),
        trust: Trust::Trusted,
    };
    Ok(InstalledPackage {
        version: locked.version.clone(),
        names: Arc::new(names),
        folder,
        config: Arc::new(config),
        span: required.span,
    })
}

/// Returns the folder with the files of a package: its own, a copy in the project, or the cache. A
/// copy of another version, as a killed program leaves it, is used only if the cache has none.
fn find_folder(
    input: &ConfigInput<'_>,
    locked: &LockedPackage,
) -> Result<PackageFolder, PackageFault> {
    let read_settings = |files: &dyn ReadFs, folder: &Path| {
        let file = folder.join(PROJECT_FILE);
        files.read(&file, MAX_FILE_BYTES).ok()
    };
    let is_git = matches!(locked.source, PackageSource::Git { .. });
    let inside = match &locked.source {
        PackageSource::Path(folder) => folder.clone(),
        PackageSource::Git { .. } => format!("{VENDOR_FOLDER}/{}", locked.name),
    };
    let own = read_settings(input.files, &input.root.join(&inside));
    let is_locked = |bytes: &Vec<u8>| locked.files.get(PROJECT_FILE) == Some(&sha256_hex(bytes));
    let cached = || {
        let folder = folders::package_cache()?.join(&locked.tree);
        read_settings(&RealFs, &folder).map(|_| folder)
    };
    let place = if !is_git || own.as_ref().is_some_and(is_locked) {
        own.map(|_| PackagePlace::Project(inside))
    } else {
        let cached = cached().map(PackagePlace::Cache);
        cached.or_else(|| own.map(|_| PackagePlace::Project(inside)))
    };
    let place = place.ok_or_else(|| match &locked.source {
        PackageSource::Path(folder) => PackageFault::NoFolder(folder.clone()),
        PackageSource::Git { .. } => PackageFault::NotInstalled,
    })?;
    Ok(PackageFolder {
        prefix: format!("{}@{}", locked.name, locked.version),
        place,
        hashes: is_git.then(|| Arc::new(locked.files.clone())),
    })
}
