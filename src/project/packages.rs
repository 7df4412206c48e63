//! The names, the folder and the place of an installed package. Reads nothing.

use crate::base::contained_path::{normalize_path, slash_path};
use crate::base::package_name::split_reference;
use crate::template::keywords::Trust;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of a project's contracts: `contracts/ORG/NAME/` holds those with a package.
pub const CONTRACTS_FOLDER: &str = "contracts";

/// The names that the templates of a package define and use.
#[derive(Clone, Debug)]
pub struct PackageNames {
    /// The name of the package: `acme/rules`.
    pub package: String,
    /// The packages that it may refer to.
    pub dependencies: BTreeSet<String>,
    /// The trust in its texts.
    pub trust: Trust,
}

/// The folder of an installed package.
#[derive(Clone, Debug)]
pub struct PackageFolder {
    /// Its name in findings and in the registry: `acme/rules@1.2.0`.
    pub prefix: String,
    /// Its place.
    pub place: PackagePlace,
    /// The SHA-256 of each file by its path; `None` if edits count at once.
    pub hashes: Option<Arc<BTreeMap<String, String>>>,
}

/// The place of a package's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackagePlace {
    /// A folder relative to the project.
    Project(String),
    /// A folder of the user's cache.
    Cache(PathBuf),
}

impl PackageNames {
    /// Returns the name in the project of a definition of this package.
    pub fn own_name(&self, name: &str) -> String {
        format!("{}/{name}", self.package)
    }

    /// Returns the name in the project of a definition that this package refers to.
    pub fn full_name(&self, written: &str) -> String {
        match split_reference(written) {
            Some((package, _)) if self.dependencies.contains(package) => written.to_owned(),
            _ => self.own_name(written),
        }
    }
}

/// True if a place of a project is or contains files of contracts.
pub fn may_hold_contracts(place: &str) -> bool {
    let first = place.split('/').next().unwrap_or_default();
    ["", ".", CONTRACTS_FOLDER].contains(&first)
}

/// The package that a file of contracts is about, by its path in the project.
pub fn contract_package(path: &str) -> Option<&str> {
    let inside = path.strip_prefix(CONTRACTS_FOLDER)?.strip_prefix('/')?;
    split_reference(inside).map(|(package, _)| package)
}

impl PackageFolder {
    /// Returns its path on disk.
    pub fn path(&self, root: &Path) -> PathBuf {
        match &self.place {
            PackagePlace::Project(folder) => root.join(folder),
            PackagePlace::Cache(folder) => folder.clone(),
        }
    }

    /// Returns its path in the project if it lies there.
    pub fn folder_in_project(&self) -> Option<String> {
        match &self.place {
            PackagePlace::Project(folder) => {
                normalize_path(Path::new(folder)).map(|folder| slash_path(&folder))
            }
            PackagePlace::Cache(_) => None,
        }
    }

    /// Returns the path within the folder of a file, by its name in findings.
    pub fn path_inside(&self, path: &Path) -> Option<String> {
        path.strip_prefix(&self.prefix).ok().map(slash_path)
    }
}
