//! Texts with the escapes of JSON, URLs and HTML decoded.
//!
//! Decodes only the surroundings of escapes; maps each decoded byte back to its origin with one
//! entry per escape.

use std::ops::Range;

/// Returns the ASCII character that a character resembles: typographic blanks and hyphens,
/// full-width letters; `None` for an invisible character.
fn ascii_lookalike(sign: char) -> Option<char> {
    match sign {
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(sign) - 0xfee0),
        _ => Some(sign),
    }
}

/// Decodes an HTML entity: `#64`, `#x40`, `nbsp`.
fn decode_entity(name: &str) -> Option<char> {
    match name {
        "nbsp" => Some(' '),
        "commat" => Some('@'),
        "period" => Some('.'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "amp" => Some('&'),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number
                .strip_prefix(['x', 'X'])
                .map(|hex| u32::from_str_radix(hex, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

/// Decodes the escape at the start of a text: returns its character and its length in bytes.
fn decode_escape(rest: &str) -> Option<(char, usize)> {
    let bytes = rest.as_bytes();
    let hex = |skip: usize, len: usize| {
        let digits = rest
            .get(skip..skip + len)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    // Half of a surrogate pair is no character.
    let sign = |len: usize| {
        hex(2, len).map(|code| {
            (
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                2 + len,
            )
        })
    };
    match bytes {
        [b'%', ..] => {
            let coded = (0..4)
                .map_while(|at| hex(3 * at + 1, 2).filter(|_| bytes.get(3 * at) == Some(&b'%')));
            let mut coded_bytes = [0_u8; 4];
            let mut count = 0;
            for (place, code) in coded_bytes.iter_mut().zip(coded) {
                *place = u8::try_from(code).unwrap_or_default();
                count += 1;
            }
            let whole = |len: usize| {
                std::str::from_utf8(coded_bytes.get(..len)?)
                    .ok()?
                    .chars()
                    .next()
                    .map(|one| (one, 3 * len))
            };
            (1..=count).find_map(whole)
        }
        [b'&', name @ ..] => name
            .iter()
            .take(9)
            .position(|byte| *byte == b';')
            .and_then(|end| {
                let name = rest.get(1..=end)?;
                Some((decode_entity(name)?, end + 2))
            }),
        [b'\\', b'u', ..] => sign(4),
        [b'\\', b'x', ..] => sign(2),
        [b'\\', b'n' | b'r' | b't' | b'b' | b'f', ..] => Some(('\n', 2)),
        [b'\\', sign @ (b'"' | b'\'' | b'/' | b'\\'), ..] => Some((char::from(*sign), 2)),
        [0xc2 | 0xe2 | 0xe3 | 0xef, ..] => {
            let sign = rest.chars().next()?;
            (ascii_lookalike(sign) != Some(sign)).then_some((sign, sign.len_utf8()))
        }
        _ => None,
    }
}

/// Finds the escapes of a text, in order: the offset, the character, and the length in bytes.
fn find_escapes(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let bytes = text.as_bytes();
    let signs = memchr::memchr3_iter(b'\\', b'%', b'&', bytes);
    // The first bytes of letters that resemble ASCII, and of wide hyphens and blanks.
    let letters = if text.is_ascii() { &[][..] } else { bytes };
    let mut all = [
        signs.peekable(),
        memchr::memchr3_iter(0xc2, 0xe2, 0xef, letters).peekable(),
    ];
    let mut wide = memchr::memchr_iter(0xe3, letters).peekable();
    let mut done = 0;
    std::iter::from_fn(move || {
        loop {
            let next = all.iter_mut().filter_map(|places| places.peek().copied());
            let start = next.chain(wide.peek().copied()).min()?;
            for places in &mut all {
                places.next_if_eq(&start);
            }
            wide.next_if_eq(&start);
            if start < done {
                continue;
            }
            if let Some((sign, len)) = text.get(start..).and_then(decode_escape) {
                done = start + len;
                return Some((start, sign, len));
            }
        }
    })
}

/// A part of a text with one layer of escapes decoded.
pub(super) struct UnescapedView {
    /// The decoded text.
    pub(super) text: String,
    /// The start of the part in the text.
    start: usize,
    /// The offsets after each escape: in the view, and in the part.
    places: Vec<(u32, u32)>,
}

impl UnescapedView {
    /// Maps an offset in the view to an offset in the text.
    pub(super) fn text_offset(&self, at: usize) -> usize {
        let count = self
            .places
            .partition_point(|(view, _)| *view as usize <= at);
        let (view, part) = count
            .checked_sub(1)
            .and_then(|last| self.places.get(last))
            .copied()
            .unwrap_or_default();
        self.start + part as usize + (at - view as usize)
    }
}

/// Decodes the parts of a text that have escapes, with a margin of this many bytes around them.
pub(super) fn unescaped_views(text: &str, margin: usize) -> impl Iterator<Item = UnescapedView> {
    let mut all = find_escapes(text).peekable();
    std::iter::from_fn(move || {
        let (first, ..) = *all.peek()?;
        let start = text.floor_char_boundary(first.saturating_sub(margin));
        let mut view = UnescapedView {
            text: String::new(),
            start,
            places: Vec::new(),
        };
        let (mut at, mut end) = (start, first);
        while let Some((place, sign, len)) = all.next_if(|(place, ..)| *place <= end + 2 * margin) {
            view.text.push_str(text.get(at..place).unwrap_or(""));
            view.text.extend(ascii_lookalike(sign));
            at = place + len;
            end = at;
            view.places
                .push((view.text.len() as u32, (at - start) as u32));
        }
        let end = text.ceil_char_boundary((end + margin).min(text.len()));
        view.text.push_str(text.get(at..end).unwrap_or(""));
        Some(view)
    })
}

/// Decodes one layer of escapes of a whole text; `None` if it has none.
pub(super) fn unescape_once(text: &str) -> Option<String> {
    unescaped_views(text, text.len())
        .next()
        .map(|view| view.text)
}

/// Maps a range of a view to a range of its text.
pub(super) fn text_range(view: &UnescapedView, range: &Range<usize>) -> Range<usize> {
    view.text_offset(range.start)..view.text_offset(range.end)
}
