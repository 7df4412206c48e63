//! Resolved settings as other programs read them: the keys `SETTING` and `SETTINGS` of every
//! artifact.

use super::provenance::{Layer, SettingValue};
use crate::base::span::Span;
use crate::template::setting::SettingName;
use serde::{Deserialize, Serialize};

/// Who set a value, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct OriginData {
    /// The layer that set it.
    pub layer: Layer,
    /// The type that the layer speaks about, such as `atomic` or `atomic.subtask`.
    pub row: String,
    /// The file, relative to the project; null for the language's own table.
    pub path: Option<String>,
    /// The place in that file; null where there is no file, and in manifests, for places move with every line above them.
    pub span: Option<Span>,
}

/// A value that another one has beaten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct OverriddenData {
    /// The value that did not hold; null for “does not apply”.
    pub value: SettingValue,
    /// Who had set it.
    pub origin: OriginData,
}

/// One resolved setting with everything known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingData {
    /// The value that holds; null where the setting does not apply to the type.
    pub value: SettingValue,
    /// Whether the value has any effect.
    pub applies: bool,
    /// Who set the value that holds.
    pub origin: OriginData,
    /// The values that it has beaten, the nearest layer first.
    pub beaten: Vec<OverriddenData>,
}

/// The four context settings, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingsData {
    /// What of its parent's context the task sees.
    pub inherit_context: SettingData,
    /// Whether results of earlier steps are carried along; null where there are no steps.
    pub accumulate_data: SettingData,
    /// In which form results of earlier steps are carried; null where there are no steps.
    pub accumulation_format: SettingData,
    /// Whether context is looked up.
    pub fresh_context: SettingData,
}

impl SettingsData {
    /// Returns one setting by name.
    pub const fn get(&self, name: SettingName) -> &SettingData {
        match name {
            SettingName::InheritContext => &self.inherit_context,
            SettingName::AccumulateData => &self.accumulate_data,
            SettingName::AccumulationFormat => &self.accumulation_format,
            SettingName::FreshContext => &self.fresh_context,
        }
    }
}
