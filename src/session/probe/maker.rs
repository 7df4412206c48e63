//! Collects the facts of a session and returns, at each compaction, those that it truncated, with the
//! conversation before it.
//!
//! A fact is truncated if no message that contains it stays. Asks no model.

use super::document::{ProbeFact, TaskKind};
use super::edits::file_edits;
use crate::kernel::conversation::{Part, Speaker};
use crate::session::facts::fact::{Fact, FactClass};
use crate::session::facts::fact_reader::{FactReader, TextMask};
use crate::session::method::{ConversationAtPoint, ConversationReplay, describe_message};
use crate::session::sentences::words;
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, SessionEvent, SessionFormat, SessionMessage,
    part_text,
};
use std::collections::{BTreeMap, HashMap};

/// A truncated fact with the messages that contained it.
#[derive(Clone, Debug)]
pub struct TruncatedFact {
    /// The fact.
    pub fact: ProbeFact,
    /// The numbers of the first and the last of these messages.
    pub messages: [usize; 2],
}

/// A compaction with everything that probes are made from.
#[derive(Debug)]
pub struct PointMaterial {
    /// The conversation before it.
    pub conversation: ConversationAtPoint,
    /// The facts that it truncated, in the order of their classes and keys.
    pub facts: Vec<TruncatedFact>,
    /// The type of the work.
    pub task: TaskKind,
    /// The number of messages of the session before it.
    pub position: usize,
}

/// A fact of the conversation as it is now.
#[derive(Clone)]
struct LiveFact {
    fact: Fact,
    messages: Vec<usize>,
    /// The arguments of the call that failed with an error; empty for other facts.
    command: String,
    is_resolved: bool,
}

/// Reads the events of a conversation.
pub struct ProbeMaker<'m> {
    mask: TextMask<'m>,
    reader: FactReader<'m>,
    replay: ConversationReplay,
    count: usize,
    live: BTreeMap<(FactClass, String), LiveFact>,
    /// The facts before each compaction that holds, the last one last.
    earlier: Vec<BTreeMap<(FactClass, String), LiveFact>>,
    /// The arguments of calls without a result, by their ids.
    calls: HashMap<String, String>,
    /// The last change of each file.
    edits: HashMap<String, String>,
    task: Option<TaskKind>,
}

impl<'m> ProbeMaker<'m> {
    /// Creates a maker that masks texts.
    pub fn new(mask: TextMask<'m>, format: SessionFormat) -> Self {
        Self {
            mask,
            reader: FactReader::new(mask, format),
            replay: ConversationReplay::default(),
            count: 0,
            live: BTreeMap::new(),
            earlier: Vec::new(),
            calls: HashMap::new(),
            edits: HashMap::new(),
            task: None,
        }
    }

    /// Takes the next event. Returns the material of a compaction.
    pub fn add_event(&mut self, event: SessionEvent) -> Option<PointMaterial> {
        match &event {
            SessionEvent::Message(message) => self.add_message(message),
            SessionEvent::Rewind(number) => self.live.retain(|_, live| {
                live.messages.retain(|message| message < number);
                !live.messages.is_empty()
            }),
            SessionEvent::Folder(folder) => self.reader.set_folder(folder),
            SessionEvent::Compaction(_) => self.earlier.push(self.live.clone()),
            SessionEvent::UndoCompaction => self.live = self.earlier.pop().unwrap_or_default(),
            SessionEvent::Reload(_)
            | SessionEvent::Request(_)
            | SessionEvent::SystemText(_)
            | SessionEvent::Conversation(_) => {}
        }
        let conversation = self.replay.add_event(event)?;
        Some(PointMaterial {
            facts: self.take_truncated(&conversation.point),
            conversation,
            task: self.task.unwrap_or(TaskKind::Feature),
            position: self.count,
        })
    }

    fn add_message(&mut self, message: &SessionMessage) {
        let number = self.count;
        self.count += 1;
        if message.turn.speaker == Speaker::User && message.origin == MessageOrigin::Conversation {
            let text = message.turn.parts.iter().find_map(part_text);
            self.task = self.task.or_else(|| text.map(task_kind));
        }
        let mut command = String::new();
        for part in &message.turn.parts {
            if let Part::Call(call) = part {
                self.calls
                    .insert(call.id.clone(), call.arguments.to_string());
                for edit in file_edits(&call.arguments) {
                    if let Some(path) = self.reader.relative_path(&edit.path) {
                        self.edits.insert(path, (self.mask)(&edit.text));
                    }
                }
            } else if let Part::Result(result) = part {
                command = self.calls.remove(&result.call).unwrap_or_default();
            }
        }
        let read = self.reader.read_message(message, number);
        for key in read.ended_rules {
            if let Some(live) = self.live.get_mut(&(FactClass::Instruction, key)) {
                live.fact.is_standing = false;
            }
        }
        for key in read.closed_tasks {
            self.live.remove(&(FactClass::Todo, key));
        }
        let has_error = |fact: &Fact| fact.class == FactClass::Error;
        if !command.is_empty() && !read.facts.iter().any(has_error) {
            let of_command = |live: &&mut LiveFact| live.command == command;
            for live in self.live.values_mut().filter(of_command) {
                live.is_resolved = true;
            }
        }
        for fact in read.facts {
            let is_error = has_error(&fact);
            let key = (fact.class, fact.key.clone());
            let live = self.live.entry(key).or_insert_with(|| LiveFact {
                fact: fact.clone(),
                messages: Vec::new(),
                command: String::new(),
                is_resolved: false,
            });
            live.fact.file_use = live.fact.file_use.max(fact.file_use);
            live.fact.is_standing |= fact.is_standing;
            live.fact.line = fact.line;
            live.messages.push(number);
            if is_error {
                live.is_resolved = false;
                command.clone_into(&mut live.command);
            }
        }
    }

    /// Removes the facts that a compaction truncated.
    fn take_truncated(&mut self, point: &CompactionPoint) -> Vec<TruncatedFact> {
        let mut found = Vec::new();
        for (key, mut live) in std::mem::take(&mut self.live) {
            let all = live.messages.clone();
            let is_retained = |number: &usize| point.retained.binary_search(number).is_ok();
            live.messages.retain(is_retained);
            let (first, last) = (all.first(), all.last());
            if !live.messages.is_empty() || live.fact.is_standing {
                self.live.insert(key, live);
            } else if let (Some(first), Some(last)) = (first, last) {
                let fact = live.fact;
                let detail = self.edits.get(&fact.key).cloned();
                found.push(TruncatedFact {
                    messages: [*first, *last],
                    fact: ProbeFact {
                        detail: detail
                            .filter(|_| fact.class == FactClass::File)
                            .unwrap_or_default(),
                        is_resolved: (fact.class == FactClass::Error).then_some(live.is_resolved),
                        class: fact.class,
                        file_use: fact.file_use,
                        key: fact.key,
                        text: fact.text,
                        slot: fact.slot,
                        line: fact.line,
                    },
                });
            }
        }
        found
    }
}

impl PointMaterial {
    /// Returns the context that a compaction leaves: its summary and the messages that stay; `None`
    /// if it is opaque.
    pub fn context_after(&self, point: &CompactionPoint, mask: TextMask<'_>) -> Option<String> {
        if point.kind == CompactionKind::Opaque {
            return None;
        }
        let is_cleared = point.kind == CompactionKind::ClearedResults;
        let summary = if is_cleared {
            &self.conversation.summary
        } else {
            &point.summary
        };
        let messages = self.conversation.messages.iter().filter(|one| {
            one.message.origin == MessageOrigin::Standing
                || point.retained.binary_search(&one.number).is_ok()
        });
        let texts = messages.map(|one| describe_message(&one.message));
        let texts: Vec<String> = std::iter::once(summary.clone())
            .filter(|summary| !summary.is_empty())
            .chain(texts)
            .collect();
        Some(mask(&texts.join("\n\n")))
    }
}

/// Returns the type of the work by the first text of the user.
fn task_kind(text: &str) -> TaskKind {
    const REVIEW: &str = " review audit assess inspect critique ";
    const DEBUGGING: &str = " fix bug bugs debug error errors fails failing failed failure broken crash crashes investigate regression wrong ";
    let has = |list: &str| words(text).any(|word| list.contains(&format!(" {word} ")));
    if has(REVIEW) {
        TaskKind::Review
    } else if has(DEBUGGING) {
        TaskKind::Debugging
    } else {
        TaskKind::Feature
    }
}
