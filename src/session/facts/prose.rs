//! Instructions, decisions and open tasks in prose.

use crate::session::sentences::{content_words, sentences, strip_list_mark, words};

/// The maximum number of words of a sentence that is read as a fact.
const MAX_WORDS: usize = 60;
/// The minimum number of words of an instruction: `Never use tabs.`
const MIN_RULE_WORDS: usize = 3;
/// The minimum number of content words of a decision.
const MIN_DECISION_WORDS: usize = 3;

/// Words after which `never`, `always`, `only` and `do not` describe instead of demanding.
const SUBJECTS: [&str; 23] = [
    "i", "we", "they", "he", "she", "it", "you", "who", "which", "that", "this", "these", "there",
    "is", "are", "was", "were", "has", "have", "but", "and", "if", "still",
];

/// Words behind `only` that begin a condition.
const CONDITIONS: [&str; 13] = [
    "if", "when", "the", "a", "an", "one", "two", "in", "for", "after", "because", "then", "this",
];

/// Returns the instructions of a text: sentences with must, never, always, only or do not.
pub fn instructions(text: &str) -> Vec<String> {
    let is_rule = |sentence: &str| {
        let own: Vec<String> = words(sentence).collect();
        (MIN_RULE_WORDS..=MAX_WORDS).contains(&own.len())
            && is_instruction(&own)
            && (sentence.contains('`') || content_words(sentence).next().is_some())
    };
    facts_among(text, is_rule)
}

/// Returns the decisions of a text, each with its reason or its alternative.
pub fn decisions(text: &str) -> Vec<String> {
    facts_among(text, |sentence| {
        let lower = sentence.to_lowercase();
        let marks = [
            "decided ",
            "instead of ",
            "because ",
            "ruled out",
            "rather than ",
        ];
        marks.iter().any(|mark| lower.contains(mark))
            && words(sentence).nth(MAX_WORDS).is_none()
            && content_words(sentence)
                .nth(MIN_DECISION_WORDS - 1)
                .is_some()
    })
}

fn facts_among(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = sentences(text);
    found.retain(|sentence| !sentence.ends_with(['?', ':']) && is_wanted(sentence));
    found
}

/// Returns true if a sentence demands something.
fn is_instruction(own: &[String]) -> bool {
    let word = |at: usize| own.get(at).map_or("", String::as_str);
    let is_subject = |word: &str| SUBJECTS.contains(&word);
    let demands = |at: usize| match at.checked_sub(1).map(word) {
        // Behind a command in the same sentence: `Write tests and never skip them`.
        Some("and" | "but") => {
            let mut before = own.iter().take(at - 1);
            !before.any(|word| is_subject(word)) && !word(at + 1).ends_with("ed")
        }
        before => !before.is_some_and(is_subject),
    };
    (0..own.len()).any(|at| {
        let next = word(at + 1);
        match word(at) {
            "must" => next != "have",
            "never" | "always" | "dont" => next != "mind" && demands(at),
            "do" => next == "not" && demands(at),
            "only" => at <= 1 && !CONDITIONS.contains(&next) && demands(at),
            _ => false,
        }
    })
}

/// Returns the open tasks of a text: unchecked boxes, and lines behind `next:` or `todo:`.
pub fn open_tasks(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let task = ["- [ ] ", "* [ ] ", "+ [ ] "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .or_else(|| {
                let own = strip_list_mark(line).trim_start_matches('*');
                let (head, task) = own.split_once(':')?;
                let head = head.trim_end_matches('*').to_ascii_lowercase();
                matches!(
                    head.as_str(),
                    "next" | "next step" | "next steps" | "todo" | "to do"
                )
                .then(|| task.trim_start_matches('*').trim())
            })?;
        (content_words(task).take(2).count() == 2).then_some(task.trim())
    })
}
