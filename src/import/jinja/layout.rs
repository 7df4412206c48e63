//! White space that an engine takes away unasked: `trim_blocks`, `lstrip_blocks`, the last line break.

use super::scan::{Kind, Piece, Trim};
use crate::import::model::Options;

/// The words of a piece, as an engine with these switches has them.
pub(super) fn data<'t>(text: &'t str, pieces: &[Piece], at: usize, options: Options) -> &'t str {
    let Some(piece) = pieces.get(at) else { return "" };
    let mut words = piece.slice(text);
    let is_block = |piece: &Piece| matches!(piece.kind, Kind::Statement | Kind::Comment | Kind::Raw);
    let before = at.checked_sub(1).and_then(|at| pieces.get(at));
    if options.trim_blocks && before.is_some_and(|piece| is_block(piece) && piece.right == Trim::Default) {
        words = words.strip_prefix('\n').unwrap_or(words);
    }
    let after = pieces.get(at + 1);
    if options.lstrip_blocks && after.is_some_and(|piece| is_block(piece) && piece.left == Trim::Default) {
        let kept = words.trim_end_matches([' ', '\t']);
        let begins = kept.ends_with('\n') || kept.is_empty() && (at == 0 || began_line(text, piece));
        words = if begins { kept } else { words };
    }
    words
}

/// Whether a piece begins at the start of a line.
fn began_line(text: &str, piece: &Piece) -> bool {
    piece.slice(text).starts_with('\n') || text.get(..piece.range.start).is_some_and(|before| before.ends_with('\n'))
}

/// A text without its last line break, as Jinja reads a file.
pub(super) fn without_last_break(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}
