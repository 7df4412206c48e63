//! Lines that give a name its value, and which of these names are those of secrets.
//!
//! Knows no form of any service's keys: it goes by names alone, so that it finds what a table of forms does not have.

/// The name and the value of a line such as `NAME=value`, `export NAME="value"` or `NAME = value`; `None` for any other line.
pub fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = ["export ", "set ", "$env:"].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (is_name && !value.starts_with(['=', '>', '~'])).then(|| (name, unquoted(value)))
}

/// A value without the quotes around it, and without the comment behind them.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let quoted = value.chars().next().filter(|first| matches!(first, '"' | '\'')).and_then(|quote| {
        let rest = value.strip_prefix(quote)?;
        rest.get(..rest.find(quote)?)
    });
    quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or(value).trim_end())
}

/// Words of a name that make what it names a secret, and pairs of them.
const SECRET_WORDS: &[&str] = &[
    "apikey",
    "apitoken",
    "authorization",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "pass",
    "secret",
    "secrets",
    "secretkey",
    "accesstoken",
    "token",
];
const KEY_WORDS: &[&str] = &[
    "access",
    "account",
    "api",
    "app",
    "auth",
    "client",
    "encryption",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "shared",
    "signing",
];
/// Words behind which a name is about a secret and holds none: `token_count`, `password_policy`.
const ABOUT: &[&str] = &[
    "budget", "count", "counts", "counter", "email", "endpoint", "expiry", "field", "file", "files", "format", "header", "hint",
    "id", "kind", "length", "limit", "max", "min", "name", "names", "path", "policy", "prefix", "reset", "rule", "rules", "type",
    "uri", "url",
];

/// Whether a name is that of a secret: `API_KEY`, `dbPassword`, `client-secret`, `STRIPE_KEY`.
pub fn names_secret(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    if ABOUT.contains(&last.as_str()) {
        return false;
    }
    let is_upper = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let before = words.iter().rev().nth(1);
    let is_key = last == "key" && (is_upper && before.is_some() || before.is_some_and(|word| KEY_WORDS.contains(&word.as_str())));
    // `PUBLIC_KEY`, `SORT_KEY`
    let is_open =
        before.is_some_and(|word| ["public", "primary", "foreign", "sort", "partition", "cache"].contains(&word.as_str()));
    (is_key && !is_open) || words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// The words of a name in small letters, divided by signs and by capital letters.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_behind_small = false;
    let mut is_new = true;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            is_new = true;
            continue;
        }
        if is_new || is_behind_small && letter.is_uppercase() {
            words.push(String::new());
        }
        is_new = false;
        is_behind_small = letter.is_lowercase() || letter.is_ascii_digit();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Whether a value stands for one that is filled in elsewhere: `${TOKEN}`, `<your key>`, `changeme`, `***`.
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
        || first.is_some_and(|first| "$<{%@⟦".contains(first) || value.chars().all(|c| c == first || c == '.' || c == '…'))
        || ["null", "none", "true", "false"].contains(&small.as_str())
        || WORDS.iter().any(|word| small.contains(word))
}

#[cfg(test)]
#[path = "../../tests/unit/base/secret_line.rs"]
mod tests;
