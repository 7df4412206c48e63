//! Secrets among the words of commands: `--password X`, `mysql -pX`, `curl -u name:X`, in a line or as a list of words.

use super::place::{NAME, Place};
use super::values::{Writing, has_random, is_given, is_reference, is_sentence};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// Short options that take a password: the commands, with blanks around them, the option, and whether its value is part of the same word.
const SHORT: [(&str, &str, bool); 7] = [
    (" mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlsh mariadb mariadb-dump mariadb-admin sshpass 7z 7za ", "-p", true),
    // `docker login`, `helm registry login`
    (" login sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport ", "-p", false),
    (" redis-cli redis-benchmark valkey-cli ", "-a", false),
    (" sqlcmd bcp isql mosquitto_pub mosquitto_sub zip unzip ", "-P", false),
    (" ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ", "-w", false),
    (" openssl ", "-passin", false),
    (" openssl ", "-passout", false),
];

/// Options whose value is a name and a password.
const USERS: [&str; 3] = ["-u ", "--user ", "--user="];

/// The value of an option: `--password X`, `-pX` of some commands, `-u name:X`, and `"--password", "X"` in a list.
pub(in crate::record) fn option(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    if let Some(user) = USERS.iter().find_map(|option| rest.strip_prefix(option)) {
        let start = place.skip(place.at + rest.len() - user.len());
        let (range, _) = place.value(start, b"\"'`,;<>");
        return has_password(place.text_of(&range)).then_some(range);
    }
    let Some(name) = rest.strip_prefix("--") else { return short(place) };
    let len = name.bytes().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    let strength = name_strength(name.get(..len)?)?;
    let (range, writing) = place.value(argument(&place, place.at + 2 + len)?, b"\"'`,;|<>()");
    let range = if writing == Writing::Bare { place.trimmed(range) } else { range };
    let value = place.text_of(&range);
    let is_word = writing == Writing::Bare && is_sentence(value);
    let is_weak = strength == NameStrength::Weak && !has_random(value);
    let is_none = value.starts_with(['-', '[', '|']) || is_weak || is_word || value.contains("id=") && value.contains("src=");
    place.given(range).filter(|_| !is_none)
}

/// The start of the word behind an option that ends here; in a list each word has its quotes.
fn argument(place: &Place<'_>, at: usize) -> Option<usize> {
    let is_quote = |at| matches!(place.byte(at), Some(b'"' | b'\''));
    let blank = place.skip(at);
    if blank > at {
        return Some(blank);
    }
    let comma = place.skip(at + 1);
    let next = place.skip(comma + 1);
    (is_quote(at) && place.byte(comma) == Some(b',') && is_quote(next)).then_some(next)
}

/// The value of a short option of a command that stands before it in its line.
fn short(place: Place<'_>) -> Option<Range<usize>> {
    let head = place.near(place.at, 256);
    if !matches!(head.bytes().next_back(), Some(b' ' | b'\t' | b'"' | b'\'')) {
        return None;
    }
    let (option, is_part) = short_option(head, place.rest(place.at))?;
    let end = place.at + option.len();
    let start = if is_part { end } else { argument(&place, end)? };
    let (range, writing) = place.value(start, b"\"'`,;|<>()");
    let range = if writing == Writing::Bare { place.trimmed(range) } else { range };
    is_argument(place.text_of(&range)).then_some(range)
}

/// Returns whether a word behind a short option is a password: no port, no other option, no word of a sentence.
fn is_argument(value: &str) -> bool {
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    has_letter && is_given(value) && !value.starts_with('-') && !is_sentence(value) && name_strength(value).is_none()
}

/// The short option that a word begins with, if a command before it takes a password so, and whether the word holds its value, too.
fn short_option(head: &str, word: &str) -> Option<(&'static str, bool)> {
    if !matches!(word.as_bytes(), [b'-', b'p' | b'a' | b'P' | b'w', ..]) {
        return None;
    }
    // Masked values have none of these signs with blanks around them.
    let line = ["\n", "; ", " && ", " | "].iter().fold(head, |line, end| line.rsplit(end).next().unwrap_or(line));
    let is_command = |commands: &str| {
        line.split(|sign: char| sign.is_whitespace() || "\"',[(".contains(sign)).any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            !name.is_empty() && commands.split(' ').any(|one| one == name)
        })
    };
    let row = SHORT.iter().find(|(commands, option, is_part)| {
        let behind = word.strip_prefix(option);
        let is_whole = behind.is_some_and(|rest| !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()));
        // `-p'value'`, and not `'-p', 'value'`.
        let begins = |value: &str| value.starts_with(|sign: char| !sign.is_whitespace() && !"\"',=-]".contains(sign));
        let is_longer = behind.is_some_and(|rest| begins(rest.strip_prefix(['"', '\'']).unwrap_or(rest)));
        (if *is_part { is_longer } else { is_whole }) && is_command(commands)
    });
    row.map(|(_, option, is_part)| (*option, *is_part))
}

/// Returns whether a value is a name and a password.
fn has_password(value: &str) -> bool {
    value.split_once(':').is_some_and(|(name, password)| {
        !name.is_empty() && !name.contains(['/', '$', '{', '%', '+']) && is_given(password) && !password.contains('/')
    })
}

/// The secret in a word of a list, behind the words before it: the value of an option goes as a whole.
pub(in crate::record) fn in_word(before: &str, word: &str) -> Option<Range<usize>> {
    if let Some((option, true)) = short_option(before, word) {
        return Some(option.len()..word.len()).filter(|range| word.get(range.clone()).is_some_and(is_argument));
    }
    let option = before.trim_end().rsplit(' ').next().unwrap_or("");
    let head = before.trim_end().strip_suffix(option).unwrap_or("");
    let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-'));
    let is_secret = match name.and_then(name_strength) {
        Some(NameStrength::Strong) => true,
        Some(NameStrength::Weak) => has_random(word),
        None if USERS.iter().any(|user| user.trim_end() == option) => has_password(word),
        None => short_option(head, option).is_some_and(|(_, is_part)| !is_part) && is_argument(word),
    };
    (is_secret && word.len() >= 4 && !is_reference(word) && !word.starts_with("--")).then_some(0..word.len())
}
