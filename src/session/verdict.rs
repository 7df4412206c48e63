//! The verdict on a fact that a compaction dropped: in the summary, with another value, loaded again,
//! or gone.
//!
//! Presence does not show that a model will use a fact; absence shows that it cannot.

use super::facts::error_line::ErrorLine;
use super::facts::fact::{Fact, FactClass};
use super::facts::file_path::base_name;
use super::summary_index::SummaryIndex;
use crate::base::words::words;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The share of a sentence's content words that must stand together in a summary.
pub const OVERLAP_THRESHOLD: f64 = 0.6;

words! {
    /// The verdict on a fact.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FactVerdict {
        /// The summary, a message that stays or the system text contains it.
        Kept = "kept",
        /// The agent's program loads it again by itself.
        Reloaded = "reloaded",
        /// The summary cannot be read.
        Unseen = "unseen",
        /// The summary has another value for the same thing.
        Mutated = "mutated",
        /// It is gone, but the file or the session that the summary names still has it.
        Recoverable = "recoverable",
        /// It is gone.
        Lost = "lost",
    }
}

impl FactVerdict {
    /// Returns true if the conversation no longer contains the fact.
    pub const fn is_dropped(self) -> bool {
        matches!(self, Self::Mutated | Self::Recoverable | Self::Lost)
    }
}

/// The facts of a conversation that a verdict is compared with.
#[derive(Debug, Default)]
pub struct KnownFacts {
    /// The paths of each file name.
    names: HashMap<String, BTreeSet<String>>,
    /// The values of each thing.
    slots: BTreeMap<String, BTreeSet<String>>,
}

impl KnownFacts {
    /// Adds a fact.
    pub fn add(&mut self, fact: &Fact) {
        match fact.class {
            FactClass::File => {
                let name = base_name(&fact.key).to_owned();
                self.names.entry(name).or_default().insert(fact.key.clone());
            }
            FactClass::Value => {
                let value = own_value(fact).to_owned();
                self.slots
                    .entry(fact.slot.clone())
                    .or_default()
                    .insert(value);
            }
            FactClass::Instruction
            | FactClass::Error
            | FactClass::Todo
            | FactClass::Decision
            | FactClass::Command => {}
        }
    }

    /// Returns true if a single file has this name.
    pub fn is_name_unique(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|paths| paths.len() == 1)
    }

    /// Returns the value that a summary has for the same thing, if the conversation never had it
    /// and had a single value.
    pub fn other_value<'s>(&self, fact: &Fact, summary: &'s SummaryIndex) -> Option<&'s str> {
        let known = self
            .slots
            .get(&fact.slot)
            .filter(|known| known.len() == 1)?;
        let is_single_thing = ["version ", "port", "quantity "]
            .iter()
            .any(|kind| fact.slot.starts_with(kind));
        let mut others = summary.values_of(&fact.slot);
        let other = others.next().filter(|other| !known.contains(*other))?;
        (is_single_thing && others.next().is_none()).then_some(other)
    }
}

/// Returns the value of a fact without the word that it belongs to.
pub fn own_value(fact: &Fact) -> &str {
    let word = fact.slot.split_once(' ').map_or("", |(_, word)| word);
    fact.text
        .strip_prefix(word)
        .map_or(fact.text.as_str(), str::trim_start)
}

/// Returns true if a summary contains a fact.
pub fn is_in_summary(fact: &Fact, summary: &SummaryIndex, known: &KnownFacts) -> bool {
    match fact.class {
        FactClass::Instruction | FactClass::Decision | FactClass::Todo => {
            summary.overlap(&fact.text) >= OVERLAP_THRESHOLD
        }
        FactClass::File => summary.names_file(&fact.key, |name| known.is_name_unique(name)),
        FactClass::Command => summary.names_command(&fact.key),
        FactClass::Error => {
            let name = fact.key.split('|').next().unwrap_or_default();
            let error = ErrorLine {
                name,
                line: &fact.text,
            };
            summary.names_error(&error, OVERLAP_THRESHOLD)
        }
        FactClass::Value => summary.has_value(&fact.key),
    }
}
