//! Tests of the private items of `src/lsp/client.rs`.

use crate::lsp::client::repository_pages;

#[test]
fn a_page_in_the_repository_is_that_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("https://example.com/o/ctxc/blob/v{version}/docs/rules/");
    assert_eq!(
        repository_pages("https://example.com/o/ctxc/"),
        Some(expected)
    );
    assert_eq!(repository_pages(""), None);
}
