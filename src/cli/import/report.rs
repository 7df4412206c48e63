//! The data of an import's report, for people and for programs.

use super::find::Found;
use super::make::Batch;
use super::verify::Verdict;
use crate::cli::prelude::*;

/// What became of the file of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Disposition {
    /// It was written.
    Written,
    /// It would be written.
    Dry,
    /// A file of that name is there and was left as it is.
    There,
    /// The very same file is there.
    Same,
    /// There is none: the prompt could not be carried over.
    Refused,
}

/// The result of an import: the files found, the converted prompts, and the disposition of each.
#[derive(Debug)]
pub(super) struct ImportReport<'t> {
    pub(super) found: &'t Found,
    pub(super) batch: &'t Batch,
    /// One for each converted prompt.
    pub(super) fates: &'t [Disposition],
    pub(super) verdict: Option<(&'t Path, &'t Verdict)>,
    /// The folder of the templates, if the project's own patterns exclude it.
    pub(super) left_out: Option<&'t str>,
}
