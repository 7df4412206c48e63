//! A secret's name, the sign after it, and the start of its value.
//!
//! Independent of notations.

use super::place::{MAX_NAME_BYTES, ScanPosition, SecretName};
use crate::base::secrets::names::NameStrength;

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum PairSign {
    Equals,
    Colon,
    Comma,
    /// `>` after an element's name.
    Closing,
    /// `|` in a table.
    Bar,
}

/// A secret's name, and the start of its value.
pub(super) struct NamedValue<'t> {
    pub(super) place: ScanPosition<'t>,
    pub(super) sign: PairSign,
    pub(super) name: SecretName<'t>,
    /// The byte before the name.
    pub(super) opener: Option<u8>,
    pub(super) after: usize,
    /// True if the value is on the next line.
    pub(super) is_below: bool,
    /// True if no blank and no quote separates the name, the sign and the value.
    pub(super) is_tight: bool,
}

/// Returns the name before a sign, and the start of the value after it.
pub(super) fn named_value(sign: PairSign, place: ScanPosition<'_>) -> Option<NamedValue<'_>> {
    let (at, before, next) = (
        place.at,
        place.byte_before(place.at)?,
        place.byte_at(place.at + 1),
    );
    // `::`, `://`, `:=`, `!=`, `==`, `->`, `||`
    let is_other = match sign {
        PairSign::Equals => matches!(before, b'!' | b'<' | b'>'),
        PairSign::Colon => matches!(next, Some(b':' | b'/')) || before == b':',
        PairSign::Closing => matches!(before, b'=' | b'-'),
        PairSign::Bar => next == Some(b'|'),
        PairSign::Comma => !matches!(before, b'"' | b'\''),
    };
    if is_other {
        return None;
    }
    let is_assignment = sign == PairSign::Equals;
    let end = if is_assignment && matches!(before, b':' | b'=' | b'+' | b'|' | b'?') {
        at - 1
    } else {
        at
    };
    let name = place.name_before(end)?;
    let start = at + 1 + usize::from(is_assignment && matches!(next, Some(b'=' | b'>' | b'~')));
    let after = place.skip_blanks(start);
    // In make, `NAME ?= value` may contain blanks.
    let is_tight =
        (after == at + 1 && end == at || is_assignment && before == b'?') && !name.is_quoted;
    let opener = place.byte_before(name.start);
    if sign == PairSign::Colon && next == Some(b'=') && opener != Some(b'{') {
        return None;
    }
    let below = if sign == PairSign::Colon {
        value_below(place, name.start, after)
    } else {
        None
    };
    Some(NamedValue {
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
fn value_below(place: ScanPosition<'_>, start: usize, after: usize) -> Option<usize> {
    let rest = place.text_from(after);
    let line = rest.strip_prefix(['|', '>']).map_or(rest, |block| {
        block.strip_prefix(['-', '+']).unwrap_or(block)
    });
    let line = line.strip_prefix('\r').unwrap_or(line).strip_prefix('\n')?;
    let own = place
        .text_before(start, MAX_NAME_BYTES)
        .rsplit('\n')
        .next()
        .unwrap_or("");
    let blanks = |line: &str| {
        line.bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    };
    (blanks(line) > blanks(own)).then(|| after + rest.len() - line.len() + blanks(line))
}

impl NamedValue<'_> {
    pub(super) fn is_strong(&self) -> bool {
        self.name.strength == NameStrength::Strong
    }

    /// Returns true if the value begins with a quote.
    pub(super) fn is_quoted(&self) -> bool {
        matches!(self.place.byte_at(self.after), Some(b'"' | b'\'' | b'`'))
    }

    /// Returns true if the name begins a line without indentation, ignoring a line number.
    pub(super) fn begins_line(&self) -> bool {
        matches!(self.opener, None | Some(b'\n' | b'\r')) || !self.line_number().is_empty()
    }

    /// Returns the line number before the name, if any.
    pub(super) fn line_number(&self) -> &str {
        let line = self
            .place
            .text_before(self.name.start, MAX_NAME_BYTES)
            .rsplit('\n')
            .next()
            .unwrap_or("");
        if strip_line_number(line).is_empty() {
            line
        } else {
            ""
        }
    }
}

/// Returns a line without the line number and file path that `cat -n`, `grep -n` and file readers
/// add: `    12→`, `12: `, `a/.env:12:`.
pub(super) fn strip_line_number(line: &str) -> &str {
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
