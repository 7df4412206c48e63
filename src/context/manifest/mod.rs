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
mod checked;
mod cut_texts;
mod model;
mod places;
mod settings;

pub use build::{ManifestOptions, defaults_of, of_project, of_rest, of_task};
pub use cause::{Cause, CauseKind};
pub use change::{
    Agent, Change, CostChange, DIFF_SCHEMA, Difference, Disposition, Moved, Named, SegmentChange,
    Version, by_agent, difference,
};
pub use cut_texts::{CutTexts, cut_texts};
pub use model::{
    Budget, Cost, DefaultValue, Entry, Manifest, Part, Routing, SCHEMA, Source, SourceKind,
    Tokenizer, ToolPolicy, Total,
};
pub use places::Places;
pub use settings::{SettingChange, SettingPlace};
