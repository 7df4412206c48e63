//! Results that an agent fetched again behind a compaction: files that it read and commands that it
//! ran although an earlier message, which was dropped, had their contents; with the answers and
//! tokens that this took, and the parts that it then used.
//!
//! A command that is run again is work, unless its result is the same: if no file was changed between
//! both runs, without its digits; else in all bytes of an error or of a long result.

use super::facts::error_line::error_lines;
use super::facts::fact_reader::TextMask;
use super::facts::fetched_result::{FetchedResult, ResultKind, ResultSource, SourceUse};
use super::facts::file_path::base_name;
use super::facts::outline::{DefinedName, Outline};
use super::sentences::one_line;
use super::session_event::{CompactionKind, CompactionPoint, SessionMessage, all_text, part_text};
use crate::kernel::conversation::{Part, Speaker};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Maximum number of named parts of a result.
const MAX_PARTS: usize = 3;
/// Maximum length of a command line or a path in characters.
const MAX_NAME_CHARS: usize = 240;
/// Maximum length of a line of output in characters.
const MAX_LINE_CHARS: usize = 100;
/// Maximum number of lines of files that are known.
const MAX_LINES: usize = 1 << 21;
/// Minimum length in bytes of a line that identifies a file.
const MIN_LINE_BYTES: usize = 8;
/// Minimum length in bytes of a result that is no mere confirmation.
const MIN_LONG_RESULT: usize = 200;
/// Minimum length in bytes of a word that is looked up.
const MIN_WORD_BYTES: usize = 3;

/// A result that was fetched again.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[allow(clippy::struct_excessive_bools, reason = "independent properties")]
pub struct Refetch {
    /// The kind.
    pub kind: ResultKind,
    /// The path of the file, or the line of the command, with secrets and personal data masked.
    pub name: String,
    /// The line of the session.
    pub line: usize,
    /// The number of fetches; parts of a file are fetched one by one.
    pub times: usize,
    /// The names in a file that were used next and that the summary lacks, or else the numbers of its
    /// lines; the first line of an output that means something.
    pub parts: Vec<String>,
    /// True if the output has an error.
    #[serde(skip)]
    pub is_error: bool,
    /// True if the agent then changed the file: many agents only change files that they have read.
    pub is_changed: bool,
    /// True if the summary has the name of the file and the names in it that were used next.
    pub is_in_summary: bool,
    /// True if a tool had refused to change the file before it was read.
    pub is_forced: bool,
    /// The length of the result.
    pub bytes: usize,
    /// Its tokens: the share of the growth of the next request that its bytes have, at most two for
    /// five bytes; null without billed tokens.
    pub tokens: Option<u64>,
}

impl Refetch {
    /// Returns true if another summary could have avoided it.
    pub const fn is_avoidable(&self) -> bool {
        !self.is_in_summary && !self.is_forced
    }
}

/// The work behind a compaction, until the session ends.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct LaterWork {
    /// Answers of the model.
    #[serde(rename = "later_answers")]
    pub answers: usize,
    /// Those that fetched again what the compaction dropped.
    #[serde(rename = "refetch_answers")]
    pub refetch_answers: usize,
    /// The tokens by which the requests grew.
    #[serde(rename = "later_tokens")]
    pub tokens: u64,
    /// The results that were fetched again, the longest first.
    pub refetches: Vec<Refetch>,
    /// The number of the last answer that fetched again.
    #[serde(skip)]
    last_answer: usize,
}

/// The last run of a command.
#[derive(Debug)]
struct CommandRun {
    message: usize,
    /// The number of changes of files before it.
    changes: usize,
    /// The hashes of the output, and of the output without digits and blanks.
    hashes: [u64; 2],
}

/// The messages that a compaction dropped.
#[derive(Debug)]
struct DroppedMessages {
    compaction: usize,
    kind: CompactionKind,
    /// The number of the first message behind it.
    end: usize,
    /// The numbers of earlier messages that stay, in ascending order.
    retained: Vec<usize>,
}

/// The part of a result that a compaction had dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct DroppedText {
    compaction: usize,
    bytes: usize,
    /// True if a tool had refused to change the file before it was read.
    is_forced: bool,
}

/// The place of a refetch.
#[derive(Clone, Copy, Debug)]
struct RefetchIndex {
    compaction: usize,
    refetch: usize,
}

/// A refetch since the last compaction.
#[derive(Debug)]
struct OpenRefetch {
    index: RefetchIndex,
    outline: Outline,
    /// The names that were used, in order.
    used: Vec<usize>,
}

/// The messages between two requests.
#[derive(Debug, Default)]
struct Growth {
    bytes: usize,
    refetches: Vec<(RefetchIndex, usize)>,
}

/// Follows the results of a session.
pub(super) struct RefetchTracker<'m> {
    mask: TextMask<'m>,
    runs: HashMap<String, CommandRun>,
    /// The last message with each line of a file, by the hash of the path and the line.
    lines: HashMap<u64, usize>,
    /// The last message that wrote a file as a whole.
    written: HashMap<String, usize>,
    /// The files that a tool refused to change, until they are read.
    refused: HashSet<String>,
    /// The compactions that hold.
    drops: Vec<DroppedMessages>,
    /// The work behind each compaction.
    work: Vec<LaterWork>,
    answers: usize,
    /// The number of changes of files.
    changes: usize,
    open: HashMap<ResultSource, OpenRefetch>,
    /// The names of the open refetches by their words.
    names: HashMap<String, Vec<(ResultSource, usize)>>,
    /// The last summary, and its words.
    summary: String,
    summary_words: HashSet<String>,
    /// The tokens of the last request.
    request: Option<u64>,
    /// The messages in front of the answer that is being read, and those since.
    closed: Growth,
    growing: Growth,
}

impl<'m> RefetchTracker<'m> {
    /// Creates a tracker that masks texts.
    pub(super) fn new(mask: TextMask<'m>) -> Self {
        Self {
            mask,
            runs: HashMap::new(),
            lines: HashMap::new(),
            written: HashMap::new(),
            refused: HashSet::new(),
            drops: Vec::new(),
            work: Vec::new(),
            answers: 0,
            changes: 0,
            open: HashMap::new(),
            names: HashMap::new(),
            summary: String::new(),
            summary_words: HashSet::new(),
            request: None,
            closed: Growth::default(),
            growing: Growth::default(),
        }
    }

    /// Takes a message before its results and changes.
    pub(super) fn add_message(&mut self, message: &SessionMessage) {
        let is_answer = message.turn.speaker == Speaker::Assistant;
        if is_answer && message.starts_answer {
            self.answers += 1;
            for work in &mut self.work {
                work.answers += 1;
            }
            let Growth { bytes, refetches } = std::mem::take(&mut self.growing);
            self.closed.bytes += bytes;
            self.closed.refetches.extend(refetches);
        }
        for part in &message.turn.parts {
            self.growing.bytes += match part {
                Part::Text(text) => text.len(),
                Part::Reasoning(reasoning) => reasoning.text.len(),
                Part::Call(call) => call.arguments.to_string().len(),
                Part::Result(result) => result
                    .parts
                    .iter()
                    .filter_map(part_text)
                    .map(str::len)
                    .sum(),
                Part::Media(_) => 0,
            };
            if is_answer && !self.open.is_empty() {
                self.note_uses(part);
            }
        }
    }

    /// Notes the names that an answer uses: those above the lines that an edit quotes, or else those
    /// that it mentions.
    fn note_uses(&mut self, part: &Part) {
        let text = match part {
            Part::Text(text) => text.clone(),
            Part::Call(call) => all_text(&call.arguments),
            Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => return,
        };
        let mut is_quoted = false;
        #[allow(clippy::iter_over_hash_type, reason = "each is changed by itself")]
        for open in self.open.values_mut() {
            let own = open.outline.names_above(&text);
            is_quoted |= !own.is_empty();
            open.use_names(own);
        }
        if is_quoted {
            return;
        }
        for word in identifiers(&text) {
            for (source, name) in self.names.get(word).into_iter().flatten() {
                if let Some(open) = self.open.get_mut(source) {
                    open.use_names([*name]);
                }
            }
        }
    }

    /// Takes a result of a tool. Returns true if it was fetched again.
    pub(super) fn add_result(&mut self, result: &FetchedResult) -> bool {
        let dropped = self.note_result(result);
        if let Some(dropped) = dropped {
            self.add_refetch(dropped, result);
        }
        dropped.is_some_and(|dropped| !dropped.is_forced)
    }

    /// Takes a result that the agent did not ask for, or any. Returns the part of it that a
    /// compaction dropped.
    pub(super) fn note_result(&mut self, result: &FetchedResult) -> Option<DroppedText> {
        let dropped = match (result.source.kind, result.source_use) {
            (ResultKind::Command, _) => self.add_run(result),
            (ResultKind::File, SourceUse::Fetch) => self.add_reading(result),
            (ResultKind::File, SourceUse::Refusal) => {
                self.refused.insert(result.source.name.clone());
                return None;
            }
            (ResultKind::File, SourceUse::Change | SourceUse::Write) => {
                self.add_lines(result);
                self.changes += 1;
                if result.source_use == SourceUse::Write {
                    let name = result.source.name.clone();
                    self.written.insert(name, result.message);
                }
                if let Some(open) = self.open.get(&result.source).map(|open| open.index)
                    && let Some(refetch) = self.refetch(open)
                {
                    refetch.is_changed = true;
                }
                None
            }
        };
        let is_forced = self.refused.remove(&result.source.name);
        dropped.map(|dropped| DroppedText {
            is_forced,
            ..dropped
        })
    }

    /// Notes the output of a command. Returns it if a compaction dropped the same output.
    fn add_run(&mut self, result: &FetchedResult) -> Option<DroppedText> {
        let hashes = [
            text_hash(&result.text, |_| true),
            text_hash(&result.text, is_steady),
        ];
        let bytes = result.text.trim().len();
        let run = CommandRun {
            message: result.message,
            changes: self.changes,
            hashes,
        };
        let before = self.runs.insert(result.source.name.clone(), run)?;
        let compaction = self.dropped_by(before.message)?;
        let is_same = if before.changes == self.changes {
            before.hashes[1] == hashes[1] && bytes > 0
        } else {
            let is_check = || bytes < MIN_LONG_RESULT && error_lines(&result.text).is_empty();
            before.hashes[0] == hashes[0] && !is_check()
        };
        if !is_same {
            return None;
        }
        Some(DroppedText {
            compaction,
            bytes,
            is_forced: false,
        })
    }

    /// Notes the lines of a file. Returns those that a compaction dropped.
    fn add_reading(&mut self, result: &FetchedResult) -> Option<DroppedText> {
        let mut dropped: Option<DroppedText> = None;
        // The compaction that dropped the message of the line before.
        let mut last: Option<(Option<usize>, Option<usize>)> = None;
        let written = self.written.get(&result.source.name).copied();
        let mut all = 0;
        for (hash, bytes) in file_lines(result) {
            all += bytes;
            let before = self.lines.get(&hash).copied();
            let before = before.map(|before| before.max(written.unwrap_or(before)));
            if last.is_none_or(|(message, _)| message != before) {
                last = Some((before, before.and_then(|message| self.dropped_by(message))));
            }
            if let Some((_, Some(compaction))) = last {
                let own = dropped.get_or_insert(DroppedText {
                    compaction,
                    bytes: 0,
                    is_forced: false,
                });
                own.compaction = own.compaction.max(compaction);
                own.bytes += bytes;
            }
        }
        self.add_lines(result);
        dropped.filter(|own| own.bytes * 2 >= all || own.bytes >= MIN_LONG_RESULT)
    }

    fn add_lines(&mut self, result: &FetchedResult) {
        if self.lines.len() < MAX_LINES {
            let lines = file_lines(result).map(|(hash, _)| (hash, result.message));
            self.lines.extend(lines);
        }
    }

    /// Returns the last compaction that could have kept a message that one dropped.
    fn dropped_by(&self, message: usize) -> Option<usize> {
        let first = self.drops.partition_point(|drop| drop.end <= message);
        let mut later = self.drops.iter().skip(first);
        let dropping = later.find(|drop| drop.retained.binary_search(&message).is_err())?;
        let last = later.rfind(|drop| drop.kind != CompactionKind::ClearedResults);
        Some(last.unwrap_or(dropping).compaction)
    }

    fn refetch(&mut self, at: RefetchIndex) -> Option<&mut Refetch> {
        self.work
            .get_mut(at.compaction)?
            .refetches
            .get_mut(at.refetch)
    }

    /// Adds a refetch, or another part of one since the last compaction.
    fn add_refetch(&mut self, dropped: DroppedText, result: &FetchedResult) {
        let text = (self.mask)(&result.text);
        let DroppedText {
            compaction,
            bytes,
            is_forced,
        } = dropped;
        let answer = self.answers;
        let Some(work) = self.work.get_mut(compaction) else {
            return;
        };
        if work.last_answer != answer {
            work.last_answer = answer;
            work.refetch_answers += 1;
        }
        let open = self.open.entry(result.source.clone()).or_insert_with(|| {
            work.refetches.push(Refetch {
                kind: result.source.kind,
                name: one_line(&(self.mask)(&result.source.name), MAX_NAME_CHARS),
                line: result.line,
                times: 0,
                parts: Vec::new(),
                is_error: false,
                is_changed: false,
                is_in_summary: false,
                is_forced,
                bytes: 0,
                tokens: None,
            });
            OpenRefetch {
                index: RefetchIndex {
                    compaction,
                    refetch: work.refetches.len() - 1,
                },
                outline: Outline::default(),
                used: Vec::new(),
            }
        });
        let first = open.outline.names.len();
        match result.source.kind {
            ResultKind::File => open.outline.add_text(&result.source.name, &text),
            ResultKind::Command => {}
        }
        for (at, name) in open.outline.names.iter().enumerate().skip(first) {
            if name.word.len() >= MIN_WORD_BYTES {
                let own = self.names.entry(name.word.clone()).or_default();
                own.push((result.source.clone(), at));
            }
        }
        let index = open.index;
        self.growing.refetches.push((index, bytes));
        if let Some(refetch) = self.refetch(index) {
            refetch.times += 1;
            refetch.is_forced &= is_forced;
            refetch.bytes += bytes;
            if result.source.kind == ResultKind::Command {
                refetch.is_error = !error_lines(&text).is_empty();
                refetch.parts = output_line(&text).into_iter().collect();
            } else if let Some([first, last]) =
                result.numbers.filter(|_| refetch.parts.len() < MAX_PARTS)
            {
                refetch.parts.push(format!("lines {first}-{last}"));
            }
        }
    }

    /// Takes the tokens of the request that the last answer belongs to.
    pub(super) fn add_tokens(&mut self, tokens: u64) {
        let Growth { bytes, refetches } = std::mem::take(&mut self.closed);
        let before = self.request.replace(tokens);
        let Some(growth) = before.and_then(|before| tokens.checked_sub(before)) else {
            return;
        };
        for work in &mut self.work {
            work.tokens += growth;
        }
        for (index, own) in refetches {
            let share = u128::from(growth) * own as u128 / bytes.max(1) as u128;
            let share = share.min(own as u128 * 2 / 5);
            if let Some(refetch) = self.refetch(index) {
                *refetch.tokens.get_or_insert(0) += u64::try_from(share).unwrap_or(0);
            }
        }
    }

    /// Takes a compaction with its masked summary and the first message behind it.
    pub(super) fn add_compaction(&mut self, point: &CompactionPoint, summary: &str, end: usize) {
        self.end_refetches();
        self.drops.push(DroppedMessages {
            compaction: self.work.len(),
            kind: point.kind,
            end,
            retained: point.retained.clone(),
        });
        self.work.push(LaterWork::default());
        if point.kind != CompactionKind::ClearedResults {
            summary.clone_into(&mut self.summary);
            self.summary_words = identifiers(summary).map(str::to_owned).collect();
        }
        self.end_growth();
    }

    /// Takes back the last compaction that holds.
    pub(super) fn undo_compaction(&mut self) {
        self.drops.pop();
        self.end_growth();
    }

    /// Notes that the next request does not contain the last one.
    pub(super) fn end_growth(&mut self) {
        self.request = None;
        self.closed = Growth::default();
        self.growing = Growth::default();
    }

    /// Names the parts of the refetches since the last compaction.
    fn end_refetches(&mut self) {
        self.names.clear();
        for open in std::mem::take(&mut self.open).into_values() {
            let is_new = |name: &&DefinedName| {
                let own = if name.word.is_empty() {
                    &name.label
                } else {
                    &name.word
                };
                let mut words = identifiers(own);
                words.any(|word| !self.summary_words.contains(word))
            };
            let names = open
                .used
                .iter()
                .filter_map(|at| open.outline.names.get(*at));
            let used: Vec<&DefinedName> = names.filter(|name| name.is_distinct()).collect();
            let new = used.iter().copied().filter(is_new).take(MAX_PARTS);
            let parts: Vec<String> = new.map(|name| name.label.clone()).collect();
            let index = open.index;
            let refetches = self.work.get(index.compaction).map(|work| &work.refetches);
            let name = refetches
                .and_then(|own| own.get(index.refetch))
                .map(|own| &own.name);
            let has_file = name.is_some_and(|name| has_name(&self.summary, base_name(name)));
            if let Some(refetch) = self.refetch(index)
                && !used.is_empty()
            {
                refetch.is_in_summary = has_file && parts.is_empty();
                refetch.parts = parts;
            }
        }
    }

    /// Ends the session. Returns the work behind each compaction.
    pub(super) fn finish(mut self) -> Vec<LaterWork> {
        self.end_refetches();
        for work in &mut self.work {
            work.refetches
                .sort_by_key(|refetch| (Reverse(refetch.tokens), Reverse(refetch.bytes)));
        }
        self.work
    }
}

/// Returns true if a text has a name of a file that is no part of a longer one.
fn has_name(text: &str, name: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|own| own.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|own| own.chars().next());
        !before.is_some_and(|c| is_inner(c) || c == '.') && !after.is_some_and(is_inner)
    })
}

impl OpenRefetch {
    fn use_names(&mut self, names: impl IntoIterator<Item = usize>) {
        for name in names {
            if !self.used.contains(&name) {
                self.used.push(name);
            }
        }
    }
}

/// Returns the hashes and the lengths of the lines of a file that identify it.
fn file_lines(result: &FetchedResult) -> impl Iterator<Item = (u64, usize)> {
    result.text.lines().filter_map(move |line| {
        let own = line.trim();
        let hash = hash_of(&(&result.source.name, own));
        (own.len() >= MIN_LINE_BYTES).then_some((hash, line.len() + 1))
    })
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of the characters of a text that pass a test.
fn text_hash(text: &str, is_hashed: fn(char) -> bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.chars()
        .filter(|c| is_hashed(*c))
        .for_each(|c| c.hash(&mut hasher));
    hasher.finish()
}

/// Returns true for a character that is the same in each run of a command.
fn is_steady(c: char) -> bool {
    !c.is_ascii_digit() && !c.is_whitespace()
}

/// Returns the first line of an output that means something: its first error, or else its first words.
fn output_line(text: &str) -> Option<String> {
    let error = error_lines(text).first().map(|error| error.line.to_owned());
    let is_telling = |line: &&str| line.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    let line = error.or_else(|| text.lines().find(is_telling).map(str::to_owned))?;
    Some(one_line(&line, MAX_LINE_CHARS))
}

/// Returns the names in a text.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    all.filter(|word| word.len() >= MIN_WORD_BYTES)
}
