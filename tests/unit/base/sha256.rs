//! SHA-256 of bytes and of trees.

use super::*;

#[test]
fn digests_are_those_of_the_standard() {
    assert_eq!(
        sha256_hex(b"abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn the_digest_of_a_tree_does_not_depend_on_the_order() {
    let (a, b) = (sha256_hex(b"a"), sha256_hex(b"b"));
    let tree = tree_digest([("x/b", &*b), ("a", &*a)]);
    assert_eq!(tree, tree_digest([("a", &*a), ("x/b", &*b)]));
    assert_eq!(tree, sha256_hex(format!("{a}  a\n{b}  x/b\n").as_bytes()));
    assert_ne!(tree, tree_digest([("a", &*b), ("x/b", &*a)]));
}
