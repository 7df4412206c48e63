//! Lines for people broken between words where a screen is narrower than they are. Colour codes take no room; spaces that
//! align columns stay. Files and pipes have no width, and their lines are never broken.

use std::borrow::Cow;

/// Room that is left however deep a line hangs: a column of single letters is read by nobody.
const LEAST: usize = 20;

/// Breaks a line. What goes on is indented by `hang`.
pub(crate) fn wrap(line: &str, width: Option<usize>, hang: usize) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| line.len() > *width && visible(line) > *width) else { return Cow::Borrowed(line) };
    let hang = hang.min(width.saturating_sub(LEAST));
    let mut out = String::with_capacity(line.len() + 32);
    let (mut used, mut gap) = (0, "");
    let mut is_first = true;
    let mut rest = line;
    while !rest.is_empty() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let (space, after) = rest.split_at(spaces);
        let (word, after) = after.split_at(after.find(' ').unwrap_or(after.len()));
        let length = visible(word);
        gap = if gap.is_empty() { space } else { gap };
        // Leading space belongs to the first word, which stays where it is.
        if !is_first && used + gap.len() + length > width && used + gap.len() > hang {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', hang));
            used = hang;
        } else {
            out.push_str(gap);
            used += gap.len();
        }
        out.push_str(word);
        used += length;
        (gap, rest) = ("", after);
        is_first = false;
    }
    Cow::Owned(out)
}

/// Characters that are seen: all but colour codes.
fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            // Our own codes only, which end with a letter: what files say is escaped before it comes here.
            let _ = chars.find(char::is_ascii_alphabetic);
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{visible, wrap};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use std::borrow::Cow;

    #[test]
    fn lines_break_between_words_and_hang() {
        let line = "  fresh_context  enabled  written at a.xml:7:20, over disabled";
        assert_eq!(
            wrap(line, Some(40), 17),
            "  fresh_context  enabled  written at\n                 a.xml:7:20, over\n                 disabled"
        );
        assert!(matches!(wrap(line, None, 17), Cow::Borrowed(_)));
        assert!(matches!(wrap(line, Some(62), 17), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_take_no_room() {
        let line = "\x1b[1mone two\x1b[0m three";
        assert_eq!(wrap(line, Some(13), 0), line);
        assert_eq!(visible(line), 13);
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        assert_eq!(
            wrap("see /a/very/long/path/that/people/want/to/copy now", Some(30), 2),
            "see\n  /a/very/long/path/that/people/want/to/copy\n  now"
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(line in "( {0,3}[a-zä]{1,12}){0,20}", width in 24usize..60, hang in 0usize..50) {
            let wrapped = wrap(&line, Some(width), hang);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&wrapped), words(&line));
            // Only a word that a line of its own would not hold either runs over.
            let room = width - hang.min(width - super::LEAST);
            let fits = |line: &str| {
                let mut words = line.split_whitespace();
                let last = words.next_back().unwrap_or_default();
                visible(line) <= width || visible(last) > room || words.next().is_none()
            };
            prop_assert!(wrapped.lines().all(fits), "{}", wrapped);
        }
    }
}
