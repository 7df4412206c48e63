//! Tests of what `src/cli/render/summary.rs` keeps to itself.

use super::{plural, thousands};

#[test]
fn numbers_read_well() {
    assert_eq!(
        (plural(1, "file"), plural(0, "file")),
        ("1 file".into(), "0 files".into())
    );
    assert_eq!(
        (thousands(999), thousands(1000), thousands(1_234_567)),
        ("999".into(), "1,000".into(), "1,234,567".into())
    );
}
