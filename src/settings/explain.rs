//! Serialises resolved settings into an artifact.
//!
//! [`SettingsView`] writes without copying; [`SettingData`] is the owned form that an artifact is read
//! into. Both have the same keys in the same order (tested).

use super::data::{OriginData, OverriddenData, SettingData, SettingsData};
use super::layers::{LayerValue, Layers};
use super::provenance::{Layer, SettingOrigin, SettingValue, ValuePlace};
use super::resolve::ResolvedSettings;
use crate::base::span::Span;
use crate::template::setting::{SettingName, Word};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Resolved settings with the data that names their origins. Serialises as `SETTINGS`.
#[derive(Clone, Copy, Debug)]
pub struct SettingsView<'a> {
    /// The settings.
    pub resolved: &'a ResolvedSettings,
    /// The layers that they were resolved with.
    pub layers: &'a Layers,
    /// The template's file, relative to the project root.
    pub path: &'a str,
}

impl SettingsView<'_> {
    /// One setting as owned data.
    pub fn setting_data(&self, name: SettingName) -> SettingData {
        let setting = self.resolved.get(name);
        let overridden = self.resolved.overridden_values(self.layers, name);
        SettingData {
            value: setting.value,
            applies: setting.applies,
            origin: self.origin_view(setting.origin).to_data(),
            overridden: overridden
                .map(|link| OverriddenData {
                    value: link.value,
                    origin: self.origin_view(link.origin).to_data(),
                })
                .collect(),
        }
    }

    /// All four settings as owned data.
    pub fn settings_data(&self) -> SettingsData {
        SettingsData {
            inherit_context: self.setting_data(SettingName::InheritContext),
            accumulate_data: self.setting_data(SettingName::AccumulateData),
            accumulation_format: self.setting_data(SettingName::AccumulationFormat),
            fresh_context: self.setting_data(SettingName::FreshContext),
        }
    }

    fn origin_view(&self, origin: SettingOrigin) -> OriginView<'_> {
        let (path, span) = match origin.place {
            ValuePlace::Language => (None, None),
            ValuePlace::Project(file, span) => {
                (self.layers.file(file).map(|path| &**path), Some(span))
            }
            ValuePlace::Template(span) => (Some(self.path), Some(span)),
        };
        OriginView {
            layer: origin.layer,
            row: self.layers.get(origin.row).name(),
            path,
            span,
        }
    }
}

/// [`OriginData`], borrowed.
#[derive(Serialize)]
struct OriginView<'a> {
    layer: Layer,
    row: &'a str,
    path: Option<&'a str>,
    span: Option<Span>,
}

impl OriginView<'_> {
    fn to_data(&self) -> OriginData {
        OriginData {
            layer: self.layer,
            row: self.row.to_owned(),
            path: self.path.map(str::to_owned),
            span: self.span,
        }
    }
}

impl Serialize for SettingsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        for name in SettingName::ALL.iter().copied() {
            map.serialize_entry(name.word(), &SettingView { view: *self, name })?;
        }
        map.end()
    }
}

struct SettingView<'a> {
    view: SettingsView<'a>,
    name: SettingName,
}

impl Serialize for SettingView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let setting = self.view.resolved.get(self.name);
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("value", &setting.value)?;
        map.serialize_entry("applies", &setting.applies)?;
        map.serialize_entry("origin", &self.view.origin_view(setting.origin))?;
        map.serialize_entry("beaten", &OverriddenView(self))?;
        map.end()
    }
}

struct OverriddenView<'a>(&'a SettingView<'a>);

impl Serialize for OverriddenView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            value: SettingValue,
            origin: OriginView<'a>,
        }
        let SettingView { view, name } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        for LayerValue { value, origin } in view.resolved.overridden_values(view.layers, *name) {
            list.serialize_element(&Entry {
                value,
                origin: view.origin_view(origin),
            })?;
        }
        list.end()
    }
}
