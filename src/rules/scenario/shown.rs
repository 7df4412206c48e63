//! The segment names that the agents of a task can receive at all, used to detect misspelt names in `check` and in the
//! evaluation. Names alone: which of them a context has is decided where it is assembled.

use super::cx::TaskSignature;
use crate::base::suggest;
use crate::scenario::model::{Conversation, Selector, Situation};
use crate::scenario::words::KINDS;

/// A case's situation and what its task takes.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// What the task takes.
    pub takes: &'a TaskSignature,
    /// What the case freezes.
    pub situation: &'a Situation,
    /// Whether a file of the project is there, or the case freezes it.
    pub exists: &'a dyn Fn(&str) -> bool,
}

impl<'a> Shown<'a> {
    /// The ids of what the case finds.
    fn found(self) -> impl Iterator<Item = &'a str> {
        self.situation.matches.iter().map(|found| found.id.as_str())
    }

    /// The names that a segment of a kind can have, and what they are; `None` of a kind that can have any.
    pub(super) fn names(self, kind: &str) -> Option<(&'static str, Vec<&'a str>)> {
        let takes = self.takes;
        Some(match kind {
            "input" => ("an input", takes.inputs.iter().map(String::as_str).collect()),
            // What is found for a description comes from the fixtures too.
            "file" => {
                let found = self.found().filter(|_| takes.finds_files);
                ("a file", takes.files.iter().map(String::as_str).chain(found).collect())
            }
            "fresh" => ("a match", self.found().collect()),
            _ => return None,
        })
    }

    /// The names of what texts can come from, but for files that the task does not name.
    pub(super) fn sources(self) -> Vec<&'a str> {
        let takes = self.takes;
        let own = takes.inputs.iter().chain(&takes.files).chain(&takes.sources).map(String::as_str);
        let values = takes.parameters.iter().map(|parameter| &*parameter.name);
        own.chain(values).chain(self.situation.results.keys().map(String::as_str)).chain(self.found()).collect()
    }

    /// Whether a segment could be there, in this context or after a change of the project: of nothing else can anybody see that it
    /// is not.
    pub fn could(self, which: &Selector) -> bool {
        match which {
            Selector::Kind(_) => true,
            Selector::Id(id) => self.could_be(&id.value),
            Selector::Source(name) => self.could_come_from(&name.value),
        }
    }

    /// Whether an id could be that of a segment.
    pub(super) fn could_be(self, id: &str) -> bool {
        if !is_kind(word(id)) {
            return false;
        }
        // Each message of a conversation is one by its number.
        let Some((kind, name)) = named(id) else { return word(id) != "history" };
        if kind == "history" {
            let said = self.situation.history.as_ref().map(|history| &history.value);
            let known = if let Some(Conversation::Messages(said)) = said { said.len() } else { usize::MAX };
            return name.parse().is_ok_and(|number: usize| (1..=known).contains(&number));
        }
        let Some((_, known)) = self.names(kind) else { return true };
        let name = numbered(name);
        known.contains(&name) || (kind == "file" && (self.exists)(name))
    }

    /// Whether a text could come from what is called so.
    pub(super) fn could_come_from(self, name: &str) -> bool {
        // What is inherited comes from a segment of the parent.
        let is_segment = is_kind(word(name)) && self.could_be(name);
        is_segment || self.sources().contains(&name) || self.situation.says(name) || name == PREVIOUS || (self.exists)(name)
    }

    /// The name of a file, input or match that was probably meant.
    pub(super) fn near(wanted: &str, known: &[&'a str], kind: &str) -> Option<&'a str> {
        // The file without its folder, or in another one, is meant more often than it is mistyped.
        let same = |other: &&str| stem(other) == stem(wanted) && kind != "input";
        known.iter().copied().find(same).or_else(|| suggest::nearest(wanted, known.iter().copied()))
    }
}

/// The source of what the stage before left.
const PREVIOUS: &str = "previous";

/// The word that an id begins with. A second segment of a kind is numbered: `file#2`.
pub(super) fn word(id: &str) -> &str {
    id.split([':', '#', '/', '@']).next().unwrap_or(id)
}

/// Whether an id may begin with a word. An agent role is given its objective in a segment of that name, and each of its tools
/// is one by its own.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.contains(&word) || matches!(word, "objective" | "tool")
}

/// The kind and the name of an id that has one; of what is inherited, those that it has at the parent.
pub(crate) fn named(id: &str) -> Option<(&str, &str)> {
    id.strip_prefix("inherited:").unwrap_or(id).split_once(':')
}

/// A name without the number that tells it from another of the same.
pub(crate) fn numbered(name: &str) -> &str {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('#').filter(|(_, end)| is_number(end)).map_or(name, |(name, _)| name)
}

/// The last part of a path.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
