//! Tests of what `src/base/hash.rs` keeps to itself.

use super::{GATHERED, Hash, Hasher};

#[test]
fn gathering_changes_no_hash() {
    let sizes = [
        0,
        1,
        7,
        GATHERED - 9,
        GATHERED - 8,
        GATHERED - 1,
        GATHERED,
        GATHERED + 1,
        3 * GATHERED,
        5,
    ];
    let mut hasher = Hasher::new();
    let mut all = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        let field = vec![number as u8; size];
        hasher.field(&field);
        all.extend_from_slice(&(size as u64).to_le_bytes());
        all.extend_from_slice(&field);
        assert_eq!(hasher.finish(), Hash::of(&all), "{size}");
    }
}
