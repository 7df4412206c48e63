//! Tests of the private items of `src/cli/render/summary.rs`.

use super::{format_thousands, pluralize};

#[test]
fn numbers_read_well() {
    assert_eq!(
        (pluralize(1, "file"), pluralize(0, "file")),
        ("1 file".into(), "0 files".into())
    );
    assert_eq!(
        (
            format_thousands(999),
            format_thousands(1000),
            format_thousands(1_234_567)
        ),
        ("999".into(), "1,000".into(), "1,234,567".into())
    );
}
