//! Minimal version selection: of all requirements on a package, the highest. A pure function of what
//! the packages state, so its result depends neither on time nor on the order of requirements.

use crate::project::dependencies::{PackageSource, major_of, normalize_folder};
use semver::Version;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::path::Path;

/// The maximum number of requirements that are looked at.
const MAX_REQUIREMENTS: usize = 2_000;

/// The content of a package that resolution depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Its version.
    pub version: Version,
    /// The sources of the packages that it requires, by name.
    pub dependencies: BTreeMap<String, PackageSource>,
}

/// A package that was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedPackage {
    /// Its version.
    pub version: Version,
    /// Its source; a folder is relative to the project.
    pub source: PackageSource,
    /// The names of the packages that it requires, sorted.
    pub dependencies: Vec<String>,
}

/// The names of packages from the project to a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementPath(pub Vec<String>);

impl fmt::Display for RequirementPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ctxc.toml")?;
        self.0.iter().try_for_each(|name| write!(f, " → {name}"))
    }
}

/// Requirements on two major versions of one package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is required in two major versions: {first} requires {first_version}, {second} requires {second_version}"
)]
pub struct MajorConflict {
    /// The name.
    pub name: String,
    /// The way to the lower requirement.
    pub first: RequirementPath,
    /// Its version.
    pub first_version: Version,
    /// The way to the highest requirement.
    pub second: RequirementPath,
    /// Its version.
    pub second_version: Version,
}

/// The reason why packages cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveFault<E: fmt::Display> {
    /// A package cannot be read.
    #[error("{fault} (required by {path})")]
    Unreadable {
        /// The way to it.
        path: RequirementPath,
        /// The reason.
        fault: E,
    },
    /// One name for packages of two repositories.
    #[error(
        "`{name}` has two sources: {first} requires {first_source}, {second} requires {second_source}"
    )]
    TwoSources {
        /// The name.
        name: String,
        /// The way to the first requirement.
        first: RequirementPath,
        /// Its repository or folder.
        first_source: String,
        /// The way to the second requirement.
        second: RequirementPath,
        /// Its repository or folder.
        second_source: String,
    },
    /// A package from git that requires a folder.
    #[error(
        "{path} requires a folder, `{source_text}`, which exists only on the machine of its author"
    )]
    FolderInGit {
        /// The way to it.
        path: RequirementPath,
        /// The requirement.
        source_text: String,
    },
    /// Requirements on two major versions of one package.
    #[error(transparent)]
    TwoMajors(Box<MajorConflict>),
    /// Packages that require each other.
    #[error("{path} requires itself")]
    Circle {
        /// The way to it.
        path: RequirementPath,
    },
    /// More requirements than any project has.
    #[error("the packages have more than {MAX_REQUIREMENTS} requirements")]
    TooMany,
}

/// Selects the packages that a project with these dependencies uses. `read` returns the content of a
/// package at a source.
///
/// # Errors
/// A package cannot be read, or the requirements contradict each other.
pub fn resolve<E: fmt::Display>(
    project: &BTreeMap<String, PackageSource>,
    mut read: impl FnMut(&str, &PackageSource) -> Result<Requirements, E>,
) -> Result<BTreeMap<String, SelectedPackage>, ResolveFault<E>> {
    let mut found: BTreeMap<(String, PackageSource), Requirements> = BTreeMap::new();
    let mut places: BTreeMap<String, (String, RequirementPath)> = BTreeMap::new();
    let mut open: VecDeque<(RequirementPath, PackageSource)> = project
        .iter()
        .map(|(name, source)| {
            (
                RequirementPath(vec![name.clone()]),
                normalize_source("", source),
            )
        })
        .collect();
    while let Some((path, source)) = open.pop_front() {
        let name = path.0.last().cloned().unwrap_or_default();
        let place = source.place().to_owned();
        let (first_source, first) = places
            .entry(name.clone())
            .or_insert_with(|| (place.clone(), path.clone()));
        if *first_source != place {
            return Err(ResolveFault::TwoSources {
                name,
                first: first.clone(),
                first_source: first_source.clone(),
                second: path,
                second_source: place,
            });
        }
        let key = (name, source);
        if found.contains_key(&key) {
            continue;
        }
        let mut content = read(&key.0, &key.1).map_err(|fault| ResolveFault::Unreadable {
            path: path.clone(),
            fault,
        })?;
        for (name, required) in &mut content.dependencies {
            let mut names = path.0.clone();
            names.push(name.clone());
            let path = RequirementPath(names);
            if is_elsewhere(&key.1, required) {
                let source_text = required.to_string();
                return Err(ResolveFault::FolderInGit { path, source_text });
            }
            if let PackageSource::Path(folder) = &key.1 {
                *required = normalize_source(folder, required);
            }
            open.push_back((path, required.clone()));
        }
        if found.len() + open.len() > MAX_REQUIREMENTS {
            return Err(ResolveFault::TooMany);
        }
        found.insert(key, content);
    }
    let selected = select_highest(project, &found)?;
    require_order(&selected)?;
    Ok(selected
        .into_iter()
        .map(|(name, own)| (name, own.package))
        .collect())
}

/// Returns true if a package requires a source that exists on the machine of its author only: a
/// folder, or a repository in a folder unless its own is one, too.
fn is_elsewhere(own: &PackageSource, required: &PackageSource) -> bool {
    let is_local = |url: &str| url.starts_with("file://");
    match (own, required) {
        (PackageSource::Path(_), _) => false,
        (PackageSource::Git { .. }, PackageSource::Path(_)) => true,
        (PackageSource::Git { url: own, .. }, PackageSource::Git { url, .. }) => {
            is_local(url) && !is_local(own)
        }
    }
}

/// A package that is selected for a requirement.
struct SelectedRequirement {
    package: SelectedPackage,
    /// The first way to it.
    path: RequirementPath,
    /// The version that is required there.
    required: Version,
}

/// Selects the packages that the project needs: of the major version that is required, the highest
/// that any requirement names. A project that requires a higher major version has decided for it.
fn select_highest<E: fmt::Display>(
    project: &BTreeMap<String, PackageSource>,
    found: &BTreeMap<(String, PackageSource), Requirements>,
) -> Result<BTreeMap<String, SelectedRequirement>, ResolveFault<E>> {
    let mut highest: BTreeMap<_, (&PackageSource, &Requirements)> = BTreeMap::new();
    for ((name, source), read) in found {
        let own = highest
            .entry((name, major_of(&read.version)))
            .or_insert((source, read));
        if own.1.version <= read.version {
            *own = (source, read);
        }
    }
    let version_at = |name: &String, source: &PackageSource| {
        let found = found.get(&(name.clone(), source.clone()))?;
        Some(found.version.clone())
    };
    let direct = project.iter().filter_map(|(name, source)| {
        let version = version_at(name, &normalize_source("", source))?;
        Some((name, version))
    });
    let direct: BTreeMap<&String, Version> = direct.collect();
    let mut selected: BTreeMap<String, SelectedRequirement> = BTreeMap::new();
    let start = |(name, version): (&&String, &Version)| {
        (RequirementPath(vec![(*name).clone()]), version.clone())
    };
    let mut open: VecDeque<(RequirementPath, Version)> = direct.iter().map(start).collect();
    while let Some((path, required)) = open.pop_front() {
        let Some(name) = path.0.last() else { continue };
        let decided = direct.get(name).map(major_of);
        let major = decided.max(Some(major_of(&required))).unwrap_or_default();
        if let Some(known) = selected.get(name) {
            if major_of(&known.package.version) == major {
                continue;
            }
            let (first, second) = ((&known.path, &known.required), (&path, &required));
            let (first, second) = if first.1 < second.1 {
                (first, second)
            } else {
                (second, first)
            };
            return Err(ResolveFault::TwoMajors(Box::new(MajorConflict {
                name: name.clone(),
                first: first.0.clone(),
                first_version: first.1.clone(),
                second: second.0.clone(),
                second_version: second.1.clone(),
            })));
        }
        let Some((source, read)) = highest.get(&(name, major)) else {
            continue;
        };
        for (other, source) in &read.dependencies {
            let names = path.0.iter().chain([other]).cloned().collect();
            let required = version_at(other, source);
            open.extend(required.map(|required| (RequirementPath(names), required)));
        }
        let package = SelectedPackage {
            version: read.version.clone(),
            source: (*source).clone(),
            dependencies: read.dependencies.keys().cloned().collect(),
        };
        let own = SelectedRequirement {
            package,
            path: path.clone(),
            required,
        };
        selected.insert(name.clone(), own);
    }
    Ok(selected)
}

/// Returns an error if packages require each other in a circle.
fn require_order<E: fmt::Display>(
    selected: &BTreeMap<String, SelectedRequirement>,
) -> Result<(), ResolveFault<E>> {
    // Packages whose requirements are all in order are taken away until none or only circles remain.
    let mut ordered = BTreeSet::new();
    loop {
        let is_ready = |own: &SelectedPackage| {
            let mut required = own.dependencies.iter();
            required.all(|name| ordered.contains(name))
        };
        let ready = selected
            .iter()
            .filter(|(name, own)| !ordered.contains(*name) && is_ready(&own.package));
        let ready: Vec<&String> = ready.map(|(name, _)| name).collect();
        if ready.is_empty() {
            break;
        }
        ordered.extend(ready);
    }
    let in_circle = selected.iter().find(|(name, _)| !ordered.contains(*name));
    in_circle.map_or(Ok(()), |(_, own)| {
        let path = own.path.clone();
        Err(ResolveFault::Circle { path })
    })
}

/// A source with its folder relative to the project instead of the package that requires it.
fn normalize_source(folder: &str, source: &PackageSource) -> PackageSource {
    let PackageSource::Path(path) = source else {
        return source.clone();
    };
    PackageSource::Path(normalize_folder(&Path::new(folder).join(path)))
}

#[cfg(test)]
#[path = "../../tests/unit/package/resolve.rs"]
mod tests;
