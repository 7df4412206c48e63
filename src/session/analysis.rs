//! The facts of a session at each of its compactions, and those that were needed again.
//!
//! One pass over the events; memory grows with the facts, not with the texts.

use super::facts::fact::{Fact, FactClass, FactSource, FileUse};
use super::facts::fact_reader::{FactReader, TextMask, standing_files};
use super::facts::file_path::is_path_like;
use super::refetch::{LaterWork, RefetchTracker};
use super::sentences::one_line;
use super::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, Reload, SessionEvent, SessionFormat,
    SessionMessage, part_text,
};
use super::summary_index::SummaryIndex;
use super::verdict::{FactVerdict, KnownFacts, is_in_summary};
use crate::kernel::conversation::{Part, Speaker};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The number of files that Claude Code reads again after a compaction: the latest ones (its
/// documentation, page `context-window`, as of 2026-10-19).
const RELOADED_FILES: usize = 5;
/// The maximum number of characters of a name that a session gives.
pub const MAX_NAME_CHARS: usize = 60;

/// The facts that an analysis lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedFacts {
    /// Those that were dropped.
    Dropped,
    /// All of them.
    All,
}

/// The things outside the session that an analysis depends on.
#[derive(Clone, Copy)]
pub struct AnalysisInput<'m> {
    /// Replaces secrets and personal data.
    pub mask: TextMask<'m>,
    /// The program that wrote the session.
    pub format: SessionFormat,
    /// The file name of the session, which a summary can name; empty if it has none.
    pub transcript: &'m str,
    /// The folder in which files are looked up, if the session worked in it.
    pub folder: &'m str,
    /// Returns true if a path below this folder is a file.
    pub is_file_there: &'m dyn Fn(&str) -> bool,
    /// Returns the text of a file in this folder, if there is one.
    pub file_text: &'m dyn Fn(&str) -> Option<String>,
    /// The facts that are listed.
    pub listed: ListedFacts,
}

impl<'m> AnalysisInput<'m> {
    /// Creates the input of an analysis that looks up no file.
    pub fn new(mask: TextMask<'m>, format: SessionFormat) -> Self {
        Self {
            mask,
            format,
            transcript: "",
            folder: "",
            is_file_there: &|_| false,
            file_text: &|_| None,
            listed: ListedFacts::All,
        }
    }
}

/// The later use of a fact that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct LaterUse {
    /// The line of the file.
    pub line: usize,
    /// The kind of use: `read again`, `run again`, `met again`.
    pub kind: &'static str,
}

/// A fact with its verdict.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct JudgedFact {
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
    /// The verdict.
    pub verdict: FactVerdict,
    /// The value that the summary has instead; null if it has none.
    #[serde(rename = "summary_value")]
    pub other_value: Option<String>,
    /// The first later use of a dropped fact; null if there was none.
    #[serde(rename = "needed_again")]
    pub later_use: Option<LaterUse>,
}

impl JudgedFact {
    /// Returns true if the fact was dropped and then used.
    pub const fn is_needed_again(&self) -> bool {
        self.verdict.is_dropped() && self.later_use.is_some()
    }

    /// Returns true for an instruction that the conversation no longer contains.
    pub fn is_dropped_instruction(&self) -> bool {
        self.fact.class == FactClass::Instruction && self.verdict.is_dropped()
    }

    /// Returns true if the loss of the fact matters.
    pub fn is_missed(&self) -> bool {
        self.is_needed_again() || self.other_value.is_some() || self.is_dropped_instruction()
    }
}

/// The counts of a class of facts.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ClassCounts {
    /// The class; files are counted by their uses.
    pub class: String,
    /// The number of facts.
    pub facts: usize,
    /// The verdicts that occur.
    pub verdicts: Vec<VerdictCount>,
    /// The number of dropped facts that were used later.
    pub needed_again: usize,
}

/// The number of facts with a verdict.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: FactVerdict,
    /// The number of facts.
    pub facts: usize,
}

impl ClassCounts {
    fn add(&mut self, verdict: FactVerdict) {
        self.facts += 1;
        let mut counts = self.verdicts.iter_mut();
        match counts.find(|count| count.verdict == verdict) {
            Some(count) => count.facts += 1,
            None => self.verdicts.push(VerdictCount { verdict, facts: 1 }),
        }
    }

    /// Returns the number of facts with a verdict.
    pub fn count(&self, verdict: FactVerdict) -> usize {
        let mut counts = self.verdicts.iter();
        let own = counts.find(|count| count.verdict == verdict);
        own.map_or(0, |count| count.facts)
    }

    /// Returns the number of facts that the conversation still contains.
    pub fn surviving(&self) -> usize {
        self.count(FactVerdict::Kept) + self.count(FactVerdict::Reloaded)
    }
}

/// Counts of facts in the order of their classes, those of files that were created first.
type CountsByClass = BTreeMap<(FactClass, Reverse<Option<FileUse>>), ClassCounts>;

/// A compaction with the facts of the messages that it dropped.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct JudgedCompaction {
    /// Its number in the session, from 1.
    pub number: usize,
    /// The compaction.
    #[serde(flatten)]
    pub point: CompactionPoint,
    /// The messages that it dropped.
    #[serde(rename = "messages_dropped")]
    pub dropped: usize,
    /// The messages that it kept.
    #[serde(rename = "messages_kept")]
    pub retained: usize,
    /// The bytes of the summary.
    pub summary_bytes: usize,
    /// The bytes by which it is longer than the summary before; null for the first.
    #[serde(rename = "summary_growth")]
    pub growth: Option<i64>,
    /// The work behind it.
    #[serde(flatten)]
    pub later: LaterWork,
    /// Answers of the model until the next change of a file; null if there was none.
    pub answers_to_edit: Option<usize>,
    /// The counts of each class of facts that occurs.
    pub classes: Vec<ClassCounts>,
    /// The facts that were dropped, the most important first; with `--all`, all of them.
    pub facts: Vec<JudgedFact>,
}

impl JudgedCompaction {
    /// Returns the facts whose loss matters.
    pub fn missed_facts(&self) -> impl Iterator<Item = &JudgedFact> {
        self.facts.iter().filter(|fact| fact.is_missed())
    }

    /// Returns these facts without those that a result which was fetched again shows: its path, its
    /// command, its error.
    pub fn missed_facts_apart(&self) -> impl Iterator<Item = &JudgedFact> {
        let is_shown = |judged: &JudgedFact| {
            let line = judged.later_use.map(|later| later.line);
            self.later.refetches.iter().any(|refetch| {
                let is_path =
                    judged.fact.class == FactClass::File && refetch.name == judged.fact.text;
                let is_output = matches!(judged.fact.class, FactClass::Command | FactClass::Error)
                    && line == Some(refetch.line);
                is_path || is_output
            })
        };
        self.missed_facts().filter(move |judged| !is_shown(judged))
    }
}

/// The compactions of a session.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct JudgedSession {
    /// The number of messages.
    pub messages: usize,
    /// The compactions, in order.
    pub compactions: Vec<JudgedCompaction>,
}

/// A fact of the conversation as it is now.
#[derive(Clone, Debug)]
struct LiveFact {
    fact: Fact,
    /// The numbers of the messages that contain it.
    messages: Vec<usize>,
    /// The last verdict, if no message contains the fact any longer.
    carrier: Option<FactVerdict>,
}

type FactKey = (FactClass, String);

/// A compaction that holds, with what it changed.
#[derive(Debug)]
struct AppliedCompaction {
    /// Its place in the report.
    compaction: usize,
    /// The number of the first message behind it.
    end: usize,
    /// The numbers of the messages that it dropped.
    messages: Vec<usize>,
    /// The mentions in these messages.
    mentions: Vec<FactMention>,
    /// The facts that it dropped or changed, as they were before.
    facts: Vec<(FactKey, LiveFact)>,
}

/// A fact in a message.
#[derive(Debug)]
struct FactMention {
    /// The number of the message with which it came.
    arrival: usize,
    /// The number of the message that contains it.
    message: usize,
    key: FactKey,
}

/// Collects the facts of a session and judges them at each compaction.
pub struct SessionAnalysis<'m> {
    input: AnalysisInput<'m>,
    reader: FactReader<'m>,
    count: usize,
    /// The numbers of the messages in the conversation.
    messages: Vec<usize>,
    live: BTreeMap<FactKey, LiveFact>,
    /// The mentions of live facts, in the order of their arrival.
    mentions: Vec<FactMention>,
    known: KnownFacts,
    /// The latest files, the newest last.
    latest_files: Vec<String>,
    refetches: RefetchTracker<'m>,
    request_tokens: Option<u64>,
    answers: usize,
    /// True until the first message behind a compaction.
    is_reloading: bool,
    found: Vec<JudgedCompaction>,
    /// The compactions that hold, the last one last.
    applied: Vec<AppliedCompaction>,
    /// The counts of facts that the compactions do not list.
    counts: Vec<CountsByClass>,
    /// The places of dropped facts in `found`, until they are used.
    watched: HashMap<FactKey, Vec<FactIndex>>,
}

/// The place of a fact among all compactions.
#[derive(Clone, Copy, Debug)]
struct FactIndex {
    compaction: usize,
    fact: usize,
}

/// A compaction as the verdicts on facts need it.
struct Judgement {
    kind: CompactionKind,
    summary: SummaryIndex,
    /// True if the summary names the file of the session.
    names_transcript: bool,
    /// The files that the agent's program reads again.
    reloaded: Vec<String>,
}

impl<'m> SessionAnalysis<'m> {
    /// Starts an analysis.
    pub fn new(input: AnalysisInput<'m>) -> Self {
        Self {
            reader: FactReader::new(input.mask, input.format),
            input,
            count: 0,
            messages: Vec::new(),
            live: BTreeMap::new(),
            mentions: Vec::new(),
            known: KnownFacts::default(),
            latest_files: Vec::new(),
            refetches: RefetchTracker::new(input.mask),
            request_tokens: None,
            answers: 0,
            is_reloading: false,
            found: Vec::new(),
            applied: Vec::new(),
            counts: Vec::new(),
            watched: HashMap::new(),
        }
    }

    /// Takes the next event.
    pub fn add_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Message(message) => self.add_message(&message),
            SessionEvent::Rewind(number) => self.rewind(number),
            SessionEvent::Compaction(point) => self.judge(*point),
            SessionEvent::UndoCompaction => self.undo_compaction(),
            SessionEvent::Reload(reload) => self.add_reload(&reload),
            SessionEvent::Request(facts) => {
                if let Some(tokens) = facts.tokens.input {
                    self.add_tokens(tokens);
                }
            }
            SessionEvent::Folder(folder) => self.reader.set_folder(&folder),
            // Each conversation has an analysis of its own, and no compaction drops system text.
            SessionEvent::Conversation(_) | SessionEvent::SystemText(_) => {}
        }
    }

    /// Ends the analysis.
    pub fn finish(mut self) -> JudgedSession {
        let is_all = self.input.listed == ListedFacts::All;
        for (compaction, later) in self.found.iter_mut().zip(self.refetches.finish()) {
            compaction.later = later;
        }
        for (compaction, mut counts) in self.found.iter_mut().zip(self.counts) {
            let facts = &mut compaction.facts;
            facts.retain(|judged| judged.is_missed() || !judged.fact.is_weak());
            for judged in &*facts {
                let own = class_counts(&mut counts, &judged.fact);
                own.add(judged.verdict);
                own.needed_again += usize::from(judged.is_needed_again());
            }
            compaction.classes = counts.into_values().collect();
            facts.retain(|judged| is_all || judged.verdict.is_dropped());
            // Within a class, what was needed again, and files that were created or changed come
            // first.
            facts.sort_by_key(|judged| {
                (
                    judged.fact.class,
                    !judged.is_needed_again(),
                    Reverse(judged.fact.file_use),
                    judged.fact.line,
                )
            });
        }
        JudgedSession {
            messages: self.count,
            compactions: self.found,
        }
    }

    fn add_message(&mut self, message: &SessionMessage) {
        let number = self.count;
        self.count += 1;
        // A text that is sent with every request has no place in the conversation.
        if message.origin != MessageOrigin::Standing {
            self.messages.push(number);
        }
        let speaker = message.turn.speaker;
        if speaker == Speaker::Assistant && message.starts_answer {
            self.answers += 1;
        }
        self.is_reloading &= message.origin != MessageOrigin::Conversation;
        // A command that the user ran is no use by the agent.
        let mut parts = message.turn.parts.iter();
        let is_of_user =
            speaker == Speaker::User && parts.any(|part| matches!(part, Part::Call(_)));
        let read = self.reader.read_message(message, number);
        for key in read.closed_tasks {
            self.live.remove(&(FactClass::Todo, key));
        }
        for key in read.ended_rules {
            if let Some(live) = self.live.get_mut(&(FactClass::Instruction, key)) {
                live.fact.is_standing = false;
            }
        }
        self.refetches.add_message(message);
        let is_of_agent = message.origin != MessageOrigin::Program && !is_of_user;
        for result in &read.results {
            if !is_of_agent {
                self.refetches.note_result(result);
            } else if self.refetches.add_result(result) {
                for key in &result.commands {
                    let key = (FactClass::Command, key.clone());
                    self.note_later_use(
                        &key,
                        LaterUse {
                            line: result.line,
                            kind: "run again",
                        },
                    );
                }
            }
        }
        for fact in read.facts {
            if is_of_agent {
                self.note_use(&fact);
            }
            self.add_fact(fact, number);
        }
        self.note_named_files(message);
    }

    /// Takes the files that a result names out of those that can be needed again: the agent found them
    /// another way.
    fn note_named_files(&mut self, message: &SessionMessage) {
        if self.watched.is_empty() {
            return;
        }
        let results = message.turn.results().flat_map(|result| &result.parts);
        for text in results.filter_map(part_text) {
            let is_end = |c: char| c.is_whitespace() || "`\"'<>,;|:()".contains(c);
            for word in text.split(is_end).filter(|word| is_path_like(word)) {
                if let Some(path) = self.reader.relative_path(word) {
                    self.watched.remove(&(FactClass::File, path));
                }
            }
        }
    }

    fn add_fact(&mut self, fact: Fact, arrival: usize) {
        self.known.add(&fact);
        if fact.class == FactClass::File && fact.file_use > Some(FileUse::Seen) {
            self.latest_files.retain(|path| *path != fact.key);
            self.latest_files.push(fact.key.clone());
            let old = self.latest_files.len().saturating_sub(RELOADED_FILES);
            self.latest_files.drain(..old);
        }
        let key = (fact.class, fact.key.clone());
        self.mentions.push(FactMention {
            arrival,
            message: fact.message,
            key: key.clone(),
        });
        let message = fact.message;
        let (file_use, is_standing) = (fact.file_use, fact.is_standing);
        let live = self.live.entry(key).or_insert_with(|| LiveFact {
            fact,
            messages: Vec::new(),
            carrier: None,
        });
        live.fact.file_use = live.fact.file_use.max(file_use);
        live.fact.is_standing |= is_standing;
        live.carrier = live.carrier.filter(|own| *own != FactVerdict::Unseen);
        if live.messages.last() != Some(&message) {
            live.messages.push(message);
        }
    }

    /// Notes the use of facts that were dropped.
    fn note_use(&mut self, fact: &Fact) {
        let kind = match (fact.class, fact.source, fact.file_use) {
            (FactClass::File, _, Some(FileUse::Read)) => "read again",
            (FactClass::File, _, Some(FileUse::Seen)) => "named again",
            (FactClass::File, _, _) => "changed again",
            (FactClass::Error, ..) => "met again",
            (FactClass::Value, FactSource::Call, _) => "used again",
            _ => return,
        };
        let answers = self.answers;
        if fact.file_use >= Some(FileUse::Modified)
            && let Some(last) = self.last_compaction()
        {
            last.answers_to_edit.get_or_insert(answers);
        }
        let key = (fact.class, fact.key.clone());
        let line = fact.line;
        self.note_later_use(&key, LaterUse { line, kind });
    }

    /// Notes the later use of a fact that compactions dropped.
    fn note_later_use(&mut self, key: &FactKey, later: LaterUse) {
        for index in self.watched.remove(key).into_iter().flatten() {
            let compaction = self.found.get_mut(index.compaction);
            if let Some(judged) = compaction.and_then(|own| own.facts.get_mut(index.fact)) {
                judged.later_use = Some(later);
            }
        }
    }

    /// Returns the last compaction that holds.
    fn last_compaction(&mut self) -> Option<&mut JudgedCompaction> {
        self.found.get_mut(self.applied.last()?.compaction)
    }

    /// Goes back behind the last compaction. Its facts stay in the report; from now on none of them
    /// is needed again.
    fn undo_compaction(&mut self) {
        let Some(last) = self.applied.pop() else {
            return;
        };
        self.refetches.undo_compaction();
        self.rewind(last.end);
        self.messages.extend(last.messages);
        self.messages.sort_unstable();
        self.mentions.extend(last.mentions);
        self.mentions.sort_by_key(|mention| mention.arrival);
        self.live.extend(last.facts);
        self.watched.retain(|_, indexes| {
            indexes.retain(|index| index.compaction < last.compaction);
            !indexes.is_empty()
        });
        self.is_reloading = false;
    }

    fn rewind(&mut self, number: usize) {
        self.refetches.end_growth();
        let end = self.messages.partition_point(|message| *message < number);
        self.messages.truncate(end);
        while let Some(last) = self.mentions.pop_if(|mention| mention.arrival >= number) {
            let Some(live) = self.live.get_mut(&last.key) else {
                continue;
            };
            // The last mention is in the last message, unless two mentions have one message.
            if live.messages.last() == Some(&last.message) {
                live.messages.pop();
            } else {
                live.messages.retain(|message| *message != last.message);
            }
            if live.messages.is_empty() && live.carrier.is_none() {
                self.live.remove(&last.key);
            }
        }
    }

    fn add_tokens(&mut self, tokens: u64) {
        self.request_tokens = Some(tokens);
        self.refetches.add_tokens(tokens);
        if let Some(last) = self.last_compaction() {
            last.point.tokens_after.get_or_insert(tokens);
        }
    }

    /// Marks the dropped facts of the last compaction that the agent's program loads behind it.
    fn add_reload(&mut self, reload: &Reload) {
        if !self.is_reloading {
            return;
        }
        let path = reload
            .path
            .as_deref()
            .and_then(|path| self.reader.relative_path(path));
        let text = SummaryIndex::new(&(self.input.mask)(&reload.text));
        let applied = self.applied.last().map(|last| last.compaction);
        let Some(last) = applied.and_then(|at| self.found.get_mut(at)) else {
            return;
        };
        for judged in &mut last.facts {
            if !judged.verdict.is_dropped() || judged.later_use.is_some() {
                continue;
            }
            let is_loaded = match judged.fact.class {
                FactClass::File => Some(&judged.fact.key) == path.as_ref(),
                FactClass::Instruction | FactClass::Todo | FactClass::Decision => {
                    is_in_summary(&judged.fact, &text, &self.known)
                }
                FactClass::Error | FactClass::Command | FactClass::Value => false,
            };
            if is_loaded {
                judged.verdict = FactVerdict::Reloaded;
            }
        }
    }

    /// Returns the verdict on a fact whose messages are those that stay.
    fn verdict(&self, live: &LiveFact, at: &Judgement) -> FactVerdict {
        let fact = &live.fact;
        // If only results were cleared, the summary before is still there.
        let is_cleared = at.kind == CompactionKind::ClearedResults;
        if !live.messages.is_empty() || is_cleared && live.carrier.is_some() {
            FactVerdict::Kept
        } else if fact.is_standing {
            FactVerdict::Reloaded
        } else if is_in_summary(fact, &at.summary, &self.known) {
            FactVerdict::Kept
        } else if fact.class == FactClass::File && at.reloaded.contains(&fact.key)
            || self.is_in_standing_text(fact)
        {
            FactVerdict::Reloaded
        } else if at.kind == CompactionKind::Opaque || live.carrier == Some(FactVerdict::Unseen) {
            FactVerdict::Unseen
        } else if self.other_value(fact, at).is_some() {
            FactVerdict::Mutated
        } else if at.names_transcript || self.is_file_there(fact) {
            FactVerdict::Recoverable
        } else {
            FactVerdict::Lost
        }
    }

    /// Returns the value that a summary has instead of one that the conversation had.
    fn other_value(&self, fact: &Fact, at: &Judgement) -> Option<String> {
        let other = self.known.other_value(fact, &at.summary)?;
        (!self.reader.has_value(other)).then(|| other.to_owned())
    }

    /// Returns true if a text that the agent's program sends with every request contains a fact.
    fn is_in_standing_text(&self, fact: &Fact) -> bool {
        matches!(
            fact.class,
            FactClass::Instruction | FactClass::Command | FactClass::Value
        ) && self.reader.is_in_standing_text(fact, &self.known)
    }

    /// Reads the files that the agent's program sends with every request, unless the session
    /// contains them.
    fn read_standing_files(&mut self) {
        if !self.is_in_folder() {
            return;
        }
        for path in standing_files(self.input.format) {
            if !self.reader.has_standing_text(path)
                && let Some(text) = (self.input.file_text)(path)
            {
                let text = (self.input.mask)(&text);
                self.reader.note_standing_text(path, &text);
            }
        }
    }

    /// Returns true if the session worked in the folder in which files are looked up.
    fn is_in_folder(&self) -> bool {
        self.reader.folder() == self.input.folder
    }

    /// Returns true if a file is still there, in the folder that the session worked in.
    fn is_file_there(&self, fact: &Fact) -> bool {
        fact.class == FactClass::File
            && self.is_in_folder()
            && Path::new(&fact.key).is_relative()
            && !fact.key.starts_with(['/', '~'])
            && !fact.key.starts_with("..")
            && (self.input.is_file_there)(&fact.key)
    }

    /// Judges all facts at a compaction, and goes on with those that are left.
    fn judge(&mut self, mut point: CompactionPoint) {
        self.read_standing_files();
        let name = |text: String| one_line(&(self.input.mask)(&text), MAX_NAME_CHARS);
        point.at = point.at.map(name);
        point.trigger = point.trigger.map(name);
        point.tokens_before = point.tokens_before.or(self.request_tokens);
        let is_retained = |number: &usize| point.retained.binary_search(number).is_ok();
        let is_cleared = point.kind == CompactionKind::ClearedResults;
        let is_reloading =
            self.input.format == SessionFormat::ClaudeCode && point.kind == CompactionKind::Summary;
        let summary = (self.input.mask)(&point.summary);
        self.refetches.add_compaction(&point, &summary, self.count);
        let summary = SummaryIndex::new(&summary);
        let judgement = Judgement {
            kind: point.kind,
            names_transcript: summary.has_file_name(self.input.transcript),
            summary,
            reloaded: if is_reloading {
                self.latest_files.clone()
            } else {
                Vec::new()
            },
        };
        let compaction = self.found.len();
        let (mut facts, mut counts) = (Vec::new(), CountsByClass::new());
        let mut changed = Vec::new();
        for (key, mut live) in std::mem::take(&mut self.live) {
            let old = live.clone();
            live.messages.retain(is_retained);
            let verdict = self.verdict(&live, &judgement);
            if verdict.is_dropped() {
                let fact = facts.len();
                let index = FactIndex { compaction, fact };
                self.watched.entry(key.clone()).or_default().push(index);
                changed.push((key, old));
                facts.push(JudgedFact {
                    other_value: self.other_value(&live.fact, &judgement),
                    fact: live.fact,
                    verdict,
                    later_use: None,
                });
                continue;
            }
            if !is_cleared {
                let is_counted = !live.fact.is_weak();
                if is_counted && self.input.listed == ListedFacts::All {
                    facts.push(JudgedFact {
                        fact: live.fact.clone(),
                        verdict,
                        other_value: None,
                        later_use: None,
                    });
                } else if is_counted {
                    class_counts(&mut counts, &live.fact).add(verdict);
                }
                live.carrier = live.messages.is_empty().then_some(verdict);
            }
            if old.messages.len() != live.messages.len() || old.carrier != live.carrier {
                changed.push((key.clone(), old));
            }
            // The loss of a fact behind a summary that cannot be read has no place.
            if verdict != FactVerdict::Unseen || point.kind == CompactionKind::Opaque {
                self.live.insert(key, live);
            }
        }
        let messages: Vec<usize> = self
            .messages
            .extract_if(.., |number| !is_retained(number))
            .collect();
        let mentions = self
            .mentions
            .extract_if(.., |mention| !is_retained(&mention.message));
        let mentions = mentions.collect();
        let last = self.last_compaction().map(|last| last.summary_bytes);
        self.answers = 0;
        self.is_reloading = true;
        self.counts.push(counts);
        self.found.push(JudgedCompaction {
            number: compaction + 1,
            dropped: messages.len(),
            retained: self.messages.len(),
            summary_bytes: point.summary.len(),
            growth: last.map(|last| signed(point.summary.len()) - signed(last)),
            point,
            later: LaterWork::default(),
            answers_to_edit: None,
            classes: Vec::new(),
            facts,
        });
        self.applied.push(AppliedCompaction {
            compaction,
            end: self.count,
            messages,
            mentions,
            facts: changed,
        });
    }
}

/// Returns the counts of a fact's class.
fn class_counts<'c>(counts: &'c mut CountsByClass, fact: &Fact) -> &'c mut ClassCounts {
    let own = counts
        .entry((fact.class, Reverse(fact.file_use)))
        .or_default();
    if own.class.is_empty() {
        own.class = fact.class_name();
    }
    own
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
