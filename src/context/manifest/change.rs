//! What two manifests say differently, in tokens and in words.
//!
//! Entries are the same by role, task and node; segments by their ids within an entry. What is equal is not told.

use super::model::{Entry, Manifest, Part};
use crate::settings::provenance::Value;
use crate::template::setting::{SettingName, Word};
use std::collections::BTreeMap;

/// The difference of two manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Agents that only the new one has, with their tokens.
    pub added: Vec<(String, usize)>,
    /// Agents that only the old one has, with their tokens.
    pub removed: Vec<(String, usize)>,
    /// Agents that receive something else.
    pub changed: Vec<Change>,
    /// Tokens of what is known, over all agents.
    pub total: Moved,
}

/// A figure before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Before.
    pub from: usize,
    /// After.
    pub to: usize,
}

/// What changed for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The agent.
    pub agent: String,
    /// Its tokens.
    pub total: Moved,
    /// Tokens that a provider's cache can reuse.
    pub prefix: Moved,
    /// Segment by segment, then setting by setting: what changed, in words.
    pub words: Vec<String>,
}

impl Difference {
    /// Whether nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

type Key<'m> = (Option<&'m str>, &'m str, &'m str);

/// Compares two manifests.
pub fn difference(old: &Manifest, new: &Manifest) -> Difference {
    let (before, after) = (by_agent(old), by_agent(new));
    let only = |these: &BTreeMap<Key<'_>, &Entry>, those: &BTreeMap<Key<'_>, &Entry>| {
        let only = these.iter().filter(|(key, _)| !those.contains_key(*key));
        only.map(|(_, entry)| (entry.title(), entry.total.fixed)).collect()
    };
    let both = before.iter().filter_map(|(key, old)| Some((*old, *after.get(key)?)));
    let sum = |manifest: &Manifest| manifest.entries.iter().map(|entry| entry.total.fixed).sum();
    Difference {
        added: only(&after, &before),
        removed: only(&before, &after),
        changed: both.filter_map(|(old, new)| change(old, new)).collect(),
        total: Moved { from: sum(old), to: sum(new) },
    }
}

fn by_agent(manifest: &Manifest) -> BTreeMap<Key<'_>, &Entry> {
    manifest.entries.iter().map(|entry| ((entry.role.as_deref(), &*entry.task, &*entry.node), entry)).collect()
}

fn change(old: &Entry, new: &Entry) -> Option<Change> {
    if old == new {
        return None;
    }
    let mut words = Vec::new();
    parts(&old.segments, &new.segments, &mut words);
    settings(old, new, &mut words);
    if old.tokenizer != new.tokenizer {
        words.push(format!("counted by {}, was {}", new.tokenizer.name, old.tokenizer.name));
    }
    if old.model != new.model {
        words.push(format!("model {}, was {}", or_none(new.model.as_deref()), or_none(old.model.as_deref())));
    }
    if old.condition != new.condition {
        let (from, to) = (old.condition.as_deref(), new.condition.as_deref());
        words.push(format!("called when {}, was {}", to.unwrap_or("the task is"), from.unwrap_or("the task is")));
    }
    if old.budget != new.budget {
        let word = |entry: &Entry| entry.budget.tokens.map_or_else(|| "none".to_owned(), |tokens| tokens.to_string());
        words.push(format!("budget {}, was {}", word(new), word(old)));
    }
    if old.tool_policy != new.tool_policy || old.protected_paths != new.protected_paths {
        words.push("another policy for tools and paths".to_owned());
    }
    if words.is_empty() {
        words.push("the same segments in another order".to_owned());
    }
    let total = Moved { from: old.total.fixed, to: new.total.fixed };
    let prefix = Moved { from: old.prefix_tokens, to: new.prefix_tokens };
    Some(Change { agent: new.title(), total, prefix, words })
}

fn or_none(word: Option<&str>) -> &str {
    word.unwrap_or("none")
}

/// What became of each segment, in the order of the new manifest, those that are gone last.
fn parts(old: &[Part], new: &[Part], words: &mut Vec<String>) {
    let before: BTreeMap<&str, &Part> = old.iter().map(|part| (&*part.id, part)).collect();
    for part in new {
        match before.get(&*part.id) {
            None => words.push(format!("+ {} {}", part.id, part.tokens)),
            Some(before) => words.extend(of_part(before, part)),
        }
    }
    let after: BTreeMap<&str, &Part> = new.iter().map(|part| (&*part.id, part)).collect();
    let gone = old.iter().filter(|part| !after.contains_key(&*part.id));
    words.extend(gone.map(|part| format!("- {} {}", part.id, part.tokens)));
}

fn of_part(old: &Part, new: &Part) -> Option<String> {
    if old == new {
        return None;
    }
    let mut said = Vec::new();
    if old.tokens != new.tokens {
        said.push(format!("{} → {}", old.tokens, new.tokens));
    } else if old.hash != new.hash {
        said.push(format!("another text of {} tokens", new.tokens));
    }
    if old.variable != new.variable {
        let list = |part: &Part| if part.variable.is_empty() { "nothing".to_owned() } else { part.variable.join(", ") };
        said.push(format!("waits for {}, was {}", list(new), list(old)));
    }
    if old.bound != new.bound {
        let word = |part: &Part| part.bound.map_or_else(|| "without bound".to_owned(), |bound| format!("at most {bound}"));
        if new.is_variable() || old.is_variable() {
            said.push(format!("{}, was {}", word(new), word(old)));
        }
    }
    if old.stability != new.stability {
        said.push(format!("stability {}, was {}", new.stability.word(), old.stability.word()));
    }
    // A place that moves because another segment came or went is no news.
    if old.position.is_some() != new.position.is_some() {
        said.push(if new.position.is_some() { "there again" } else { "left out: the budget ends before it" }.to_owned());
    }
    if old.source != new.source {
        said.push("from other sources".to_owned());
    }
    if old.condition != new.condition {
        said.push("there under another condition".to_owned());
    }
    if old.priority != new.priority {
        said.push(format!("priority {}, was {}", new.priority, old.priority));
    }
    (!said.is_empty()).then(|| format!("~ {} {}", new.id, said.join("; ")))
}

fn settings(old: &Entry, new: &Entry, words: &mut Vec<String>) {
    let (Some(before), Some(after)) = (&old.settings, &new.settings) else { return };
    for &name in SettingName::ALL {
        let (from, to) = (before.get(name), after.get(name));
        let word = |value: Value| value.word();
        if from.value != to.value || from.applies != to.applies {
            words.push(format!("{} {} → {}", name.word(), word(from.value), word(to.value)));
        } else if from.origin != to.origin {
            words.push(format!("{} {} is now set by {}", name.word(), word(to.value), to.origin.layer.as_str()));
        }
    }
}
