//! What hosts compare and keep does not depend on the order in which `serde_json` keeps members: the package `tests/hosts/ordered`
//! has it keep the author's and compares with the file that is written here.

use crate::support::fresh::assert_fresh;

#[path = "../../hosts/ordered/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
mod ordered;

#[test]
fn a_sample_of_everything_that_json_reaches_is_fresh() {
    assert_fresh("tests/hosts/ordered/expected.txt", &ordered::sample());
}
