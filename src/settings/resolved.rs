//! The four settings of a task, each with its origin. Only data.

use super::provenance::{SettingOrigin, SettingValue};
use super::row_id::RowId;
use crate::template::setting::{Format, Fresh, Inherit, SettingName, WrittenSettings};

/// One resolved setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The final value. `None`, if the type has it, is N/A.
    pub value: T,
    /// True if it has any effect: false if the operator has no steps to accumulate, even if a value
    /// is written.
    pub applies: bool,
    /// The layer that set it.
    pub origin: SettingOrigin,
}

/// The four settings of one task, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedSettings {
    /// The row of the defaults.
    pub row: RowId,
    /// The part of the parent's context that the task receives.
    pub inherit_context: Setting<Inherit>,
    /// True if earlier results are carried; `None` is N/A.
    pub accumulate_data: Setting<Option<bool>>,
    /// The form of the carried results; `None` is N/A.
    pub accumulation_format: Setting<Option<Format>>,
    /// The setting that enables looking up context.
    pub fresh_context: Setting<Fresh>,
    /// The template's own settings.
    pub template: WrittenSettings,
}

impl ResolvedSettings {
    /// Returns one of the four by name.
    pub fn get(&self, name: SettingName) -> Setting<SettingValue> {
        fn with_value<T>(setting: &Setting<T>, value: SettingValue) -> Setting<SettingValue> {
            Setting {
                value,
                applies: setting.applies,
                origin: setting.origin,
            }
        }
        match name {
            SettingName::InheritContext => with_value(
                &self.inherit_context,
                SettingValue::Inherit(self.inherit_context.value),
            ),
            SettingName::AccumulateData => with_value(
                &self.accumulate_data,
                self.accumulate_data
                    .value
                    .map_or(SettingValue::NotApplicable, SettingValue::Accumulate),
            ),
            SettingName::AccumulationFormat => with_value(
                &self.accumulation_format,
                self.accumulation_format
                    .value
                    .map_or(SettingValue::NotApplicable, SettingValue::Format),
            ),
            SettingName::FreshContext => with_value(
                &self.fresh_context,
                SettingValue::Fresh(self.fresh_context.value),
            ),
        }
    }

    /// True if earlier results are carried: false for N/A, true for a written `true`.
    pub fn is_accumulating(&self) -> bool {
        self.accumulate_data.value == Some(true)
    }
}
