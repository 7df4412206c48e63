//! Secrets in commands: `--password X`, `mysql -pX`, `curl -u name:X`, in a line or as a list of
//! words.

use super::place::{MAX_NAME_BYTES, ScanPosition};
use super::values::{ValueNotation, has_random, is_secret_value, is_sentence_word};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// An option whose name does not show that it takes a secret.
struct ShortOption {
    /// The commands that have it, surrounded by blanks; empty for any command.
    commands: &'static str,
    option: &'static str,
    /// True if the value is part of the same word.
    is_part: bool,
    is_secret: fn(&str) -> bool,
}

const fn option_row(
    commands: &'static str,
    option: &'static str,
    is_part: bool,
    is_secret: fn(&str) -> bool,
) -> ShortOption {
    ShortOption {
        commands,
        option,
        is_part,
        is_secret,
    }
}

const SHORT_OPTIONS: [ShortOption; 10] = [
    option_row(
        " mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlsh mariadb mariadb-dump mariadb-admin sshpass 7z 7za ",
        "-p",
        true,
        is_password_argument,
    ),
    // `docker login`, `helm registry login`
    option_row(
        " login sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport ",
        "-p",
        false,
        is_password_argument,
    ),
    option_row(
        " redis-cli redis-benchmark valkey-cli ",
        "-a",
        false,
        is_password_argument,
    ),
    option_row(
        " sqlcmd bcp isql mosquitto_pub mosquitto_sub zip unzip ",
        "-P",
        false,
        is_password_argument,
    ),
    option_row(
        " ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ",
        "-w",
        false,
        is_password_argument,
    ),
    option_row(" openssl ", "-passin", false, is_password_argument),
    option_row(" openssl ", "-passout", false, is_password_argument),
    option_row(" curl ", "-u", true, is_login),
    option_row("", "-u", false, is_login),
    option_row("", "--user", false, is_login),
];

/// The first keys of a container engine's secret option: `--secret id=name,src=path`.
const MOUNT_KEYS: [&str; 4] = ["id=", "source=", "src=", "type="];

/// Returns the value of an option: `--password X`, `-storepass X`, `-pX` of some commands, `-u
/// name:X`, and `"--password", "X"` in a list.
pub(super) fn option_value(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let begins_word = place
        .byte_before(place.at)
        .is_none_or(|before| b" \t\n\r\"'`([".contains(&before));
    if let Some(found) = short_option_value(place).filter(|_| begins_word) {
        return Some(found);
    }
    let word = place.text_from(place.at);
    let is_long = word.starts_with("--");
    let len = word
        .bytes()
        .take(MAX_NAME_BYTES)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
        .count();
    let strength = name_strength(word.get(..len)?)
        .filter(|strength| is_long || begins_word && *strength == NameStrength::Strong)?;
    let (range, writing) = place.value_at(argument_start(&place, place.at + len)?, b"\"'`,;|<>()");
    let range = if writing == ValueNotation::Bare {
        place.trim_punctuation(range)
    } else {
        range
    };
    let value = place.slice(&range);
    let is_word = writing == ValueNotation::Bare && is_sentence_word(value)
        || (!is_long || value.contains('_')) && name_strength(value).is_some();
    let is_weak = strength == NameStrength::Weak && !has_random(value);
    let is_none = value.starts_with(['-', '[', '|'])
        || is_weak
        || is_word
        || MOUNT_KEYS.iter().any(|key| value.starts_with(key));
    place.secret_range(range).filter(|_| !is_none)
}

/// Returns the start of the word after an option that ends here; in a list, each word has its own
/// quotes.
fn argument_start(place: &ScanPosition<'_>, at: usize) -> Option<usize> {
    let is_quote = |at| matches!(place.byte_at(at), Some(b'"' | b'\''));
    let blank = place.skip_blanks(at);
    if blank > at {
        return Some(blank);
    }
    let comma = place.skip_blanks(at + 1);
    let next = place.skip_blanks(comma + 1);
    (is_quote(at) && place.byte_at(comma) == Some(b',') && is_quote(next)).then_some(next)
}

/// Returns the value of an option in the table.
fn short_option_value(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let ShortOption {
        option,
        is_part,
        is_secret,
        ..
    } = match_short_option(place.text_before(place.at, 256), place.text_from(place.at))?;
    let end = place.at + option.len();
    let start = match place.byte_at(end) {
        _ if *is_part => end,
        Some(b'=') => end + 1,
        _ => argument_start(&place, end)?,
    };
    let (range, writing) = place.value_at(start, b"\"'`,;|<>()");
    let range = if writing == ValueNotation::Bare {
        place.trim_punctuation(range)
    } else {
        range
    };
    is_secret(place.slice(&range)).then_some(range)
}

/// Returns true if the word after a short option is a password: not a port, an option or a word of
/// a sentence.
fn is_password_argument(value: &str) -> bool {
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    has_letter
        && is_secret_value(value)
        && !value.starts_with('-')
        && !is_sentence_word(value)
        && name_strength(value).is_none()
}

/// Returns true if a value is a name and a password.
fn is_login(value: &str) -> bool {
    value.split_once(':').is_some_and(|(name, password)| {
        !name.is_empty()
            && !name.contains(['/', '$', '{', '%', '+'])
            && is_secret_value(password)
            && !password.contains('/')
    })
}

/// Returns the option that a word begins with, if a command before it has that option.
fn match_short_option(head: &str, word: &str) -> Option<&'static ShortOption> {
    if !matches!(
        word.as_bytes(),
        [b'-', b'p' | b'a' | b'P' | b'w' | b'u', ..] | [b'-', b'-', b'u', ..]
    ) {
        return None;
    }
    let ends_line = |at: &usize| {
        !head
            .get(..*at)
            .is_some_and(|head| head.ends_with(['\\', '\r']))
    };
    let line = head
        .rmatch_indices('\n')
        .map(|(at, _)| at)
        .find(ends_line)
        .and_then(|at| head.get(at..))
        .unwrap_or(head);
    // Masked values contain none of these separators surrounded by blanks.
    let line = ["; ", " && ", " | "]
        .iter()
        .fold(line, |line, end| line.rsplit(end).next().unwrap_or(line));
    let is_command = |commands: &str| {
        line.split(|sign: char| sign.is_whitespace() || "\"',[(".contains(sign))
            .any(|word| {
                let name = word.rsplit('/').next().unwrap_or(word);
                !name.is_empty() && commands.split(' ').any(|one| one == name)
            })
    };
    SHORT_OPTIONS.iter().find(
        |ShortOption {
             commands,
             option,
             is_part,
             ..
         }| {
            let behind = word.strip_prefix(option);
            let is_whole = behind.is_some_and(|rest| {
                !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '-')
            });
            // `-p'value'`, and not `'-p', 'value'`.
            let begins = |value: &str| {
                value.starts_with(|sign: char| !sign.is_whitespace() && !"\"',=-]".contains(sign))
            };
            let is_longer =
                behind.is_some_and(|rest| begins(rest.strip_prefix(['"', '\'']).unwrap_or(rest)));
            (if *is_part { is_longer } else { is_whole })
                && (commands.is_empty() || is_command(commands))
        },
    )
}
