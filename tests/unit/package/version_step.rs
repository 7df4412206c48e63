//! Steps of versions.

use super::*;

#[test]
fn a_version_shows_the_change() {
    for (version, step, next) in [
        ("1.2.3", VersionStep::None, "1.2.3"),
        ("1.2.3", VersionStep::Patch, "1.2.4"),
        ("1.2.3", VersionStep::Minor, "1.3.0"),
        ("1.2.3", VersionStep::Major, "2.0.0"),
        ("0.2.3", VersionStep::Minor, "0.2.4"),
        ("0.2.3", VersionStep::Major, "0.3.0"),
        ("2.0.0-rc.1", VersionStep::Patch, "2.0.0"),
        ("2.0.0-rc.1", VersionStep::Major, "2.0.0"),
        ("1.1.0-rc.1", VersionStep::Minor, "1.1.0"),
        ("1.1.1-rc.1", VersionStep::Minor, "1.2.0"),
        ("1.1.0-rc.1", VersionStep::Major, "2.0.0"),
        ("0.3.0-rc.1", VersionStep::Major, "0.3.0"),
    ] {
        let version = Version::parse(version).unwrap();
        assert_eq!(step.next(&version).to_string(), next, "{version} {step}");
    }
}
