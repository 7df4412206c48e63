//! Instructions, decisions and open tasks in prose.

use crate::session::sentences::{content_words, is_among, sentences, stem, strip_list_mark, words};

/// The maximum number of words of a sentence that is read as a fact.
const MAX_WORDS: usize = 60;
/// The minimum number of words of an instruction: `Never use tabs.`
const MIN_RULE_WORDS: usize = 3;
/// The minimum number of content words of a decision.
const MIN_DECISION_WORDS: usize = 3;

/// Words after which a command follows: `please never …`, `and do not …`.
const COMMAND_LINKS: &str = " please also and but or so then just again ok okay ";
/// Words before `never`, `always` and `not` in an obligation.
const OBLIGATIONS: &str = " must should shall ";
/// Words before `to never` and `to always`.
const REMINDERS: &str = " sure remember need needs want have try careful ensure ";
/// Words that make a sentence a statement about something.
const SUBJECTS: &str =
    " i we they he she it you who which that this these there is are was were has have ";
/// Words behind `do not` of a sentence without its subject, which demand nothing.
const STATES: &str = " mind worry know think see understand care have need seem ";
/// Words behind `only` that begin a condition.
const CONDITIONS: &str = " if when the a an one two in for after because then this ";
/// Words of a statement.
const FINITE_VERBS: &str = " is are was were has had does did can will ";
/// Verbs of a choice, without their endings.
const CHOICES: &str = " use keep kept take took choos chos pick prefer avoid drop replac switch adopt stor put reus mov leav left defer split merg ";

/// A word with its place in a sentence.
#[derive(Debug)]
struct ClauseWord {
    /// The word, in lower case.
    word: String,
    /// True for the first word behind a comma, a colon, a dash or a bracket.
    is_first: bool,
}

/// Returns the instructions of a text: sentences with must, never, always, only or do not that
/// demand something instead of describing it.
pub fn instructions(text: &str) -> Vec<String> {
    let is_rule = |sentence: &str| {
        let own = clause_words(sentence);
        (MIN_RULE_WORDS..=MAX_WORDS).contains(&own.len())
            && (0..own.len()).any(|at| demands(&own, at))
            && (sentence.contains('`') || content_words(sentence).next().is_some())
    };
    facts_among(text, is_rule)
}

/// Returns the decisions of a text: sentences in which the speaker decided or ruled out, goes with
/// one of several things, or makes a choice with its reason or its alternative. A reason alone
/// explains, as in `it fails because …`.
pub fn decisions(text: &str) -> Vec<String> {
    facts_among(text, |sentence| {
        let own = clause_words(sentence);
        (0..own.len()).any(|at| decides(&own, at))
            && own.len() <= MAX_WORDS
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

/// Returns the words of a sentence, each with its place.
fn clause_words(sentence: &str) -> Vec<ClauseWord> {
    let mut found = Vec::new();
    let mut is_first = true;
    for part in sentence.split_whitespace() {
        let begins = part.starts_with(['(', '—', '–', '-']);
        for word in words(part) {
            found.push(ClauseWord {
                word,
                is_first: is_first || begins,
            });
            is_first = false;
        }
        is_first |= begins && words(part).next().is_none()
            || part.ends_with([',', ';', ':', ')', '—', '–', '…', '!'])
            || part.ends_with("...");
    }
    found
}

fn word_at(own: &[ClauseWord], at: usize) -> &str {
    own.get(at).map_or("", |word| &word.word)
}

fn word_before(own: &[ClauseWord], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| word_at(own, before))
}

/// Returns true if the word at a place demands something.
fn demands(own: &[ClauseWord], at: usize) -> bool {
    let next = word_at(own, at + 1);
    let before = word_before(own, at);
    match word_at(own, at) {
        // `must have been` concludes.
        "must" => {
            let state = word_at(own, at + 2);
            let is_conclusion = next == "have" && (state == "been" || !is_command_verb(state));
            let is_guess = matches!(before, "there" | "it") && next == "be";
            !(is_conclusion || is_guess || before == "a")
        }
        "mustnt" => true,
        "never" | "always" | "dont" => is_command(own, at, at + 1),
        "do" if next == "not" => is_command(own, at, at + 2),
        "should" | "shall" if matches!(next, "never" | "always" | "not" | "only") => true,
        "only" => {
            let own_clause = own.iter().skip(at + 1).take_while(|word| !word.is_first);
            at <= 1
                && (at == 0 || is_among(before, COMMAND_LINKS))
                && !is_among(next, CONDITIONS)
                && is_command_verb(next)
                && !own_clause
                    .take_while(|word| !is_among(&word.word, CONDITIONS))
                    .any(|word| is_among(&word.word, FINITE_VERBS))
        }
        _ => false,
    }
}

/// Returns true if the words from a place on command something: they begin their clause, and a verb
/// in its plain form follows.
fn is_command(own: &[ClauseWord], at: usize, verb: usize) -> bool {
    let before = word_before(own, at);
    let next = word_at(own, verb);
    if is_among(before, OBLIGATIONS) || matches!(before, "i" | "we") && next == "want" {
        return true;
    }
    if before == "to" {
        let mut reminders = own.iter().take(at).rev().skip(1).take(2);
        return reminders.any(|word| is_among(&word.word, REMINDERS));
    }
    let is_linked = is_among(before, COMMAND_LINKS) && {
        let mut clause = own.iter().take(at - 1);
        // Behind a command in the same sentence: `Write tests and never skip them`.
        !clause.any(|word| is_among(&word.word, SUBJECTS))
    };
    (is_linked || own.get(at).is_some_and(|word| word.is_first))
        && is_command_verb(next)
        && !is_among(next, STATES)
        && !is_among(next, SUBJECTS)
}

/// Returns true for a word that can be a verb in its plain form: not `writes`, `written`, `writing`.
fn is_command_verb(word: &str) -> bool {
    let is_other_form = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
        || word.ends_with("ed") && !word.ends_with("eed") && word != "embed"
        || word.ends_with("ing") && word.len() > 5;
    word.starts_with(char::is_alphabetic) && !is_other_form
}

/// Returns true if the word at a place decides something.
fn decides(own: &[ClauseWord], at: usize) -> bool {
    let next = word_at(own, at + 1);
    match word_at(own, at) {
        "decided" | "chose" | "opted" | "settled" => (at.saturating_sub(2)..at)
            .any(|at| matches!(word_at(own, at), "i" | "we" | "ive" | "weve")),
        "ruled" => next == "out",
        "go" | "going" | "went" | "stick" if next == "with" => is_of_speaker(own, at),
        // `rather than guess` is no alternative.
        "instead" | "rather" if matches!(next, "of" | "than") && own.len() > at + 3 => {
            is_choice(own, at) || is_intention(own, at)
        }
        "because" => is_choice(own, at),
        _ => false,
    }
}

/// Returns true if the words before a place are a choice of the speaker with an alternative or a
/// reason: `I keep`, `let's use`, `Take`; with an alternative, also each intention.
fn is_choice(own: &[ClauseWord], end: usize) -> bool {
    let is_chosen = |at: usize| is_among(&stem(word_at(own, at).to_owned()), CHOICES);
    let is_command = is_command_verb(word_at(own, 0)) && is_chosen(0);
    is_command || (0..end).any(|at| is_chosen(at) && is_of_speaker(own, at))
}

/// Returns true if the speaker intends something before a place: `I will`, `let me`, `we should`.
fn is_intention(own: &[ClauseWord], end: usize) -> bool {
    (0..end).any(|at| {
        let next = word_at(own, at + 1);
        let is_intended = match word_at(own, at) {
            "ill" | "lets" => true,
            // `we'll`, but not `Well, …`.
            "well" => own.get(at + 1).is_some_and(|word| !word.is_first),
            "let" => matches!(next, "me" | "us"),
            "i" | "we" => is_among(next, " will would should need plan prefer "),
            _ => false,
        };
        is_intended && begins_clause(own, at)
    })
}

/// Returns true for the first word of a clause, or one behind a link.
fn begins_clause(own: &[ClauseWord], at: usize) -> bool {
    own.get(at).is_some_and(|word| word.is_first)
        || is_among(word_before(own, at), COMMAND_LINKS)
        || word_before(own, at) == "now"
}

/// Returns true if the speaker is the subject of the verb at a place.
fn is_of_speaker(own: &[ClauseWord], verb: usize) -> bool {
    let is_between = |word: &str| is_among(word, " will should now also am would rather ");
    let mut before = (0..verb).rev().take(3);
    let Some(at) = before.find(|at| !is_between(word_at(own, *at))) else {
        return false;
    };
    is_among(word_at(own, at), " i we ill well lets im were ") && begins_clause(own, at)
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

#[cfg(test)]
#[path = "../../../tests/unit/session/facts/prose.rs"]
mod tests;
