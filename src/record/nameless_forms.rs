//! Keys without a recognisable prefix, and private keys.
//!
//! Never uses the name before a key.

use crate::base::secrets::known_forms::{
    MAX_KEY_BYTES, is_hex32, is_word, leading_word, run_length,
};

/// Returns the length of a key without a recognisable prefix: Discord bots, Azure secrets,
/// Mailchimp and Terraform keys.
pub(super) fn nameless_key_length(text: &str) -> Option<usize> {
    let near = text.get(..text.floor_char_boundary(128)).unwrap_or(text);
    let dotted = leading_word(near, "_-.~");
    if dotted.len() < 26 {
        return None;
    }
    let parts: Vec<&str> = dotted.split('.').collect();
    if let [id, stamp, key] = *parts
        && text.starts_with(['M', 'N', 'O'])
        && matches!(
            (id.len(), stamp.len(), key.len()),
            (23..=28, 6 | 7, 27..=45)
        )
    {
        return Some(dotted.len());
    }
    if let [id, "atlasv1", key] = *parts
        && id.len() == 14
        && key.len() >= 60
    {
        return Some(dotted.len());
    }
    if let [_, _, _, digit, b'Q', b'~', rest @ ..] = dotted.as_bytes()
        && digit.is_ascii_digit()
        && (31..=34).contains(&rest.len())
    {
        return Some(dotted.len());
    }
    if let Some((key, zone)) = dotted.split_once("-us")
        && is_hex32(key)
        && (1..=2).contains(&zone.len())
        && zone.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Some(dotted.len());
    }
    None
}

/// Returns the length of a Telegram bot token: a number, a colon, and a word that begins with `A`.
pub(super) fn telegram_token_length(text: &str) -> Option<usize> {
    let id = run_length(text, |byte| byte.is_ascii_digit());
    let rest = text
        .get(id..)?
        .strip_prefix(":A")
        .filter(|_| (8..=10).contains(&id))?;
    let len = leading_word(
        rest.get(..rest.floor_char_boundary(128)).unwrap_or(rest),
        "_-",
    )
    .len();
    (len >= 32).then_some(id + 2 + len)
}

/// Returns the length of a private key with its first and last lines; if its end is cut off, of the
/// lines that resemble a key. A first line alone is not a key.
pub(super) fn private_key_length(text: &str) -> Option<usize> {
    /// Header lines of an encrypted key.
    const HEADERS: [&str; 5] = ["Proc-Type:", "4,ENCRYPTED", "DEK-Info:", "AES-", "DES-"];
    let (label, body) = text.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if label.len() >= 64 || !label.contains("PRIVATE KEY") {
        return None;
    }
    let (begin, end) = (text.len() - body.len(), format!("-----END {label}-----"));
    if let Some(at) = body
        .get(..body.floor_char_boundary(MAX_KEY_BYTES))
        .and_then(|near| near.find(&end))
    {
        // Lines may be indented, numbered or quoted.
        let is_key = body.get(..at).is_some_and(|key| {
            let first = leading_word(key.trim_start_matches(['\\', 'n', 'r', '\n', '\r']), "+/=");
            let begins = first.len() >= 4 && !is_repeated_sign(first);
            !key.contains("${")
                && (begins || key.split(|c: char| !is_base64_sign(c)).any(is_key_line))
        });
        return is_key.then_some(begin + at + end.len());
    }
    let (mut at, mut taken) = (begin, None);
    for part in body.split_inclusive(|c: char| c.is_ascii_whitespace()) {
        let line = part.trim_ascii_end();
        // Decoded views of a line with escapes are scanned separately.
        let longest = || {
            line.split(|c: char| !is_base64_sign(c))
                .max_by_key(|part| part.len())
        };
        let packed = if line.contains('\\') {
            leading_word(line, "+/=")
        } else {
            longest().unwrap_or("")
        };
        let ends = line.rfind(packed).map_or(0, |start| start + packed.len());
        let is_last = taken.is_some()
            && line.starts_with(packed)
            && (packed.ends_with('=') || at + line.len() == text.len());
        let is_mark = line.len() <= 6 && !line.contains(|c: char| c.is_ascii_alphabetic());
        if is_key_line(packed) || is_last && !packed.is_empty() {
            taken = Some(at + ends);
        } else if !is_mark && !HEADERS.iter().any(|head| line.starts_with(head)) {
            break;
        }
        if ends < line.len() && taken.is_some() {
            break;
        }
        at += part.len();
    }
    taken
}

/// Returns true if a word repeats one character, as a placeholder does.
fn is_repeated_sign(word: &str) -> bool {
    word.bytes()
        .all(|byte| word.as_bytes().first() == Some(&byte))
}

/// Returns true if a word may be a line of a key.
fn is_key_line(word: &str) -> bool {
    word.len() >= 16 && !is_word(word) && !is_repeated_sign(word)
}

fn is_base64_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || "+/=".contains(sign)
}
