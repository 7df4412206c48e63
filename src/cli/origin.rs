//! The provenance of a setting as text.

use super::render::sources::SourceTexts;
use crate::base::span::Span;
use crate::settings::data::{OriginData, SettingData};
use crate::settings::provenance::{Layer, SettingValue};

/// Returns a place such as `templates/a.xml:9:5`, or the path alone if its text is not available.
pub(super) fn format_place(sources: &mut SourceTexts, path: &str, span: Span) -> String {
    match sources.finding_source(path) {
        Some(source) => {
            let at = source.index.position(&source.text, span.start);
            format!("{path}:{}:{}", at.line, at.column)
        }
        None => path.to_owned(),
    }
}

/// Describes a provenance: `the default of atomic.subtask`, `the project's default for atomic,
/// ctxc.toml:5:3`, `written at templates/a.xml:9:5`.
pub(super) fn describe_origin(origin: &OriginData, sources: &mut SourceTexts) -> String {
    let at = origin
        .path
        .as_deref()
        .zip(origin.span)
        .map(|(path, span)| format_place(sources, path, span));
    let row = &origin.row;
    match (origin.layer, at) {
        (Layer::Template, Some(at)) => format!("written at {at}"),
        (Layer::Template, None) => "written in the template".to_owned(),
        (Layer::Request, _) => "set by the request".to_owned(),
        (Layer::Operator | Layer::Subtype, None) => format!("the default of {row}"),
        (Layer::Operator | Layer::Subtype, Some(at)) => format!("the row {row}, declared at {at}"),
        (Layer::Project | Layer::ProjectSubtype, Some(at)) => {
            format!("the project's default for {row}, {at}")
        }
        (Layer::Project | Layer::ProjectSubtype, None) => {
            format!("the project's default for {row}")
        }
    }
}

/// Returns `, over full (the default of atomic)` for each overridden value, the nearest first.
pub(super) fn describe_overridden(setting: &SettingData, sources: &mut SourceTexts) -> String {
    // `NotApplicable` is not repeated for every layer.
    let other_values = setting.overridden.iter().filter(|overridden| {
        overridden.value != SettingValue::NotApplicable
            || setting.value != SettingValue::NotApplicable
    });
    let lost = other_values.map(|overridden| {
        format!(
            ", over {} ({})",
            overridden.value.as_str(),
            describe_origin(&overridden.origin, sources)
        )
    });
    lost.collect()
}

/// Returns a note for a value that has no effect, otherwise an empty text.
pub(super) fn effect_note(setting: &SettingData) -> &'static str {
    if setting.applies || setting.value == SettingValue::NotApplicable {
        ""
    } else {
        " (without effect: this type has no steps to accumulate)"
    }
}
