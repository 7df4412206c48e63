//! Asks the models of a project on behalf of its scenarios, and keeps what they answer.

use super::keeper::Keeper;
use crate::cli::context::model_calls::{ModelCalls, redactor};
use crate::cli::context::project::Compiled;
use crate::cli::error::Result;
use crate::eval::asked::{Ask, Asked};
use crate::kernel::provider::Response;
use crate::provider::read;
use crate::provider::spending::{Spend, SpendLimit};
use crate::record::redact::Redactor;
use std::num::NonZeroUsize;

/// The models of a project, each with who is asked for it.
#[derive(Debug)]
pub(super) struct Asking<'p> {
    models: ModelCalls<'p>,
    kept: Option<Keeper<'p>>,
    /// What replaces secrets and personal data; `None` where its own secret cannot be kept.
    redactor: Option<Redactor>,
}

impl<'p> Asking<'p> {
    /// Nobody is asked yet. The keys of providers are read, so the project has to be trusted.
    pub(super) fn new(project: &'p Compiled, keeps: bool, most: SpendLimit, jobs: Option<NonZeroUsize>) -> Result<Self> {
        let (kept, redactor) = match redactor(project) {
            Ok(redactor) => (keeps.then(|| Keeper::new(&project.root, redactor.clone())), Some(redactor)),
            Err(error) if keeps => return Err(error),
            Err(_) => (None, None),
        };
        Ok(Self { models: ModelCalls::new(&project.config, most, jobs), kept, redactor })
    }

    /// Counts calls that an earlier part of the run made, and what they used.
    pub(super) fn resume(&self, calls: u64, spend: Spend) {
        self.models.resume(calls, spend);
    }

    /// What replaces secrets and personal data in what is kept; `None` where that is not possible.
    pub(super) const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// The calls that were answered, and what they used.
    pub(super) fn spent(&self) -> (u64, Spend) {
        self.models.spent()
    }

    /// The answers of interrupted runs that nobody had to be asked for again.
    pub(super) fn taken_over(&self) -> usize {
        self.kept.as_ref().map_or(0, Keeper::taken_over)
    }
}

impl Ask for Asking<'_> {
    fn ask(&self, asked: &Asked<'_>) -> std::result::Result<Response, String> {
        if let Some(keeper) = &self.kept
            && let Some(response) = keeper.begin(asked)?
        {
            return Ok(response);
        }
        let mut response = self.models.ask(asked.model, asked.sent).map_err(|none| none.to_string())?;
        if let Some(keeper) = &self.kept {
            let kept = keeper.keep(asked, &response)?;
            // What is judged is what is kept, so that the next run judges the same.
            let body = kept.response_text().unwrap_or_default();
            let dialect = read::dialect(&kept.dialect);
            response.answer = dialect.and_then(|dialect| read::answer(dialect, &body).ok()).unwrap_or(response.answer);
        }
        Ok(response)
    }

    fn finish(&self, path: &str, case: &str) -> std::result::Result<(), String> {
        self.kept.as_ref().map_or(Ok(()), |keeper| keeper.finish(path, case))
    }

    fn abandon(&self, path: &str, case: &str) -> Option<String> {
        self.kept.as_ref()?.abandon(path, case)
    }
}
