//! Serialises resolved settings into an artifact.
//!
//! [`View`] writes without copying; [`SettingData`] is the owned form that an artifact is read
//! into. Both have the same keys in the same order (tested).

use super::data::{OriginData, OverriddenData, SettingData, SettingsData};
use super::layers::{Layers, Link};
use super::provenance::{Layer, Origin, Place, Value};
use super::resolve::Resolved;
use crate::base::span::Span;
use crate::template::setting::{SettingName, Word};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Resolved settings with the data that names their origins. Serialises as `SETTINGS`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The settings.
    pub resolved: &'a Resolved,
    /// The layers that they were resolved with.
    pub layers: &'a Layers,
    /// The template's file, relative to the project root.
    pub path: &'a str,
}

impl View<'_> {
    /// One setting as owned data.
    pub fn setting(&self, name: SettingName) -> SettingData {
        let setting = self.resolved.get(name);
        let beaten = self.resolved.beaten(self.layers, name);
        SettingData {
            value: setting.value,
            applies: setting.applies,
            origin: self.origin(setting.origin).data(),
            beaten: beaten
                .map(|link| OverriddenData {
                    value: link.value,
                    origin: self.origin(link.origin).data(),
                })
                .collect(),
        }
    }

    /// All four settings as owned data.
    pub fn settings(&self) -> SettingsData {
        SettingsData {
            inherit_context: self.setting(SettingName::InheritContext),
            accumulate_data: self.setting(SettingName::AccumulateData),
            accumulation_format: self.setting(SettingName::AccumulationFormat),
            fresh_context: self.setting(SettingName::FreshContext),
        }
    }

    fn origin(&self, origin: Origin) -> OriginView<'_> {
        let (path, span) = match origin.place {
            Place::Language => (None, None),
            Place::Project(file, span) => (self.layers.file(file).map(|path| &**path), Some(span)),
            Place::Template(span) => (Some(self.path), Some(span)),
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
    fn data(&self) -> OriginData {
        OriginData {
            layer: self.layer,
            row: self.row.to_owned(),
            path: self.path.map(str::to_owned),
            span: self.span,
        }
    }
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        for name in SettingName::ALL.iter().copied() {
            map.serialize_entry(name.word(), &SettingView { view: *self, name })?;
        }
        map.end()
    }
}

struct SettingView<'a> {
    view: View<'a>,
    name: SettingName,
}

impl Serialize for SettingView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let setting = self.view.resolved.get(self.name);
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("value", &setting.value)?;
        map.serialize_entry("applies", &setting.applies)?;
        map.serialize_entry("origin", &self.view.origin(setting.origin))?;
        map.serialize_entry("beaten", &OverriddenView(self))?;
        map.end()
    }
}

struct OverriddenView<'a>(&'a SettingView<'a>);

impl Serialize for OverriddenView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            value: Value,
            origin: OriginView<'a>,
        }
        let SettingView { view, name } = self.0;
        let mut list = serializer.serialize_seq(None)?;
        for Link { value, origin } in view.resolved.beaten(view.layers, *name) {
            list.serialize_element(&Entry {
                value,
                origin: view.origin(origin),
            })?;
        }
        list.end()
    }
}
