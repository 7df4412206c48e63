//! Seams: boundaries between tokens that hold whatever stands around them. They give the least tokens of a joined text.
//!
//! A tokenizer that splits texts into words joins nothing across a seam, so the text between two seams has the same tokens in every
//! text that contains it. A space parts from the word before it, since it goes with the one behind; signs and line ends part from letters and
//! digits before them, but an apostrophe, which may go with them; a word parts from the line end before it, but a slash, which goes with
//! line ends. That holds for the patterns of `o200k` and `cl100k`.

/// The least tokens of a text that is made of these pieces, in this order, with anything at all between two of them: all that stands
/// between two seams of a piece, and one for what is known from the last seam of a piece to the first of the next, however it is joined.
pub fn least(pieces: &[&str], count: impl Fn(&str) -> usize) -> usize {
    let last = pieces.len().saturating_sub(1);
    let mut tokens = 0;
    let mut is_begun = false;
    for (number, piece) in pieces.iter().enumerate() {
        let start = if number == 0 { Some(0) } else { first(piece) };
        let Some(start) = start else {
            is_begun |= !piece.is_empty();
            continue;
        };
        let end = if number == last { piece.len() } else { self::last(piece).unwrap_or(start) };
        tokens += usize::from(is_begun || start > 0) + piece.get(start..end).map_or(0, &count);
        is_begun = end < piece.len();
    }
    tokens + usize::from(is_begun)
}

/// The first seam of a text. A space that a word follows parts from whatever is before it, be it in another piece.
fn first(text: &str) -> Option<usize> {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_last_space = is_space(c) && chars.peek().is_some_and(|(_, behind)| !behind.is_whitespace());
        if is_last_space || before.is_some_and(|before| is_seam(before, c)) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// The last seam of a text. White space before it would be taken for the end of the text.
fn last(text: &str) -> Option<usize> {
    let mut pairs = text.chars().rev().skip(1).zip(text.char_indices().rev());
    pairs.find_map(|(before, (at, behind))| is_seam(before, behind).then_some(at))
}

fn is_seam(before: char, behind: char) -> bool {
    let is_word = before.is_ascii_alphanumeric();
    if behind.is_whitespace() {
        return is_word || is_space(behind) && !before.is_whitespace();
    }
    ends_line(before) && behind != '/' || is_word && behind.is_ascii_punctuation() && behind != '\''
}

/// White space that ends no line.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !ends_line(c)
}

const fn ends_line(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/token_boundary.rs"]
mod tests;
