//! Instructions, decisions and open tasks in prose.

use crate::session::sentences::{
    content_words, is_among, search_words, sentences, stem, strip_list_mark, words,
};

/// The maximum number of words of a sentence that is read as a fact.
const MAX_WORDS: usize = 60;
/// The minimum number of words of an instruction: `Never use tabs.`
const MIN_RULE_WORDS: usize = 3;
/// The maximum number of words of a wish; a longer sentence describes.
const MAX_WISH_WORDS: usize = 35;
/// The beginning of a text of the user in which Claude Code passes on an approved plan.
const PLAN: &str = "Implement the following plan";
/// The minimum number of content words of a decision.
const MIN_DECISION_WORDS: usize = 3;

/// Words that can demand something.
const DEMANDS: &str = " must mustnt never always dont do should shall only ";
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
/// Words that point to a thing of the moment: `use this`, `I want it`.
const POINTERS: &str = " this that these those it them in an me you option going ";
/// Work that ends.
const TASKS: &str = " plan task change commit branch issue ticket pr step ";
/// Words for the way in which others work.
const CONVENTIONS: &str = " style convention conventions pattern patterns guide guidelines standard standards rules existing compatibility ";
/// Words for a thing that stays.
const UNTOUCHED: &str = " alone untouched unchanged is ";
/// Words behind `no` of a fragment that forbids something.
const ADDITIONS: &str = " new more extra additional external other third ";
/// Words behind `before` and `after` of a thing that occurs again.
const REPETITIONS: &str = " each every any you committing pushing ";
/// Verbs of what an agent does again and again.
const WORK: &str = " run write add update check commit push ask test format lint build document report review verify regenerate bump rebase ";
/// Verbs of a wish for a way of working or a state.
const WAYS: &str = " be have use keep avoid follow stick stay support write ";
/// First words of a question or a proposal.
const QUESTION_STARTS: &str = " why what how which who consider ";
/// First words of a question, if one of the subjects follows.
const QUESTION_VERBS: &str = " can could would should do does did is are was ";
/// Words behind the first verb of a question.
const QUESTION_SUBJECTS: &str = " you we i it they this that these those the there ";
/// Words behind `only` that begin a condition.
const CONDITIONS: &str = " if when the a an one two in for after because then this ";
/// Words of a statement.
const FINITE_VERBS: &str = " is are was were has had does did can will ";
/// Verbs of a choice, without their endings.
const CHOICES: &str = " use keep kept tak took choos chos pick prefer avoid drop replac switch adopt stor put reus mov leav left defer split merg ";
/// Labels of decisions.
const DECISION_LABELS: &str = " decision decided ";

/// Signs around a quotation.
const QUOTES: [char; 6] = ['"', '“', '”', '\'', '‘', '’'];

/// The place of a word in its clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClausePlace {
    /// The first word behind a colon.
    BehindColon,
    /// The first word of another clause: behind a comma, a dash or a bracket.
    First,
    Later,
}

/// A word with its place in a sentence.
#[derive(Debug)]
struct ClauseWord {
    /// The word, in lower case.
    word: String,
    /// Its place in its clause.
    place: ClausePlace,
    /// True for a word in brackets or behind a dash.
    is_aside: bool,
    /// True for one of several quoted words.
    is_quoted: bool,
}

impl ClauseWord {
    fn is_first(&self) -> bool {
        self.place != ClausePlace::Later
    }
}

/// Returns the instructions of a text: sentences with must, never, always, only or do not that
/// demand something instead of describing it.
pub fn instructions(text: &str) -> Vec<String> {
    facts_among(text, |sentence| {
        let own = clause_words(sentence);
        own.len() >= MIN_RULE_WORDS && is_rule(sentence, &own, demands)
    })
}

/// Returns the instructions of a text of the user: also sentences without such a word that constrain
/// the work, as in `use pnpm, not npm`. A request such as `add a test` does not.
pub fn user_instructions(text: &str) -> Vec<String> {
    facts_among(text, |sentence| {
        let own = clause_words(sentence);
        // The sentences of a plan describe steps; only whole ones demand something.
        if text.starts_with(PLAN) {
            let is_whole = |own: &[ClauseWord], at: usize| {
                let clauses = own.iter().take(at + 1).filter(|word| word.is_first());
                demands(own, at) && (word_at(own, at) != "must" || clauses.count() <= 1)
            };
            return own.len() >= MIN_RULE_WORDS && is_rule(sentence, &own, is_whole);
        }
        own.len() >= MIN_RULE_WORDS && is_rule(sentence, &own, demands)
            || own.len() <= MAX_WISH_WORDS && is_rule(sentence, &own, constrains)
    })
}

/// Returns true if a word of a sentence makes it a rule.
fn is_rule(
    sentence: &str,
    own: &[ClauseWord],
    makes_rule: fn(&[ClauseWord], usize) -> bool,
) -> bool {
    // `a.go:1:9: avoid such names` is a line of a program's output.
    let is_place =
        |part: &str| part.matches(':').count() > 1 && part.bytes().any(|c| c.is_ascii_digit());
    let is_question = is_among(word_at(own, 0), QUESTION_STARTS)
        || is_among(word_at(own, 0), QUESTION_VERBS)
            && is_among(word_at(own, 1), QUESTION_SUBJECTS);
    let is_offer = word_at(own, 0) == "you" && matches!(word_at(own, 1), "can" | "could" | "may");
    own.len() <= MAX_WORDS
        && !(is_question || is_offer || is_about_moment(own))
        && !sentence.split_whitespace().any(is_place)
        && (0..own.len()).any(|at| makes_rule(own, at))
        && (sentence.contains('`') || content_words(sentence).next().is_some())
}

/// Returns true for an order about the thing at hand: `make sure it is in the list`, `this plan must …`.
fn is_about_moment(own: &[ClauseWord]) -> bool {
    let before = own
        .iter()
        .position(|word| matches!(&*word.word, "it" | "its"));
    let before: Vec<&str> = own
        .iter()
        .take(before.unwrap_or(0))
        .map(|word| &*word.word)
        .collect();
    let is_order = |word: &&str| is_among(word, DEMANDS) || matches!(*word, "sure" | "ensure");
    before.iter().any(is_order) && search_words(&before.join(" ")).len() <= 1
        || matches!(word_at(own, 0), "this" | "these") && is_among(word_at(own, 1), TASKS)
}

/// Returns the decisions of a text: sentences in which the speaker decided or ruled out, goes with
/// one of several things, or makes a choice with its reason or its alternative. A reason alone
/// explains, as in `it fails because …`.
pub fn decisions(text: &str) -> Vec<String> {
    facts_among(text, |sentence| {
        let own = clause_words(sentence);
        (has_decision_label(sentence) || (0..own.len()).any(|at| decides(&own, at)))
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
    let (mut is_first, mut is_behind_colon, mut is_aside) = (true, false, false);
    let ends_quote = |part: &str| {
        part.trim_end_matches(['.', ',', ';', ':', ')'])
            .ends_with(QUOTES)
    };
    let parts: Vec<&str> = sentence.split_whitespace().collect();
    let mut quoted = 0;
    for (at, part) in parts.iter().enumerate() {
        let begins = part.starts_with(['(', '—', '–', '-']);
        is_aside |= begins;
        if quoted == 0 && part.starts_with(QUOTES) {
            let end = parts.iter().skip(at).position(|part| ends_quote(part));
            quoted = end.map_or(0, |end| if end > 0 { end + 1 } else { 0 });
        }
        // A quotation and a path command nothing.
        let is_free = !part.starts_with(QUOTES) && !part.contains('/');
        for word in words(part) {
            let place = match (is_first || begins) && is_free {
                true if is_behind_colon => ClausePlace::BehindColon,
                true => ClausePlace::First,
                false => ClausePlace::Later,
            };
            found.push(ClauseWord {
                word,
                place,
                is_aside,
                is_quoted: quoted > 0,
            });
            is_behind_colon = false;
            is_first = false;
        }
        quoted = usize::saturating_sub(quoted, 1);
        is_aside &= !part.contains(')');
        is_first |= begins && words(part).next().is_none()
            || part.ends_with([',', ';', ':', ')', '—', '–', '…', '!'])
            || part.ends_with("...");
        is_behind_colon = part.ends_with(':');
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
    let Some(word) = own.get(at).filter(|word| is_among(&word.word, DEMANDS)) else {
        return false;
    };
    // `Don't fix it, just check it` is for now.
    let is_just = |at: usize| word_at(own, at) == "just" && begins_command(own, at);
    if word.is_quoted || (at + 1..own.len()).any(is_just) {
        return false;
    }
    let before = word_before(own, at);
    match word.word.as_str() {
        // `(the tests must pass)`, `— always the first` describe.
        "must" | "mustnt" | "always" | "only" if word.is_aside => false,
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
        // `It should not fail` describes.
        "should" | "shall" if matches!(next, "never" | "always" | "not" | "only") => {
            !is_among(before, " it they he she and ") && !word.is_first()
        }
        "only" => {
            let own_clause = own.iter().skip(at + 1).take_while(|word| !word.is_first());
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

/// Returns true if the word at a place begins a command or a wish of the user that constrains how to
/// work.
fn constrains(own: &[ClauseWord], at: usize) -> bool {
    let next = word_at(own, at + 1);
    let word = word_at(own, at);
    if own.get(at).is_some_and(|word| word.is_quoted) {
        return false;
    }
    if matches!(word, "i" | "id" | "we" | "wed") {
        return begins_clause(own, at) && is_wish(own, at);
    }
    let has_word = |list: &str| own.iter().any(|other| is_among(&other.word, list));
    let is_manner = match word {
        // `let's go, use executing-plans` and `use a reviewer: …` are for now, `use "git add FILE…"`
        // is a hint.
        "use" => {
            let is_hint = own.get(at + 1).is_none_or(|word| word.is_quoted);
            let is_now = own
                .last()
                .is_some_and(|word| is_among(&word.word, POINTERS));
            let is_offer = own
                .windows(2)
                .any(|two| matches!(two, [a, b] if a.word == "if" && b.word == "you"));
            let is_task = own
                .iter()
                .skip(at + 2)
                .take(2)
                .any(|word| word.place == ClausePlace::BehindColon);
            let is_whole = at <= 1 || own.len() > at + 3;
            !(is_hint || is_now || is_offer || is_task) && is_whole && !is_among(next, POINTERS)
        }
        "keep" => {
            !(is_among(next, POINTERS) || next.ends_with("ing")) || word_at(own, at + 2) == "simple"
        }
        "prefer" | "avoid" | "ensure" => true,
        "make" => next == "sure",
        "be" => matches!(next, "sure" | "careful"),
        "remember" => next == "to",
        "stick" => matches!(next, "to" | "with"),
        "follow" | "match" | "respect" | "preserve" => has_word(CONVENTIONS),
        "leave" => has_word(UNTOUCHED),
        "stop" => next.ends_with("ing"),
        "no" => {
            let is_whole = at == 0 && !has_word(FINITE_VERBS);
            return is_whole && is_among(next, ADDITIONS);
        }
        "all" | "every" | "each" => {
            let is_of_others = has_word(" i we they it you that which who ");
            return at == 0 && next != "time" && has_word(" should needs ") && !is_of_others;
        }
        "lets" => {
            let is_manner = match next {
                "not" | "avoid" => true,
                "make" => word_at(own, at + 2) == "sure",
                // `let's use yes and not on`
                "use" => has_word(" not "),
                _ => false,
            };
            return is_manner && begins_clause(own, at);
        }
        "from" => return next == "now" && word_at(own, at + 2) == "on",
        "before" | "after" | "whenever" => {
            let is_repeated = word == "whenever" || is_among(next, REPETITIONS);
            let mut starts = own.iter().filter(|other| other.is_first());
            return is_repeated && starts.any(|first| is_among(&first.word, WORK));
        }
        _ => false,
    };
    // `It is fine, but make sure …`.
    let before = at.checked_sub(1).and_then(|before| own.get(before));
    let is_contrast =
        before.is_some_and(|link| link.is_first() && is_among(&link.word, " but please "));
    is_manner && (is_contrast || begins_command(own, at))
}

/// Returns true if the user wishes a state, or a way of working: `I want all dates in UTC`, `I'd like
/// to use sqlite`. A wish to know or to do something now constrains nothing.
fn is_wish(own: &[ClauseWord], at: usize) -> bool {
    let is_would = word_at(own, at + 1) == "would";
    let verb = if is_would { at + 2 } else { at + 1 };
    let wishes = if is_would || word_at(own, at).ends_with('d') {
        " like prefer "
    } else {
        " want prefer "
    };
    let way = match word_at(own, verb + 1) {
        "to" => word_at(own, verb + 2),
        "you" | "us" => word_at(own, verb + 3),
        object => {
            return is_among(word_at(own, verb), wishes)
                && !object.is_empty()
                && !is_among(object, POINTERS);
        }
    };
    let is_way =
        is_among(way, WAYS) || way == "do" && own.iter().any(|word| word.word == "approach");
    is_among(word_at(own, verb), wishes) && is_way
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
    // `never actually worked`.
    let plain = if next.ends_with("ly") {
        word_at(own, verb + 1)
    } else {
        next
    };
    begins_command(own, at)
        && is_command_verb(plain)
        && !is_among(next, STATES)
        && !is_among(next, SUBJECTS)
}

/// Returns true for the first word of a clause, or one behind a link to a command in the same
/// sentence: `Write tests and never skip them`.
fn begins_command(own: &[ClauseWord], at: usize) -> bool {
    let is_linked = is_among(word_before(own, at), COMMAND_LINKS) && {
        let mut clause = own.iter().take(at - 1);
        !clause.any(|word| is_among(&word.word, SUBJECTS))
    };
    is_linked || own.get(at).is_some_and(ClauseWord::is_first)
}

/// Returns true for a word that can be a verb in its plain form: not `writes`, `written`, `writing`.
fn is_command_verb(word: &str) -> bool {
    let is_other_form = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
        || word.ends_with("ed") && !word.ends_with("eed") && word != "embed"
        || word.ends_with("ing") && word.len() > 5;
    word.starts_with(char::is_alphabetic) && !is_other_form
}

/// Returns true for a sentence behind `Decision:`.
fn has_decision_label(sentence: &str) -> bool {
    let label = sentence.split_once(": ").map(|(label, _)| label);
    label.is_some_and(|label| is_among(&label.to_lowercase(), DECISION_LABELS))
}

/// Returns true if the word at a place decides something.
fn decides(own: &[ClauseWord], at: usize) -> bool {
    let next = word_at(own, at + 1);
    match word_at(own, at) {
        "decided" | "chose" | "opted" | "settled" => (at.saturating_sub(2)..at)
            .any(|at| matches!(word_at(own, at), "i" | "we" | "ive" | "weve")),
        "ruled" => next == "out",
        "go" | "going" | "went" | "stick" if next == "with" => is_of_speaker(own, at),
        "instead" | "rather" if matches!(next, "of" | "than") && own.len() > at + 3 => {
            is_choice(own, at)
        }
        "because" => is_choice(own, at),
        _ => false,
    }
}

/// Returns true if the words before a place are a choice of the speaker with an alternative or a
/// reason: `I keep`, `let's use`, `Take`. A next step, as in `let me update …`, is none.
fn is_choice(own: &[ClauseWord], end: usize) -> bool {
    let is_chosen = |at: usize| is_among(&stem(word_at(own, at).to_owned()), CHOICES);
    let is_command = is_command_verb(word_at(own, 0)) && is_chosen(0);
    is_command || (0..end).any(|at| is_chosen(at) && is_of_speaker(own, at))
}

/// Returns true for the first word of a clause, or one behind a link.
fn begins_clause(own: &[ClauseWord], at: usize) -> bool {
    own.get(at).is_some_and(ClauseWord::is_first)
        || is_among(word_before(own, at), COMMAND_LINKS)
        || word_before(own, at) == "now"
}

/// Returns true if the speaker is the subject of the verb at a place.
fn is_of_speaker(own: &[ClauseWord], verb: usize) -> bool {
    let is_between = |word: &str| is_among(word, " will should now also am rather ");
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
