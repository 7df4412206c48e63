//! Character references of HTML in a text, read as Python's `html.unescape` does. Linear: no name is longer than 33 characters.

use entities::{ENTITIES, Entity};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What the names of HTML stand for, each as it is written behind the `&`: with its `;`, and some without as well.
fn named() -> &'static BTreeMap<&'static str, &'static str> {
    static NAMED: OnceLock<BTreeMap<&'static str, &'static str>> = OnceLock::new();
    let of = |entity: &Entity| Some((entity.entity.strip_prefix('&')?, entity.characters));
    NAMED.get_or_init(|| ENTITIES.iter().filter_map(of).collect())
}

/// How many characters a name has at most, its `;` aside.
const LONGEST: usize = 32;

/// A text with what its references stand for.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    let Some(mut at) = text.find('&') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        out.push_str(text.get(done..at).unwrap_or(""));
        let rest = text.get(at + 1..).unwrap_or("");
        let read = if rest.starts_with('#') { number(rest, &mut out) } else { name(rest, &mut out) };
        if read == 0 {
            out.push('&');
        }
        done = at + 1 + read;
        let Some(next) = text.get(done..).and_then(|rest| rest.find('&')) else { break };
        at = done + next;
    }
    out.push_str(text.get(done..).unwrap_or(""));
    Cow::Owned(out)
}

/// The length of a numeric reference behind its `&`.
fn number(rest: &str, out: &mut String) -> usize {
    let (digits, radix) = match rest.strip_prefix("#x").or_else(|| rest.strip_prefix("#X")) {
        Some(digits) => (digits, 16),
        None => (rest.get(1..).unwrap_or(""), 10),
    };
    let length = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if length == 0 {
        return 0;
    }
    let value = digits.bytes().take(length).filter_map(|byte| char::from(byte).to_digit(radix));
    let value = value.fold(0_u32, |value, digit| value.saturating_mul(radix).saturating_add(digit));
    out.extend(numbered(value));
    let ends = digits.get(length..).is_some_and(|rest| rest.starts_with(';'));
    rest.len() - digits.len() + length + usize::from(ends)
}

/// What a number stands for: as in the encoding of Windows where a control character would be, and nothing where HTML has nothing.
fn numbered(value: u32) -> Option<char> {
    const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    match value {
        0 => Some('\u{fffd}'),
        0x80..=0x9f => WINDOWS.chars().nth(value as usize - 0x80),
        1..=8 | 0xb | 0xe..=0x1f | 0x7f | 0xfdd0..=0xfdef => None,
        value if value & 0xfffe == 0xfffe && value <= 0x0010_ffff => None,
        value => Some(char::from_u32(value).unwrap_or('\u{fffd}')),
    }
}

/// The length of a named reference behind its `&`; without a `;`, the longest name that holds so.
fn name(rest: &str, out: &mut String) -> usize {
    let is_out = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | ' ' | '<' | '&' | '#' | ';');
    let name = rest.split(is_out).next().unwrap_or("");
    let name = name.char_indices().nth(LONGEST).and_then(|(at, _)| name.get(..at)).unwrap_or(name);
    let whole = rest.get(..=name.len()).filter(|whole| whole.ends_with(';'));
    let shorter = (2..=name.len()).rev().filter_map(|end| name.get(..end));
    let found = whole.into_iter().chain(shorter).find_map(|name| Some((name, named().get(name)?)));
    let Some((name, stands_for)) = found else { return 0 };
    out.push_str(stands_for);
    name.len()
}
