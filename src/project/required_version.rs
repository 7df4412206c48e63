//! The versions of the program that `required-version` permits.

use semver::{Comparator, Version, VersionReq};

/// Returns true if every version that `new` permits is also permitted by `old`. Pre-releases are
/// left out.
pub fn permits_no_more(new: &str, old: &str) -> bool {
    let (Ok(new), Ok(old)) = (VersionReq::parse(new), VersionReq::parse(old)) else {
        return false;
    };
    // Between two of these versions, the answer of each comparator is the same.
    let edges = new.comparators.iter().chain(&old.comparators);
    edges
        .flat_map(comparator_edges)
        .chain([Version::new(0, 0, 0)])
        .all(|version| !new.matches(&version) || old.matches(&version))
}

/// Returns the versions at which the answer of a comparator can change.
fn comparator_edges(comparator: &Comparator) -> [Version; 4] {
    let major = comparator.major;
    let minor = comparator.minor.unwrap_or(0);
    let patch = comparator.patch.unwrap_or(0);
    [
        Version::new(major, minor, patch),
        Version::new(major, minor, patch.saturating_add(1)),
        Version::new(major, minor.saturating_add(1), 0),
        Version::new(major.saturating_add(1), 0, 0),
    ]
}

#[cfg(test)]
#[path = "../../tests/unit/project/required_version.rs"]
mod tests;
