//! Instructions, decisions and open tasks in prose.

use crate::session::sentences::{content_words, sentences, strip_list_mark, words};

/// The number of words of a sentence that is read as a fact.
const SENTENCE_WORDS: std::ops::RangeInclusive<usize> = 4..=60;
/// The minimum number of content words of such a sentence.
const MIN_CONTENT_WORDS: usize = 3;

/// Words after which `never`, `always`, `only` and `do not` describe instead of demanding.
const SUBJECTS: [&str; 23] = [
    "i", "we", "they", "he", "she", "it", "you", "who", "which", "that", "this", "these", "there",
    "is", "are", "was", "were", "has", "have", "but", "and", "if", "still",
];

/// Returns the instructions of a text: sentences with must, never, always, only or do not.
pub fn instructions(text: &str) -> Vec<String> {
    facts_among(text, is_instruction)
}

/// Returns the decisions of a text, each with its reason or its alternative.
pub fn decisions(text: &str) -> Vec<String> {
    facts_among(text, |_, lower| {
        [
            "decided ",
            "instead of ",
            "because ",
            "ruled out",
            "rather than ",
        ]
        .iter()
        .any(|mark| lower.contains(mark))
    })
}

fn facts_among(text: &str, is_wanted: impl Fn(&[String], &str) -> bool) -> Vec<String> {
    let mut found = sentences(text);
    found.retain(|sentence| {
        let own: Vec<String> = words(sentence).collect();
        !sentence.ends_with(['?', ':'])
            && SENTENCE_WORDS.contains(&own.len())
            && is_wanted(&own, &sentence.to_lowercase())
            && content_words(sentence).take(MIN_CONTENT_WORDS).count() == MIN_CONTENT_WORDS
    });
    found
}

/// Returns true if a sentence demands something.
fn is_instruction(own: &[String], _: &str) -> bool {
    let before = |at: usize| at.checked_sub(1).and_then(|at| own.get(at));
    let demands = |at: usize| before(at).is_none_or(|word| !SUBJECTS.contains(&word.as_str()));
    own.iter()
        .enumerate()
        .any(|(at, word)| match word.as_str() {
            "must" => own.get(at + 1).is_none_or(|next| next != "have"),
            "never" | "always" | "dont" => demands(at),
            "do" => own.get(at + 1).is_some_and(|next| next == "not") && demands(at),
            "only" => at <= 1 && demands(at),
            _ => false,
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
