//! The segment names that the agents of a task can receive at all. `check` and the evaluation use
//! them to detect misspelt names. Holds names only: assembly decides which segments a context
//! contains.

use super::cx::TaskSignature;
use crate::base::suggest;
use crate::scenario::model::{FrozenConversation, SegmentSelector, Situation};
use crate::scenario::values::SEGMENT_KINDS;

/// A case's situation and the signature of its task.
#[derive(Clone, Copy)]
pub struct ReceivableNames<'a> {
    /// The signature of the task.
    pub takes: &'a TaskSignature,
    /// The frozen situation of the case.
    pub situation: &'a Situation,
    /// Returns true if a file of the project exists, or the case freezes it.
    pub exists: &'a dyn Fn(&str) -> bool,
}

impl<'a> ReceivableNames<'a> {
    /// The ids of the passages that the case provides.
    fn passage_ids(self) -> impl Iterator<Item = &'a str> {
        self.situation.matches.iter().map(|found| found.id.as_str())
    }

    /// Returns the possible names of segments of a kind with a description; `None` if the kind
    /// allows any name.
    pub(super) fn names_of_kind(self, kind: &str) -> Option<(&'static str, Vec<&'a str>)> {
        let takes = self.takes;
        Some(match kind {
            "input" => (
                "an input",
                takes.inputs.iter().map(String::as_str).collect(),
            ),
            // Files found by a description also come from the fixtures.
            "file" => {
                let found = self.passage_ids().filter(|_| takes.finds_files);
                (
                    "a file",
                    takes
                        .files
                        .iter()
                        .map(String::as_str)
                        .chain(found)
                        .collect(),
                )
            }
            "fresh" => ("a match", self.passage_ids().collect()),
            _ => return None,
        })
    }

    /// The names of possible sources of texts, without files that the task does not name.
    pub(super) fn source_names(self) -> Vec<&'a str> {
        let takes = self.takes;
        let own = takes
            .inputs
            .iter()
            .chain(&takes.files)
            .chain(&takes.sources)
            .map(String::as_str);
        let values = takes.parameters.iter().map(|parameter| &*parameter.name);
        own.chain(values)
            .chain(self.situation.results.keys().map(String::as_str))
            .chain(self.passage_ids())
            .collect()
    }

    /// True if a segment could exist, in this context or after a change of the project. Only the
    /// absence of such a segment can be checked.
    pub fn could_exist(self, which: &SegmentSelector) -> bool {
        match which {
            SegmentSelector::Kind(_) => true,
            SegmentSelector::Id(id) => self.is_possible_id(&id.value),
            SegmentSelector::Source(name) => self.is_possible_source(&name.value),
        }
    }

    /// True if an id could be the id of a segment.
    pub(super) fn is_possible_id(self, id: &str) -> bool {
        if !is_known_kind(id_kind(id)) {
            return false;
        }
        // Each message of a conversation is a segment with its number.
        let Some((kind, name)) = split_id(id) else {
            return id_kind(id) != "history";
        };
        if kind == "history" {
            let conversation = self
                .situation
                .history
                .as_ref()
                .map(|history| &history.value);
            let known = if let Some(FrozenConversation::Messages(messages)) = conversation {
                messages.len()
            } else {
                usize::MAX
            };
            return name
                .parse()
                .is_ok_and(|number: usize| (1..=known).contains(&number));
        }
        let Some((_, known)) = self.names_of_kind(kind) else {
            return true;
        };
        let name = strip_number(name);
        known.contains(&name) || (kind == "file" && (self.exists)(name))
    }

    /// True if a text could come from a source of this name.
    pub(super) fn is_possible_source(self, name: &str) -> bool {
        // The source of inherited text is a segment of the parent.
        let is_segment = is_known_kind(id_kind(name)) && self.is_possible_id(name);
        is_segment
            || self.source_names().contains(&name)
            || self.situation.sets_parameter(name)
            || name == PREVIOUS_STAGE
            || (self.exists)(name)
    }

    /// Returns the file, input or passage that was probably meant.
    pub(super) fn nearest_name(wanted: &str, known: &[&'a str], kind: &str) -> Option<&'a str> {
        // The same file name in another folder is more likely than a misspelling.
        let same = |other: &&str| last_segment(other) == last_segment(wanted) && kind != "input";
        known
            .iter()
            .copied()
            .find(same)
            .or_else(|| suggest::nearest_candidate(wanted, known.iter().copied()))
    }
}

/// The source of the previous stage's output.
const PREVIOUS_STAGE: &str = "previous";

/// The first word of an id. Further segments of a kind are numbered: `file#2`.
pub(super) fn id_kind(id: &str) -> &str {
    id.split([':', '#', '/', '@']).next().unwrap_or(id)
}

/// True if an id may begin with the word. An agent role receives its objective in a segment of that
/// name, and each of its tools in a segment of its own.
pub(super) fn is_known_kind(word: &str) -> bool {
    SEGMENT_KINDS.contains(&word) || matches!(word, "objective" | "tool")
}

/// The kind and the name of an id that has a name. For an inherited segment, its kind and name in
/// the parent.
pub(crate) fn split_id(id: &str) -> Option<(&str, &str)> {
    id.strip_prefix("inherited:").unwrap_or(id).split_once(':')
}

/// Removes the number that distinguishes segments of the same name.
pub(crate) fn strip_number(name: &str) -> &str {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('#')
        .filter(|(_, end)| is_number(end))
        .map_or(name, |(name, _)| name)
}

/// The last part of a path.
fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
