//! Values in texts: versions, commits, addresses and ports, each with the word that it belongs to.
//!
//! Never quantities: `30 s` is written in too many ways for a summary to be held to it.

use crate::session::sentences::content_words;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFact<'t> {
    /// Its kind: `version`, `commit`, `address` or `port`.
    pub kind: &'static str,
    /// The word that it belongs to, in lower case; empty if there is none.
    pub word: String,
    /// The value, as written.
    pub value: &'t str,
}

impl ValueFact<'_> {
    /// Returns the thing that has the value: `version phoenix`.
    pub fn slot(&self) -> String {
        format!("{} {}", self.kind, self.word).trim_end().to_owned()
    }

    /// Returns the value in the form in which it is compared.
    pub fn normal_value(&self) -> &str {
        match self.kind {
            "commit" => self.value.get(..7).unwrap_or(self.value),
            "address" => self.value.trim_end_matches('/'),
            _ => self.value.trim_start_matches('v'),
        }
    }

    /// Returns its identity. Commits and addresses identify themselves.
    pub fn key(&self) -> String {
        format!("{} {}", self.slot(), self.normal_value())
    }
}

/// Words before a commit.
const COMMIT_WORDS: &str = " commit commits sha rev revision hash head at checkout revert cherry-pick pick onto main master branch ref pushed merge ";

/// Returns the values of a text.
pub fn values(text: &str) -> Vec<ValueFact<'_>> {
    let mut found = Vec::new();
    for line in text.lines() {
        // Every value but an address has a digit.
        if !line.bytes().any(|byte| byte.is_ascii_digit()) && !line.contains("://") {
            continue;
        }
        let mut before = "";
        for raw in line.split_whitespace() {
            let word = raw
                .trim_matches(|c: char| "()[]{},;\"'`!?".contains(c))
                .trim_end_matches(['.', ':']);
            if let Some(value) = read_value(word, before) {
                found.push(value);
            } else if word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
                before = if word.len() <= MAX_OWNER_BYTES {
                    word
                } else {
                    ""
                };
            }
        }
    }
    found
}

/// The greatest length of a word that a value belongs to. Every value has a copy of its own.
const MAX_OWNER_BYTES: usize = 40;

fn read_value<'t>(word: &'t str, before: &str) -> Option<ValueFact<'t>> {
    if word.len() < 2 || word.len() > 300 {
        return None;
    }
    let own = |kind, word: String, value| ValueFact { kind, word, value };
    if let Some(at) = word.find("http://").or_else(|| word.find("https://")) {
        let url = word.get(at..)?;
        let url = url.split(['"', '\'', '`', '<', '>', ')', '⟦']).next()?;
        return (url.len() > 12).then(|| own("address", String::new(), url));
    }
    if !word.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some((name, port)) = word.rsplit_once([':', '='])
        && is_port(port)
        && matches!(
            name.to_ascii_lowercase().as_str(),
            "port" | "localhost" | "127.0.0.1" | "0.0.0.0"
        )
    {
        return Some(own("port", String::new(), port));
    }
    if before.eq_ignore_ascii_case("port") && is_port(word) {
        return Some(own("port", String::new(), word));
    }
    let pinned = word.rsplit_once("==").or_else(|| word.rsplit_once('@'));
    if let Some((name, version)) = pinned
        && is_version(version)
        && !name.is_empty()
    {
        return Some(own("version", owner(name), version));
    }
    if is_version(word) && !owner(before).is_empty() {
        return Some(own("version", owner(before), word));
    }
    if is_commit(word) && COMMIT_WORDS.contains(&format!(" {} ", before.to_ascii_lowercase())) {
        return Some(own("commit", String::new(), word));
    }
    None
}

/// Returns the word that a value belongs to; empty for a word without content.
fn owner(word: &str) -> String {
    let word = word
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
        .to_ascii_lowercase();
    if content_words(&word).next().is_some() {
        word
    } else {
        String::new()
    }
}

fn is_port(word: &str) -> bool {
    word.len() >= 2 && word.parse::<u16>().is_ok()
}

/// Returns true for a version with at least three parts, or with a `v` in front; an IP address is
/// none.
fn is_version(word: &str) -> bool {
    let own = word.strip_prefix('v').unwrap_or(word);
    let core = own.split(['-', '+']).next().unwrap_or(own);
    let parts: Vec<&str> = core.split('.').collect();
    let minimum = if own.len() < word.len() { 2 } else { 3 };
    (minimum..=3).contains(&parts.len())
        && parts.iter().all(|part| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}
