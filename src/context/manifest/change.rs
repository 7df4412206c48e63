//! Compares two manifests: segment by segment and setting by setting, in tokens and in words, with
//! the cause of each change.
//!
//! Entries are matched by role, task and node; segments by their ids within an entry. Equal entries
//! are omitted.

use super::cause::{self, Cause};
use super::model::{Cost, Entry, Manifest, Part, Source, ToolPolicy};
use super::places::SettingPlaces;
use super::settings::{self, PlacedEntry, SettingChange};
use crate::base::number::format_thousands;
use crate::base::package_name::without_version;
use crate::kernel::context::Kind;
use crate::kernel::sampling::Sampled;
use serde::Serialize;
use std::collections::BTreeMap;

/// The value of the key `schema` of a difference.
pub const DIFF_SCHEMA: &str = "ctxc/manifest-diff/1";

/// The changes in the context of each agent, with their causes: `ctxc manifest diff OLD [NEW]
/// --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The version of the format.
    pub schema: &'static str,
    /// The old side.
    pub old: Named,
    /// The new side.
    pub new: Named,
    /// Tokens that are known before a run, over all agents.
    pub total: Moved,
    /// Agents that only the new side has.
    pub added: Vec<Agent>,
    /// Agents that only the old side has.
    pub removed: Vec<Agent>,
    /// Agents whose context changed.
    pub changed: Vec<Change>,
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Named {
    /// The name of the side: a file, a folder, a git revision; `work tree` if none was named.
    pub name: String,
    /// The hash of its registry.
    pub registry_hash: String,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Version<'v, 'p> {
    /// The caller's name for it.
    pub name: &'v str,
    /// Its manifest.
    pub manifest: &'v Manifest,
    /// The positions of its settings, if they are known.
    pub places: &'v SettingPlaces<'p>,
}

/// A number of tokens before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Moved {
    /// Tokens before.
    pub from: usize,
    /// Tokens after.
    pub to: usize,
}

/// The cost of a call before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CostChange {
    /// The cost before; null if no price was known.
    pub from: Option<Cost>,
    /// The cost after; null if no price is known.
    pub to: Option<Cost>,
}

/// An agent that was added or removed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Agent {
    /// The displayed name of the agent.
    pub agent: String,
    /// The agent role; null for a task alone.
    pub role: Option<String>,
    /// The name of the task.
    pub task: String,
    /// The agent inside it; `/` is the task itself.
    pub node: String,
    /// Tokens that are known before a run.
    pub tokens: usize,
    /// US$ for the input of one call; null if no price is known.
    pub cost: Option<Cost>,
}

/// An agent whose context changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Change {
    /// The displayed name of the agent.
    pub agent: String,
    /// The agent role; null for a task alone.
    pub role: Option<String>,
    /// The name of the task.
    pub task: String,
    /// The agent inside it; `/` is the task itself.
    pub node: String,
    /// Tokens that are known before a run.
    pub total: Moved,
    /// Tokens of the prefix that a provider's cache can reuse.
    pub prefix: Moved,
    /// US$ for the input of one call.
    pub cost: CostChange,
    /// Segments that changed, in the order of the new side; removed ones last.
    pub segments: Vec<SegmentChange>,
    /// Settings that changed.
    pub settings: Vec<SettingChange>,
    /// Further changes, in words.
    pub other: Vec<String>,
}

/// The kind of a segment's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Only the new side has it.
    Added,
    /// Only the old side has it.
    Removed,
    /// A property of it changed.
    Changed,
}

/// A block of context that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SegmentChange {
    /// The id within its agent, such as `system` or `file:docs/runbook.md`.
    pub id: String,
    /// The kind of the segment.
    pub kind: Kind,
    /// The kind of the change.
    pub change: Disposition,
    /// Tokens of its known text; 0 on a side without it.
    pub tokens: Moved,
    /// The causes of the change, each once.
    pub moved_by: Vec<Cause>,
    /// Further changes beside its tokens, in words.
    pub words: Vec<String>,
}

impl Difference {
    /// Returns true if nothing differs.
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// The identity of an agent: role, task and node.
type AgentKey<'m> = (Option<&'m str>, &'m str, &'m str);

/// Compares two manifests, with the positions of settings if they are known.
pub fn compare_manifests(old: &Version<'_, '_>, new: &Version<'_, '_>) -> Difference {
    let olds = entries_by_agent(&old.manifest.entries);
    let news = entries_by_agent(&new.manifest.entries);
    let only = |these: &BTreeMap<AgentKey<'_>, &Entry>, those: &BTreeMap<AgentKey<'_>, &Entry>| {
        these
            .iter()
            .filter(|(key, _)| !those.contains_key(*key))
            .map(|(_, entry)| summarize_agent(entry))
            .collect()
    };
    let both = olds
        .iter()
        .filter_map(|(key, old)| Some((*old, *news.get(key)?)));
    let sum = |version: &Version<'_, '_>| {
        version
            .manifest
            .entries
            .iter()
            .map(|entry| entry.total.expected_tokens())
            .sum()
    };
    let named = |version: &Version<'_, '_>| Named {
        name: version.name.to_owned(),
        registry_hash: version.manifest.registry_hash.clone(),
    };
    Difference {
        schema: DIFF_SCHEMA,
        old: named(old),
        new: named(new),
        total: Moved {
            from: sum(old),
            to: sum(new),
        },
        added: only(&news, &olds),
        removed: only(&olds, &news),
        changed: both
            .filter_map(|(before, after)| {
                let before = PlacedEntry {
                    entry: before,
                    places: old.places,
                };
                let after = PlacedEntry {
                    entry: after,
                    places: new.places,
                };
                compare_entries(before, after)
            })
            .collect(),
    }
}

/// Returns the entries by role, task and node.
pub fn entries_by_agent(entries: &[Entry]) -> BTreeMap<AgentKey<'_>, &Entry> {
    entries
        .iter()
        .map(|entry| ((entry.role.as_deref(), &*entry.task, &*entry.node), entry))
        .collect()
}

fn summarize_agent(entry: &Entry) -> Agent {
    let Entry {
        role, task, node, ..
    } = entry;
    let tokens = entry.total.expected_tokens();
    let cost = entry.cost.clone();
    Agent {
        agent: entry.title(),
        role: role.clone(),
        task: task.clone(),
        node: node.clone(),
        tokens,
        cost,
    }
}

fn compare_entries(before: PlacedEntry<'_, '_>, after: PlacedEntry<'_, '_>) -> Option<Change> {
    let (old, new) = (before.entry, after.entry);
    if old == new {
        return None;
    }
    let mut settings = settings::setting_changes(before, after);
    let segments = compare_segments(old, new, &settings);
    // A setting of a node around the agent is listed only if it changed a segment.
    settings.retain(|change| {
        change.of.is_none()
            || segments
                .iter()
                .any(|segment| cause::is_caused_by(&segment.moved_by, change))
    });
    let mut other = other_changes(old, new);
    let cost = CostChange {
        from: old.cost.clone(),
        to: new.cost.clone(),
    };
    if segments.is_empty() && settings.is_empty() && other.is_empty() && cost.from == cost.to {
        if segment_order(old) == segment_order(new) {
            return None;
        }
        other.push("the same segments in another order".to_owned());
    }
    let Agent {
        agent,
        role,
        task,
        node,
        ..
    } = summarize_agent(new);
    let total = Moved {
        from: old.total.expected_tokens(),
        to: new.total.expected_tokens(),
    };
    let prefix = Moved {
        from: old.prefix_tokens,
        to: new.prefix_tokens,
    };
    Some(Change {
        agent,
        role,
        task,
        node,
        total,
        prefix,
        cost,
        segments,
        settings,
        other,
    })
}

/// Returns the ids of the segments in their order.
fn segment_order(entry: &Entry) -> Vec<&str> {
    entry
        .segments_in_order()
        .into_iter()
        .map(|part| &*part.id)
        .collect()
}

fn other_changes(old: &Entry, new: &Entry) -> Vec<String> {
    let mut words = Vec::new();
    if old.tokenizer != new.tokenizer {
        words.push(format!(
            "counted by {}, was {}",
            new.tokenizer.name, old.tokenizer.name
        ));
    }
    if old.model != new.model {
        words.push(format!(
            "model {}, was {}",
            or_none(new.model.as_deref()),
            or_none(old.model.as_deref())
        ));
    } else if old.routing != new.routing {
        words.push("the same model in another way: its reason, what it is called, or what stands behind it".to_owned());
    }
    let describe = |entry: &Entry| {
        entry
            .sampling
            .iter()
            .map(Sampled::describe)
            .collect::<Vec<_>>()
    };
    let (before, after) = (describe(old), describe(new));
    words.extend(after.iter().filter(|one| !before.contains(one)).cloned());
    words.extend(
        before
            .iter()
            .filter(|one| !after.contains(one))
            .map(|one| format!("no longer: {one}")),
    );
    if old.profile != new.profile {
        words.push(format!("profile {}, was {}", new.profile, old.profile));
    }
    if old.condition != new.condition {
        let from = old.condition.as_deref();
        let to = new.condition.as_deref();
        words.push(format!(
            "called when {}, was {}",
            to.unwrap_or("the task is"),
            from.unwrap_or("the task is")
        ));
    }
    if old.budget.tokens != new.budget.tokens {
        let word = |entry: &Entry| {
            entry
                .budget
                .tokens
                .map_or_else(|| "none".to_owned(), format_thousands)
        };
        words.push(format!("budget {}, was {}", word(new), word(old)));
    }
    if old.budget.usd != new.budget.usd {
        let word = |entry: &Entry| {
            entry
                .budget
                .usd
                .map_or_else(|| "none".to_owned(), |usd| format!("US$ {usd}"))
        };
        words.push(format!("budget {} a call, was {}", word(new), word(old)));
    }
    push_policy_changes(old, new, &mut words);
    words
}

/// Adds the changes of tools and paths, entry by entry.
fn push_policy_changes(old: &Entry, new: &Entry, words: &mut Vec<String>) {
    let list = |entry: &Entry, of: fn(&ToolPolicy) -> &Vec<String>| {
        entry
            .tool_policy
            .as_ref()
            .map_or_else(Vec::new, |policy| of(policy).clone())
    };
    let kinds: [(&str, Vec<String>, Vec<String>); 3] = [
        (
            "may use",
            list(old, |policy| &policy.allowed),
            list(new, |policy| &policy.allowed),
        ),
        (
            "may not use",
            list(old, |policy| &policy.blocked),
            list(new, |policy| &policy.blocked),
        ),
        (
            "may not touch",
            old.protected_paths.clone(),
            new.protected_paths.clone(),
        ),
    ];
    for (verb, before, after) in kinds {
        words.extend(
            after
                .iter()
                .filter(|entry| !before.contains(entry))
                .map(|entry| format!("{verb} {entry}")),
        );
        words.extend(
            before
                .iter()
                .filter(|entry| !after.contains(entry))
                .map(|entry| format!("no longer: {verb} {entry}")),
        );
    }
    if old.tool_policy.is_some() != new.tool_policy.is_some() {
        let word = if new.tool_policy.is_some() {
            "its tools are named now"
        } else {
            "its tools are not named any more"
        };
        words.push(word.to_owned());
    }
}

fn or_none(word: Option<&str>) -> &str {
    word.unwrap_or("none")
}

/// Compares the segments of two entries.
fn compare_segments(old: &Entry, new: &Entry, settings: &[SettingChange]) -> Vec<SegmentChange> {
    let before: BTreeMap<&str, &Part> = old.segments.iter().map(|part| (&*part.id, part)).collect();
    let mut changes: Vec<SegmentChange> = Vec::new();
    for part in &new.segments {
        match before.get(&*part.id) {
            None => changes.push(one_sided_change(part, Disposition::Added, settings)),
            Some(before) => changes.extend(compare_segment(before, part, settings)),
        }
    }
    let after: BTreeMap<&str, &Part> = new.segments.iter().map(|part| (&*part.id, part)).collect();
    let removed = old
        .segments
        .iter()
        .filter(|part| !after.contains_key(&*part.id));
    changes.extend(removed.map(|part| one_sided_change(part, Disposition::Removed, settings)));
    changes
}

/// Returns the change of a segment that exists on one side only.
fn one_sided_change(part: &Part, change: Disposition, settings: &[SettingChange]) -> SegmentChange {
    let tokens = match change {
        Disposition::Removed => Moved {
            from: part.tokens,
            to: 0,
        },
        Disposition::Added | Disposition::Changed => Moved {
            from: 0,
            to: part.tokens,
        },
    };
    let moved_by = cause::causes_of_presence(part, settings);
    SegmentChange {
        id: part.id.clone(),
        kind: part.kind,
        change,
        tokens,
        moved_by,
        words: Vec::new(),
    }
}

fn compare_segment(old: &Part, new: &Part, settings: &[SettingChange]) -> Option<SegmentChange> {
    if old == new {
        return None;
    }
    let words = describe_change(old, new);
    if old.hash == new.hash && old.tokens == new.tokens && words.is_empty() {
        return None;
    }
    Some(SegmentChange {
        id: new.id.clone(),
        kind: new.kind,
        change: Disposition::Changed,
        tokens: Moved {
            from: old.tokens,
            to: new.tokens,
        },
        moved_by: cause::causes_of_change(old, new, settings),
        words,
    })
}

/// Describes the changes of a segment beside its tokens. Effects of other segments on its room are
/// part of their descriptions.
fn describe_change(old: &Part, new: &Part) -> Vec<String> {
    let mut words = Vec::new();
    if old.tokens == new.tokens && old.hash != new.hash {
        words.push("another text".to_owned());
    }
    if old.variable != new.variable {
        let list = |part: &Part| {
            if part.variable.is_empty() {
                "nothing".to_owned()
            } else {
                part.variable.join(", ")
            }
        };
        words.push(format!("waits for {}, was {}", list(new), list(old)));
    }
    if old.stability != new.stability {
        words.push(format!(
            "stability {}, was {}",
            new.stability.word(),
            old.stability.word()
        ));
    }
    // A position that changes because another segment came or went is omitted.
    if old.position.is_some() != new.position.is_some() {
        words.push(
            if new.position.is_some() {
                "there again"
            } else {
                "left out: the budget ends before it"
            }
            .to_owned(),
        );
    }
    // Another version of a package is no other source of an equal text.
    let sources = |part: &Part| {
        let source = part.source.iter();
        let source = source.map(|source| Source {
            name: without_version(&source.name),
            path: source.path.as_deref().map(without_version),
            ..source.clone()
        });
        source.collect::<Vec<_>>()
    };
    if old.hash == new.hash && sources(old) != sources(new) {
        words.push("from other sources".to_owned());
    }
    if old.condition != new.condition {
        words.push("there under another condition".to_owned());
    }
    if old.priority != new.priority {
        words.push(format!("priority {}, was {}", new.priority, old.priority));
    }
    words
}
