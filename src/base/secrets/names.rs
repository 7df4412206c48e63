//! Names whose values are secrets: variables, keys of JSON and YAML, options, headers, URL
//! parameters.
//!
//! Looks at a value only to detect placeholders. A separate, much shorter list names the variables
//! withheld from child processes: a command may need the password of its database, and its output
//! is masked.

use super::placeholders::{is_path, is_sample};

/// Endings of variables that no child process receives.
const WITHHELD_ENDINGS: [&str; 3] = ["_KEY", "_TOKEN", "_SECRET"];

/// The evidence that a name alone gives of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStrength {
    /// The value is a secret, unless it is plainly something else: `db_password`, `clientSecret`,
    /// `STRIPE_KEY`.
    Strong,
    /// The value is a secret if it looks like one: `cookie`, `session`, `row_key`.
    Weak,
}

use NameStrength::{Strong, Weak};

/// Parts of names: a name of a secret contains at least one of them.
const STEMS: [&str; 17] = [
    "auth", "bearer", "conn", "cookie", "cred", "dsn", "hook", "jwt", "key", "mnemonic", "pass",
    "pat", "pw", "secret", "session", "sid", "token",
];

/// Last words of names of secrets, and endings of compound words that are such names (`PGPASSWORD`,
/// `authtoken`).
const COMPOUND_ENDINGS: [&str; 13] = [
    "password",
    "storepass",
    "keypass",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "token",
    "secretkey",
    "privatekey",
    "accesskey",
    "credentials",
];

/// Last words that suffice alone.
const WORDS: [&str; 7] = [
    "pwd",
    "credential",
    "creds",
    "jwt",
    "authorization",
    "mnemonic",
    "connstr",
];

/// Words that make a following `key` a secret.
const SECRET_KEY_WORDS: &str = " api access private secret encryption encrypt crypto cipher signing sign master service auth account admin app \
                    application client consumer deploy license licence ssh gpg pgp rsa aes jwt jwk hmac webhook write subscription \
                    rest function ingest ingestion fernet shared openai anthropic stripe ";

/// Words that make a following `key` a plain name.
const PLAIN_KEY_WORDS: &str = " public pub primary foreign cache sort partition index map row dict hash range group object composite \
                          unique natural surrogate i18n translation message event config tab arrow enter hot short shortcut meta \
                          ctrl shift alt backspace delete escape esc up down left right any each this lookup join query \
                          parent child sub dedupe dedup idempotency storage localstorage column field label metric type react \
                          routing topic s3 bucket blob item entry attr attribute property prop json yaml xml registry env option \
                          setting settings state context error resource socket websocket ";

/// Words that make a following `token` a piece of text or a position in a list.
const PLAIN_TOKEN_WORDS: &str = " page next previous prev continuation sync cursor resume bos eos pad unk sep cls mask special stop start \
                            begin end first last initial cancellation cancel design max min num prompt completion input output total cached \
                            image audio text word sub reserved syntax lex lexer parser any each this line inner outer open \
                            close closing opening eof eol newline dot comma colon semi op operator identifier number string literal \
                            keyword brace bracket paren matching time tree ";

/// Words that make a following `secret` the name of a secret stored elsewhere.
const NAMED_SECRET_WORDS: &str = " cert certs tls pull license password ";

/// Words that may follow the decisive word.
const TRAILING_WORDS: &str = " prod production dev development test testing staging stage live sandbox old new current previous prev backup \
                     default value val base confirm confirmation b64 base64 encoded plain plaintext raw main secondary alt override \
                     again repeat ";

fn is_in(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|one| one == word)
}

/// Returns true if a name may belong to a secret: a cheap test that excludes most names.
fn has_stem(name: &[u8]) -> bool {
    let begins = |at: usize, stem: &str| {
        name.get(at..at + stem.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(stem.as_bytes()))
    };
    // The first two letters of the stems.
    let is_one = |first: u8, second: u8| {
        matches!(
            (first | 0x20, second | 0x20),
            (b'a', b'u')
                | (b'b' | b'k', b'e')
                | (b'c', b'o' | b'r')
                | (b'd', b's')
                | (b'h' | b't', b'o')
                | (b'j', b'w')
                | (b'm', b'n')
                | (b'p', b'a' | b'w')
                | (b's', b'e' | b'i')
        )
    };
    name.windows(2).enumerate().any(|(at, two)| {
        matches!(two, [first, second] if is_one(*first, *second))
            && STEMS.iter().any(|stem| begins(at, stem))
    })
}

/// The words of a name in lower case: `clientSecret` and `client.secret` have two, `X-Api-Key`
/// three.
fn split_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let begins = byte.is_ascii_uppercase()
            && (before.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
                || before.is_some_and(u8::is_ascii_uppercase)
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if !byte.is_ascii_alphanumeric() || begins {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The evidence that a name gives of its value; `None` if its value is not a secret.
pub fn name_strength(name: &str) -> Option<NameStrength> {
    // Only the end of a long name counts.
    let name = name
        .get(name.ceil_char_boundary(name.len().saturating_sub(96))..)
        .unwrap_or(name);
    if !has_stem(name.as_bytes()) {
        return None;
    }
    let is_variable = !name.bytes().any(|byte| byte.is_ascii_lowercase()) && name.contains('_');
    let mut words = split_words(name);
    while words.len() > 1
        && words.last().is_some_and(|last| {
            is_in(TRAILING_WORDS, last) || last.bytes().all(|byte| byte.is_ascii_digit())
        })
    {
        words.pop();
    }
    let last = words.pop()?;
    let last = last.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let before = words.last().map_or("", String::as_str);
    // `--pass`
    let has_company = !before.is_empty() || name.starts_with('-');
    match last {
        "key" if is_in(PLAIN_KEY_WORDS, before) => None,
        "token" if is_in(PLAIN_TOKEN_WORDS, before) => None,
        "secret"
            if is_in(NAMED_SECRET_WORDS, before) || words.iter().any(|word| word == "existing") =>
        {
            None
        }
        "credentials" if before == "allow" => None,
        // The current folder of a shell.
        "pwd" if name == "PWD" => None,
        "key"
            if is_in(SECRET_KEY_WORDS, before)
                || is_variable
                || matches!(name.as_bytes(), [b'x' | b'X', b'-', ..]) =>
        {
            Some(Strong)
        }
        "keys" if is_in(SECRET_KEY_WORDS, before) => Some(if is_variable { Strong } else { Weak }),
        "auth" | "dsn" | "pat" | "cookie" if is_variable => Some(Strong),
        "pass" | "pw" => Some(if has_company { Strong } else { Weak }),
        "string" | "str" | "url" | "uri" if matches!(before, "connection" | "conn" | "webhook") => {
            Some(Strong)
        }
        "key" | "auth" | "dsn" | "cookie" | "cookies" | "session" | "sid" | "sessionid"
        | "webhook" | "bearer" => Some(Weak),
        "pat" if has_company => Some(Weak),
        _ if WORDS.contains(&last)
            || COMPOUND_ENDINGS.iter().any(|ending| last.ends_with(ending)) =>
        {
            Some(Strong)
        }
        _ if matches!(last, "connectionstring" | "webhookurl") => Some(Strong),
        _ => None,
    }
}

/// Returns true if the name alone shows that its value is a secret.
pub fn is_secret_name(name: &str) -> bool {
    name_strength(name) == Some(Strong)
}

/// Returns true if a variable is withheld from child processes.
pub fn is_withheld(name: &str) -> bool {
    WITHHELD_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns true if the value of a variable is masked wherever it occurs. A path of a file is not a
/// secret.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    is_withheld(name) || is_secret_name(name) && !is_path(value)
}

/// Returns true if a value is a placeholder: `${TOKEN}`, `<your key>`, `changeme`, `***`.
pub fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "changeme",
        "change-me",
        "change_me",
        "dummy",
        "example",
        "fake",
        "foobar",
        "insert",
        "placeholder",
        "redacted",
        "replace",
        "sample",
        "todo",
        "your",
    ];
    let value = value.trim();
    let small = value.to_ascii_lowercase();
    let first = value.chars().next();
    value.len() < 4
        || first.is_some_and(|first| {
            "$<{%@⟦".contains(first) || value.chars().all(|c| c == first || c == '.' || c == '…')
        })
        || ["null", "none", "true", "false"].contains(&small.as_str())
        || WORDS.iter().any(|word| small.contains(word))
        || is_sample(value)
}

#[cfg(test)]
#[path = "../../../tests/unit/base/secrets/names.rs"]
mod tests;
