//! Minimal version selection: of all requirements on a package, the highest. A pure function of what
//! the packages state, so its result depends neither on time nor on the order of requirements.

use crate::project::dependencies::{PackageSource, has_same_major, normalize_folder};
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

/// A requirement that was read.
struct Requirement {
    path: RequirementPath,
    read: Requirements,
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
    let mut found: BTreeMap<(String, PackageSource), Requirement> = BTreeMap::new();
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
        found.insert(
            key,
            Requirement {
                path,
                read: content,
            },
        );
    }
    let selected = select_highest(project, &found)?;
    require_same_majors(project, &found, &selected)?;
    Ok(selected)
}

/// Returns an error if a requirement of the project or of a selected package is met by another major
/// version only. A project that requires the selected version itself has decided for it.
fn require_same_majors<E: fmt::Display>(
    project: &BTreeMap<String, PackageSource>,
    found: &BTreeMap<(String, PackageSource), Requirement>,
    selected: &BTreeMap<String, SelectedPackage>,
) -> Result<(), ResolveFault<E>> {
    let find = |name: &String, source: &PackageSource| found.get(&(name.clone(), source.clone()));
    let start = RequirementPath(Vec::new());
    for (name, own) in selected {
        let is_met = |required: &&Requirement| has_same_major(&required.read.version, &own.version);
        let direct = project.get(name).map(|source| normalize_source("", source));
        let direct = direct.and_then(|source| find(name, &source));
        if direct.as_ref().is_some_and(is_met) {
            continue;
        }
        let others = selected.iter().filter_map(|(other, package)| {
            let user = find(other, &package.source)?;
            let required = find(name, user.read.dependencies.get(name)?)?;
            Some((&user.path, required))
        });
        let mut lower = direct
            .map(|required| (&start, required))
            .into_iter()
            .chain(others);
        let lower = lower.find(|(_, required)| !is_met(required));
        if let (Some((path, required)), Some(highest)) = (lower, find(name, &own.source)) {
            let mut first = path.clone();
            first.0.push(name.clone());
            return Err(ResolveFault::TwoMajors(Box::new(MajorConflict {
                name: name.clone(),
                first,
                first_version: required.read.version.clone(),
                second: highest.path.clone(),
                second_version: own.version.clone(),
            })));
        }
    }
    Ok(())
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

/// Selects the highest version of each package, without those that only lower versions require.
fn select_highest<E: fmt::Display>(
    project: &BTreeMap<String, PackageSource>,
    found: &BTreeMap<(String, PackageSource), Requirement>,
) -> Result<BTreeMap<String, SelectedPackage>, ResolveFault<E>> {
    let mut highest: BTreeMap<String, (SelectedPackage, RequirementPath)> = BTreeMap::new();
    for ((name, source), requirement) in found {
        let Requirements {
            version,
            dependencies,
        } = &requirement.read;
        let is_lower = |(own, _): &(SelectedPackage, _)| own.version > *version;
        if highest.get(name).is_some_and(is_lower) {
            continue;
        }
        let selected = SelectedPackage {
            version: version.clone(),
            source: source.clone(),
            dependencies: dependencies.keys().cloned().collect(),
        };
        highest.insert(name.clone(), (selected, requirement.path.clone()));
    }
    let mut used = BTreeSet::new();
    let mut open: Vec<&String> = project.keys().collect();
    while let Some(name) = open.pop() {
        if used.insert(name.clone()) {
            open.extend(
                highest
                    .get(name)
                    .into_iter()
                    .flat_map(|(own, _)| &own.dependencies),
            );
        }
    }
    highest.retain(|name, _| used.contains(name));
    // Packages whose requirements are all in order are taken away until none or only circles remain.
    let mut ordered = BTreeSet::new();
    loop {
        let ready = highest.iter().filter(|(name, (own, _))| {
            !ordered.contains(*name) && own.dependencies.iter().all(|name| ordered.contains(name))
        });
        let ready: Vec<String> = ready.map(|(name, _)| name.clone()).collect();
        if ready.is_empty() {
            break;
        }
        ordered.extend(ready);
    }
    let in_circle = highest.iter().find(|(name, _)| !ordered.contains(*name));
    if let Some((_, (_, path))) = in_circle {
        return Err(ResolveFault::Circle { path: path.clone() });
    }
    Ok(highest
        .into_iter()
        .map(|(name, (own, _))| (name, own))
        .collect())
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
