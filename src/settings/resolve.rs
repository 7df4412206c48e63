//! Resolves layers to the four final values. Pure; allocates nothing; formats no messages.

use super::layers::{Layers, Link, RowId};
use super::provenance::{Layer, Origin, Place, Value};
pub use super::resolved::{Resolved, Setting};
use crate::base::span::{Span, Spanned};
use crate::template::setting::{SettingName, Written};

/// Resolves the settings of a task: its row's defaults, including the project's, then the
/// template's settings.
pub fn resolve(row: RowId, layers: &Layers, template: &Written) -> Resolved {
    let mut out = *layers.defaults(row);
    out.template = *template;
    overlay(&mut out, template);
    out
}

fn overlay(out: &mut Resolved, written: &Written) {
    let row = out.row;
    let origin = |span: Span| Origin {
        layer: Layer::Template,
        row,
        place: Place::Template(span),
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

impl Resolved {
    /// The values that the final one overrides, the nearest layer first.
    pub fn beaten<'l>(
        &self,
        layers: &'l Layers,
        name: SettingName,
    ) -> impl Iterator<Item = Link> + use<'l> {
        let winner = self.get(name).origin;
        let template = link(&self.template, name, self.row);
        let defaults = layers.chain(self.row, name).iter().rev().copied();
        template
            .into_iter()
            .chain(defaults)
            .filter(move |link| link.origin != winner)
    }
}

/// The template's value of one setting, as a link of the chain.
fn link(written: &Written, name: SettingName, row: RowId) -> Option<Link> {
    let (value, span) = match name {
        SettingName::InheritContext => written
            .inherit_context
            .map(|s| (Value::Inherit(s.value), s.span)),
        SettingName::AccumulateData => written
            .accumulate_data
            .map(|s| (Value::Accumulate(s.value), s.span)),
        SettingName::AccumulationFormat => written
            .accumulation_format
            .map(|s| (Value::Format(s.value), s.span)),
        SettingName::FreshContext => written
            .fresh_context
            .map(|s| (Value::Fresh(s.value), s.span)),
    }?;
    Some(Link {
        value,
        origin: Origin {
            layer: Layer::Template,
            row,
            place: Place::Template(span),
        },
    })
}
