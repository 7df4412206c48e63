//! The data of an import's report, for people and for programs.

use super::find::PromptSearch;
use super::make::ImportBatch;
use super::verify::SampleVerdict;
use crate::cli::prelude::*;

/// The state of a template's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Disposition")]
pub(super) enum ImportDisposition {
    /// It was written.
    Written,
    /// It would be written.
    Dry,
    /// A file of that name exists and was left unchanged.
    There,
    /// An identical file exists.
    Same,
    /// No file: the prompt could not be carried over.
    Refused,
}

/// The result of an import: the files found, the converted prompts, and the disposition of each.
#[derive(Debug)]
pub(super) struct ImportReport<'t> {
    pub(super) found: &'t PromptSearch,
    pub(super) batch: &'t ImportBatch,
    /// One for each converted prompt.
    pub(super) dispositions: &'t [ImportDisposition],
    pub(super) verdict: Option<(&'t Path, &'t SampleVerdict)>,
    /// The folder of the templates, if the project's own patterns exclude it.
    pub(super) left_out: Option<&'t str>,
}
