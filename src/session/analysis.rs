//! The facts of a session at each of its compactions, and those that were needed again.
//!
//! One pass over the events; memory grows with the facts, not with the texts.

use super::facts::fact::{Fact, FactClass, FactSource, FileUse};
use super::facts::fact_reader::{FactReader, TextMask};
use super::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, Reload, SessionEvent, SessionMessage,
};
use super::summary_index::SummaryIndex;
use super::verdict::{FactVerdict, KnownFacts, OVERLAP_THRESHOLD, is_in_summary};
use crate::kernel::conversation::Speaker;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// The number of files that Claude Code reads again after a compaction: the latest ones (its
/// documentation, page `context-window`, as of 2026-10-19).
const RELOADED_FILES: usize = 5;

/// The things outside the session that a verdict depends on.
pub struct AnalysisInput<'m> {
    /// Replaces secrets and personal data.
    pub mask: TextMask<'m>,
    /// Returns true if a file is still there.
    pub is_file_there: &'m dyn Fn(&Path) -> bool,
    /// True if the agent's program reads the latest files again by itself.
    pub reloads_latest_files: bool,
}

/// The later use of a fact that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterUse {
    /// The line of the file.
    pub line: usize,
    /// The kind of use: `read again`, `run again`, `met again`.
    pub kind: &'static str,
}

/// A fact with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedFact {
    /// The fact.
    pub fact: Fact,
    /// The verdict.
    pub verdict: FactVerdict,
    /// The value that the summary has instead.
    pub other_value: Option<String>,
    /// Its first later use.
    pub later_use: Option<LaterUse>,
}

impl JudgedFact {
    /// Returns true if the fact was dropped and then used.
    pub const fn is_needed_again(&self) -> bool {
        self.verdict.is_dropped() && self.later_use.is_some()
    }
}

/// A compaction with the facts of the messages that it dropped.
#[derive(Clone, Debug)]
pub struct JudgedCompaction {
    /// The compaction.
    pub point: CompactionPoint,
    /// The messages that it dropped.
    pub dropped: usize,
    /// The messages that it kept.
    pub retained: usize,
    /// The bytes by which the summary is longer than the one before; `None` for the first.
    pub growth: Option<i64>,
    /// The files that were known before and read again later.
    pub files_read_again: BTreeSet<String>,
    /// The answers of the model until the next change of a file; `None` if there was none.
    pub answers_to_edit: Option<usize>,
    /// The facts, in the order of their classes and keys.
    pub facts: Vec<JudgedFact>,
}

/// A fact of the conversation as it is now.
#[derive(Debug)]
struct LiveFact {
    fact: Fact,
    /// The numbers of the messages that contain it.
    messages: Vec<usize>,
    /// True if a summary contains it, or the agent's program loaded it again.
    is_carried: bool,
}

type FactKey = (FactClass, String);

/// Collects the facts of a session and judges them at each compaction.
pub struct SessionAnalysis<'m> {
    input: AnalysisInput<'m>,
    reader: FactReader<'m>,
    count: usize,
    /// The numbers of the messages in the conversation.
    messages: Vec<usize>,
    live: BTreeMap<FactKey, LiveFact>,
    known: KnownFacts,
    /// The latest files, the newest last.
    latest_files: Vec<String>,
    request_tokens: Option<u64>,
    answers: usize,
    found: Vec<JudgedCompaction>,
    /// The places of dropped facts in `found`, until they are used.
    watched: HashMap<FactKey, Vec<FactIndex>>,
}

/// The place of a fact among all compactions.
#[derive(Clone, Copy, Debug)]
struct FactIndex {
    compaction: usize,
    fact: usize,
}

impl<'m> SessionAnalysis<'m> {
    /// Starts an analysis.
    pub fn new(input: AnalysisInput<'m>) -> Self {
        Self {
            reader: FactReader::new(input.mask),
            input,
            count: 0,
            messages: Vec::new(),
            live: BTreeMap::new(),
            known: KnownFacts::default(),
            latest_files: Vec::new(),
            request_tokens: None,
            answers: 0,
            found: Vec::new(),
            watched: HashMap::new(),
        }
    }

    /// Takes the next event.
    pub fn add_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Message(message) => self.add_message(&message),
            SessionEvent::Rewind(number) => self.rewind(number),
            SessionEvent::Compaction(point) => self.judge(*point),
            SessionEvent::Reload(reload) => self.add_reload(&reload),
            SessionEvent::RequestTokens(tokens) => self.add_tokens(tokens),
            SessionEvent::Folder(folder) => self.reader.set_folder(&folder),
            // Each conversation has an analysis of its own.
            SessionEvent::Conversation(_) => {}
        }
    }

    /// Ends the analysis. Returns the compactions in order, and the number of messages.
    pub fn finish(self) -> (Vec<JudgedCompaction>, usize) {
        (self.found, self.count)
    }

    fn add_message(&mut self, message: &SessionMessage) {
        let number = self.count;
        self.count += 1;
        self.messages.push(number);
        if message.turn.speaker == Speaker::Assistant && message.starts_answer {
            self.answers += 1;
        }
        let read = self.reader.read_message(message);
        for key in read.closed_tasks {
            self.live.remove(&(FactClass::Todo, key));
        }
        for fact in read.facts {
            if message.origin != MessageOrigin::Program {
                self.note_use(&fact);
            }
            self.add_fact(&fact, number);
        }
    }

    fn add_fact(&mut self, fact: &Fact, number: usize) {
        self.known.add(fact);
        if fact.class == FactClass::File && fact.file_use > Some(FileUse::Seen) {
            self.latest_files.retain(|path| *path != fact.key);
            self.latest_files.push(fact.key.clone());
            let old = self.latest_files.len().saturating_sub(RELOADED_FILES);
            self.latest_files.drain(..old);
        }
        let key = (fact.class, fact.key.clone());
        let live = self.live.entry(key).or_insert_with(|| LiveFact {
            fact: fact.clone(),
            messages: Vec::new(),
            is_carried: false,
        });
        live.fact.file_use = live.fact.file_use.max(fact.file_use);
        live.fact.is_standing |= fact.is_standing;
        if live.messages.last() != Some(&number) {
            live.messages.push(number);
        }
    }

    /// Notes the use of facts that were dropped.
    fn note_use(&mut self, fact: &Fact) {
        let kind = match (fact.class, fact.source, fact.file_use) {
            (FactClass::File, _, Some(FileUse::Read)) => "read again",
            (FactClass::File, _, Some(FileUse::Seen)) => "named again",
            (FactClass::File, _, _) => "changed again",
            (FactClass::Command, ..) => "run again",
            (FactClass::Error, ..) => "met again",
            (FactClass::Value, FactSource::Call, _) => "used again",
            (FactClass::Instruction, FactSource::Prose, _) => "given again",
            _ => return,
        };
        if fact.class == FactClass::File {
            if fact.file_use == Some(FileUse::Read) {
                for compaction in &mut self.found {
                    let is_known = compaction.facts.binary_search_by(|judged| {
                        (judged.fact.class, judged.fact.key.as_str())
                            .cmp(&(fact.class, fact.key.as_str()))
                    });
                    if is_known.is_ok() {
                        compaction.files_read_again.insert(fact.key.clone());
                    }
                }
            }
            if fact.file_use >= Some(FileUse::Modified)
                && let Some(last) = self.found.last_mut()
            {
                last.answers_to_edit.get_or_insert(self.answers);
            }
        }
        let key = (fact.class, fact.key.clone());
        for index in self.watched.remove(&key).into_iter().flatten() {
            if let Some(judged) = self.judged_mut(index) {
                judged.later_use = Some(LaterUse {
                    line: fact.line,
                    kind,
                });
            }
        }
    }

    fn judged_mut(&mut self, index: FactIndex) -> Option<&mut JudgedFact> {
        self.found
            .get_mut(index.compaction)?
            .facts
            .get_mut(index.fact)
    }

    fn rewind(&mut self, number: usize) {
        self.messages.retain(|message| *message < number);
        self.live.retain(|_, live| {
            live.messages.retain(|message| *message < number);
            live.is_carried || !live.messages.is_empty()
        });
    }

    fn add_tokens(&mut self, tokens: u64) {
        self.request_tokens = Some(tokens);
        if let Some(last) = self.found.last_mut() {
            last.point.tokens_after.get_or_insert(tokens);
        }
    }

    fn is_file_there(&self, fact: &Fact) -> bool {
        let path = Path::new(self.reader.folder()).join(&fact.key);
        fact.class == FactClass::File && path.is_absolute() && (self.input.is_file_there)(&path)
    }

    /// Marks the dropped facts of the last compaction that a reload contains.
    fn add_reload(&mut self, reload: &Reload) {
        let path = reload
            .path
            .as_deref()
            .and_then(|path| self.reader.relative_path(path));
        let text = SummaryIndex::new(&(self.input.mask)(&reload.text));
        let Some(last) = self.found.last_mut() else {
            return;
        };
        for judged in &mut last.facts {
            let is_loaded = judged.fact.class == FactClass::File
                && Some(&judged.fact.key) == path.as_ref()
                || matches!(
                    judged.fact.class,
                    FactClass::Instruction | FactClass::Todo | FactClass::Decision
                ) && text.overlap(&judged.fact.text) >= OVERLAP_THRESHOLD;
            if judged.verdict.is_dropped() && is_loaded {
                judged.verdict = FactVerdict::Reloaded;
                judged.later_use = None;
            }
        }
    }

    /// Judges all facts at a compaction, and goes on with those that are left.
    fn judge(&mut self, mut point: CompactionPoint) {
        point.tokens_before = point.tokens_before.or(self.request_tokens);
        let summary_text = (self.input.mask)(&point.summary);
        let summary = SummaryIndex::new(&summary_text);
        let names_session = point.summary.contains(".jsonl");
        let retained: BTreeSet<usize> = point.retained.iter().copied().collect();
        let reloaded: BTreeSet<String> =
            if self.input.reloads_latest_files && point.kind == CompactionKind::Summary {
                self.latest_files.iter().cloned().collect()
            } else {
                BTreeSet::new()
            };
        let compaction = self.found.len();
        let mut facts = Vec::new();
        for (key, mut live) in std::mem::take(&mut self.live) {
            live.messages.retain(|number| retained.contains(number));
            // If only results were cleared, the summary before is still there.
            let is_cleared = point.kind == CompactionKind::ClearedResults;
            let is_retained = !live.messages.is_empty() || is_cleared && live.is_carried;
            let fact = live.fact.clone();
            let mut other_value = None;
            let verdict = if is_retained || is_in_summary(&fact, &summary, &self.known) {
                FactVerdict::Kept
            } else if fact.is_standing
                || fact.class == FactClass::File && reloaded.contains(&fact.key)
            {
                FactVerdict::Reloaded
            } else if point.kind == CompactionKind::Opaque {
                FactVerdict::Unseen
            } else if let Some(other) = self.known.other_value(&fact, &summary) {
                other_value = Some(other.to_owned());
                FactVerdict::Mutated
            } else if names_session || self.is_file_there(&fact) {
                FactVerdict::Recoverable
            } else {
                FactVerdict::Lost
            };
            if verdict.is_dropped() {
                let index = FactIndex {
                    compaction,
                    fact: facts.len(),
                };
                self.watched.entry(key).or_default().push(index);
            } else {
                live.is_carried = live.messages.is_empty();
                self.live.insert(key, live);
            }
            if verdict.is_dropped() || !is_cleared {
                facts.push(JudgedFact {
                    fact,
                    verdict,
                    other_value,
                    later_use: None,
                });
            }
        }
        let before = self.found.last().map(|last| last.point.summary.len());
        let kept = self
            .messages
            .iter()
            .filter(|number| retained.contains(number))
            .count();
        let dropped = self.messages.len() - kept;
        self.messages.retain(|number| retained.contains(number));
        self.answers = 0;
        self.found.push(JudgedCompaction {
            growth: before.map(|before| signed(point.summary.len()) - signed(before)),
            point,
            dropped,
            retained: kept,
            files_read_again: BTreeSet::new(),
            answers_to_edit: None,
            facts,
        });
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
