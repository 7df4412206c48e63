//! Tests of what `src/lsp/pages.rs` keeps to itself.

use super::in_repository;

#[test]
fn a_page_in_the_repository_is_that_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("https://example.com/o/ctxc/blob/v{version}/docs/rules/");
    assert_eq!(in_repository("https://example.com/o/ctxc/"), Some(expected));
    assert_eq!(in_repository(""), None);
}
