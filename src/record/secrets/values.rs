//! Values after the names of secrets: separates secrets from references, placeholders, types, code
//! and plain words.
//!
//! Never uses a name beyond its given strength.

use crate::base::secrets::known_forms::is_uuid;
use crate::base::secrets::names::{NameStrength, name_strength};
use crate::base::secrets::placeholders::{
    is_path as is_file_path, is_sample, is_whole_placeholder,
};

/// The notation of a value, which determines its possible characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::record) enum ValueNotation {
    /// Between quotes, or a JSON string.
    Quoted,
    /// The rest of a YAML line or of a sentence.
    Line,
    /// A word of code.
    Bare,
}

/// Words that are not values.
const KEYWORDS: &str = " true false null none nil undefined yes no on off void never string str text bool boolean number int integer \
                        float object array bytes any optional required basic bearer digest ntlm ";

/// Words that mark a value for the reader to fill in.
const PLACEHOLDER_WORDS: [&str; 20] = [
    "your",
    "example",
    "changeme",
    "changeit",
    "changethis",
    "change-me",
    "change_me",
    "change-this",
    "change_this",
    "placeholder",
    "xxxx",
    "replace",
    "insert",
    "redacted",
    "...",
    "…",
    "****",
    "todo",
    "<",
    "⟦",
];

/// Lower-case prefixes of values that refer to another place.
const REFERENCE_PREFIXES: [&str; 30] = [
    "${",
    ".$",
    "$(",
    "$[",
    "{{",
    "#{",
    "@{",
    "%{",
    "%(",
    "{",
    "process.env",
    "os.environ",
    "os.getenv",
    "import.meta",
    "env.",
    "secrets.",
    "secret:",
    "secretref:",
    "vault:",
    "op://",
    "arn:",
    "ref+",
    "env:",
    "file:",
    "keychain:",
    "self.",
    "this.",
    "enc[",
    "dev:",
    // A pattern.
    "(?",
];

/// Words after an option that continue a sentence or describe its argument.
const SENTENCE_WORDS: &str = " is to or and for the a an if in with flag option options argument parameter instead when as from on must can will \
                        should that which value of string text file path str int name stdin env prompt not are was has at by via this \
                        it its your only also then be may optional required ";

fn is_keyword(value: &str) -> bool {
    KEYWORDS
        .split(' ')
        .any(|word| !word.is_empty() && word.eq_ignore_ascii_case(value))
}

/// Returns true if a value refers to a variable, another place or a file.
pub(super) fn is_reference(value: &str) -> bool {
    let head: String = value
        .chars()
        .take(12)
        .collect::<String>()
        .to_ascii_lowercase();
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_variable = value
        .strip_prefix('$')
        .is_some_and(|name| is_name(name) || name.starts_with(['{', '(', '$', '*', '@']));
    let is_percent = value
        .strip_prefix('%')
        .is_some_and(|name| name.len() < 3 || is_name(name.trim_end_matches('%')));
    let is_file = value.starts_with(['/', '~'])
        && value.bytes().filter(|byte| *byte == b'/').count() > 1
        && !has_random(value)
        || ["./", "../", "~/"]
            .iter()
            .any(|head| value.starts_with(head))
        || [
            ".pem", ".key", ".json", ".yaml", ".yml", ".txt", ".crt", ".cer", ".p12", ".pfx",
            ".env", ".pub", ".py", ".js", ".ts",
        ]
        .iter()
        .any(|ending| value.ends_with(ending));
    // `!Ref`, `!secret` of YAML.
    // An address without a login.
    let is_socket = ["tcp://", "unix://"]
        .iter()
        .any(|scheme| value.starts_with(scheme))
        && !value.contains('@');
    let is_tag = value.strip_prefix('!').is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    is_variable
        || is_socket
        || is_tag
        || is_percent
        || is_file
        || REFERENCE_PREFIXES
            .iter()
            .any(|start| head.starts_with(start))
}

/// Returns true if a value is empty or to be filled in.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut signs = value.chars();
    let first = signs.next();
    signs.all(|sign| Some(sign) == first)
        || is_keyword(value)
        || PLACEHOLDER_WORDS.iter().any(|part| lower.contains(part))
        || lower.ends_with("here")
        || lower.starts_with("xxx")
        // `PASSWORD`, `API_KEY`
        || value.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'))
        || value.contains("_PASSWORD_") && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        || value.starts_with('[') && value.ends_with(']')
        || value.contains("%s") || value.contains("${") || value.contains("{{") || value.contains("#{")
        || is_sample(value)
        // `My API key`
        || value.contains(' ') && is_whole_placeholder(value)
}

/// Returns true if the value is code: a call, an index or a format.
fn is_code(value: &str) -> bool {
    let name = value
        .bytes()
        .take_while(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'?' | b'!')
        })
        .count();
    let begins_name = value.starts_with(|sign: char| {
        sign.is_ascii_alphabetic() || sign == '_' || sign == '&' || sign == '*'
    });
    begins_name
        && value
            .get(name..)
            .is_some_and(|rest| rest.starts_with(['(', '[', '{', '<']) || rest.starts_with("=>"))
}

/// Returns true if a value is a version or a version range: `7.21.4`, `^4.0.0`.
fn is_version(value: &str) -> bool {
    let version = value.trim_start_matches(['^', '~', '>', '=', '<', 'v']);
    version.contains('.')
        && version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns true if a value is a wallet's recovery phrase: 12 to 24 words of three to eight
/// lower-case letters.
fn is_wallet_phrase(value: &str) -> bool {
    let is_word = |word: &str| {
        (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    value.contains(' ')
        && matches!(value.split(' ').count(), 12 | 15 | 18 | 21 | 24)
        && value.split(' ').all(is_word)
}

/// Returns true if a value is a secret where only secrets are expected: in a line of an environment
/// file, after an option, in a header or a URL.
pub(super) fn is_secret_value(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = !is_number && is_version(value);
    let min = if is_number { 6 } else { 4 };
    value.len() >= min
        && !is_version
        && !is_reference(value)
        && !is_placeholder(value)
        && !is_code(value)
        || is_wallet_phrase(value)
}

/// Returns true if a value between other lines of an environment file is a secret: anything but a
/// reference, a placeholder, a path and code.
pub(super) fn is_assigned_secret(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_inner = |start: &str| ["{", "self.", "this."].contains(&start);
    let is_reference = REFERENCE_PREFIXES
        .iter()
        .any(|start| !is_inner(start) && lower.starts_with(start));
    let is_placeholder = PLACEHOLDER_WORDS
        .iter()
        .chain(&["%s", "${", "{{", "#{"])
        .any(|part| lower.contains(part))
        || is_whole_placeholder(value);
    let is_call = value.ends_with(['(', '[', '{', ','])
        || value.ends_with([')', ']', '}']) && value.starts_with(char::is_lowercase);
    let is_number = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_name = is_keyword(value) || is_member(value) || name_strength(value).is_some();
    let is_other = is_reference || is_placeholder || is_number || is_name || is_file_path(value);
    value.len() >= 6 && !is_other && (!is_call || !is_code(value))
}

/// Returns true if a value is an object member: `config.password`.
fn is_member(value: &str) -> bool {
    value.contains('.')
        && value.split('.').all(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        })
}

/// Returns true if a word continues a sentence after an option or a name.
pub(super) fn is_sentence_word(word: &str) -> bool {
    SENTENCE_WORDS
        .split(' ')
        .any(|one| one.eq_ignore_ascii_case(word))
}

/// Returns true if a value can be a secret by itself: not a secret's name, an object member
/// (`config.password`) or a word of a sentence.
pub(super) fn is_standalone_secret(value: &str) -> bool {
    let is_word = value.is_ascii() && !value.contains(' ');
    is_word
        && is_secret_value(value)
        && value.len() >= 6
        && !is_member(value)
        && name_strength(value).is_none()
        && !is_sentence_word(value)
}

/// Returns true if a value with `/` is a path: absolute, of a file, or of names without digits and
/// versions.
fn is_path(value: &str) -> bool {
    let is_name = |part: &str| {
        part.trim_start_matches('v')
            .bytes()
            .all(|byte| !byte.is_ascii_digit())
            || part.len() < 3
    };
    value.contains('/')
        && (value.starts_with(['/', '~', '.', '@'])
            || names_file(value)
            || value.split('/').all(is_name))
}

/// Returns true if a value is a path whose last part has an extension.
fn names_file(value: &str) -> bool {
    value
        .rsplit_once(['/', '\\'])
        .is_some_and(|(_, name)| name.contains('.'))
}

/// Returns true if a value is a secret anywhere, after a name of this strength that is a password's
/// or not.
pub(super) fn is_likely_secret(
    value: &str,
    strength: NameStrength,
    is_password: bool,
    writing: ValueNotation,
) -> bool {
    if strength == NameStrength::Strong && is_wallet_phrase(value) {
        return true;
    }
    // A type, such as `*const`
    let is_pointer = value
        .strip_prefix('*')
        .is_some_and(|kind| is_member(kind) || kind.bytes().all(|byte| byte.is_ascii_lowercase()));
    if value.len() < 6
        || is_pointer
        || is_version(value)
        || is_reference(value)
        || is_placeholder(value)
        || value.bytes().any(|byte| byte.is_ascii_whitespace())
    {
        return false;
    }
    if writing != ValueNotation::Quoted && (is_code(value) || value.contains(['(', '{', '[', '`']))
    {
        return false;
    }
    // The prefixes of public keys of P-256, RSA and Ed25519.
    let is_public = ["MFkwEwYHKoZIzj0CAQ", "MIIBIjANBgkqhkiG9w0B", "MCowBQYDK2Vw"]
        .iter()
        .any(|head| value.starts_with(head));
    let is_hash = [
        "sha256", "sha1-", "sha1:", "sha384", "sha512", "md5:", "http:", "https:",
    ]
    .iter()
    .any(|head| value.starts_with(head));
    match strength {
        _ if is_public => false,
        NameStrength::Weak => {
            value.len() >= 16 && !is_hash && !names_file(value) && has_random(value)
        }
        NameStrength::Strong if is_uuid(value) => true,
        NameStrength::Strong if has_random(value) => !(is_hash && value.starts_with("http")),
        NameStrength::Strong => {
            is_password && writing != ValueNotation::Bare && is_chosen_password(value, writing)
        }
    }
}

/// Returns true if a person may have chosen this value as a password: words with digits and signs,
/// not a name and not plain words.
fn is_chosen_password(value: &str, writing: ValueNotation) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let letters = has(|byte| byte.is_ascii_alphabetic());
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let signs = has(|byte| b"!@#$%^&*+=~?".contains(&byte));
    let is_number = !letters && value.bytes().all(|byte| byte.is_ascii_digit());
    let names = [
        "password", "passwd", "secret", "token", "key", "pass", "base64", "sha", "md5", "oauth",
        "utf", "aes",
    ];
    let lower = value.to_ascii_lowercase();
    let bare =
        lower.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '_' || sign == '-');
    let is_name = writing == ValueNotation::Line && names.contains(&bare);
    let in_words = value.contains([
        '\\', ',', ';', ':', '|', '<', '>', '(', ')', '{', '}', '[', ']', '"', '\'',
    ]) || is_path(value);
    (is_number && digits >= 6 && writing == ValueNotation::Quoted
        || letters && (digits > 0 || signs && !value.ends_with(['!', '?', '=', '*'])))
        && !is_name
        && !in_words
}

/// Returns true if a part of a value is neither a word nor a number: letters alternate with digits,
/// or upper case with lower case.
pub(super) fn has_random(value: &str) -> bool {
    value
        .split(|sign: char| !sign.is_ascii_alphanumeric())
        .any(|part| is_random_part(part.as_bytes()))
        || is_base64(value.as_bytes())
}

/// The composition of a sequence of letters and digits.
#[derive(Default)]
struct SignCounts {
    digits: usize,
    letters: usize,
    /// The number of changes between letters and digits.
    turns: usize,
    /// The number of letter runs; a run ends at a digit and at a capital after a lower-case letter.
    rows: usize,
}

fn count_signs(part: &[u8]) -> SignCounts {
    let mut shape = SignCounts::default();
    let mut before = 0_u8;
    for byte in part {
        if byte.is_ascii_digit() {
            shape.digits += 1;
            shape.turns += usize::from(before.is_ascii_alphabetic());
        } else if byte.is_ascii_alphabetic() {
            shape.letters += 1;
            shape.turns += usize::from(before.is_ascii_digit());
            let goes_on = before.is_ascii_alphabetic()
                && !(before.is_ascii_lowercase() && byte.is_ascii_uppercase());
            shape.rows += usize::from(!goes_on);
        }
        before = *byte;
    }
    shape
}

fn is_random_part(part: &[u8]) -> bool {
    let SignCounts {
        digits,
        letters,
        turns,
        rows,
    } = count_signs(part);
    let len = part.len();
    // The words of a name have more than three letters each.
    let is_short = |tenths: usize| letters * 10 <= rows * tenths;
    match (digits, turns) {
        (0, _) => len >= 16 && is_short(28),
        (_, 0 | 1) => len >= 16 && letters > 0 && is_short(28),
        (_, 2) => {
            len >= 8 && digits >= 2 && letters >= 2 && is_short(30)
                || len >= 14 && digits >= 5 && is_short(60)
        }
        (_, 3) => len >= 10 && digits >= 2 && is_short(35),
        _ => len >= 8 && is_short(45),
    }
}

/// Returns true if a value is base64 whose signs split it into short parts.
fn is_base64(value: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let SignCounts {
        digits,
        letters,
        rows,
        ..
    } = count_signs(value);
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_long = value.len() >= 24
        || value.len() >= 12 && digits > 1 && has(u8::is_ascii_lowercase) && !value.ends_with(b"/");
    is_long
        && digits > 0
        && value.iter().all(is_sign)
        && letters * 10 <= rows * if value.len() >= 24 { 32 } else { 25 }
        && has(u8::is_ascii_uppercase)
}
