//! The context that each agent of a project would receive, computed before any run: segments with
//! their tokens, their variable parts and bounds.
//!
//! Computed by the assembler itself in a dry run, so that it cannot differ from the context of a
//! run. Contains no line numbers and no positions in files: an edit that only moves white space
//! changes nothing in it.

mod bounds;
mod build;
mod cause;
mod change;
mod cut_texts;
mod model;
mod places;
mod settings;

pub use build::{ManifestOptions, defaults_of, partial_manifest, project_manifest, task_manifest};
pub use cause::{Cause, CauseKind};
pub use change::{
    Agent, Change, CostChange, DIFF_SCHEMA, Difference, Disposition, Moved, Named, SegmentChange,
    Version, compare_manifests, entries_by_agent,
};
pub use cut_texts::{CutTexts, cut_texts};
pub use model::{
    Budget, Cost, DefaultValue, Entry, MANIFEST_SCHEMA, Manifest, Part, Routing, Source,
    SourceKind, Tokenizer, ToolPolicy, Total,
};
pub use places::SettingPlaces;
pub use settings::{SettingChange, SettingPlace};
