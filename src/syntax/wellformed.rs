//! The characters, names and references that XML 1.0 (fifth edition) and Namespaces 1.0 allow.
//!
//! Pure functions on bytes and characters; no state, no positions in a document.

/// Bits of [`byte_class`].
pub(super) mod class {
    pub(in crate::syntax) const SPACE: u8 = 1;
    pub(in crate::syntax) const NAME_START: u8 = 2;
    /// Continues a name; so does the colon, which needs a further check.
    pub(in crate::syntax) const PLAIN: u8 = 4;
    /// Ends the fast path through an attribute value.
    pub(in crate::syntax) const VALUE_STOP: u8 = 8;
}

const BYTE_CLASSES: [u8; 256] = build_classes();

#[allow(
    clippy::indexing_slicing,
    reason = "computed at compile time, where an index out of bounds does not build"
)]
const fn build_classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        table[at] = match byte {
            b' ' => class::SPACE,
            b'\t' | b'\n' | b'\r' => class::SPACE | class::VALUE_STOP,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => class::NAME_START | class::PLAIN,
            b':' => class::NAME_START,
            b'0'..=b'9' | b'-' | b'.' => class::PLAIN,
            b'"' | b'\'' | b'<' | b'&' => class::VALUE_STOP,
            _ => 0,
        };
        at += 1;
    }
    table
}

/// The classes of a byte; 0 for the bytes of characters beyond ASCII.
#[inline]
pub(super) fn byte_class(byte: u8) -> u8 {
    BYTE_CLASSES.get(byte as usize).copied().unwrap_or(0)
}

/// White space of XML.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    byte_class(byte) & class::SPACE != 0
}

/// `Char` of XML 1.0.
pub(super) const fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

/// `NameStartChar` of XML 1.0, fifth edition.
pub(super) const fn is_name_start(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'A'..='Z' | '_' | ':'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// `NameChar` of XML 1.0, fifth edition.
pub(super) const fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '0'..='9' | '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Returns true if a name with a colon is a `QName`: one colon, with a name without colons on both
/// sides.
pub(super) fn is_qname(name: &str) -> bool {
    let Some((prefix, local)) = name.split_once(':') else {
        return true;
    };
    !prefix.is_empty() && !local.contains(':') && local.chars().next().is_some_and(is_name_start)
}

/// Returns true for a name that XML allows and that has no colon.
pub fn is_ncname(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char) && !name.contains(':')
}

/// The result of one pass over all bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteSurvey {
    /// Contains a control character that XML does not allow.
    pub(super) control: bool,
    /// Contains a carriage return.
    pub(super) carriage: bool,
    /// Contains a character beyond ASCII.
    pub(super) wide: bool,
}

/// Reads every byte once; compiles to vector instructions.
pub(super) fn survey_bytes(bytes: &[u8]) -> ByteSurvey {
    let mut control = 0_u8;
    let mut carriage = 0_u8;
    let mut all = 0_u8;
    for &byte in bytes {
        let allowed = u8::from(byte == b'\t') | u8::from(byte == b'\n') | u8::from(byte == b'\r');
        control |= u8::from(byte < b' ') & (allowed ^ 1);
        carriage |= u8::from(byte == b'\r');
        all |= byte;
    }
    ByteSurvey {
        control: control != 0,
        carriage: carriage != 0,
        wide: all >= 0x80,
    }
}

/// The character of one of the five entities of XML.
pub(super) const fn entity_char(name: &[u8]) -> Option<char> {
    match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"apos" => Some('\''),
        b"quot" => Some('"'),
        _ => None,
    }
}

/// The character of a reference, from the text between `&#` and `;`. `None` if XML does not allow
/// it.
pub(super) fn char_reference(body: &[u8]) -> Option<char> {
    let (digits, radix) = match body {
        [b'x', hex @ ..] => (hex, 16),
        decimal => (decimal, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut code: u32 = 0;
    for &digit in digits {
        code = code
            .saturating_mul(radix)
            .saturating_add((digit as char).to_digit(radix)?);
    }
    char::from_u32(code).filter(|&c| is_char(c))
}

/// Returns true if one name is the other with a typing error: their common beginning and end make
/// up two thirds of the longer one. Linear, so that a file full of wrong tags costs no more than a
/// correct one.
pub(super) fn is_near(a: &[u8], b: &[u8]) -> bool {
    let longest = a.len().max(b.len());
    let shortest = a.len().min(b.len());
    let before = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let after = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count()
        .min(shortest - before);
    let shared = before + after;
    // `inptu` for `input`: two letters are swapped.
    if a.len() == b.len()
        && let (Some([one, two, ..]), Some([three, four, ..])) = (a.get(before..), b.get(before..))
        && (one, two) == (four, three)
    {
        return shared + 2 == longest;
    }
    // One error in a short name leaves few common letters: `tak` for `task`, `i` for `id`.
    shared > 0 && (shared * 3 >= longest * 2 || longest - shared == 1)
}
