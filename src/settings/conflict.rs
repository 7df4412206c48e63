//! Conflicts in resolved settings, as data. Their messages are written by rules.
//!
//! The rules of the language apply to resolved values, so a subtype or a project changes defaults,
//! never rules.

use super::layers::{Layers, RowId};
use super::resolve::ResolvedSettings;
use crate::template::setting::{Fresh, Inherit, SettingName};

/// The facts of a task, besides its settings, that findings about settings depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskContentFacts {
    /// True if it has `file_paths`, inputs, parameters or a conversation of its own, which give it
    /// content without any context.
    pub has_content: bool,
    /// True if it has `file_paths`, `inputs` or `context_relevance`, which select the part for
    /// `subset`.
    pub selects: bool,
}

/// Fresh context combined with an inherited one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusivity {
    /// `full` or `subset`.
    pub inherit: Inherit,
    /// The side that the author wrote.
    pub side: WrittenSide,
}

/// The written side of a conflict; the other one is a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenSide {
    /// Both are written.
    Both,
    /// `inherit_context` is written.
    Inherit,
    /// `fresh_context` is written.
    Fresh,
}

/// The remaining content of a task without any context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutContext {
    /// Only its description and instructions.
    Empty,
    /// Files, inputs, parameters or a conversation of its own.
    OwnContent,
}

/// True if a row by itself resolves to a conflict, so that its tasks are not to blame.
pub fn has_conflicting_defaults(layers: &Layers, row: RowId) -> bool {
    is_exclusive_violation(layers.defaults(row))
}

/// CTX201 and CTX202: fresh context is looked up although context is inherited.
pub fn check_exclusivity(resolved: &ResolvedSettings, layers: &Layers) -> Option<Exclusivity> {
    if !is_exclusive_violation(resolved) {
        return None;
    }
    let inherit = resolved.inherit_context.origin.layer.is_written();
    let fresh = resolved.fresh_context.origin.layer.is_written();
    let side = match (inherit, fresh) {
        (true, true) => WrittenSide::Both,
        // The defaults themselves conflict: reported once, at the defaults.
        (false, false) => return None,
        (true, false) | (false, true) if has_conflicting_defaults(layers, resolved.row) => {
            return None;
        }
        (true, false) => WrittenSide::Inherit,
        (false, true) => WrittenSide::Fresh,
    };
    Some(Exclusivity {
        inherit: resolved.inherit_context.value,
        side,
    })
}

/// CTX203: no context is inherited, carried or looked up. N/A counts as not carried, a written
/// `true` as carried.
pub fn missing_context(
    resolved: &ResolvedSettings,
    facts: TaskContentFacts,
) -> Option<WithoutContext> {
    let is_alone = resolved.inherit_context.value == Inherit::None
        && resolved.fresh_context.value == Fresh::Disabled
        && !resolved.is_accumulating();
    is_alone.then_some(if facts.has_content {
        WithoutContext::OwnContent
    } else {
        WithoutContext::Empty
    })
}

/// CTX204: true if a setting is written and has no effect.
pub fn is_without_effect(resolved: &ResolvedSettings, name: SettingName) -> bool {
    match name {
        SettingName::AccumulateData => {
            let setting = resolved.accumulate_data;
            setting.origin.layer.is_written() && !setting.applies && setting.value == Some(true)
        }
        SettingName::AccumulationFormat => {
            let setting = resolved.accumulation_format;
            setting.origin.layer.is_written() && (!setting.applies || !resolved.is_accumulating())
        }
        SettingName::InheritContext | SettingName::FreshContext => false,
    }
}

/// CTX205: true if a setting is written with its default value. False if the value is part of a
/// more severe finding.
pub fn is_redundant(resolved: &ResolvedSettings, layers: &Layers, name: SettingName) -> bool {
    let setting = resolved.get(name);
    let is_conflicting = || {
        matches!(
            name,
            SettingName::InheritContext | SettingName::FreshContext
        ) && is_exclusive_violation(resolved)
    };
    let is_alone = || {
        name != SettingName::AccumulationFormat
            && missing_context(resolved, TaskContentFacts::default()).is_some()
    };
    setting.origin.layer.is_written()
        && setting.value == layers.defaults(resolved.row).get(name).value
        && !is_without_effect(resolved, name)
        && !is_conflicting()
        && !is_alone()
}

/// CTX206: true for `subset` without anything that selects a part.
pub fn is_empty_subset(resolved: &ResolvedSettings, facts: TaskContentFacts) -> bool {
    resolved.inherit_context.value == Inherit::Subset && !facts.selects
}

fn is_exclusive_violation(resolved: &ResolvedSettings) -> bool {
    resolved.fresh_context.value == Fresh::Enabled
        && resolved.inherit_context.value != Inherit::None
}
