//! A package that a project uses, compiled by itself: with the packages that it requires as the
//! project has them, of the versions in the project's lock.

use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::project::config::{Config, InstalledPackage, Packages};
use crate::project::dependencies::PackageTrust;
use crate::project::packages::{PackageFolder, PackageNames, PackagePlace};
use crate::rules::check::config_findings;
use crate::template::keywords::Trust;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles a package of the project in a folder, which has these packages.
pub(in crate::cli) fn compile_package(
    package: &InstalledPackage,
    user: &Path,
    packages: &Packages,
) -> Result<CompiledProject> {
    let config = Config {
        packages: required_packages(package, user, packages),
        ..(*package.config).clone()
    };
    let project = Project {
        root: package.folder.path(user),
        findings: config_findings(&config),
        config,
    };
    CompiledProject::compile(project.require_no_errors()?, &package.folder.prefix)
}

/// Returns the packages that a package requires, itself or through others, with the trust that it
/// states.
fn required_packages(package: &InstalledPackage, user: &Path, packages: &Packages) -> Packages {
    let mut open: Vec<&String> = package.names.dependencies.iter().collect();
    let mut required = BTreeMap::new();
    while let Some(name) = open.pop() {
        let found = packages.get(name);
        let Some(found) = found.filter(|_| !required.contains_key(name)) else {
            continue;
        };
        open.extend(&found.names.dependencies);
        let stated = package.config.dependencies.get(name).map(|own| own.trust);
        let trust = match stated {
            Some(PackageTrust::Outside) => Trust::Untrusted,
            Some(PackageTrust::Author) | None => Trust::Trusted,
        };
        let names = PackageNames {
            trust,
            ..(*found.names).clone()
        };
        // Its folder is relative to the user's project.
        let folder = PackageFolder {
            place: PackagePlace::Cache(found.folder.path(user)),
            ..found.folder.clone()
        };
        let found = InstalledPackage {
            names: Arc::new(names),
            folder,
            ..found.clone()
        };
        required.insert(name, found);
    }
    Packages::new(required.into_values().collect())
}
