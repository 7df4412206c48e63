//! Sentences of prose and their content words.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

/// Words that stand in every text and identify none.
const STOP_WORDS: &str = " the and for are was were has have had been being with from this that these those its his her our your their \
    will would can could should shall may might not but all any each into onto than then there here when where which who what \
    how why also just more most some such very they them you she him out over under again once both other own same too \
    now new use used using via per let lets get got one two after before about because instead only must never always dont much ";

/// Words of a sentence that forbids something.
const PROHIBITIONS: &str = " not never dont doesnt cannot cant shouldnt mustnt wont isnt arent no nor without avoid avoids avoiding forbidden \
    prohibited refrain untouched unchanged except ";
/// Words of a sentence that demands something.
const DEMANDS: &str = " must always only shall should require requires required ";

/// Words of a wish, a reminder or an answer, which a summary leaves out.
const WISHES: &str =
    " please make sure ensure want like prefer remember yes yeah okay fine thanks sorry ";

/// The text that Claude Code adds to results and to texts of the user.
const REMINDER: &str = "<system-reminder>";
const REMINDER_END: &str = "</system-reminder>";

/// The length of a line in bytes up to which it is read as prose.
const MAX_LINE_BYTES: usize = 2_000;

/// Returns the sentences of a text in Markdown, without code blocks, list marks and emphasis.
/// Lines of one paragraph are joined.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let (mut is_code, mut is_reminder) = (false, false);
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            split_sentences(&std::mem::take(&mut paragraph), &mut found);
            continue;
        }
        is_reminder |= line.starts_with(REMINDER);
        if is_code || is_reminder || line.len() > MAX_LINE_BYTES {
            is_reminder &= !line.ends_with(REMINDER_END);
            continue;
        }
        if is_json(line) {
            paragraph.clear();
            continue;
        }
        let own = strip_list_mark(line);
        // A comment of a program, also in a difference: `+ // …`.
        let is_outside = is_outside_prose(line) || own.starts_with("//");
        if own.len() != line.len() || line.is_empty() || is_outside {
            split_sentences(&std::mem::take(&mut paragraph), &mut found);
        }
        if is_outside {
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.push_str(own);
        // A heading is no part of the sentence below it.
        if line.starts_with('#') {
            split_sentences(&std::mem::take(&mut paragraph), &mut found);
        }
    }
    split_sentences(&paragraph, &mut found);
    found
}

/// Returns true for a line of JSON.
fn is_json(line: &str) -> bool {
    line.contains("{\"") || line.contains("\"}")
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
pub fn split_sentences(paragraph: &str, found: &mut Vec<String>) {
    let mut start = 0;
    let mut add = |sentence: &str| {
        let sentence = sentence.trim();
        if !sentence.is_empty() {
            found.push(sentence.to_owned());
        }
    };
    let paragraph = &paragraph.replace("**", "");
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
    // `A. is fine` names an option.
    let is_option = text.trim().len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_option || matches!(word, "e.g" | "i.e" | "vs" | "etc" | "cf" | "approx" | "No")
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

/// Returns the words by which a sentence is found: its content words without those of a wish; if it
/// has none, its longer words without those of its sign.
pub fn search_words(text: &str) -> BTreeSet<String> {
    let words_of_text = || words(text).filter(|word| !is_among(word, WISHES));
    let content: BTreeSet<String> = words_of_text()
        .flat_map(|word| content_words(&word).collect::<Vec<_>>())
        .collect();
    if !content.is_empty() {
        return content;
    }
    words_of_text()
        .filter(|word| word.len() >= 3 && !is_among(word, PROHIBITIONS) && !is_among(word, DEMANDS))
        .map(stem)
        .collect()
}

/// The sign of a sentence; one with both forbids one thing and demands another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentenceSign {
    /// True if it forbids.
    pub forbids: bool,
    /// True if it demands.
    pub demands: bool,
}

impl SentenceSign {
    /// Returns the sign of a sentence.
    pub fn new(text: &str) -> Self {
        let mut own = Self::default();
        let mut is_demand = false;
        for word in words(text) {
            // `must not` demands nothing.
            let forbids = is_among(&word, PROHIBITIONS);
            own.demands |= is_demand && !forbids;
            own.forbids |= forbids;
            is_demand = is_among(&word, DEMANDS);
        }
        // `pnpm, not npm` demands one thing and forbids the other.
        own.demands |= is_demand || text.contains(", not ");
        own
    }

    /// Returns true if a sentence with another sign can mean the same.
    pub const fn agrees_with(self, other: Self) -> bool {
        match (self.forbids, self.demands) {
            (true, false) => other.forbids,
            (true, true) => true,
            (false, _) => !other.forbids || other.demands,
        }
    }
}

/// Returns true if a word is in a list that spaces separate and frame.
pub fn is_among(word: &str, list: &str) -> bool {
    !word.is_empty() && list.contains(&format!(" {word} "))
}

fn is_stop_word(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split(' ').collect());
    SET.contains(word)
}

/// Removes the endings of a word, so that `edited` and `edits`, `consistent` and `consistency` are one
/// word.
pub fn stem(mut word: String) -> String {
    if !word.is_ascii() {
        return word;
    }
    for ending in ["ies", "ing", "ed", "es", "s"] {
        // `runs`, but not `pass` and `bus`.
        let is_short_plural = ending == "s"
            && word.len() == 4
            && !word.ends_with("ss")
            && !word.ends_with("us")
            && !word.ends_with("is");
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        // `firing`, but not `string`.
        let is_verb = matches!(ending, "ing" | "ed")
            && rest.len() == 3
            && rest.contains(['a', 'e', 'i', 'o', 'u']);
        if rest.len() < 4 && !is_short_plural && !is_verb {
            continue;
        }
        word.truncate(rest.len());
        if ending == "ies" {
            word.push('y');
        }
        // `commit` of `committed`.
        let is_double = ["bb", "gg", "mm", "nn", "pp", "rr", "tt"]
            .iter()
            .any(|double| word.ends_with(double));
        if is_double && ending.len() > 1 {
            word.pop();
        }
        break;
    }
    if word.len() >= 4 && word.ends_with('e') {
        word.pop();
    }
    for ending in ["ation", "at", "ency", "ent"] {
        // `create`, but not `format`.
        let minimum = match ending {
            "ent" => 6,
            "at" => 5,
            _ => 4,
        };
        if word.len() >= ending.len() + minimum && word.ends_with(ending) {
            word.truncate(word.len() - ending.len());
            break;
        }
    }
    word
}

/// Returns the key of a sentence: the words by which it is found, sorted.
pub fn sentence_key(text: &str) -> String {
    search_words(text).into_iter().collect::<Vec<_>>().join(" ")
}

/// Returns the key of an instruction: one that forbids is another than one that demands.
pub fn rule_key(text: &str) -> String {
    let sign = SentenceSign::new(text);
    let start = if sign.forbids && !sign.demands {
        "not "
    } else {
        ""
    };
    start.to_owned() + &sentence_key(text)
}

/// Shortens a text to one line of at most some characters.
pub fn one_line(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}
