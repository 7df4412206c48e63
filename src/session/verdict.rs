//! The verdict on a fact that a compaction dropped: in the summary, with another value, loaded again,
//! or gone.
//!
//! Presence does not show that a model will use a fact; absence shows that it cannot.

use super::facts::error_line::ErrorLine;
use super::facts::fact::{Fact, FactClass};
use super::facts::file_path::base_name;
use super::summary_index::SummaryIndex;
use crate::base::words::words;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

words! {
    /// The verdict on a fact.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
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
                let own = self.slots.entry(fact.slot.clone()).or_default();
                own.insert(own_value(fact).to_owned());
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
        let is_single_thing = fact.slot.starts_with("version ") || fact.slot == "port";
        let mut others = summary.values_of(&fact.slot);
        let other = others.next().filter(|other| !known.contains(*other))?;
        (is_single_thing && others.next().is_none()).then_some(other)
    }
}

/// Returns the value of a fact in the form in which it is compared.
fn own_value(fact: &Fact) -> &str {
    fact.key
        .strip_prefix(&fact.slot)
        .map_or("", str::trim_start)
}

/// Returns true if a summary contains a fact.
pub fn is_in_summary(fact: &Fact, summary: &SummaryIndex, known: &KnownFacts) -> bool {
    match fact.class {
        FactClass::Instruction => summary.has_rule(&fact.text),
        FactClass::Decision | FactClass::Todo => summary.has_sentence(&fact.text),
        FactClass::File => summary.names_file(&fact.key, |name| known.is_name_unique(name)),
        FactClass::Command => summary.names_command(&fact.key),
        FactClass::Error => {
            let name = fact.key.split('|').next().unwrap_or_default();
            let error = ErrorLine {
                name,
                line: &fact.text,
            };
            summary.names_error(&error)
        }
        FactClass::Value => summary.has_value(&fact.key),
    }
}
