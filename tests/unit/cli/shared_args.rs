//! Tests of the private items of `src/cli/shared_args.rs`.

use crate::cli::shared_args::parse_size;

#[test]
fn sizes_take_units() {
    assert_eq!(parse_size("4096"), Ok(4096));
    assert_eq!(parse_size("10M"), Ok(10 << 20));
    assert_eq!(parse_size("2 GiB"), Ok(2 << 30));
    assert!(parse_size("ten").is_err());
    assert!(parse_size("99999999999G").is_err());
}
