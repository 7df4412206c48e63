//! The commands of scenarios: custom checks, and programs that send requests. Only runs commands
//! that the user permitted; a scenario with any other stays undecided, and the run continues.

use super::load::Chosen;
use super::own_checks::{CheckRuns, CheckSide, OwnChecks};
use super::programs::Programs;
use crate::cli::context::project::Compiled;
use crate::cli::context::trust::{self, TrustHashArgs};
use crate::cli::error::{CliError, Result};
use crate::eval::asked::{RunAnswers, RunCheck, RunProgram};
use crate::scenario::expect::answer::each;
use crate::scenario::model::{Case, Subject};
use crate::store::trust::program_of;
use std::collections::BTreeSet;

/// The commands that cases of a project run: its custom checks, and programs that send requests.
#[derive(Debug, Default)]
pub(super) struct Runnable<'p> {
    own: Option<OwnChecks<'p>>,
    programs: Option<Programs<'p>>,
    /// The number of cases that stay undecided without permission, and the error about it.
    unpermitted: Option<(usize, CliError)>,
}

impl<'p> Runnable<'p> {
    /// Collects the permitted commands of some cases.
    ///
    /// # Errors
    /// What the project asks permission for cannot be read.
    pub(super) fn of<'c>(
        project: &'p Compiled,
        cases: impl Iterator<Item = &'c Chosen<'c>> + Clone,
        given: &TrustHashArgs,
    ) -> Result<Self> {
        let is_checked =
            |case: &Case| each(&case.expectations).any(|(test, _)| test.own().is_some());
        let is_sent = |case: &Case| matches!(&case.subject.value, Subject::Request(source) if program_of(source).is_some());
        let running: Vec<(bool, bool)> = cases
            .clone()
            .map(|one| (is_checked(one.case), is_sent(one.case)))
            .filter(|(checked, sent)| *checked || *sent)
            .collect();
        let (has_own, has_programs) = (
            running.iter().any(|one| one.0),
            running.iter().any(|one| one.1),
        );
        if running.is_empty() {
            return Ok(Self::default());
        }
        let what = if has_own {
            "running a check of the project's own"
        } else {
            "running the program that a scenario names"
        };
        let (permitted, refused) = match trust::permitted(project, given, what)? {
            Ok(permitted) => (
                permitted
                    .commands
                    .into_iter()
                    .map(|command| command.line)
                    .collect(),
                None,
            ),
            Err(refused) => (BTreeSet::new(), Some(refused)),
        };
        let sources = cases.filter_map(|one| match &one.case.subject.value {
            Subject::Request(source) => Some((one.path, source)),
            Subject::Role(_) | Subject::Task(_) => None,
        });
        Ok(Self {
            own: has_own.then(|| OwnChecks::new(project, permitted.clone())),
            programs: has_programs.then(|| Programs::new(project, permitted, sources)),
            unpermitted: refused.map(|refused| (running.len(), refused)),
        })
    }

    /// Sets the side in a comparison.
    pub(super) fn on(self, side: CheckSide, runs: &'p CheckRuns) -> Self {
        let programs = self
            .programs
            .map(|programs| programs.sharing(&runs.requests));
        Self {
            own: self.own.map(|own| own.on(side, runs)),
            programs,
            ..self
        }
    }

    /// Returns the answer options with these commands.
    pub(super) fn answers(&self) -> RunAnswers<'_> {
        RunAnswers {
            own: self.own.as_ref().map(|own| -> &dyn RunCheck { own }),
            programs: self
                .programs
                .as_ref()
                .map(|programs| -> &dyn RunProgram { programs }),
            ..RunAnswers::default()
        }
    }

    /// Returns true if any command is run; commands take time.
    pub(super) const fn is_some(&self) -> bool {
        self.own.is_some() || self.programs.is_some()
    }

    /// Describes the cases that stay undecided.
    pub(super) fn note(&self) -> Option<String> {
        let (count, refused) = self.unpermitted.as_ref()?;
        let which = if *count == 1 {
            "1 scenario is not decided".to_owned()
        } else {
            format!("{count} scenarios are not decided")
        };
        Some(
            std::iter::once(format!("{which}: {}", refused.message))
                .chain(refused.hints.iter().cloned())
                .collect::<Vec<_>>()
                .join("; "),
        )
    }
}
