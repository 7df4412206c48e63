//! Tests of the private items of `src/cli/revision/git.rs`.

use super::revision_fault;

#[test]
fn what_could_be_an_option_is_no_revision() {
    for hostile in ["", "--output=x", "-", "a\nb", "a\0b", &"a".repeat(5000)] {
        assert!(revision_fault(hostile).is_some(), "{hostile:?}");
    }
    for fine in ["main", "HEAD~2", "v1.0^{}", "a;b", "$(x)", "@{u}", "größe"] {
        assert!(revision_fault(fine).is_none(), "{fine:?}");
    }
}
