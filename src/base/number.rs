//! Numbers as people read them.

/// `12,345`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `10 MiB`, or the bytes where they are no round number of a unit.
pub fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_the_largest_unit_that_says_all() {
        assert_eq!((size(10 << 20), size(1500), size(2048)), ("10 MiB".into(), "1500 bytes".into(), "2 KiB".into()));
    }
}
