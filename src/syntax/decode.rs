//! Bytes to text: UTF-8, and UTF-16 with a byte order mark. The mark is stripped and excluded from
//! all offsets.
//!
//! Never guesses an encoding and never replaces a byte: an undecodable byte is a fault with its
//! offset. NUL and other characters that XML forbids are decoded; the reader reports them.

use std::borrow::Cow;

/// A supported encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, least significant byte first.
    Utf16Le,
    /// UTF-16, most significant byte first.
    Utf16Be,
}

/// The reason why bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeFault {
    /// The bytes are not UTF-8.
    #[error("byte {offset} is not UTF-8")]
    InvalidUtf8 {
        /// First offending byte of the file.
        offset: u64,
        /// The encoding in the XML declaration, if it is a different one.
        declared: Option<String>,
    },
    /// A UTF-16 surrogate without its partner.
    #[error("byte {offset} holds half of a UTF-16 pair")]
    LoneSurrogate {
        /// Its first byte in the file.
        offset: u64,
    },
    /// An odd number of bytes of UTF-16.
    #[error("the file ends in the middle of a UTF-16 unit")]
    OddLength {
        /// The last byte of the file.
        offset: u64,
    },
    /// UTF-16 or UTF-32 without a byte order mark, or UTF-32 with one.
    #[error("the file looks like {encoding}, which is not read")]
    Unsupported {
        /// The detected encoding.
        encoding: &'static str,
    },
    /// The XML declaration contradicts the encoding of the bytes.
    #[error("the XML declaration says {declared}, the bytes are {found}")]
    Contradiction {
        /// The declared encoding.
        declared: String,
        /// The actual encoding.
        found: &'static str,
    },
}

impl DecodeFault {
    /// The first offending byte of the file; 0 if the whole file is at fault.
    pub const fn offset(&self) -> u64 {
        match self {
            Self::InvalidUtf8 { offset, .. }
            | Self::LoneSurrogate { offset }
            | Self::OddLength { offset } => *offset,
            Self::Unsupported { .. } | Self::Contradiction { .. } => 0,
        }
    }
}

/// Detects the encoding from the first bytes, and the length of the byte order mark.
pub fn detect_encoding(bytes: &[u8]) -> Result<(Encoding, usize), DecodeFault> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..]
        | [0, 0, 0xFE, 0xFF, ..]
        | [0, 0, 0, b'<', ..]
        | [b'<', 0, 0, 0, ..] => Err(DecodeFault::Unsupported { encoding: "UTF-32" }),
        [0xEF, 0xBB, 0xBF, ..] => Ok((Encoding::Utf8, 3)),
        [0xFF, 0xFE, ..] => Ok((Encoding::Utf16Le, 2)),
        [0xFE, 0xFF, ..] => Ok((Encoding::Utf16Be, 2)),
        [b'<', 0, ..] | [0, b'<', ..] => Err(DecodeFault::Unsupported {
            encoding: "UTF-16 without a byte order mark",
        }),
        _ => Ok((Encoding::Utf8, 0)),
    }
}

/// Decodes a file. Borrows if the bytes are UTF-8.
///
/// # Errors
/// A [`DecodeFault`] if the encoding is unsupported or the bytes are invalid in it.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, DecodeFault> {
    let (encoding, mark) = detect_encoding(bytes)?;
    let body = bytes.get(mark..).unwrap_or(&[]);
    let text = match encoding {
        Encoding::Utf8 => match std::str::from_utf8(body) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let offset = (mark + error.valid_up_to()) as u64;
                let declared = declared_encoding(body)
                    .filter(|name| !is_utf8(name))
                    .map(str::to_owned);
                return Err(DecodeFault::InvalidUtf8 { offset, declared });
            }
        },
        Encoding::Utf16Le => Cow::Owned(decode_utf16(body, mark, u16::from_le_bytes)?),
        Encoding::Utf16Be => Cow::Owned(decode_utf16(body, mark, u16::from_be_bytes)?),
    };
    check_declaration(&text, encoding)?;
    Ok(text)
}

/// The bytes of a text, in the encoding and with the byte order mark of the file that it was read
/// from.
pub fn encode_like(text: &str, original: &[u8]) -> Vec<u8> {
    // A file of unknown encoding could not be decoded, so no text of it exists.
    let (encoding, mark) = detect_encoding(original).unwrap_or((Encoding::Utf8, 0));
    let mut out = original.get(..mark).unwrap_or(&[]).to_vec();
    match encoding {
        Encoding::Utf8 => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
    }
    out
}

/// Rejects a declaration of the other family of encodings. Names of neither family are left to the
/// reader, which knows their spans.
fn check_declaration(text: &str, encoding: Encoding) -> Result<(), DecodeFault> {
    let Some(name) = declared_encoding(text.as_bytes()) else {
        return Ok(());
    };
    let (clash, found) = match encoding {
        Encoding::Utf8 => (is_utf16(name), "UTF-8"),
        Encoding::Utf16Le => (
            is_utf8(name) || name.eq_ignore_ascii_case("UTF-16BE"),
            "UTF-16, low byte first",
        ),
        Encoding::Utf16Be => (
            is_utf8(name) || name.eq_ignore_ascii_case("UTF-16LE"),
            "UTF-16, high byte first",
        ),
    };
    if clash {
        Err(DecodeFault::Contradiction {
            declared: name.to_owned(),
            found,
        })
    } else {
        Ok(())
    }
}

/// Returns true if a declared name means UTF-8 or its subset.
pub(super) fn is_utf8(name: &str) -> bool {
    ["UTF-8", "UTF8", "US-ASCII", "ASCII"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns true if a declared name means UTF-16.
pub(super) fn is_utf16(name: &str) -> bool {
    ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF16"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// The encoding in an XML declaration; reads no further than the declaration.
fn declared_encoding(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let declaration = rest.get(..memchr::memchr(b'>', rest)?)?;
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let after = declaration
        .get(at + b"encoding".len()..)?
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (&quote, value) = after.split_first()?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    std::str::from_utf8(value.get(..memchr::memchr(quote, value)?)?).ok()
}

fn decode_utf16(body: &[u8], mark: usize, unit: fn([u8; 2]) -> u16) -> Result<String, DecodeFault> {
    let mut out = String::with_capacity(body.len());
    let (pairs, odd) = body.as_chunks::<2>();
    let mut offset = mark as u64;
    for decoded in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let c = decoded.map_err(|_| DecodeFault::LoneSurrogate { offset })?;
        out.push(c);
        offset += c.len_utf16() as u64 * 2;
    }
    if odd.is_empty() {
        Ok(out)
    } else {
        Err(DecodeFault::OddLength { offset })
    }
}
