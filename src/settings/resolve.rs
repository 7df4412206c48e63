//! Resolves layers to the four final values. Pure; allocates nothing; formats no messages.

use super::layers::{LayerValue, Layers, RowId};
use super::provenance::{Layer, SettingOrigin, SettingValue, ValuePlace};
pub use super::resolved::{ResolvedSettings, Setting};
use crate::base::span::{Span, Spanned};
use crate::template::setting::{SettingName, WrittenSettings};

/// Resolves the settings of a task: its row's defaults, including the project's, then the
/// template's settings.
pub fn resolve(row: RowId, layers: &Layers, template: &WrittenSettings) -> ResolvedSettings {
    let mut out = *layers.defaults(row);
    out.template = *template;
    apply_template(&mut out, template);
    out
}

fn apply_template(out: &mut ResolvedSettings, written: &WrittenSettings) {
    let row = out.row;
    let origin = |span: Span| SettingOrigin {
        layer: Layer::Template,
        row,
        place: ValuePlace::Template(span),
    };
    if let Some(Spanned { value, span }) = written.inherit_context {
        out.inherit_context = Setting {
            value,
            applies: true,
            origin: origin(span),
        };
    }
    if let Some(Spanned { value, span }) = written.accumulate_data {
        let applies = out.accumulate_data.applies;
        out.accumulate_data = Setting {
            value: Some(value),
            applies,
            origin: origin(span),
        };
    }
    if let Some(Spanned { value, span }) = written.accumulation_format {
        let applies = out.accumulation_format.applies;
        out.accumulation_format = Setting {
            value: Some(value),
            applies,
            origin: origin(span),
        };
    }
    if let Some(Spanned { value, span }) = written.fresh_context {
        out.fresh_context = Setting {
            value,
            applies: true,
            origin: origin(span),
        };
    }
}

impl ResolvedSettings {
    /// The values that the final one overrides, the nearest layer first.
    pub fn overridden_values<'l>(
        &self,
        layers: &'l Layers,
        name: SettingName,
    ) -> impl Iterator<Item = LayerValue> + use<'l> {
        let winner = self.get(name).origin;
        let template = template_value(&self.template, name, self.row);
        let defaults = layers.layer_values(self.row, name).iter().rev().copied();
        template
            .into_iter()
            .chain(defaults)
            .filter(move |link| link.origin != winner)
    }
}

/// The template's value of one setting, as a link of the chain.
fn template_value(written: &WrittenSettings, name: SettingName, row: RowId) -> Option<LayerValue> {
    let (value, span) = match name {
        SettingName::InheritContext => written
            .inherit_context
            .map(|s| (SettingValue::Inherit(s.value), s.span)),
        SettingName::AccumulateData => written
            .accumulate_data
            .map(|s| (SettingValue::Accumulate(s.value), s.span)),
        SettingName::AccumulationFormat => written
            .accumulation_format
            .map(|s| (SettingValue::Format(s.value), s.span)),
        SettingName::FreshContext => written
            .fresh_context
            .map(|s| (SettingValue::Fresh(s.value), s.span)),
    }?;
    Some(LayerValue {
        value,
        origin: SettingOrigin {
            layer: Layer::Template,
            row,
            place: ValuePlace::Template(span),
        },
    })
}
