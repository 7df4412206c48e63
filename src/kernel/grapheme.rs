//! Finds a place to cut a text that splits no grapheme: no combining mark, no emoji, no CR LF.
//!
//! Looks back a few characters only: a text of nothing but marks is cut within a grapheme.

/// Characters that one may be put together of; what is longer is no word of any language.
const LONGEST: usize = 32;

/// The last place before the end of `text` and not behind `end`, at which what is seen as one character is not cut.
pub(super) fn before(text: &str, end: usize) -> usize {
    let end = text.floor_char_boundary(end.min(text.len()));
    let end = if end == text.len() { start_of_last(text) } else { end };
    let mut at = end;
    for _ in 0..LONGEST {
        if !is_inside(text, at) {
            return at;
        }
        at = start_of_last(text.get(..at).unwrap_or(""));
    }
    end
}

fn start_of_last(text: &str) -> usize {
    text.char_indices().next_back().map_or(0, |(at, _)| at)
}

/// Whether the characters on both sides of a place belong together.
fn is_inside(text: &str, at: usize) -> bool {
    let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
    let (Some(left), Some(right)) = (head.chars().next_back(), tail.chars().next()) else { return false };
    (left == '\r' && right == '\n')
        || left == JOINER
        || right == JOINER
        || is_mark(right)
        || (is_flag(left) && is_flag(right) && head.chars().rev().take(LONGEST).take_while(|c| is_flag(*c)).count() % 2 == 1)
}

/// Makes one picture of two.
const JOINER: char = '\u{200d}';

/// Whether a character is seen on the one before it. What extends a character is what the standard library writes
/// as an escape, of all that is no control character.
fn is_mark(c: char) -> bool {
    let is_tone = matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
    let is_tag = matches!(c, '\u{e0020}'..='\u{e007f}' | '\u{fe00}'..='\u{fe0f}');
    is_tone || is_tag || (c >= '\u{300}' && c.escape_debug().len() > 1 && !is_space(c))
}

/// What is escaped for being seen as nothing or as a space, and stands on no other character.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Two of these make a flag.
const fn is_flag(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/grapheme.rs"]
mod tests;
