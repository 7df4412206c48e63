//! Lines for people broken between words where a screen is narrower than they are. Colour codes take no room; spaces that
//! align columns stay. Files and pipes have no width, and their lines are never broken.

use std::borrow::Cow;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Room that is left however deep a line hangs: a column of single letters is read by nobody.
const LEAST: usize = 20;

/// Breaks a line. What goes on is indented by `hang`.
pub(crate) fn wrap(line: &str, width: Option<usize>, hang: usize) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| line.len() > *width && display_width(line) > *width) else {
        return Cow::Borrowed(line);
    };
    let hang = " ".repeat(hang.min(width.saturating_sub(LEAST)));
    let text = line.trim_start_matches(' ');
    // Leading space belongs to the first word, which stays where it is.
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
