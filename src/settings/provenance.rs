//! The provenance of setting values. Plain data, `Copy`, no text: paths and rows are looked up in
//! [`super::layers::Layers`].

use super::row_id::RowId;
use crate::base::span::Span;
use crate::template::setting::{Format, Fresh, Inherit, Word};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeserializeDerive, Serialize};
use std::fmt;

/// The layers of resolution; a later one wins.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, DeserializeDerive,
)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The row of the operator, the language's or a project's; for a part, the row of the part.
    Operator,
    /// A project's defaults for an operator: `[defaults.OPERATOR]`.
    Project,
    /// The row of the subtype, the language's or a project's.
    Subtype,
    /// A project's defaults for a subtype: `[defaults.OPERATOR.SUBTYPE]`.
    ProjectSubtype,
    /// The template itself: `<context_management>`.
    Template,
    /// A request at run time.
    Request,
}

impl Layer {
    /// The name used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Project => "project",
            Self::Subtype => "subtype",
            Self::ProjectSubtype => "project_subtype",
            Self::Template => "template",
            Self::Request => "request",
        }
    }

    /// True if the author of the task or of the request wrote it; false for a default.
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Template | Self::Request)
    }
}

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValuePlace {
    /// In the operator table of the language.
    Language,
    /// In a project file: an index into [`super::layers::Layers::files`], and the value's span.
    Project(u16, Span),
    /// In the template's own file.
    Template(Span),
}

/// The layer that set a value, with its row and the position of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettingOrigin {
    /// The layer.
    pub layer: Layer,
    /// The row that the layer applies to: `atomic` for `[defaults.atomic]`, regardless of the
    /// task's subtype.
    pub row: RowId,
    /// The position of the value.
    pub place: ValuePlace,
}

/// A value of any of the four settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(
    feature = "cli",
    derive(schemars::JsonSchema),
    schemars(rename = "SettingValue")
)]
#[serde(untagged)]
pub enum SettingValue {
    /// Of `inherit_context`.
    Inherit(Inherit),
    /// Of `accumulate_data`.
    Accumulate(bool),
    /// Of `accumulation_format`.
    Format(Format),
    /// Of `fresh_context`.
    Fresh(Fresh),
    /// The setting does not apply to the type.
    NotApplicable,
}

impl SettingValue {
    /// The value as written in a template; `N/A` if it does not apply.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inherit(value) => value.word(),
            Self::Accumulate(value) => value.word(),
            Self::Format(value) => value.word(),
            Self::Fresh(value) => value.word(),
            Self::NotApplicable => "N/A",
        }
    }
}

impl<'de> Deserialize<'de> for SettingValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Reads a value of any setting: no two settings share a value, so the value identifies its
/// setting.
struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = SettingValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a context setting, or null")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<SettingValue, E> {
        Ok(SettingValue::Accumulate(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<SettingValue, E> {
        Ok(SettingValue::NotApplicable)
    }

    fn visit_none<E: de::Error>(self) -> Result<SettingValue, E> {
        Ok(SettingValue::NotApplicable)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SettingValue, E> {
        None.or_else(|| Inherit::parse(text).map(SettingValue::Inherit))
            .or_else(|| Format::parse(text).map(SettingValue::Format))
            .or_else(|| Fresh::parse(text).map(SettingValue::Fresh))
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}
