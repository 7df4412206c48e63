//! What characters are to Python, where that is not what they are to Rust. Never looks at more than one character or line end.

use regex_syntax::hir::{Class, HirKind};
use std::sync::OnceLock;

/// What Python's `\w` means: a letter, any numeral, or `_`. Marks that are written on letters are none.
const WORD: &str = r"[\p{L}\p{N}_]";
/// What `[^\d\W]` means: the same without decimal digits.
const LETTER: &str = r"[\p{L}\p{Nl}\p{No}_]";

/// Ranges of characters, sorted.
type Ranges = Vec<(char, char)>;

fn ranges(class: &str) -> Ranges {
    let parsed = regex_syntax::parse(class).ok();
    let kind = parsed.as_ref().map(regex_syntax::hir::Hir::kind);
    let Some(HirKind::Class(Class::Unicode(class))) = kind else { return Ranges::new() };
    class.ranges().iter().map(|range| (range.start(), range.end())).collect()
}

fn has(ranges: &Ranges, c: char) -> bool {
    let after = ranges.partition_point(|(start, _)| *start <= c);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, end)| c <= *end)
}

/// Whether `\w` matches.
pub(super) fn is_word(c: char) -> bool {
    static RANGES: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() { c == '_' || c.is_ascii_alphanumeric() } else { has(RANGES.get_or_init(|| ranges(WORD)), c) }
}

/// Whether `[^\d\W]` matches.
pub(super) fn is_letter(c: char) -> bool {
    static RANGES: OnceLock<Ranges> = OnceLock::new();
    if c.is_ascii() { c == '_' || c.is_ascii_alphabetic() } else { has(RANGES.get_or_init(|| ranges(LETTER)), c) }
}

/// Whether `str.isspace`, `strip` and `split` take it for white space.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The lines of `str.splitlines`, without their ends. A text that ends with a line end has no line behind it.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let is_end =
        |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let (mut lines, mut rest) = (Vec::new(), text);
    while let Some(end) = rest.find(is_end) {
        let (line, more) = rest.split_at(end);
        lines.push(line);
        let first = more.chars().next().map_or(0, char::len_utf8);
        rest = more.strip_prefix("\r\n").or_else(|| more.get(first..)).unwrap_or("");
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{is_letter, is_space, is_word, lines};
    use pretty_assertions::assert_eq;

    #[test]
    fn characters_are_what_they_are_to_python() {
        let of = |test: fn(char) -> bool| "aZ_9ü漢²Ⅷ٣ि-' \u{1c}\u{a0}\u{200b}".chars().filter(|c| test(*c)).collect::<String>();
        assert_eq!(of(is_word), "aZ_9ü漢²Ⅷ٣");
        assert_eq!(of(is_letter), "aZ_ü漢²Ⅷ");
        assert_eq!(of(is_space), " \u{1c}\u{a0}");
    }

    #[test]
    fn lines_end_where_python_ends_them() {
        assert_eq!(lines("a\r\nb\rc\n\nd\u{2028}e\u{85}"), ["a", "b", "c", "", "d", "e"]);
        assert_eq!(lines(""), [""; 0]);
        assert_eq!(lines("\n"), [""]);
    }
}
