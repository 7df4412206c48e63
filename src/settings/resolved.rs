//! The four settings of a task, each with its origin. Data only.

use super::provenance::{Origin, Value};
use super::row_id::RowId;
use crate::template::setting::{Format, Fresh, Inherit, SettingName, Written};

/// One resolved setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// What holds. `None`, where the type has it, is N/A.
    pub value: T,
    /// Whether it has any effect: `false` where the operator has no steps to accumulate, even if a value is written.
    pub applies: bool,
    /// Which layer set it.
    pub origin: Origin,
}

/// The four settings of one task, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The row that the defaults came from.
    pub row: RowId,
    /// What of the parent's context the task sees.
    pub inherit_context: Setting<Inherit>,
    /// Whether earlier results are carried; `None` is N/A.
    pub accumulate_data: Setting<Option<bool>>,
    /// In which form; `None` is N/A.
    pub accumulation_format: Setting<Option<Format>>,
    /// Whether context is looked up.
    pub fresh_context: Setting<Fresh>,
    /// What the template wrote.
    pub template: Written,
}

impl Resolved {
    /// Any of the four by name.
    pub fn get(&self, name: SettingName) -> Setting<Value> {
        fn erase<T>(setting: &Setting<T>, value: Value) -> Setting<Value> {
            Setting { value, applies: setting.applies, origin: setting.origin }
        }
        match name {
            SettingName::InheritContext => erase(&self.inherit_context, Value::Inherit(self.inherit_context.value)),
            SettingName::AccumulateData => {
                erase(&self.accumulate_data, self.accumulate_data.value.map_or(Value::NotApplicable, Value::Accumulate))
            }
            SettingName::AccumulationFormat => {
                erase(&self.accumulation_format, self.accumulation_format.value.map_or(Value::NotApplicable, Value::Format))
            }
            SettingName::FreshContext => erase(&self.fresh_context, Value::Fresh(self.fresh_context.value)),
        }
    }

    /// Whether earlier results are carried: N/A is not, a written `true` is.
    pub fn is_accumulating(&self) -> bool {
        self.accumulate_data.value == Some(true)
    }
}
