//! The differences of two registries, with text changes and *resolved* changes apart.
//!
//! A resolved change with cause `default` is a setting that moved although no text of its task did.
//! Never reads a file; definitions with equal hashes are not compared.

use super::artifact::{Registry, Task};
use super::node::Node;
use super::raw::ReadError;
use crate::base::hash::Hash;
use crate::base::span::Span;
use crate::settings::provenance::SettingValue;
use crate::template::setting::{SettingName, Word};
use serde::Serialize;
use std::collections::BTreeMap;

/// The schema of the data.
pub const SCHEMA: &str = "ctxc/diff/1";

/// The differences between two registries: `ctxc diff OLD NEW --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The version of the format.
    pub schema: &'static str,
    /// Tasks that only the new registry has.
    pub added: Vec<String>,
    /// Tasks that only the old registry has.
    pub removed: Vec<String>,
    /// Tasks whose own text changed.
    pub text: Vec<TextChange>,
    /// Settings that resolve to another value.
    pub resolved: Vec<ResolvedChange>,
    /// Tasks that changed only through a definition they refer to.
    pub referenced: Vec<String>,
    /// Changes of function templates.
    pub templates: NameChanges,
    /// Changes of shared texts.
    pub fragments: NameChanges,
}

/// Changes of definitions that have no settings of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Names"))]
pub struct NameChanges {
    /// Only in the new registry.
    pub added: Vec<String>,
    /// Only in the old registry.
    pub removed: Vec<String>,
    /// In both, with different content.
    pub changed: Vec<String>,
}

/// A task whose own text changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TextChange {
    /// The name of the task.
    pub task: String,
    /// The file that contains it now, relative to the project.
    pub path: String,
    /// The span in that file.
    pub span: Span,
}

/// Causes of a changed setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", schemars(rename = "Cause"))]
pub enum SettingCause {
    /// The text of the template changed.
    Text,
    /// A default of the unchanged text changed.
    Default,
}

/// A setting that resolves to another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ResolvedChange {
    /// The name of the task.
    pub task: String,
    /// The node inside it; `/` is the task itself.
    pub node: String,
    /// The setting that changed.
    pub setting: SettingName,
    /// The value before; null for “does not apply”.
    pub from: SettingValue,
    /// The value now; null for “does not apply”.
    pub to: SettingValue,
    /// The cause of the change.
    pub cause: SettingCause,
}

impl Diff {
    /// Returns true if there is no difference.
    pub fn is_empty(&self) -> bool {
        let Self {
            schema: _,
            added,
            removed,
            text,
            resolved,
            referenced,
            templates,
            fragments,
        } = self;
        [added, removed, referenced]
            .iter()
            .all(|names| names.is_empty())
            && text.is_empty()
            && resolved.is_empty()
            && [templates, fragments]
                .iter()
                .all(|names| **names == NameChanges::default())
    }
}

/// Compares two registries.
pub fn compare_registries(old: &Registry, new: &Registry) -> Result<Diff, ReadError> {
    let mut out = Diff {
        schema: SCHEMA,
        added: new
            .tasks()
            .filter(|task| old.find(task.name()).is_none())
            .map(|task| task.name().to_owned())
            .collect(),
        removed: old
            .tasks()
            .filter(|task| new.find(task.name()).is_none())
            .map(|task| task.name().to_owned())
            .collect(),
        text: Vec::new(),
        resolved: Vec::new(),
        referenced: Vec::new(),
        templates: compare_names(&task_hashes(old.templates()), &task_hashes(new.templates())),
        fragments: compare_names(
            &old.fragments()
                .map(|fragment| (fragment.name(), fragment.hash()))
                .collect(),
            &new.fragments()
                .map(|fragment| (fragment.name(), fragment.hash()))
                .collect(),
        ),
    };
    for after in new.tasks() {
        let Some(before) = old.find(after.name()) else {
            continue;
        };
        if before.hash() != after.hash() {
            compare_task(before, after, &mut out)?;
        }
    }
    Ok(out)
}

fn task_hashes<'r>(tasks: impl Iterator<Item = Task<'r>>) -> BTreeMap<&'r str, Hash> {
    tasks.map(|task| (task.name(), task.hash())).collect()
}

fn compare_names(old: &BTreeMap<&str, Hash>, new: &BTreeMap<&str, Hash>) -> NameChanges {
    let list = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    NameChanges {
        added: list(
            new.keys()
                .filter(|name| !old.contains_key(*name))
                .copied()
                .collect(),
        ),
        removed: list(
            old.keys()
                .filter(|name| !new.contains_key(*name))
                .copied()
                .collect(),
        ),
        changed: list(
            new.iter()
                .filter(|(name, hash)| old.get(*name).is_some_and(|old| old != *hash))
                .map(|(name, _)| *name)
                .collect(),
        ),
    }
}

fn compare_task(before: Task<'_>, after: Task<'_>, out: &mut Diff) -> Result<(), ReadError> {
    let old_root = before.root()?;
    let new_root = after.root()?;
    let old_nodes = nodes_by_id(&old_root);
    let new_nodes = nodes_by_id(&new_root);
    let mut text = before.version() != after.version()
        || before.parameters()? != after.parameters()?
        || old_nodes.len() != new_nodes.len();
    let known = out.resolved.len();
    for (id, new) in &new_nodes {
        let Some(old) = old_nodes.get(id) else {
            text = true;
            continue;
        };
        text |= has_text_change(old, new);
        for &setting in SettingName::ALL {
            compare_setting(after.name(), old, new, setting, &mut out.resolved);
        }
    }
    if text {
        let source = after.source()?;
        out.text.push(TextChange {
            task: after.name().to_owned(),
            path: source.path,
            span: source.span,
        });
    } else if out.resolved.len() == known {
        out.referenced.push(after.name().to_owned());
    }
    Ok(())
}

/// All nodes of a task by id, without recursion.
fn nodes_by_id(root: &Node) -> BTreeMap<&str, &Node> {
    let mut found = BTreeMap::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        found.insert(node.id.as_str(), node);
        stack.extend(node.children.iter().map(|child| &child.node));
    }
    found
}

/// Returns true if the author's text of a node differs, without its children.
fn has_text_change(old: &Node, new: &Node) -> bool {
    let head = |node: &Node| {
        (
            node.element.clone(),
            node.operator.clone(),
            node.subtype.clone(),
        )
    };
    let slots = |node: &Node| -> Vec<_> {
        node.children
            .iter()
            .map(|child| (child.slot.clone(), child.name.clone()))
            .collect()
    };
    head(old) != head(new)
        || old.body != new.body
        || slots(old) != slots(new)
        || written_settings(old) != written_settings(new)
}

/// The settings that the template itself sets.
fn written_settings(node: &Node) -> Vec<(SettingName, SettingValue)> {
    let Some(settings) = &node.settings else {
        return Vec::new();
    };
    let all = SettingName::ALL
        .iter()
        .map(|&name| (name, settings.get(name)));
    all.filter(|(_, setting)| setting.origin.layer.is_written())
        .map(|(name, setting)| (name, setting.value))
        .collect()
}

fn compare_setting(
    task: &str,
    old: &Node,
    new: &Node,
    setting: SettingName,
    out: &mut Vec<ResolvedChange>,
) {
    let (Some(before), Some(after)) = (&old.settings, &new.settings) else {
        return;
    };
    let before = before.get(setting);
    let after = after.get(setting);
    if before.value == after.value {
        return;
    }
    let same_type =
        old.operator == new.operator && old.subtype == new.subtype && old.element == new.element;
    let is_default = !before.origin.layer.is_written() && !after.origin.layer.is_written();
    let cause = if same_type && is_default {
        SettingCause::Default
    } else {
        SettingCause::Text
    };
    let from = before.value;
    let to = after.value;
    out.push(ResolvedChange {
        task: task.to_owned(),
        node: new.id.clone(),
        setting,
        from,
        to,
        cause,
    });
}
