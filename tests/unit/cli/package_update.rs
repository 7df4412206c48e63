//! The newest release among tags.

use super::*;

fn newest(current: Option<&str>, tags: &[&str]) -> Option<String> {
    let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
    newest_tag(current, tags.iter())
}

#[test]
fn the_newest_tag_is_of_the_same_major_version_and_prefix() {
    let tags = [
        "v1.2.0",
        "v1.10.0",
        "v1.9.0",
        "v2.0.0",
        "v1.11.0-rc.1",
        "x/v1.12.0",
        "1.13.0",
        "latest",
    ];
    assert_eq!(newest(Some("v1.2.0"), &tags).unwrap(), "v1.10.0");
    assert_eq!(newest(Some("v1.10.0"), &tags), None);
    assert_eq!(newest(Some("v1.11.0-beta"), &tags).unwrap(), "v1.11.0-rc.1");
    assert_eq!(newest(Some("x/v1.0.0"), &tags).unwrap(), "x/v1.12.0");
    assert_eq!(newest(Some("latest"), &tags), None);
    assert_eq!(
        newest(Some("v0.1.0"), &["v0.1.3", "v0.2.0"]).unwrap(),
        "v0.1.3"
    );
    assert_eq!(newest(None, &tags).unwrap(), "v2.0.0");
    assert_eq!(newest(None, &["v1.0.0-rc.1", "latest"]), None);
}
