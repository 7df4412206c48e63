//! Lines of errors in the output of tools, and what identifies an error.

use super::file_path::base_name;
use crate::session::sentences::{content_words, is_among, words};
use std::collections::BTreeSet;

/// The length in bytes of a line that is read.
const LINE_BYTES: std::ops::RangeInclusive<usize> = 6..=400;
/// The maximum number of words of a key.
const MAX_KEY_WORDS: usize = 10;
/// The maximum number of errors of one result.
const MAX_ERRORS: usize = 3;

/// Beginnings of lines that report an error, in lower case.
const HEADS: [&str; 7] = [
    "error:",
    "error[",
    "fatal:",
    "fatal error",
    "panic:",
    "npm err!",
    "e   ",
];
/// Words that every error can have, without their endings.
const COMMON_WORDS: [&str; 6] = ["error", "fatal", "panic", "npm", "assertion", "fail"];
/// The number of other words that identify an error without a name.
const MIN_OWN_WORDS: usize = 2;
/// The beginning of the first failed test in the output of Go, behind texts of tests that passed.
const FIRST_FAILURE: &str = "--- FAIL";
/// Phrases of errors of a system, in lower case.
const PHRASES: [&str; 6] = [
    "command not found",
    "no such file or directory",
    "permission denied",
    "panicked at",
    "segmentation fault",
    "connection refused",
];
/// Marks in front of a line.
const MARKS: [char; 14] = [
    '*', '(', ')', ' ', '✗', '✘', '×', '│', '┃', '>', '!', '↘', '→', '●',
];
/// Beginnings of lines that report progress, in lower case.
const PROGRESS: [&str; 11] = [
    "===",
    "==>",
    "ok ",
    "ok\t",
    "pass",
    "--- pass",
    "at ",
    "hint:",
    "warning:",
    "finished ",
    "error trace:",
];
/// The levels of records of a log that are no errors.
const LOG_LEVELS: [&str; 3] = [" INFO ", " DEBUG ", " WARN "];
/// Beginnings of the names of failed tests.
const TEST_HEADS: [&str; 4] = ["--- FAIL:", "FAILED ", "FAIL: ", "not ok "];
/// Words of lines that deny something, weaker than those of a failure.
const NEGATIONS: &str = " not no ";
/// Words of lines that report a failure.
const FAILURES: &str = " fail failed fails failure cannot cant couldnt unable invalid undefined unknown denied refused missing \
    conflict unexpected mismatch expected timeout exceeds exceeded rejected ambiguous unsupported aborted errors error ";
/// Other words of sentences about errors.
const RESOLUTIONS: &str = " failing failures broke broken fix fixed fixes fixing panic panics panicked reject rejects resolved resolve \
    worked workaround warning warnings problem bug conflicts crash crashed crashes lint linter unused violation violations wrong expects \
    mismatches removed ";
/// Messages of an agent's program about its own tools, which are no errors of the work.
const OWN_MESSAGES: [&str; 12] = [
    "tool_use_error",
    "the user doesn't want to",
    "has not been read yet",
    "has been modified since read",
    "string to replace not found",
    "inputvalidationerror",
    "interrupted by user",
    "sibling tool call errored",
    "has been unexpectedly modified",
    "exceeds maximum allowed",
    "could not find the exact text",
    "command aborted",
];

/// An error in the output of a tool.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorLine<'t> {
    /// Its exception or code; empty if it has none.
    pub name: &'t str,
    /// The line.
    pub line: &'t str,
}

impl ErrorLine<'_> {
    /// Returns its identity: its name and the first words of its line, without digits and paths.
    pub fn key(&self) -> String {
        let line: String = self
            .line
            .split_whitespace()
            .filter(|word| !word.contains('/') && !word.bytes().any(|byte| byte.is_ascii_digit()))
            .collect::<Vec<_>>()
            .join(" ");
        let words: Vec<String> = words(&line).take(MAX_KEY_WORDS).collect();
        format!("{}|{}", self.name, words.join(" "))
    }

    /// Returns its line without its place, with the last parts of paths.
    pub fn message(&self) -> String {
        let words = strip_place(self.line).split_whitespace();
        words.map(base_name).collect::<Vec<_>>().join(" ")
    }

    /// Returns the name of the file of its place, with its extension.
    pub fn file_name(&self) -> Option<&str> {
        let place = self.line.strip_suffix(strip_place(self.line))?;
        let name = base_name(place).split([':', '(']).next()?;
        (name.len() > 4 && name.contains('.')).then_some(name)
    }

    /// Returns the parts that few errors have, in lower case: identifiers, numbers, the rule of a
    /// linter.
    pub fn marks(&self) -> BTreeSet<String> {
        let message = self.message();
        let is_mark = |word: &&str| {
            let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
            let is_mixed = word.len() >= 5 && letters > 0 && letters < word.len();
            let is_camel = word.chars().zip(word.chars().skip(1));
            let is_camel = is_camel
                .into_iter()
                .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
            *word != self.name && (is_mixed || is_camel || letters == 0 && word.len() >= 2)
        };
        let parts = message.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut own: BTreeSet<String> = parts.filter(is_mark).map(str::to_lowercase).collect();
        // `… is not checked (errcheck)`.
        let rule = message
            .rsplit_once(" (")
            .and_then(|(_, rule)| rule.strip_suffix(')'));
        let is_rule = |rule: &&str| {
            let is_word = words(&message).filter(|word| word == rule).count() > 1;
            !is_word && rule.len() >= 4 && rule.bytes().all(|c| c.is_ascii_lowercase())
        };
        own.extend(rule.filter(is_rule).map(str::to_owned));
        own
    }
}

/// Returns true if a sentence reports a failure or its end.
pub fn reports_failure(sentence: &str) -> bool {
    has_word(sentence, FAILURES) || has_word(sentence, RESOLUTIONS)
}

/// Returns the first errors of a tool's output, each once.
pub fn error_lines(output: &str) -> Vec<ErrorLine<'_>> {
    let mut found: Vec<ErrorLine<'_>> = Vec::new();
    let is_failure = |line: &str| line.trim_start().starts_with(FIRST_FAILURE);
    let passed = output.split(['\n', '\r']).position(is_failure).unwrap_or(0);
    for line in output.split(['\n', '\r']).skip(passed) {
        if found.len() == MAX_ERRORS {
            break;
        }
        let line = line.trim();
        if !LINE_BYTES.contains(&line.len()) {
            continue;
        }
        if let Some(error) = read_line(line)
            && !found.iter().any(|other| other.key() == error.key())
        {
            found.push(error);
        }
    }
    found
}

/// Returns the error of a result that failed: its first line that begins with an error, else the
/// name of its first failed test, else the first line with a place or a word of failure. A message
/// of one line needs neither.
pub fn main_error(output: &str) -> Option<ErrorLine<'_>> {
    if let Some(first) = error_lines(output).into_iter().next() {
        return Some(first);
    }
    if output.lines().next().is_some_and(is_own_message) {
        return None;
    }
    let messages: Vec<&str> = output_lines(output)
        .filter(|line| LINE_BYTES.contains(&line.len()) && is_message(line))
        .collect();
    let first = |is_telling: fn(&str) -> bool| messages.iter().find(|line| is_telling(line));
    let line = first(names_test)
        .or_else(|| first(|line| strip_place(line) != line))
        .or_else(|| first(|line| has_word(line, FAILURES)))
        .or_else(|| first(|line| has_word(line, NEGATIONS)))
        .or_else(|| messages.first().filter(|_| messages.len() == 1))?;
    Some(ErrorLine { name: "", line })
}

/// Returns the lines of an output without their marks and labels: `┃ [D] ↘ Nested …`. A carriage
/// return begins a line, too.
fn output_lines(output: &str) -> impl Iterator<Item = &str> {
    output.split(['\n', '\r']).map(|line| {
        let is_mark = |c: char| MARKS.contains(&c) && !matches!(c, '(' | ')');
        let own = line.trim().trim_start_matches(is_mark);
        let label = own.strip_prefix('[').and_then(|own| own.split_once("] "));
        let own = label
            .filter(|(label, _)| !label.contains([' ', '[']))
            .map_or(own, |(_, rest)| rest);
        own.trim_start_matches(is_mark)
    })
}

/// Returns true for a line that can be the message of an error: no progress, no path, no record of
/// a log.
fn is_message(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let lower = line.to_ascii_lowercase();
    // `Compiling 4 files`.
    let is_progress = first.ends_with("ing") && first.len() > 5
        || line.ends_with("...")
        || lower.starts_with("exit code")
        || LOG_LEVELS.iter().any(|level| line.contains(level))
        || PROGRESS.iter().any(|head| lower.starts_with(head));
    let own = strip_place(line);
    let is_text = own.contains(char::is_whitespace)
        && own.starts_with(|c: char| c.is_alphanumeric() || "`\"'(-".contains(c));
    // `a.go:3:1: undefined: errors`.
    !is_progress && is_text && (own != line || has_own_words(own))
}

/// Returns true for the name of a failed test.
fn names_test(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    // `1) test the list`.
    let is_numbered = digits.len() < line.len() && digits.starts_with(") ");
    is_numbered || TEST_HEADS.iter().any(|head| line.starts_with(head))
}

/// Returns true if a line has a word of a list.
fn has_word(line: &str, list: &str) -> bool {
    words(line).any(|word| is_among(&word, list))
}

fn is_own_message(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    OWN_MESSAGES.iter().any(|own| lower.contains(own))
}

/// Returns true if a line has words that not every error has.
fn has_own_words(line: &str) -> bool {
    let words = content_words(line).filter(|word| !COMMON_WORDS.contains(&word.as_str()));
    words.take(MIN_OWN_WORDS).count() == MIN_OWN_WORDS
}

/// Reads a line that begins with an error, behind a time, a place or a mark.
fn read_line(line: &str) -> Option<ErrorLine<'_>> {
    let lower = line.to_ascii_lowercase();
    if is_own_message(line) || lower.starts_with("exit code") {
        return None;
    }
    let own = line.trim_start_matches(MARKS);
    let own = strip_place(own);
    let lower = own.to_ascii_lowercase();
    let name = exception_name(own).or_else(|| code(own));
    let begins = name.is_some()
        || HEADS.iter().any(|head| lower.starts_with(head))
        || PHRASES.iter().any(|phrase| lower.contains(phrase));
    // `Error: Not equal:` is the head of every failed comparison.
    let is_own = name.is_some() || has_own_words(own);
    (begins && is_own).then_some(ErrorLine {
        name: name.unwrap_or_default(),
        line,
    })
}

/// Removes the place in front of a message: `src/a.rs:3:5: `.
fn strip_place(line: &str) -> &str {
    line.split_once(": ")
        .filter(|(place, _)| {
            place.contains(['/', '.'])
                && place.bytes().any(|byte| byte.is_ascii_digit())
                && !place.contains(' ')
        })
        .map_or(line, |(_, rest)| rest)
}

/// Returns the exception that a line begins with: `TypeError`, `java.io.IOException`.
fn exception_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let end = line
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | ':'))
        .unwrap_or(line.len());
    // `require.NoError(t, …)` is a line of a program.
    let is_call = line.get(end..)?.starts_with('(');
    let path = line.get(..end)?.trim_end_matches([':', '.']);
    let name = path.rsplit(['.', ':']).next()?;
    let is_name = !is_call
        && name.starts_with(|c: char| c.is_uppercase())
        && ["Error", "Exception", "Failure", "Panic"]
            .iter()
            .any(|ending| name.len() > ending.len() && name.ends_with(ending));
    is_name.then_some(name)
}

/// Returns the code behind `error`: `E0308` of `error[E0308]: …`, `TS2345` of `error TS2345: …`.
fn code(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("error")
        .or_else(|| line.strip_prefix("npm ERR! code"))?;
    let code = rest.trim_start_matches(['[', ' ', '(']);
    let end = code
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(code.len());
    code.get(..end).filter(|code| {
        code.len() >= 3
            && code.starts_with(|c: char| c.is_ascii_uppercase())
            && code
                .bytes()
                .any(|byte| byte.is_ascii_digit() || byte == b'_')
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/session/facts/error_line.rs"]
mod tests;
