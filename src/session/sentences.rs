//! Sentences of prose and their content words.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// Words that stand in every text and identify none.
const STOP_WORDS: &str = " the and for are was were has have had been being with from this that these those its his her our your their \
    will would can could should shall may might not but all any each into onto than then there here when where which who what \
    how why also just more most some such very they them you she him out over under again once both other own same too \
    now new use used using via per let lets get got one two after before about because instead only must never always dont ";

/// The length of a line in bytes up to which it is read as prose.
const MAX_LINE_BYTES: usize = 2_000;

/// Returns the sentences of a text in Markdown, without code blocks, list marks and emphasis.
/// Lines of one paragraph are joined.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            split_sentences(&std::mem::take(&mut paragraph), &mut found);
            continue;
        }
        if is_code || line.len() > MAX_LINE_BYTES {
            continue;
        }
        let own = strip_list_mark(line);
        if own.len() != line.len() || line.is_empty() || is_outside_prose(line) {
            split_sentences(&std::mem::take(&mut paragraph), &mut found);
        }
        if is_outside_prose(line) {
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.push_str(own);
    }
    split_sentences(&paragraph, &mut found);
    found
}

/// Returns true for a row of a table, a tag, or a line of a program.
fn is_outside_prose(line: &str) -> bool {
    line.starts_with(['|', '<', '{', '}', '$'])
        || line.ends_with(['{', ';', '\\'])
        || line.contains("=>")
        || line.contains("->")
}

/// Removes the mark of a heading, a quotation or a list entry.
pub fn strip_list_mark(line: &str) -> &str {
    let own = line.trim_start_matches(['#', '>', ' ']);
    let digits = own.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < own.len())
        .then(|| digits.strip_prefix(['.', ')']))
        .flatten();
    let own = numbered.unwrap_or(own);
    own.strip_prefix(['-', '*', '•', '+'])
        .filter(|rest| rest.starts_with(' '))
        .unwrap_or(own)
        .trim_start()
}

/// Splits a paragraph behind its full stops.
fn split_sentences(paragraph: &str, found: &mut Vec<String>) {
    let mut start = 0;
    let mut add = |sentence: &str| {
        let sentence = sentence.replace("**", "");
        let sentence = sentence.trim();
        if !sentence.is_empty() {
            found.push(sentence.to_owned());
        }
    };
    for (at, c) in paragraph.char_indices() {
        let rest = paragraph.get(at + c.len_utf8()..).unwrap_or_default();
        if matches!(c, '.' | '!' | '?')
            && rest.starts_with(' ')
            && !ends_abbreviation(paragraph.get(start..at).unwrap_or_default())
        {
            add(paragraph.get(start..=at).unwrap_or_default());
            start = at + 1;
        }
    }
    add(paragraph.get(start..).unwrap_or_default());
}

/// Returns true if a text ends with an abbreviation, so that its full stop ends no sentence.
fn ends_abbreviation(text: &str) -> bool {
    let word = text.rsplit([' ', '(']).next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "vs" | "etc" | "cf" | "approx" | "No")
}

/// Returns the words of a text in lower case: runs of letters, digits, `_` and inner apostrophes.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'' && c != '’')
        .map(|word| word.replace(['\'', '’'], "").to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Returns the content words of a text, without their endings, in order.
pub fn content_words(text: &str) -> impl Iterator<Item = String> {
    words(text).filter_map(|word| {
        let is_content =
            word.chars().count() >= 3 || word.bytes().any(|byte| byte.is_ascii_digit());
        (is_content && !is_stop_word(&word)).then(|| stem(word))
    })
}

fn is_stop_word(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split(' ').collect());
    SET.contains(word)
}

/// Removes the ending of a word, so that `edited` and `edits` are one word.
fn stem(mut word: String) -> String {
    for ending in ["ing", "ed", "es", "s"] {
        if word.len() >= ending.len() + 4 && word.ends_with(ending) && word.is_ascii() {
            word.truncate(word.len() - ending.len());
            break;
        }
    }
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    }
    word
}

/// Returns the key of a sentence: its content words, sorted.
pub fn sentence_key(text: &str) -> String {
    content_words(text)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Shortens a text to one line of at most some characters.
pub fn one_line(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Returns the longest beginning of a text with at most some bytes.
pub fn floor_cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
