//! Resolved settings as other programs read them: the keys `SETTING` and `SETTINGS` of every
//! artifact.

use super::provenance::{Layer, SettingValue};
use crate::base::span::Span;
use crate::template::setting::SettingName;
use serde::{Deserialize, Serialize};

/// The provenance of a value: its layer and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct OriginData {
    /// The layer that set it.
    pub layer: Layer,
    /// The type that the layer configures, such as `atomic` or `atomic.subtask`.
    pub row: String,
    /// The file, relative to the project; null for the language's own table.
    pub path: Option<String>,
    /// The span in that file; null if there is no file, and in manifests, because spans change with
    /// every line above them.
    pub span: Option<Span>,
}

/// An overridden value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct OverriddenData {
    /// The overridden value; null for “does not apply”.
    pub value: SettingValue,
    /// The provenance of the overridden value.
    pub origin: OriginData,
}

/// One resolved setting with its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingData {
    /// The value that holds; null if the setting does not apply to the type.
    pub value: SettingValue,
    /// True if the value has any effect.
    pub applies: bool,
    /// The provenance of the value that holds.
    pub origin: OriginData,
    /// The overridden values, the nearest layer first.
    #[serde(rename = "beaten")]
    pub overridden: Vec<OverriddenData>,
}

/// The four context settings, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingsData {
    /// The part of the parent's context that the task sees.
    pub inherit_context: SettingData,
    /// The setting that carries results of earlier steps along; null if there are no steps.
    pub accumulate_data: SettingData,
    /// The form of the results of earlier steps; null if there are no steps.
    pub accumulation_format: SettingData,
    /// The setting that enables the lookup of context.
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
