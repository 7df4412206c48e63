//! Scan of texts for secrets before they are written into a project: values of its environment
//! files, keys of known forms, and random values next to a secret's name.
//!
//! Independent of the masks, so that it covers unmasked texts and values that the masks miss. Reads
//! no file and never repeats a value.

use crate::base::base64;
use crate::base::secrets::environment::parse_values;
use crate::base::secrets::known_forms::keys_of_services;
use crate::base::secrets::names::{is_placeholder, is_secret_name, is_secret_variable};
use crate::base::secrets::placeholders::{is_sample, is_whole_placeholder};
use std::collections::BTreeSet;

/// The minimum length in characters of an environment value that is searched for.
const MIN_VALUE_CHARS: usize = 6;
/// The minimum length in characters of a value made of letters only, or under any name.
const MIN_LONG_CHARS: usize = 8;
/// The minimum length in characters of a value that can be random.
const MIN_RANDOM_CHARS: usize = 16;
/// The minimum entropy in bits per character of a random value of letters and digits: words
/// followed by a number reach 3.3; of random values with 16 characters, all but one in a thousand
/// have at least 3.4.
const MIN_ENTROPY: f64 = 3.4;
/// The minimum entropy of hexadecimal digits, of which a random value has at least 32.
const MIN_HEX_ENTROPY: f64 = 3.0;

/// An environment file of a project.
#[derive(Clone, Debug)]
pub struct EnvironmentFile {
    /// Its path, as messages show it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A secret in a text. Contains no part of its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretInText {
    /// The value of a variable in an environment file.
    #[error("the value of `{name}` in {file}")]
    Environment {
        /// The name.
        name: String,
        /// The file.
        file: String,
    },
    /// A key with the form of a service's keys, or a private key.
    #[error("a key")]
    Key,
    /// A random value next to a secret's name.
    #[error("what looks like a secret, under the name `{name}`")]
    Random {
        /// The name.
        name: String,
    },
}

/// One spelling of an environment file's value.
#[derive(Debug)]
struct SecretForm {
    bytes: Vec<u8>,
    /// True if it is base64, which can be found inside words.
    is_packed: bool,
    /// The index into `names`.
    name_index: usize,
}

/// Finds secrets in texts.
#[derive(Debug, Default)]
pub struct SecretScan {
    /// The names of variables with their files.
    names: Vec<(String, String)>,
    needles: Vec<SecretForm>,
    /// The first two bytes of all forms: most positions of a text match no such pair.
    pairs: BTreeSet<[u8; 2]>,
    /// The first bytes of all forms.
    firsts: Vec<bool>,
}

impl SecretScan {
    /// Creates a scan for the values of these files, and for random values.
    pub fn new(files: &[EnvironmentFile]) -> Self {
        let mut scan = Self {
            firsts: vec![false; 256],
            ..Self::default()
        };
        let mut known = BTreeSet::new();
        for EnvironmentFile { path, text } in files {
            for (name, value) in environment_secrets(text) {
                let of = scan.names.len();
                for (bytes, is_packed) in value_forms(&value)
                    .into_iter()
                    .filter(|(bytes, _)| known.insert(bytes.clone()))
                {
                    if let [first, second, ..] = bytes[..] {
                        scan.pairs.insert([first, second]);
                        if let Some(is_first) = scan.firsts.get_mut(usize::from(first)) {
                            *is_first = true;
                        }
                    }
                    scan.needles.push(SecretForm {
                        bytes,
                        is_packed,
                        name_index: of,
                    });
                }
                scan.names.push((name, path.clone()));
            }
        }
        scan
    }

    /// Finds the first secret in a line.
    pub fn find_secret(&self, line: &str) -> Option<SecretInText> {
        let random = || {
            find_random_value(line).map(|name| SecretInText::Random {
                name: name.to_owned(),
            })
        };
        self.find_environment_value(line)
            .or_else(random)
            .or_else(|| contains_key(line).then_some(SecretInText::Key))
    }

    fn find_environment_value(&self, line: &str) -> Option<SecretInText> {
        if self.needles.is_empty() {
            return None;
        }
        let bytes = line.as_bytes();
        let is_start = |at: &usize| {
            let first = bytes.get(*at).is_some_and(|byte| {
                self.firsts
                    .get(usize::from(*byte))
                    .is_some_and(|is_first| *is_first)
            });
            first
                && bytes
                    .get(*at..*at + 2)
                    .and_then(|pair| pair.try_into().ok())
                    .is_some_and(|pair: [u8; 2]| self.pairs.contains(&pair))
        };
        let stands = |needle: &&SecretForm, at: usize| {
            let is_letter = |at: Option<usize>| {
                at.and_then(|at| bytes.get(at))
                    .is_some_and(u8::is_ascii_alphanumeric)
            };
            let end = at + needle.bytes.len();
            // A short value occurs in longer words by chance.
            let is_apart = needle.is_packed
                || needle.bytes.len() >= 2 * MIN_LONG_CHARS
                || !is_letter(at.checked_sub(1)) && !is_letter(Some(end));
            bytes.get(at..end) == Some(&needle.bytes) && is_apart
        };
        let found = (0..bytes.len())
            .filter(is_start)
            .find_map(|at| self.needles.iter().find(|needle| stands(needle, at)));
        let (name, file) = self.names.get(found?.name_index)?;
        Some(SecretInText::Environment {
            name: name.clone(),
            file: file.clone(),
        })
    }
}

/// Returns true if a line contains a service's key, or the first line of a private key.
fn contains_key(line: &str) -> bool {
    line.contains("-----BEGIN ") && line.contains("PRIVATE KEY-----")
        || keys_of_services(line).any(|key| !is_sample(key))
}

/// Returns the names and values of the secrets in the text of an environment file.
pub fn environment_secrets(text: &str) -> impl Iterator<Item = (String, String)> {
    parse_values(text)
        .into_iter()
        .filter(|(name, value)| is_searched_value(name, value))
}

/// Returns true if an environment value is searched for: under a secret's name all but plain words,
/// under another name only random values.
fn is_searched_value(name: &str, value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_long = value.chars().count() >= MIN_LONG_CHARS;
    let is_mixed = has(u8::is_ascii_alphabetic) && has(|byte| !byte.is_ascii_alphabetic());
    let is_named = is_secret_variable(name, value);
    let is_enough = is_long || value.chars().count() >= MIN_VALUE_CHARS && is_mixed && is_named;
    if !is_enough
        || if is_named {
            is_whole_placeholder(value)
        } else {
            is_placeholder(value)
        }
    {
        return false;
    }
    let scheme = |scheme: &str| {
        scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
    };
    if let Some((_, rest)) = value.split_once("://").filter(|(before, _)| scheme(before)) {
        return rest
            .split('/')
            .next()
            .unwrap_or("")
            .split_once('@')
            .is_some_and(|(user, _)| user.contains(':'));
    }
    let is_number = value.parse::<f64>().is_ok() && (!is_named || value.contains('.'));
    let is_plain = value.len() < MIN_RANDOM_CHARS
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        || is_number;
    if is_named {
        !is_plain
    } else {
        is_random_value(value)
    }
}

/// Returns a value in all spellings: as it is, escaped for JSON, URLs and HTML, and in base64,
/// which is marked.
fn value_forms(value: &str) -> Vec<(Vec<u8>, bool)> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json
        .get(1..json.len().saturating_sub(1))
        .unwrap_or("")
        .to_owned();
    let twice = json.replace('\\', "\\\\").replace('"', "\\\"");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let url: String = value
        .bytes()
        .map(|byte| {
            if is_plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    let html = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let plain = [value.to_owned(), json, twice, url, html].map(|form| (form.into_bytes(), false));
    let packed = (0..3).flat_map(|before| {
        let standard = base64_core(value, before);
        [standard.replace('+', "-").replace('/', "_"), standard]
            .map(|form| (form.into_bytes(), true))
    });
    plain.into_iter().chain(packed).collect()
}

/// Returns the base64 characters of a value that are independent of its neighbours, if it begins at
/// this offset in a group of three bytes.
fn base64_core(value: &str, before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before)
        .chain(value.bytes())
        .collect();
    // Each base64 character contains bits of up to two bytes.
    let (skip, end) = ((before * 4).div_ceil(3), bytes.len() * 4 / 3);
    base64::encode(&bytes)
        .get(skip..end)
        .unwrap_or("")
        .to_owned()
}

/// Returns the name of a random value in a line, if that is a secret's name.
fn find_random_value(line: &str) -> Option<&str> {
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"+/_.~-".contains(&byte);
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let len = rest.iter().take_while(|byte| is_value(**byte)).count();
        if len >= MIN_RANDOM_CHARS
            && let Some(name) = preceding_name(line.get(..at)?)
            && is_secret_name(name)
            && line.get(at..at + len).is_some_and(|value| {
                is_random_value(value.trim_end_matches('.')) && !is_placeholder(value)
            })
            && !is_code(line, at, len)
        {
            return Some(name);
        }
        at += len;
        at += bytes
            .get(at..)
            .unwrap_or(&[])
            .iter()
            .take_while(|byte| !is_value(**byte))
            .count();
    }
    None
}

/// Returns true if a value is a call or a name of a program: `token = Base.url_encode64(key)`,
/// `token = user_token_v2_base64`.
fn is_code(line: &str, at: usize, len: usize) -> bool {
    // Words, which a number may follow.
    let is_word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && part.len() - letters.len() <= 3
    };
    let value = line.get(at..at + len).unwrap_or_default();
    let is_call = line.as_bytes().get(at + len) == Some(&b'(');
    let is_assigned = line.get(..at).is_some_and(|head| head.ends_with("= "));
    let is_path = value.contains(['.', '_']);
    (is_call || is_assigned && is_path) && value.split(['.', '_']).all(is_word)
}

/// Returns the name that a value belongs to, from the text before it: `name: `, `"name": "`,
/// `NAME=`, `--name `, escaped or not.
fn preceding_name(head: &str) -> Option<&str> {
    let is_sign = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
    let bare = |text: &str| -> usize {
        let mut text = text;
        loop {
            let trimmed = text.trim_end_matches(is_sign);
            let trimmed = ["&quot;", "&#34;", "&#39;"]
                .iter()
                .find_map(|sign| trimmed.strip_suffix(sign))
                .unwrap_or(trimmed);
            if trimmed.len() == text.len() {
                return text.len();
            }
            text = trimmed;
        }
    };
    let cut = |text: &'static [&str], head: usize, whole: &str| -> usize {
        let before = whole.get(..head).unwrap_or("");
        text.iter()
            .find_map(|word| before.strip_suffix(word))
            .unwrap_or(before)
            .len()
    };
    let end = bare(head);
    let end = cut(&["Bearer", "bearer", "Basic", "basic"], end, head);
    let end = bare(head.get(..end)?);
    let before = head.get(..end)?;
    let name = |text: &str| {
        text.bytes()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte))
            .count()
    };
    let Some(before) = ["=>", ":", "="]
        .iter()
        .find_map(|sign| before.strip_suffix(sign))
    else {
        // A command option is followed by a blank.
        let option = before.get(before.len() - name(before)..)?;
        return option.strip_prefix("--").filter(|_| head.len() > end);
    };
    let before = before.get(..bare(before))?;
    let found = before.get(before.len() - name(before)..)?;
    (!found.is_empty()).then_some(found)
}

/// Returns true if a value is random: long, with letters and digits, without words, and without a
/// dominant character.
fn is_random_value(value: &str) -> bool {
    let len = value.len();
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_word = |part: &str| {
        part.len() <= 4
            || part.bytes().all(|byte| byte.is_ascii_alphabetic())
            || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if len < MIN_RANDOM_CHARS || !has(u8::is_ascii_alphabetic) || !has(u8::is_ascii_digit) {
        return false;
    }
    if value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .all(is_word)
    {
        return false;
    }
    if value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return len >= 2 * MIN_RANDOM_CHARS && shannon_entropy(value) >= MIN_HEX_ENTROPY;
    }
    shannon_entropy(value) >= MIN_ENTROPY
}

/// Returns the Shannon entropy of a text's bytes, in bits per byte.
#[allow(
    clippy::cast_precision_loss,
    reason = "a line has fewer bytes than fit"
)]
fn shannon_entropy(text: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    let shares = counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| count as f64 / all);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
#[path = "../../tests/unit/record/secret_scan.rs"]
mod tests;
