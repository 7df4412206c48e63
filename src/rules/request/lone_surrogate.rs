//! CTX702: half of a character, which JSON cannot carry.

use super::prelude::*;
use std::sync::Arc;

/// Half an emoji is left where a text was cut by UTF-16 units.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(702, "lone-surrogate", "half of a character in a text", case!("lone-surrogate")),
    check: Check::Edge,
};

pub(super) fn word(path: &Arc<str>, text: &str, offset: usize) -> Option<Diagnostic> {
    let (start, half) = lone(text.as_bytes(), offset)?;
    let message = format!("found half of a character, `\\u{half:04x}`, which no text may hold; expected both halves or none");
    let finding = Diagnostic::new(&RULE.meta, path, Span::of(start, start + 6), message);
    Some(finding.help("cut texts by characters, not by UTF-16 units, or replace what cannot be encoded before sending"))
}

/// The first escape of a surrogate without its other half.
fn lone(bytes: &[u8], offset: usize) -> Option<(usize, u16)> {
    let mut at = offset;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(half @ 0xD800..=0xDFFF) => return Some((at, half)),
            _ => at += 2,
        }
    }
    None
}

/// The UTF-16 unit that an escape stands for.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
