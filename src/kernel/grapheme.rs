//! Finds positions at which a text can be cut without splitting a grapheme: no combining mark, no
//! emoji, no CR LF.
//!
//! Looks back only a few characters: a text that consists only of marks is cut within a grapheme.

/// Maximum number of characters of one grapheme; a longer one exists in no language.
const MAX_GRAPHEME_CHARS: usize = 32;

/// The last position before the end of `text`, and not after `end`, that does not split a grapheme.
pub(super) fn cut_position(text: &str, end: usize) -> usize {
    let end = text.floor_char_boundary(end.min(text.len()));
    let end = if end == text.len() {
        start_of_last(text)
    } else {
        end
    };
    let mut at = end;
    for _ in 0..MAX_GRAPHEME_CHARS {
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

/// Returns true if a position splits a grapheme.
fn is_inside(text: &str, at: usize) -> bool {
    let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
    let (Some(left), Some(right)) = (head.chars().next_back(), tail.chars().next()) else {
        return false;
    };
    (left == '\r' && right == '\n')
        || left == JOINER
        || right == JOINER
        || is_mark(right)
        || (is_flag(left)
            && is_flag(right)
            && head
                .chars()
                .rev()
                .take(MAX_GRAPHEME_CHARS)
                .take_while(|c| is_flag(*c))
                .count()
                % 2
                == 1)
}

/// Joins two emoji into one.
const JOINER: char = '\u{200d}';

/// Returns true if a character combines with the previous one. Of all characters that are not
/// control characters, the standard library escapes exactly those that extend another one.
fn is_mark(c: char) -> bool {
    let is_tone = matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
    let is_tag = matches!(c, '\u{e0020}'..='\u{e007f}' | '\u{fe00}'..='\u{fe0f}');
    is_tone || is_tag || (c >= '\u{300}' && c.escape_debug().len() > 1 && !is_space(c))
}

/// Returns true if a character is escaped because it is invisible or looks like a space, and not
/// because it combines with another one.
fn is_space(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Returns true for a regional indicator; two of them make a flag.
const fn is_flag(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/grapheme.rs"]
mod tests;
