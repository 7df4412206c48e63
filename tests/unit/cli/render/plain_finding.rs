//! Tests of the private items of `src/cli/render/plain_finding.rs`.

use super::RepositoryBase;
use pretty_assertions::assert_eq;

#[test]
fn paths_start_at_the_top_of_the_repository() {
    let base = RepositoryBase::from("team a/agents/");
    assert_eq!(
        base.repository_path("templates/a.xml"),
        "team a/agents/templates/a.xml"
    );
    assert_eq!(
        base.repository_path("../shared/a.xml"),
        "team a/shared/a.xml"
    );
    assert_eq!(
        (
            base.repository_path("-"),
            base.repository_path("../../../x")
        ),
        ("-".into(), "../../../x".into())
    );
    assert_eq!(RepositoryBase::default().repository_path("a.xml"), "a.xml");
}

#[test]
fn uris_keep_nothing_that_a_uri_must_not_hold() {
    assert_eq!(
        RepositoryBase::from("a b/").repository_uri("ä:#?%[1]😀.xml"),
        "a%20b/%C3%A4%3A%23%3F%25%5B1%5D%F0%9F%98%80.xml"
    );
    assert_eq!(
        RepositoryBase::default().repository_uri("/x y"),
        "file:///x%20y"
    );
}
