//! Numbers that JSON can express and a program cannot hold, and sizes.

use ctxc::internals::base::number::{find_out_of_range, format_size, format_usd};

#[test]
fn whole_numbers_beyond_64_bits_are_found_outside_of_texts() {
    for exact in [
        "18446744073709551615",
        "-9223372036854775808",
        "1e300",
        "123456789012345678901.5",
        "007",
        "-",
        "",
    ] {
        assert_eq!(find_out_of_range(exact), None, "{exact}");
    }
    assert_eq!(
        find_out_of_range("[1, -9223372036854775809]"),
        Some("-9223372036854775809")
    );
    let quoted =
        r#"{"12345678901234567890123": "a \" 98765432109876543210 \\", "n": 18446744073709551616}"#;
    assert_eq!(find_out_of_range(quoted), Some("18446744073709551616"));
}

#[test]
fn sizes_have_the_largest_exact_unit() {
    assert_eq!(
        (format_size(10 << 20), format_size(1500), format_size(2048)),
        ("10 MiB".into(), "1500 bytes".into(), "2 KiB".into())
    );
}

#[test]
fn no_price_but_nothing_reads_as_nothing() {
    let all = [
        (0.0, "0"),
        (1e-9, "0.000000001"),
        (0.000_04, "0.00004"),
        (0.000_41, "0.00041"),
        (0.006, "0.006"),
        (0.0523, "0.0523"),
    ];
    for (price, expected) in all.into_iter().chain([
        (0.1, "0.1"),
        (0.126, "0.13"),
        (12.0, "12"),
        (1234.5, "1234.5"),
    ]) {
        assert_eq!(format_usd(price), expected);
    }
}
