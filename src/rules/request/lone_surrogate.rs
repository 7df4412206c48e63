//! CTX702: an unpaired surrogate, which JSON text cannot contain.

use super::prelude::*;
use std::sync::Arc;

/// Caused by cutting a text by UTF-16 units in the middle of an emoji.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        702,
        "lone-surrogate",
        "half of a character in a text",
        case!("lone-surrogate"),
    ),
    check: Check::Edge,
};

pub(super) fn report(path: &Arc<str>, text: &str) -> Option<Diagnostic> {
    let (start, half) = find_lone_surrogate(text.as_bytes())?;
    let message = format!(
        "found half of a character, `\\u{half:04x}`, which no text may hold; expected both halves or none"
    );
    let finding = Diagnostic::new(
        &RULE.meta,
        path,
        Span::from_offsets(start, start + 6),
        message,
    );
    Some(finding.help("cut texts by characters, not by UTF-16 units, or replace what cannot be encoded before sending"))
}

/// Returns the offset and value of the first escaped surrogate without its other half.
fn find_lone_surrogate(bytes: &[u8]) -> Option<(usize, u16)> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        match utf16_unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(utf16_unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(half @ 0xD800..=0xDFFF) => return Some((at, half)),
            _ => at += 2,
        }
    }
    None
}

/// Decodes a `\uXXXX` escape into its UTF-16 unit.
fn utf16_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
