//! The next version of a package after a change, by Semantic Versioning.

use semver::Version;
use std::fmt;

/// The part of a version that a change raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionStep {
    /// Nothing changed.
    None,
    /// Texts only.
    Patch,
    /// Users of the package notice it, and nothing of theirs breaks.
    Minor,
    /// Something of a user may break.
    Major,
}

impl VersionStep {
    /// Returns the first version that shows the change. Below 1.0.0, the second number stands for
    /// the first.
    pub fn next(self, version: &Version) -> Version {
        let Version {
            major,
            minor,
            patch,
            ..
        } = *version;
        let is_first = major == 0;
        let is_own_step = match self {
            Self::None | Self::Patch => true,
            Self::Minor => is_first || patch == 0,
            Self::Major => patch == 0 && (is_first || minor == 0),
        };
        match self {
            Self::None => version.clone(),
            // A release follows its own candidates without a further step.
            _ if is_own_step && !version.pre.is_empty() => Version::new(major, minor, patch),
            Self::Major if !is_first => Version::new(major.saturating_add(1), 0, 0),
            Self::Major => Version::new(0, minor.saturating_add(1), 0),
            Self::Minor if !is_first => Version::new(major, minor.saturating_add(1), 0),
            Self::Patch | Self::Minor => Version::new(major, minor, patch.saturating_add(1)),
        }
    }
}

impl fmt::Display for VersionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no change",
            Self::Patch => "texts changed",
            Self::Minor => "users notice a change, and nothing breaks",
            Self::Major => "a change may break users of an export",
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/package/version_step.rs"]
mod tests;
