//! Numbers formatted for people.

/// `12,345`.
pub fn format_thousands(number: usize) -> String {
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

/// US$ with as many decimal places as a small amount needs to differ from zero: `0.25`, `0.0123`,
/// `0.00004`.
pub fn format_usd(usd: f64) -> String {
    let mut places = if usd >= 0.1 {
        2
    } else if usd >= 0.001 {
        4
    } else {
        6
    };
    let mut written = format!("{usd:.places$}");
    while usd > 0.0 && places < MAX_PLACES && !written.contains(|digit| matches!(digit, '1'..='9'))
    {
        places += 1;
        written = format!("{usd:.places$}");
    }
    let short = if written.contains('.') {
        written.trim_end_matches('0').trim_end_matches('.')
    } else {
        &written
    };
    short.to_owned()
}

/// Decimal places after which a smaller amount is printed as zero.
const MAX_PLACES: usize = 18;

/// `10 MiB`, or the number of bytes if it is not a whole multiple of a unit.
pub fn format_size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

/// The range of whole numbers that can be represented exactly.
pub const WHOLE_NUMBER_RANGE: &str =
    "a whole number is from -9223372036854775808 to 18446744073709551615";

/// The message for a whole number beyond 64 bits.
pub fn out_of_range_message(number: &str) -> String {
    format!("the number {number} is beyond 64 bits: {WHOLE_NUMBER_RANGE}")
}

/// Returns true if a text is a whole number beyond 64 bits. A parser would round it to the nearest
/// float and print it as `1e29`.
pub fn is_out_of_range(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_whole && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

/// Returns the first whole number beyond 64 bits in a JSON text.
pub fn find_out_of_range(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let from = rest.get(at..).unwrap_or("");
        let is_text = from.starts_with('"');
        let end = if is_text {
            string_end(from)
        } else {
            from.find(|c| !is_number_char(c)).unwrap_or(from.len())
        };
        let (token, after) = from.split_at(end);
        if !is_text && is_out_of_range(token) {
            return Some(token);
        }
        rest = after;
    }
    None
}

fn is_number_char(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

/// The end of the JSON string literal that a text begins with, quotes included.
fn string_end(json: &str) -> usize {
    let mut escaped = false;
    let closes = |byte: u8| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    };
    json.bytes()
        .skip(1)
        .position(closes)
        .map_or(json.len(), |at| at + 2)
}
