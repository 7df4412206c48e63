//! Values of environment files that are not secrets in spite of their names: references, requests
//! for a value, and paths.
//!
//! Judges a value as a whole: one of these words inside a longer value proves nothing.

/// Keys that the documentation of services and standards publishes as samples: of AWS, of jwt.io,
/// and of RFC 7519 and 7617.
pub const PUBLISHED_SAMPLES: [&str; 7] = [
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    concat!(
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
        ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    ),
    concat!(
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        ".eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0",
        ".KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30"
    ),
    concat!(
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
        ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
        ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    ),
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "dXNlcm5hbWU6cGFzc3dvcmQ=",
];

/// Returns true if a value is one of the samples, or an AWS key whose last letters are `EXAMPLE`.
pub fn is_sample(value: &str) -> bool {
    let is_of_aws = matches!(value.get(..4), Some("AKIA" | "ASIA"))
        && value.len() == 20
        && value.ends_with("EXAMPLE");
    let value = value.trim_end_matches('=');
    is_of_aws
        || PUBLISHED_SAMPLES
            .iter()
            .any(|sample| sample.trim_end_matches('=') == value)
}

/// Words that request a value, independent of the words beside them.
const REQUEST_WORDS: &str =
    " your yours changeme changeit changethis replaceme placeholder redacted ";

/// Words that request a value or mean that none exists, if only words of `FILLER_WORDS` stand
/// beside them.
const LONE_REQUEST_WORDS: &str = " change dummy example fake foobar here insert replace sample todo null none nil undefined true false masked hidden required tbd ";

const FILLER_WORDS: &str = " a an the me my our this that it with in from of for to on at please value values key keys api token secret \
                       password passwd pass user username name id url host db database sk pk live test prod dev access private public client \
                       app application set put add enter fill paste goes before after production use own real actual must be some \
                       new random string text generated generate service account admin openai anthropic github gitlab stripe google aws \
                       azure slack gemini mistral ";

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| !one.is_empty() && one == word)
}

/// Returns true if a value as a whole refers to another one or requests one: `${TOKEN}`, `<your
/// key>`, `changeme`, `***`.
pub fn is_whole_placeholder(value: &str) -> bool {
    let value = value.trim();
    let inner = value
        .strip_prefix(['[', '(', '<'])
        .and_then(|value| value.strip_suffix([']', ')', '>']))
        .unwrap_or(value);
    let first = value.chars().next();
    value.len() < 4
        || value.chars().all(|sign| Some(sign) == first)
        || value.starts_with('⟦') && value.ends_with('⟧')
        || is_sample(value)
        || is_whole_reference(value)
        || requests_value(inner)
}

fn is_name(value: &str) -> bool {
    let begins = value.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    begins
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns true if a value is a reference from its first character to its last.
fn is_whole_reference(value: &str) -> bool {
    let within = |open: &str, close: &str| {
        value
            .strip_prefix(open)
            .and_then(|value| value.strip_suffix(close))
    };
    let is_element = within("<", ">").is_some_and(|inner| !inner.contains(['<', '>']));
    let is_percent = within("%", "%").is_some_and(is_name);
    let pairs = [
        ("${", "}"),
        ("$(", ")"),
        ("{{", "}}"),
        ("#{", "}"),
        ("<%", "%>"),
    ];
    value.strip_prefix('$').is_some_and(is_name)
        || is_element
        || is_percent
        || pairs
            .iter()
            .any(|(open, close)| within(open, close).is_some())
}

/// Returns true if a value consists of words that request a value, or is a name in capitals
/// (`API_KEY`), and no word has a digit in it.
fn requests_value(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    let mut words = small
        .split(|sign: char| !sign.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let is_row = |word: &str| {
        word.len() > 2
            && word
                .bytes()
                .all(|byte| word.as_bytes().first() == Some(&byte))
    };
    let (mut requests, mut others) = (value.contains("...") || value.contains('…'), false);
    // `My API key`
    let mut alone = value.contains(' ') && value.len() < 32
        || is_name(value) && !value.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_words = words.all(|word| {
        let word = word.trim_end_matches(|sign: char| sign.is_ascii_digit());
        requests |= is_in(REQUEST_WORDS, word);
        alone |= is_in(LONE_REQUEST_WORDS, word) || is_row(word);
        others |= !word.is_empty()
            && !is_in(REQUEST_WORDS, word)
            && !is_in(LONE_REQUEST_WORDS, word)
            && !is_in(FILLER_WORDS, word)
            && !is_row(word);
        word.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let is_spelled = value.is_ascii() || value.contains('…');
    is_words
        && is_spelled
        && !value.contains(['!', '#', '@', '%', '^', '&', '~'])
        && (requests || alone && !others)
}

/// Returns true if a value is the path of a file: from a root folder of the machine, of names
/// without digits and capitals, or with the extension of a key file.
pub fn is_path(value: &str) -> bool {
    const ROOTS: &str = " app applications builds code config data dev etc home host keys library mnt nix opt private proc root run secrets \
                         snap srv ssl tmp usr users var volumes work workspace ";
    const ENDINGS: [&str; 11] = [
        ".pem", ".key", ".json", ".yaml", ".yml", ".txt", ".crt", ".cer", ".p12", ".pfx", ".pub",
    ];
    let is_plain = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'_' | b'-'))
    };
    let is_rooted = value.strip_prefix('/').is_some_and(|rest| {
        let is_root = rest
            .split_once('/')
            .is_some_and(|(first, _)| is_in(ROOTS, &first.to_ascii_lowercase()));
        is_root || rest.split('/').all(is_plain)
    });
    let is_drive = value.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && value
            .get(1..3)
            .is_some_and(|rest| matches!(rest, ":\\" | ":/"));
    let is_here = ["~/", "./", "../"]
        .iter()
        .any(|head| value.starts_with(head));
    is_rooted || is_drive || is_here || ENDINGS.iter().any(|ending| value.ends_with(ending))
}

#[cfg(test)]
#[path = "../../../tests/unit/base/secrets/placeholders.rs"]
mod tests;
