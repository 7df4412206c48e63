//! A name of a secret, the sign behind it, and the place of its value.
//!
//! Decides no notation.

use super::place::{NAME, Name, Place};
use crate::base::secrets::names::NameStrength;

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Sign {
    Equals,
    Colon,
    Comma,
    /// `>` of an element.
    Closing,
    /// `|` of a table.
    Bar,
}

/// A name of a secret, and the place of its value.
pub(super) struct Pair<'t> {
    pub(super) place: Place<'t>,
    pub(super) sign: Sign,
    pub(super) name: Name<'t>,
    /// The byte before the name.
    pub(super) opener: Option<u8>,
    pub(super) after: usize,
    /// The value stands in the line below.
    pub(super) is_below: bool,
    /// No blank and no quote stands between the name, the sign and the value.
    pub(super) is_tight: bool,
}

/// The name before a sign, and the place of the value behind it.
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
    let end = if is_assignment && matches!(before, b':' | b'=' | b'+' | b'|' | b'?') { at - 1 } else { at };
    let name = place.name(end)?;
    let start = at + 1 + usize::from(is_assignment && matches!(next, Some(b'=' | b'>' | b'~')));
    let after = place.skip(start);
    // `NAME ?= value` of make may have blanks.
    let is_tight = (after == at + 1 && end == at || is_assignment && before == b'?') && !name.is_quoted;
    let opener = place.before(name.start);
    if sign == Sign::Colon && next == Some(b'=') && opener != Some(b'{') {
        return None;
    }
    let below = if sign == Sign::Colon { below(place, name.start, after) } else { None };
    Some(Pair { place, sign, name, opener, after: below.unwrap_or(after), is_below: below.is_some(), is_tight })
}

/// The start of a value in the line below its name, which is deeper, behind a sign of blocks of YAML or none.
fn below(place: Place<'_>, start: usize, after: usize) -> Option<usize> {
    let rest = place.rest(after);
    let line = rest.strip_prefix(['|', '>']).map_or(rest, |block| block.strip_prefix(['-', '+']).unwrap_or(block));
    let line = line.strip_prefix('\r').unwrap_or(line).strip_prefix('\n')?;
    let own = place.near(start, NAME).rsplit('\n').next().unwrap_or("");
    let blanks = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blanks(line) > blanks(own)).then(|| after + rest.len() - line.len() + blanks(line))
}

impl Pair<'_> {
    pub(super) fn is_strong(&self) -> bool {
        self.name.strength == NameStrength::Strong
    }

    /// Returns whether the value begins with a quote.
    pub(super) fn is_quoted(&self) -> bool {
        matches!(self.place.byte(self.after), Some(b'"' | b'\'' | b'`'))
    }

    /// Returns whether the name begins a line without blanks before it, but for the number of the line.
    pub(super) fn begins_line(&self) -> bool {
        matches!(self.opener, None | Some(b'\n' | b'\r')) || !self.number().is_empty()
    }

    /// The number of the line, where the name stands behind it.
    pub(super) fn number(&self) -> &str {
        let line = self.place.near(self.name.start, NAME).rsplit('\n').next().unwrap_or("");
        if unnumbered(line).is_empty() { line } else { "" }
    }
}

/// A line without its number and the path of its file, as `cat -n`, `grep -n` and tools that read files write them: `    12→`, `12: `, `a/.env:12:`.
pub(super) fn unnumbered(line: &str) -> &str {
    let is_path =
        |path: &str| path.contains(['.', '/']) && !path.contains(|sign: char| sign.is_whitespace() || "=\"'`(){}".contains(sign));
    let file = line.split_once(':').filter(|(path, _)| is_path(path));
    let numbered = file.map_or(line, |(_, rest)| rest).trim_start_matches(' ');
    let rest = numbered.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let text = rest.strip_prefix(['→', '\t', ':', '-']).filter(|_| rest.len() < numbered.len());
    text.map_or_else(|| file.map_or(line, |(_, rest)| rest), |text| text.strip_prefix(' ').unwrap_or(text))
}
