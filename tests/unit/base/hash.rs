//! Tests of the private items of `src/base/hash.rs`.

use super::{BUFFER_BYTES, Hash, Hasher};

#[test]
fn gathering_changes_no_hash() {
    let sizes = [
        0,
        1,
        7,
        BUFFER_BYTES - 9,
        BUFFER_BYTES - 8,
        BUFFER_BYTES - 1,
        BUFFER_BYTES,
        BUFFER_BYTES + 1,
        3 * BUFFER_BYTES,
        5,
    ];
    let mut hasher = Hasher::new();
    let mut all = Vec::new();
    for (number, size) in sizes.into_iter().enumerate() {
        let field = vec![number as u8; size];
        hasher.add_field(&field);
        all.extend_from_slice(&(size as u64).to_le_bytes());
        all.extend_from_slice(&field);
        assert_eq!(hasher.finish(), Hash::digest(&all), "{size}");
    }
}
