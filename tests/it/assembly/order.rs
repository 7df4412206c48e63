//! What hosts compare and keep has the order of its author, whether or not the host asks `serde_json` for that: the package
//! `tests/hosts/ordered` does, and compares with the file that is written here.

use crate::support::fresh::assert_fresh;

#[path = "../../hosts/ordered/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
mod ordered;

#[test]
fn a_sample_of_everything_that_json_reaches_is_fresh() {
    assert_fresh("tests/hosts/ordered/expected.txt", &ordered::sample());
}
