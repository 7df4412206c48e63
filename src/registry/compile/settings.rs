//! Resolved settings as the bytes of an entry: what comes from a row is written once for the whole project and copied.
//!
//! The same bytes as [`crate::settings::explain::View`] gives (tested).

use super::json::Json;
use crate::settings::explain::View;
use crate::settings::layers::{Layers, RowId};
use crate::settings::resolve::{Resolved, resolve};
use crate::template::setting::{SettingName, Word, Written};

/// The parts of every row's settings that no task changes.
#[derive(Debug)]
pub(super) struct RowTexts {
    rows: Vec<[RowText; 4]>,
}

/// One setting of one row.
#[derive(Debug)]
struct RowText {
    /// The setting where the row's value holds: `{"value":…}`.
    whole: String,
    /// Where a template's value holds, what stands between it and the path: `,"applies":…,"path":`.
    origin: String,
    /// Likewise, what it has beaten: `,"beaten":[…]}`.
    beaten: String,
}

impl RowTexts {
    /// Writes every row of a project.
    pub(super) fn new(layers: &Layers) -> Self {
        let rows = layers.rows().map(|(id, _)| SETTINGS.map(|name| RowText::new(layers, id, name))).collect();
        Self { rows }
    }

    /// Appends the four settings. `path` is the template's path as JSON.
    pub(super) fn write(&self, resolved: &Resolved, path: &str, out: &mut Json) {
        out.raw("{");
        let row = self.rows.get(resolved.row.index());
        for (name, text) in SETTINGS.iter().zip(row.into_iter().flatten()) {
            out.key(name.word());
            let Some(span) = resolved.template.span(*name) else {
                out.raw(&text.whole);
                continue;
            };
            out.raw("{\"value\":");
            value(resolved, *name, out);
            out.raw(&text.origin);
            out.raw(path);
            out.raw(",\"span\":");
            out.span(span);
            out.raw("}");
            out.raw(&text.beaten);
        }
        out.raw("}");
    }
}

const SETTINGS: [SettingName; 4] =
    [SettingName::InheritContext, SettingName::AccumulateData, SettingName::AccumulationFormat, SettingName::FreshContext];

/// Appends a setting's value.
fn value(resolved: &Resolved, name: SettingName, out: &mut Json) {
    match name {
        SettingName::InheritContext => out.str(resolved.inherit_context.value.word()),
        SettingName::FreshContext => out.str(resolved.fresh_context.value.word()),
        SettingName::AccumulateData => match resolved.accumulate_data.value {
            Some(value) => out.bool(value),
            None => out.raw("null"),
        },
        SettingName::AccumulationFormat => out.optional(resolved.accumulation_format.value.map(Word::word)),
    }
}

/// Appends what counts in a hash: the values and whether they apply, not where they came from.
pub(super) fn canonical(resolved: &Resolved, out: &mut Vec<u8>) {
    for name in SETTINGS {
        let setting = resolved.get(name);
        out.extend_from_slice(setting.value.word().as_bytes());
        out.push(if setting.applies { b'+' } else { b'-' });
    }
}

impl RowText {
    fn new(layers: &Layers, row: RowId, name: SettingName) -> Self {
        let json = |resolved: &Resolved| {
            // Plain data with string keys: writing it cannot fail.
            serde_json::to_string(&View { resolved, layers, path: "" }.setting(name)).unwrap_or_default()
        };
        let whole = json(&resolve(row, layers, &Written::default()));
        let setting = layers.defaults(row).get(name);
        let mut origin = Json::default();
        origin.raw(",\"applies\":");
        origin.bool(setting.applies);
        origin.raw(",\"origin\":{\"layer\":\"template\",\"row\":");
        origin.str(layers.get(row).name());
        origin.raw(",\"path\":");
        let written = json(&resolve(row, layers, &any(name)));
        let beaten = written.find(",\"beaten\":").and_then(|at| written.get(at..)).unwrap_or("}").to_owned();
        Self { whole, origin: String::from_utf8(origin.bytes).unwrap_or_default(), beaten }
    }
}

/// Something written for one setting, to see what it beats.
fn any(name: SettingName) -> Written {
    use crate::base::span::{Span, Spanned};
    use crate::template::setting::{Format, Fresh, Inherit};
    let at = Span::at(0);
    let mut written = Written::default();
    match name {
        SettingName::InheritContext => written.inherit_context = Some(Spanned::new(Inherit::Full, at)),
        SettingName::AccumulateData => written.accumulate_data = Some(Spanned::new(true, at)),
        SettingName::AccumulationFormat => written.accumulation_format = Some(Spanned::new(Format::NotesOnly, at)),
        SettingName::FreshContext => written.fresh_context = Some(Spanned::new(Fresh::Enabled, at)),
    }
    written
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/compile/settings.rs"]
mod tests;
