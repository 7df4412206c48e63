//! What an import found and what became of each prompt: data that both reports, for people and for programs, are made from.

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

/// What a run found, what it made of it, and what became of each prompt.
#[derive(Debug)]
pub(super) struct ImportReport<'t> {
    pub(super) found: &'t Found,
    pub(super) batch: &'t Batch,
    /// One a prompt that was made.
    pub(super) fates: &'t [Disposition],
    pub(super) verdict: Option<(&'t Path, &'t Verdict)>,
    /// The folder of the templates, where the project's own patterns leave it out.
    pub(super) left_out: Option<&'t str>,
}
