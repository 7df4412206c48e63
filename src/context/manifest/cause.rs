//! The causes of a segment's change: the texts, files and settings that it depends on and that have
//! changed.

use super::model::{Part, Source, SourceKind};
use super::settings::SettingChange;
use crate::kernel::context::Kind;
use crate::template::setting::{SettingName, Word};
use serde::Serialize;

/// The cause of a segment's change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Cause {
    /// The kind: a setting, or a source of the text.
    pub what: CauseKind,
    /// The name of the setting, definition, value or step, or the file's path.
    pub name: String,
    /// The file, relative to the project; null if there is none.
    pub path: Option<String>,
    /// The line there, from 1; null if unknown.
    pub line: Option<u32>,
}

/// Kinds of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// A setting has another value.
    Setting,
    /// A source of the text changed.
    #[serde(untagged)]
    Source(SourceKind),
}

impl CauseKind {
    /// Returns a label for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Source(SourceKind::Template) => "text of the template",
            Self::Source(SourceKind::Fragment) => "fragment",
            Self::Source(SourceKind::File) => "file",
            Self::Source(SourceKind::Schema) => "schema",
            Self::Source(SourceKind::Input) => "input",
            Self::Source(SourceKind::Result) => "result",
            Self::Source(SourceKind::Parent) => "parent",
            Self::Source(SourceKind::Match) => "looked up",
            Self::Source(SourceKind::History) => "history",
        }
    }
}

/// Returns the settings that control the presence and form of a segment of a kind.
const fn settings_of(kind: Kind) -> &'static [SettingName] {
    match kind {
        Kind::Inherited => &[SettingName::InheritContext],
        Kind::Accumulated => &[SettingName::AccumulateData, SettingName::AccumulationFormat],
        Kind::Fresh => &[SettingName::FreshContext],
        Kind::Tools
        | Kind::System
        | Kind::Description
        | Kind::Instructions
        | Kind::Criteria
        | Kind::OutputFormat
        | Kind::Constraints
        | Kind::Input
        | Kind::PreviousOutput
        | Kind::File
        | Kind::Examples
        | Kind::History
        | Kind::FailureHistory
        | Kind::Custom(_) => &[],
    }
}

fn setting_causes(kind: Kind, settings: &[SettingChange]) -> Vec<Cause> {
    let own = settings_of(kind).iter().flat_map(|name| {
        settings
            .iter()
            .filter(move |change| change.setting == name.word())
    });
    let cause = |change: &SettingChange| Cause {
        what: CauseKind::Setting,
        name: change.setting.to_owned(),
        path: change.origin.path.clone(),
        line: change.origin.line,
    };
    own.map(cause).collect()
}

/// Returns true if a setting is one of the causes.
pub(super) fn is_caused_by(causes: &[Cause], setting: &SettingChange) -> bool {
    causes
        .iter()
        .any(|cause| cause.what == CauseKind::Setting && cause.name == setting.setting)
}

fn source_cause(source: &Source) -> Cause {
    Cause {
        what: CauseKind::Source(source.kind),
        name: source.name.clone(),
        path: source.path.clone(),
        line: None,
    }
}

/// Returns the causes of a segment's appearance or disappearance: its settings, otherwise its
/// sources.
pub(super) fn causes_of_presence(part: &Part, settings: &[SettingChange]) -> Vec<Cause> {
    let by = setting_causes(part.kind, settings);
    if by.is_empty() {
        part.source.iter().map(source_cause).collect()
    } else {
        by
    }
}

/// Returns the causes of a segment's change: the sources whose text changed, appeared or
/// disappeared.
pub(super) fn causes_of_change(old: &Part, new: &Part, settings: &[SettingChange]) -> Vec<Cause> {
    let mut causes = setting_causes(new.kind, settings);
    if old.hash == new.hash {
        return causes;
    }
    let same = |one: &Source, other: &Source| one.kind == other.kind && one.name == other.name;
    let changed_sources = new.source.iter().filter(|new| {
        !old.source
            .iter()
            .any(|old| same(old, new) && old.hash == new.hash)
    });
    let removed = old
        .source
        .iter()
        .filter(|old| !new.source.iter().any(|new| same(old, new)));
    causes.extend(changed_sources.chain(removed).map(source_cause));
    causes
}
