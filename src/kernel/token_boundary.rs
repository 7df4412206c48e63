//! Seams: token boundaries that hold in any surrounding text. They yield the minimum number of
//! tokens of a concatenated text.
//!
//! A tokenizer that splits texts into words never merges across a seam, so the text between two
//! seams has the same tokens in every text that contains it. A seam lies between a word and a
//! following space, which belongs to the next word; between letters or digits and a following sign
//! or line end, except an apostrophe; and between a line end and a following word, except a slash.
//! This holds for the patterns of `o200k` and `cl100k`.

/// The minimum number of tokens of a text made of these pieces in this order, with any text between
/// two of them: all tokens between two seams of a piece, and one for the known text between the
/// last seam of a piece and the first of the next.
pub fn min_tokens(pieces: &[&str], count: impl Fn(&str) -> usize) -> usize {
    let last = pieces.len().saturating_sub(1);
    let mut tokens = 0;
    let mut is_begun = false;
    for (number, piece) in pieces.iter().enumerate() {
        let start = if number == 0 {
            Some(0)
        } else {
            first_seam(piece)
        };
        let Some(start) = start else {
            is_begun |= !piece.is_empty();
            continue;
        };
        let end = if number == last {
            piece.len()
        } else {
            self::last_seam(piece).unwrap_or(start)
        };
        tokens += usize::from(is_begun || start > 0) + piece.get(start..end).map_or(0, &count);
        is_begun = end < piece.len();
    }
    tokens + usize::from(is_begun)
}

/// The first seam of a text. A space before a word is a seam even if the previous character is in
/// another piece.
fn first_seam(text: &str) -> Option<usize> {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_last_space = is_space(c)
            && chars
                .peek()
                .is_some_and(|(_, behind)| !behind.is_whitespace());
        if is_last_space || before.is_some_and(|before| is_seam(before, c)) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// The last seam of a text. White space at the end is skipped, because it could belong to a
/// following word.
fn last_seam(text: &str) -> Option<usize> {
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

/// Returns true for white space other than a line end.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !ends_line(c)
}

const fn ends_line(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/token_boundary.rs"]
mod tests;
