//! Characters that a model reads and people do not see, or see in another order.
//!
//! Sources: Unicode Technical Standard 55; Trojan Source (CVE-2021-42574). Looked up 2026-11.

use std::ops::Range;

/// Letters of a flag of a region, without the black flag before and the tag that ends it.
const FLAG_LETTERS: std::ops::RangeInclusive<usize> = 3..=6;
const BLACK_FLAG: char = '\u{1F3F4}';
const CANCEL_TAG: char = '\u{E007F}';
const TEXT_STYLE: char = '\u{FE0E}';
const EMOJI_STYLE: char = '\u{FE0F}';
/// From this number on, hidden characters in a row can hold the bytes of a text.
const MANY: usize = 4;
/// Characters on each side in which letters that are written from right to left are searched.
const NEAR: usize = 200;

/// The kind of a hidden character, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HiddenKind {
    /// A tag character: an ASCII character that is not displayed.
    Tag,
    /// A mark that changes the direction of the text behind it.
    Direction,
    /// A variation selector: chooses a form of the character before it.
    Selector,
    /// A joiner of letters or emoji.
    Joiner,
    /// A mark that places one neighbouring character in a text of two directions.
    DirectionHint,
    /// A space, a filler of Hangul, a soft hyphen or another character without width.
    NoWidth,
}

/// Hidden characters in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenRun {
    /// Their place in the text, in bytes.
    pub range: Range<usize>,
    /// The first of the gravest kind.
    pub first: char,
    /// The gravest kind.
    pub kind: HiddenKind,
    /// True if they can hide an instruction, or show a text in another order than it is read.
    pub is_critical: bool,
}

impl HiddenKind {
    const fn from_char(one: char) -> Option<Self> {
        Some(match one {
            '\u{E0000}'..='\u{E007F}' => Self::Tag,
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Self::Direction,
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => Self::Selector,
            '\u{200C}' | '\u{200D}' => Self::Joiner,
            '\u{200E}' | '\u{200F}' | '\u{061C}' => Self::DirectionHint,
            '\u{200B}'
            | '\u{2060}'..='\u{2064}'
            | '\u{206A}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{00AD}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{FFA0}' => Self::NoWidth,
            _ => return None,
        })
    }
}

/// Iterates over the hidden characters of a text. Flags of regions, joined emoji, and characters in
/// scripts that need them are not among them.
pub fn hidden_runs(text: &str) -> impl Iterator<Item = HiddenRun> + '_ {
    let mut at = if text.is_ascii() { text.len() } else { 0 };
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(|one| HiddenKind::from_char(one).is_some())?;
            let hidden = text.get(start..)?;
            let length = hidden
                .find(|one| HiddenKind::from_char(one).is_none())
                .unwrap_or(hidden.len());
            at = start + length;
            let run = Run {
                before: text.get(..start)?,
                hidden: hidden.get(..length)?,
                after: text.get(at..)?,
            };
            if !run.is_needed() {
                return run.describe(start..at);
            }
        }
    })
}

/// Returns the first hidden characters of a text that are critical, else the first others.
pub fn gravest_run(text: &str) -> Option<HiddenRun> {
    hidden_runs(text)
        .find(|run| run.is_critical)
        .or_else(|| hidden_runs(text).next())
}

/// Hidden characters in a row, between what is displayed.
struct Run<'t> {
    before: &'t str,
    hidden: &'t str,
    after: &'t str,
}

impl Run<'_> {
    fn describe(&self, range: Range<usize>) -> Option<HiddenRun> {
        let kinds = self
            .hidden
            .chars()
            .filter_map(|one| Some((HiddenKind::from_char(one)?, one)));
        let (kind, first) = kinds.min_by_key(|(kind, _)| *kind)?;
        Some(HiddenRun {
            range,
            first,
            kind,
            is_critical: self.is_critical(kind),
        })
    }

    fn is_critical(&self, kind: HiddenKind) -> bool {
        let is_style = |one: &char| matches!(*one, TEXT_STYLE | EMOJI_STYLE);
        let selectors = self.hidden.chars().filter(|one| {
            HiddenKind::from_char(*one) == Some(HiddenKind::Selector) && !is_style(one)
        });
        match kind {
            HiddenKind::Direction if is_isolate(self.hidden) => !self.is_near_right_to_left(),
            HiddenKind::Tag | HiddenKind::Direction => true,
            HiddenKind::Selector
            | HiddenKind::Joiner
            | HiddenKind::DirectionHint
            | HiddenKind::NoWidth => self.hidden.chars().count() >= MANY || selectors.count() > 1,
        }
    }

    /// Returns true if a language or an emoji needs the characters at this place.
    fn is_needed(&self) -> bool {
        let before = self.before.chars().next_back();
        let shown = before.unwrap_or(' ');
        let mut hidden = self.hidden.chars();
        match (hidden.next(), hidden.next(), hidden.next()) {
            (Some('\u{FEFF}'), None, _) => before.is_none(),
            (Some(TEXT_STYLE | EMOJI_STYLE), None, _) => true,
            (Some(EMOJI_STYLE), Some('\u{200D}'), None) => {
                !shown.is_ascii() && !self.after.is_empty()
            }
            (Some('\u{FE00}'), None, _) if shown == '0' => true,
            (Some('\u{FE00}'..='\u{FE0D}'), None, _) => !shown.is_ascii(),
            (Some('\u{E0100}'..='\u{E01EF}'), None, _) => is_ideograph(shown),
            (Some('\u{200C}' | '\u{200D}'), None, _) => {
                shown >= '\u{0590}' && !self.after.is_empty()
            }
            (Some('\u{200E}' | '\u{200F}' | '\u{061C}'), None, _) => self.is_near_right_to_left(),
            (Some('\u{200B}'), None, _) => has_no_spaces(shown),
            (Some('\u{1160}'), None, _) => is_jamo(shown),
            (Some('\u{115F}'), None, _) | (Some('\u{115F}'), Some('\u{1160}'), None) => {
                self.after.starts_with(is_jamo)
            }
            _ => shown == BLACK_FLAG && self.is_flag(),
        }
    }

    fn is_flag(&self) -> bool {
        let Some(letters) = self.hidden.strip_suffix(CANCEL_TAG) else {
            return false;
        };
        let name = decode_tags(letters);
        name.len() == letters.chars().count()
            && FLAG_LETTERS.contains(&name.len())
            && name
                .bytes()
                .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
    }

    /// Returns true if the same line has a letter nearby that is written from right to left.
    fn is_near_right_to_left(&self) -> bool {
        let before = self.before.chars().rev().take(NEAR);
        let after = self.after.chars().take(NEAR);
        before.take_while(|one| *one != '\n').any(is_right_to_left)
            || after.take_while(|one| *one != '\n').any(is_right_to_left)
    }
}

/// Returns true if a text consists of marks that isolate the direction of a part. Libraries for
/// translated texts write them around each value.
pub fn is_isolate(text: &str) -> bool {
    text.chars()
        .all(|one| matches!(one, '\u{2066}'..='\u{2069}'))
}

const fn is_ideograph(one: char) -> bool {
    matches!(one, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

const fn is_right_to_left(one: char) -> bool {
    matches!(one, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
        && !matches!(one, '\u{061C}')
}

/// Returns true for letters of Hangul that are put together to syllables, as in old Korean.
const fn is_jamo(one: char) -> bool {
    matches!(one, '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{D7B0}'..='\u{D7FB}')
}

/// Returns true for letters of scripts without spaces between words: Thai, Lao, Tibetan, Burmese,
/// Khmer.
const fn has_no_spaces(one: char) -> bool {
    matches!(one, '\u{0E00}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

/// Returns the ASCII characters that tag characters stand for.
pub fn decode_tags(run: &str) -> String {
    run.chars()
        .filter_map(|one| u8::try_from(u32::from(one).checked_sub(0xE_0000)?).ok())
        .map(char::from)
        .filter(|one| matches!(one, ' '..='~'))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/base/hidden_text.rs"]
mod tests;
