//! Drafts a scenario from its own evaluation, in two passes: the first finds the values to expect.

use super::super::project::CompiledProject;
use super::load::{CachedFiles, FilesBeside, run_context};
use crate::cli::context::models::ProjectCounters;
use crate::cli::error::{CliError, CliErrorKind};
use crate::context::TaskGraph;
use crate::context::fault::Fault;
use crate::eval::answer_source::CaseAnswers;
use crate::eval::case;
use crate::eval::compiled_patterns::CompiledPatterns;
use crate::eval::context::stored_request;
use crate::eval::draft::{self, ScenarioDraft};
use crate::eval::prepared_case::{CaseInput, SeenContext};
use crate::record::fixed_mask::FixedMask;
use crate::record::remask::without_all_hashes;
use crate::scenario::read_suite;

/// The place of a new scenario.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::context) struct DraftTarget<'s> {
    pub(in crate::cli::context) project: &'s CompiledProject,
    /// Its file, relative to the project.
    pub(in crate::cli::context) path: &'s str,
    /// The mask of the stored request.
    pub(in crate::cli::context) mask: &'s FixedMask,
}

/// A scenario that is ready to be written.
#[derive(Debug)]
pub(in crate::cli::context) struct DraftedScenario {
    pub(in crate::cli::context) text: String,
    /// The request that the scenario was taken from.
    pub(in crate::cli::context) request: String,
    /// True if the agent receives a part of a conversation.
    pub(in crate::cli::context) has_conversation: bool,
    /// The number of its expectations.
    pub(in crate::cli::context) expectations: usize,
    /// True if the scenario yields all of the looked-up context, and nothing else.
    pub(in crate::cli::context) is_whole: bool,
}

/// The reason why a scenario cannot be drafted.
#[derive(Debug)]
pub(in crate::cli::context) enum DraftError {
    /// The context cannot be assembled.
    Faults(Vec<Fault>),
    /// Any other error.
    Other(CliError),
}

impl DraftError {
    /// Converts to an error; the caller describes the faults.
    pub(in crate::cli::context) fn into_error(
        self,
        word: impl FnOnce(&[Fault]) -> CliError,
    ) -> CliError {
        match self {
            Self::Faults(faults) => word(&faults),
            Self::Other(error) => error,
        }
    }
}

impl DraftTarget<'_> {
    /// Drafts a scenario.
    pub(in crate::cli::context) fn draft_scenario(
        &self,
        draft: &ScenarioDraft<'_>,
    ) -> std::result::Result<DraftedScenario, DraftError> {
        let counters =
            ProjectCounters::new(&self.project.config, None).map_err(DraftError::Other)?;
        let first = self.with_context(
            &draft::scenario_yaml(draft, None),
            draft,
            &counters,
            draft::first_description_line,
        )?;
        // Without a given objective, the first text has none of its own.
        let draft = ScenarioDraft {
            objective: Some(draft.objective.unwrap_or(&first)),
            ..*draft
        };
        let written = |seen: &SeenContext<'_>| {
            // Masked values are masked in texts too.
            let masked = |text: &str| {
                without_all_hashes(&self.mask.mask_text(text).unwrap_or_else(|| text.to_owned()))
            };
            let is_same = |((a, first), (b, second)): (&(String, String), &(String, String))| {
                a == b && masked(first) == masked(second)
            };
            let (held, found) = (draft::lookup_segments(seen.assembly), &draft.found.held);
            let is_whole = held.len() == found.len() && held.iter().zip(found).all(is_same);
            let request = self.mask.mask_stored_request(&stored_request(seen));
            (
                draft::scenario_yaml(&draft, Some(seen)),
                request,
                is_whole,
                draft::has_conversation(seen.assembly),
            )
        };
        let (text, request, is_whole, hears) = self.with_context(
            &draft::scenario_yaml(&draft, None),
            &draft,
            &counters,
            written,
        )?;
        let (suite, faults) = read_suite(self.path, &text);
        let bug = || {
            DraftError::Other(CliError::new(
                CliErrorKind::Infrastructure,
                format!("the scenario would have faults: {faults:?}"),
            ))
        };
        let case = suite
            .and_then(|suite| suite.cases.into_iter().next())
            .filter(|_| faults.is_empty())
            .ok_or_else(bug)?;
        Ok(DraftedScenario {
            text,
            request,
            has_conversation: hears,
            expectations: case.expect_context.len(),
            is_whole,
        })
    }

    /// Evaluates a scenario text, and calls a function with its context.
    fn with_context<T>(
        &self,
        text: &str,
        draft: &ScenarioDraft<'_>,
        counters: &ProjectCounters,
        then: impl FnOnce(&SeenContext<'_>) -> T,
    ) -> std::result::Result<T, DraftError> {
        let other = |message: String| DraftError::Other(CliError::usage(message));
        let (suite, faults) = read_suite(self.path, text);
        let case = suite.and_then(|suite| suite.cases.into_iter().next());
        let case =
            case.ok_or_else(|| other(format!("the scenario would have faults: {faults:?}")))?;
        let files = CachedFiles::new(self.project.files());
        let beside = FilesBeside {
            scenario: self.path,
            files: &files,
        };
        let patterns = CompiledPatterns::default();
        let context = run_context(self.project, &files, counters, &patterns);
        let input = CaseInput {
            path: self.path,
            case: &case,
            beside: &beside,
            snapshot: None,
            rejection: None,
            answers: CaseAnswers::default(),
        };
        let forest = TaskGraph::load(&self.project.registry, draft.receiver.task)
            .map_err(|fault| DraftError::Faults(vec![fault]))?;
        let forest =
            forest.ok_or_else(|| other(format!("there is no task `{}`", draft.receiver.task)))?;
        match case::with_context(&context, &input, &forest, draft.receiver, then) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(faults)) => Err(DraftError::Faults(faults)),
            Err(why) => Err(other(why)),
        }
    }
}
