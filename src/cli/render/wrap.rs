//! Wraps lines for people between words, to the width of the screen. Colour codes have no width;
//! spaces that align columns stay. Files and pipes have no width, and their lines are never
//! wrapped.

use std::borrow::Cow;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Columns that remain for text, however deep the indentation.
const MIN_TEXT_COLUMNS: usize = 20;

/// Wraps a line. Further lines are indented by `hang`.
pub(crate) fn wrap_line(line: &str, width: Option<usize>, hang: usize) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| line.len() > *width && display_width(line) > *width)
    else {
        return Cow::Borrowed(line);
    };
    let hang = " ".repeat(hang.min(width.saturating_sub(MIN_TEXT_COLUMNS)));
    let text = line.trim_start_matches(' ');
    // Leading space is kept before the first word.
    let lead = line.get(..line.len() - text.len()).unwrap_or("");
    let options = Options::new(width)
        .initial_indent(lead)
        .subsequent_indent(&hang)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    Cow::Owned(textwrap::fill(text, options))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/wrap.rs"]
mod tests;
