//! Conflicts and oddities in resolved settings, as data. The messages are written by rules.
//!
//! The rules of the language judge resolved values, so a subtype or a project changes defaults, never rules.

use super::layers::{Layers, RowId};
use super::resolve::Resolved;
use crate::template::setting::{Fresh, Inherit, SettingName};

/// What the settings' findings need to know about the task beside its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskFacts {
    /// It has `file_paths`, inputs, parameters or a conversation of its own, so that it sees something without any context.
    pub has_content: bool,
    /// It has `file_paths`, `inputs` or `context_relevance`, so that `subset` says which part.
    pub selects: bool,
}

/// Fresh context with an inherited one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusivity {
    /// `full` or `subset`.
    pub inherit: Inherit,
    /// Which side the author wrote.
    pub side: Side,
}

/// Which side of a conflict is written; the other one is a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Both are.
    Both,
    /// `inherit_context` is.
    Inherit,
    /// `fresh_context` is.
    Fresh,
}

/// What a task without any context is left with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutContext {
    /// Its description and instructions alone.
    Empty,
    /// Files, inputs, parameters or a conversation of its own.
    OwnContent,
}

/// Whether a row resolves to a conflict by itself, so that the tasks under it are not to blame.
pub fn defaults_conflict(layers: &Layers, row: RowId) -> bool {
    is_exclusive_violation(layers.defaults(row))
}

/// CTX201 and CTX202: fresh context is looked up although context is inherited.
pub fn exclusivity(resolved: &Resolved, layers: &Layers) -> Option<Exclusivity> {
    if !is_exclusive_violation(resolved) {
        return None;
    }
    let inherit = resolved.inherit_context.origin.layer.is_written();
    let fresh = resolved.fresh_context.origin.layer.is_written();
    let side = match (inherit, fresh) {
        (true, true) => Side::Both,
        // The defaults conflict by themselves: reported once, where they stand.
        (false, false) => return None,
        (true, false) | (false, true) if defaults_conflict(layers, resolved.row) => return None,
        (true, false) => Side::Inherit,
        (false, true) => Side::Fresh,
    };
    Some(Exclusivity { inherit: resolved.inherit_context.value, side })
}

/// CTX203: nothing is inherited, carried or looked up. N/A counts as not carried, a written `true` as carried.
pub fn no_context(resolved: &Resolved, facts: TaskFacts) -> Option<WithoutContext> {
    let is_alone = resolved.inherit_context.value == Inherit::None
        && resolved.fresh_context.value == Fresh::Disabled
        && !resolved.is_accumulating();
    is_alone.then_some(if facts.has_content { WithoutContext::OwnContent } else { WithoutContext::Empty })
}

/// CTX204: whether a setting is written and has no effect.
pub fn without_effect(resolved: &Resolved, name: SettingName) -> bool {
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

/// CTX205: whether a setting is written and the default anyway. A value that is part of a graver finding is not
/// also called superfluous.
pub fn redundant(resolved: &Resolved, layers: &Layers, name: SettingName) -> bool {
    let setting = resolved.get(name);
    let is_conflicting =
        || matches!(name, SettingName::InheritContext | SettingName::FreshContext) && is_exclusive_violation(resolved);
    let is_alone = || name != SettingName::AccumulationFormat && no_context(resolved, TaskFacts::default()).is_some();
    setting.origin.layer.is_written()
        && setting.value == layers.defaults(resolved.row).get(name).value
        && !without_effect(resolved, name)
        && !is_conflicting()
        && !is_alone()
}

/// CTX206: `subset`, and nothing says which part.
pub fn subset_selects_nothing(resolved: &Resolved, facts: TaskFacts) -> bool {
    resolved.inherit_context.value == Inherit::Subset && !facts.selects
}

fn is_exclusive_violation(resolved: &Resolved) -> bool {
    resolved.fresh_context.value == Fresh::Enabled && resolved.inherit_context.value != Inherit::None
}
