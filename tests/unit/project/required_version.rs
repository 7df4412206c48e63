//! Ranges of versions of this program.

use super::*;

#[test]
fn a_requirement_permits_no_more_exactly_if_no_version_is_new() {
    let requirements = [
        "*",
        "0",
        "1",
        "=1",
        "=1.2",
        "=1.2.3",
        ">1",
        ">1.2",
        ">1.2.3",
        ">=1.2",
        "<1",
        "<1.2.3",
        "<=1",
        "<=1.2",
        "<=1.2.3",
        "~1",
        "~1.2",
        "^0.0.3",
        "^0.2.3",
        "^1.2",
        "1.*",
        ">=0.2, <0.4",
        ">=0.3, <0.4",
        ">=2, <1",
    ];
    let numbers = || 0..5;
    let versions: Vec<Version> = numbers()
        .flat_map(|major| numbers().map(move |minor| (major, minor)))
        .flat_map(|(major, minor)| numbers().map(move |patch| Version::new(major, minor, patch)))
        .collect();
    for new in requirements {
        for old in requirements {
            let permitted = |required: &str| {
                let required = VersionReq::parse(required).expect("a requirement");
                let all = versions.iter().filter(|version| required.matches(version));
                all.cloned().collect::<std::collections::BTreeSet<_>>()
            };
            let expected = permitted(new).is_subset(&permitted(old));
            assert_eq!(permits_no_more(new, old), expected, "{new} after {old}");
        }
    }
    assert!(!permits_no_more("not a version", "*"));
}
