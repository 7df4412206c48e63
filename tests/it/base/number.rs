//! Numbers that JSON can say and a program cannot hold, and sizes.

use ctxc::internals::base::number::{beyond, size};

#[test]
fn whole_numbers_beyond_64_bits_are_found_outside_of_texts() {
    for exact in ["18446744073709551615", "-9223372036854775808", "1e300", "123456789012345678901.5", "007", "-", ""] {
        assert_eq!(beyond(exact), None, "{exact}");
    }
    assert_eq!(beyond("[1, -9223372036854775809]"), Some("-9223372036854775809"));
    let quoted = r#"{"12345678901234567890123": "a \" 98765432109876543210 \\", "n": 18446744073709551616}"#;
    assert_eq!(beyond(quoted), Some("18446744073709551616"));
}

#[test]
fn sizes_have_the_largest_unit_that_says_all() {
    assert_eq!((size(10 << 20), size(1500), size(2048)), ("10 MiB".into(), "1500 bytes".into(), "2 KiB".into()));
}
