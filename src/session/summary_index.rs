//! A summary, indexed so that each fact is looked up in constant time.

use super::facts::error_line::{ErrorLine, reports_failure};
use super::facts::file_path::base_name;
use super::facts::value::values;
use super::sentences::{
    SentenceSign, content_words, search_words, split_sentences, stem, strip_list_mark, words,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The bytes of a summary that are read.
const MAX_SUMMARY_BYTES: usize = 1 << 20;
/// The share of a sentence's words that must stand together in a summary.
pub const OVERLAP_THRESHOLD: f64 = 0.6;
/// The number of words of an instruction up to which all of them must stand together.
const MAX_SHORT_WORDS: usize = 4;
/// The number of words of a part of a sentence that stands for the whole.
const MIN_CORE_WORDS: usize = 2;
/// The words before the alternative or the reason of a decision.
const ALTERNATIVES: [&str; 4] = [" rather than ", " instead of ", " because ", " so that "];
/// The number of sentences with a word up to which it identifies an error.
const MAX_RARE_PLACES: usize = 3;
/// The number of places of a word that are looked at.
const MAX_PLACES: usize = 60;
/// The number of words beside each other that are looked up at once.
const PHRASE_WORDS: usize = 5;
/// Programs whose names are words of English.
const WORD_PROGRAMS: [&str; 6] = ["make", "just", "go", "task", "ant", "node"];

/// The places that a sentence belongs to: itself with the one before, and with the one behind.
const BESIDE: fn(usize) -> [usize; 2] = |at| [at, at + 1];

/// An indexed summary.
#[derive(Debug, Default)]
pub struct SummaryIndex {
    /// The numbers of the sentences with each word, without its ending.
    places: HashMap<String, Vec<usize>>,
    /// The signs of the sentences.
    signs: Vec<SentenceSign>,
    /// True for each sentence about a failure.
    failures: Vec<bool>,
    /// All rows of up to [`PHRASE_WORDS`] words.
    phrases: HashSet<String>,
    /// The first words of code.
    programs: HashSet<String>,
    /// The paths, by their last parts.
    paths: HashMap<String, BTreeSet<String>>,
    /// The keys of the values.
    values: BTreeSet<String>,
    /// The values of each thing.
    slots: BTreeMap<String, BTreeSet<String>>,
}

impl SummaryIndex {
    /// Indexes a summary.
    pub fn new(summary: &str) -> Self {
        let summary = summary
            .get(..summary.floor_char_boundary(MAX_SUMMARY_BYTES))
            .unwrap_or_default();
        let mut out = Self::default();
        out.add_sentences(summary);
        let all: Vec<String> = words(summary).collect();
        for at in 0..all.len() {
            let mut phrase = String::new();
            for word in all.iter().skip(at).take(PHRASE_WORDS) {
                phrase.push_str(word);
                out.phrases.insert(phrase.clone());
                phrase.push(' ');
            }
        }
        let code = summary.split('`').skip(1).step_by(2);
        let programs = code
            .flat_map(str::lines)
            .filter_map(|line| words(line).next());
        out.programs.extend(programs);
        for word in summary.split(|c: char| c.is_whitespace() || "`\"'<>,;|".contains(c)) {
            for path in word.split("](").map(path_of_word) {
                let name = base_name(path);
                if name.contains('.') || path.contains('/') {
                    let own = out.paths.entry(name.to_owned()).or_default();
                    own.insert(path.to_owned());
                }
            }
        }
        for value in values(summary) {
            out.values.insert(value.key());
            let slot = out.slots.entry(value.slot()).or_default();
            slot.insert(value.normal_value().to_owned());
        }
        out
    }

    /// Indexes the words by sentences. Entries of a list have the sign of the line above it, too.
    fn add_sentences(&mut self, summary: &str) {
        let mut above = SentenceSign::default();
        let mut is_failure_above = false;
        for line in summary.lines().map(str::trim) {
            let own = strip_list_mark(line);
            if line.starts_with('#') || own.trim_end_matches('*').ends_with(':') {
                above = SentenceSign::new(own);
                is_failure_above = reports_failure(own);
            } else if own.len() == line.len() && !own.is_empty() {
                above = SentenceSign::default();
                is_failure_above = false;
            }
            let mut sentences = Vec::new();
            split_sentences(own, &mut sentences);
            for sentence in sentences {
                let mut sign = SentenceSign::new(&sentence);
                sign.forbids |= above.forbids;
                let own: BTreeSet<String> = words(&sentence).map(stem).collect();
                for word in own {
                    self.places.entry(word).or_default().push(self.signs.len());
                }
                self.signs.push(sign);
                let is_failure = is_failure_above || reports_failure(&sentence);
                self.failures.push(is_failure);
            }
        }
    }

    /// Returns true if most words of a sentence, or of what it decides, stand in two sentences beside
    /// each other.
    pub fn has_sentence(&self, text: &str) -> bool {
        let ends = ALTERNATIVES.iter().filter_map(|word| text.find(word));
        let core = ends.min().and_then(|end| text.get(..end)).map(search_words);
        let core = core.filter(|own| own.len() > MIN_CORE_WORDS);
        let all = [search_words(text)].into_iter().chain(core);
        all.into_iter()
            .any(|own| self.has_words(&own, OVERLAP_THRESHOLD))
    }

    fn has_words(&self, own: &BTreeSet<String>, share: f64) -> bool {
        let minimum = share_of(own.len(), share);
        self.count_words(own, BESIDE)
            .into_values()
            .any(|count| count >= minimum)
    }

    /// Returns true if most words of an instruction, all of a short one, or of its first clause that
    /// demands or forbids stand in a sentence that forbids if it forbids.
    pub fn has_rule(&self, text: &str) -> bool {
        let mut clauses = text.split([',', ';', '(', ')', '—', '–']);
        let core = clauses.find(|clause| SentenceSign::new(clause) != SentenceSign::default());
        let is_whole = |core: &&str| search_words(core).len() >= MIN_CORE_WORDS;
        let mut parts = [text].into_iter().chain(core.filter(is_whole));
        parts.any(|part| self.has_clause(part))
    }

    fn has_clause(&self, text: &str) -> bool {
        let own = search_words(text);
        let minimum = share_of(own.len(), OVERLAP_THRESHOLD).max(own.len().min(MAX_SHORT_WORDS));
        let sign = SentenceSign::new(text);
        let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
        let numbers: BTreeSet<String> = own.iter().filter(is_number).cloned().collect();
        let in_numbers = self.count_words(&numbers, |at| [at, at]);
        self.count_words(&own, |at| [at, at])
            .into_iter()
            .any(|(at, count)| {
                let other = self.signs.get(at);
                let has_numbers = in_numbers.get(&at).copied().unwrap_or(0) == numbers.len();
                count >= minimum
                    && has_numbers
                    && other.is_some_and(|other| sign.agrees_with(*other))
            })
    }

    /// Returns the number of words that stand in each place, with the places that a sentence belongs
    /// to.
    fn count_words(
        &self,
        own: &BTreeSet<String>,
        places_of: fn(usize) -> [usize; 2],
    ) -> HashMap<usize, usize> {
        let mut counts = HashMap::new();
        for word in own {
            let places = self.places.get(word).into_iter().flatten().take(MAX_PLACES);
            let places: BTreeSet<usize> = places.flat_map(|at| places_of(*at)).collect();
            for place in places {
                *counts.entry(place).or_default() += 1;
            }
        }
        counts
    }

    /// Returns true if the summary names a file: by its path, the end of its path, its name if only
    /// one file has it, or its name and its folder, as in a drawing of a tree.
    pub fn names_file(&self, path: &str, is_name_unique: impl Fn(&str) -> bool) -> bool {
        let name = base_name(path);
        let path = path.trim_start_matches(['~', '/']);
        // A name with blanks is several words of the summary.
        let is_phrase = name.contains(' ') && self.has_phrase(name);
        is_phrase
            || self.paths.get(name).into_iter().flatten().any(|other| {
                let is_end = |long: &str, short: &str| {
                    long.strip_suffix(short)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                };
                if other.contains('/') {
                    let other = other.trim_start_matches(['~', '/']);
                    is_end(path, other) || is_end(other, path)
                } else {
                    let folder = path.rsplit('/').nth(1);
                    is_name_unique(name) || folder.is_some_and(|folder| self.has_phrase(folder))
                }
            })
    }

    /// Returns true if the summary has a path with this last part.
    pub fn has_file_name(&self, name: &str) -> bool {
        self.paths.contains_key(name)
    }

    /// Returns true if the words of a text stand beside each other.
    fn has_phrase(&self, text: &str) -> bool {
        let all: Vec<String> = words(text).collect();
        let length = all.len().clamp(1, PHRASE_WORDS);
        !all.is_empty()
            && all
                .windows(length)
                .all(|row| self.phrases.contains(&row.join(" ")))
    }

    /// Returns true if the words of a command stand beside each other. A program whose name is a word
    /// of English must be code, or stand behind a verb.
    pub fn names_command(&self, command: &str) -> bool {
        if WORD_PROGRAMS.contains(&command) {
            return self.programs.contains(command)
                || ["run", "ran", "running", "with", "via", "using"]
                    .iter()
                    .any(|verb| self.phrases.contains(&format!("{verb} {command}")));
        }
        let head: Vec<&str> = command
            .split(' ')
            .filter(|word| !word.starts_with("--"))
            .collect();
        let is_script = |name: &str| name.contains('.') && self.has_file_name(name);
        head.get(1).is_some_and(|name| is_script(name)) || self.has_phrase(&head.join(" "))
    }

    /// Returns true if the summary has most words of an error's message; some, among them the name of
    /// the error or a name of the program; or a report of a failure with what distinguishes it.
    pub fn names_error(&self, error: &ErrorLine<'_>) -> bool {
        let message = error.message();
        let has_name = self.has_phrase(error.name)
            || words(&message).any(|word| word.contains('_') && self.phrases.contains(&word));
        let share = OVERLAP_THRESHOLD / if has_name { 2.0 } else { 1.0 };
        let own: BTreeSet<String> = content_words(&message).collect();
        if !own.is_empty() && self.has_words(&own, share) {
            return true;
        }
        let marks: BTreeSet<String> = error.marks().into_iter().map(stem).collect();
        let others: BTreeSet<String> = words(&message)
            .filter(|word| !reports_failure(word))
            .flat_map(|word| content_words(&word).collect::<Vec<_>>())
            .filter(|word| !marks.contains(word))
            .collect();
        let file = error
            .file_name()
            .map(|name| words(name).map(stem).collect());
        let file: BTreeSet<String> = file.unwrap_or_default();
        let in_marks = self.count_words(&marks, BESIDE);
        let in_others = self.count_words(&others, BESIDE);
        let in_file = self.count_words(&file, BESIDE);
        let is_number = |mark: &&String| mark.bytes().all(|byte| byte.is_ascii_digit());
        let is_rare = |mark: &&String| {
            let places = self.places.get(*mark).map_or(0, Vec::len);
            !is_number(mark) && (1..=MAX_RARE_PLACES).contains(&places)
        };
        let rare: BTreeSet<String> = marks.iter().filter(is_rare).cloned().collect();
        let in_rare_marks = self.count_words(&rare, BESIDE);
        let has_identifier = marks.iter().any(|mark| !is_number(&mark));
        let places = [&in_marks, &in_others].map(|counts| counts.keys().copied());
        let places: BTreeSet<usize> = places.into_iter().flatten().collect();
        places.into_iter().any(|place| {
            let count = |counts: &HashMap<usize, usize>| counts.get(&place).copied().unwrap_or(0);
            let (marked, other) = (count(&in_marks), count(&in_others));
            let has_file = !file.is_empty() && count(&in_file) == file.len();
            let beside = [place.checked_sub(1), Some(place)];
            let mut beside = beside.into_iter().flatten();
            let is_failure = beside.any(|at| self.failures.get(at) == Some(&true));
            let is_known = if marks.is_empty() {
                other > 0 && other * 2 >= others.len() && (error.name.is_empty() || has_name)
            } else {
                count(&in_rare_marks) > 0
                    || other > 0 && (marked > 1 || marked == 1 && has_identifier)
            };
            is_failure && (is_known || has_file && other > 0)
                || has_identifier && marked > 1 && marked * 2 > marks.len()
        })
    }

    /// Returns true if the summary has a value with this key.
    pub fn has_value(&self, key: &str) -> bool {
        self.values.contains(key)
    }

    /// Returns the values of a thing.
    pub fn values_of(&self, slot: &str) -> impl Iterator<Item = &str> {
        self.slots
            .get(slot)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}

/// Returns the number of words that are a share of some; at least one.
fn share_of(count: usize, share: f64) -> usize {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of words are below 2^53"
    )]
    let minimum = (count as f64 * share).ceil() as usize;
    minimum.max(1)
}

/// Returns the path that a word can be, without marks around it and its place: `@src/a.rs:12`.
fn path_of_word(word: &str) -> &str {
    let mut own = word.trim_end_matches(['.', ':', '!', '?', '*', '-']);
    for (open, close) in [('(', ')'), ('[', ']')] {
        let is_framed = own.starts_with(open) && own.ends_with(close);
        if is_framed || own.starts_with(open) && !own.contains(close) {
            own = own.trim_start_matches(open);
        }
        if is_framed || own.ends_with(close) && !own.contains(open) {
            own = own.trim_end_matches(close);
        }
    }
    let own = own.trim_start_matches(['@', '*', '-']);
    let own = own.strip_prefix("file:").unwrap_or(own);
    let own = own.trim_start_matches("./").trim_end_matches(['.', ':']);
    // A line and a column: `src/a.rs:12:3`.
    match own.split_once(':') {
        Some((path, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => path,
        _ => own,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/session/summary_index.rs"]
mod tests;
