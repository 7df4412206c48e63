//! A secret's name, the sign after it, and the start of its value.
//!
//! Independent of notations.

use super::place::{NAME, Name, Place};
use crate::base::secrets::names::NameStrength;

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Sign {
    Equals,
    Colon,
    Comma,
    /// `>` after an element's name.
    Closing,
    /// `|` in a table.
    Bar,
}

/// A secret's name, and the start of its value.
pub(super) struct Pair<'t> {
    pub(super) place: Place<'t>,
    pub(super) sign: Sign,
    pub(super) name: Name<'t>,
    /// The byte before the name.
    pub(super) opener: Option<u8>,
    pub(super) after: usize,
    /// True if the value is on the next line.
    pub(super) is_below: bool,
    /// True if no blank and no quote separates the name, the sign and the value.
    pub(super) is_tight: bool,
}

/// Returns the name before a sign, and the start of the value after it.
pub(super) fn pair(sign: Sign, place: Place<'_>) -> Option<Pair<'_>> {
    let (at, before, next) = (place.at, place.before(place.at)?, place.byte(place.at + 1));
    // `::`, `://`, `:=`, `!=`, `==`, `->`, `||`
    let is_other = match sign {
        Sign::Equals => matches!(before, b'!' | b'<' | b'>'),
        Sign::Colon => matches!(next, Some(b':' | b'/')) || before == b':',
        Sign::Closing => matches!(before, b'=' | b'-'),
        Sign::Bar => next == Some(b'|'),
        Sign::Comma => !matches!(before, b'"' | b'\''),
    };
    if is_other {
        return None;
    }
    let is_assignment = sign == Sign::Equals;
    let end = if is_assignment && matches!(before, b':' | b'=' | b'+' | b'|' | b'?') {
        at - 1
    } else {
        at
    };
    let name = place.name(end)?;
    let start = at + 1 + usize::from(is_assignment && matches!(next, Some(b'=' | b'>' | b'~')));
    let after = place.skip(start);
    // In make, `NAME ?= value` may contain blanks.
    let is_tight =
        (after == at + 1 && end == at || is_assignment && before == b'?') && !name.is_quoted;
    let opener = place.before(name.start);
    if sign == Sign::Colon && next == Some(b'=') && opener != Some(b'{') {
        return None;
    }
    let below = if sign == Sign::Colon {
        below(place, name.start, after)
    } else {
        None
    };
    Some(Pair {
        place,
        sign,
        name,
        opener,
        after: below.unwrap_or(after),
        is_below: below.is_some(),
        is_tight,
    })
}

/// Returns the start of a value on the line below its name, with deeper indentation, after an
/// optional YAML block sign.
fn below(place: Place<'_>, start: usize, after: usize) -> Option<usize> {
    let rest = place.rest(after);
    let line = rest.strip_prefix(['|', '>']).map_or(rest, |block| {
        block.strip_prefix(['-', '+']).unwrap_or(block)
    });
    let line = line.strip_prefix('\r').unwrap_or(line).strip_prefix('\n')?;
    let own = place.near(start, NAME).rsplit('\n').next().unwrap_or("");
    let blanks = |line: &str| {
        line.bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    };
    (blanks(line) > blanks(own)).then(|| after + rest.len() - line.len() + blanks(line))
}

impl Pair<'_> {
    pub(super) fn is_strong(&self) -> bool {
        self.name.strength == NameStrength::Strong
    }

    /// Returns true if the value begins with a quote.
    pub(super) fn is_quoted(&self) -> bool {
        matches!(self.place.byte(self.after), Some(b'"' | b'\'' | b'`'))
    }

    /// Returns true if the name begins a line without indentation, ignoring a line number.
    pub(super) fn begins_line(&self) -> bool {
        matches!(self.opener, None | Some(b'\n' | b'\r')) || !self.number().is_empty()
    }

    /// Returns the line number before the name, if any.
    pub(super) fn number(&self) -> &str {
        let line = self
            .place
            .near(self.name.start, NAME)
            .rsplit('\n')
            .next()
            .unwrap_or("");
        if unnumbered(line).is_empty() {
            line
        } else {
            ""
        }
    }
}

/// Returns a line without the line number and file path that `cat -n`, `grep -n` and file readers
/// add: `    12→`, `12: `, `a/.env:12:`.
pub(super) fn unnumbered(line: &str) -> &str {
    let is_path = |path: &str| {
        path.contains(['.', '/'])
            && !path.contains(|sign: char| sign.is_whitespace() || "=\"'`(){}".contains(sign))
    };
    let file = line.split_once(':').filter(|(path, _)| is_path(path));
    let numbered = file.map_or(line, |(_, rest)| rest).trim_start_matches(' ');
    let rest = numbered.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let text = rest
        .strip_prefix(['→', '\t', ':', '-'])
        .filter(|_| rest.len() < numbered.len());
    text.map_or_else(
        || file.map_or(line, |(_, rest)| rest),
        |text| text.strip_prefix(' ').unwrap_or(text),
    )
}
