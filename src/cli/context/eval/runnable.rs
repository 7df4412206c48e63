//! The commands of scenarios: custom checks, and programs that send requests. Only runs commands
//! that the user permitted; a scenario with any other stays undecided, and the run continues.

use super::load::ChosenCase;
use super::own_checks::{CheckRuns, CheckSide, OwnChecks};
use super::programs::ProgramRunner;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::{self, TrustHashArgs};
use crate::cli::error::{CliError, Result};
use crate::eval::answer_source::{AnswerOptions, RunCheck, RunProgram};
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use crate::store::trust::request_command;
use std::collections::BTreeSet;

/// The commands that cases of a project run: its custom checks, and programs that send requests.
#[derive(Debug, Default)]
pub(super) struct RunnableCommands<'p> {
    own: Option<OwnChecks<'p>>,
    programs: Option<ProgramRunner<'p>>,
    /// The number of cases that stay undecided without permission, and the error about it.
    unpermitted: Option<(usize, CliError)>,
}

impl<'p> RunnableCommands<'p> {
    /// Collects the permitted commands of some cases.
    ///
    /// # Errors
    /// The permissions that the project requests cannot be read.
    pub(super) fn collect<'c>(
        project: &'p CompiledProject,
        cases: impl Iterator<Item = &'c ChosenCase<'c>> + Clone,
        hashes: &TrustHashArgs,
    ) -> Result<Self> {
        let is_checked = |case: &ScenarioCase| {
            case.subject.value.compaction_program().is_some()
                || all_tests(&case.expectations).any(|(test, _)| test.own_check().is_some())
        };
        let is_sent = |case: &ScenarioCase| matches!(&case.subject.value, CaseSubject::Request(source) if request_command(source).is_some());
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
        let (permitted, refused) = match trust::permission_or_error(project, hashes, what)? {
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
            CaseSubject::Request(source) => Some((one.path, source)),
            CaseSubject::Role(_) | CaseSubject::Task(_) | CaseSubject::Compaction(_) => None,
        });
        Ok(Self {
            own: has_own.then(|| OwnChecks::new(project, permitted.clone())),
            programs: has_programs.then(|| ProgramRunner::new(project, permitted, sources)),
            unpermitted: refused.map(|refused| (running.len(), refused)),
        })
    }

    /// Sets the side in a comparison.
    pub(super) fn on_side(self, side: CheckSide, runs: &'p CheckRuns) -> Self {
        let programs = self
            .programs
            .map(|programs| programs.with_shared_requests(&runs.requests));
        Self {
            own: self.own.map(|own| own.on_side(side, runs)),
            programs,
            ..self
        }
    }

    /// Returns the answer options with these commands.
    pub(super) fn answer_options(&self) -> AnswerOptions<'_> {
        AnswerOptions {
            check_runner: self.own.as_ref().map(|own| -> &dyn RunCheck { own }),
            programs: self
                .programs
                .as_ref()
                .map(|programs| -> &dyn RunProgram { programs }),
            ..AnswerOptions::default()
        }
    }

    /// Returns true if any command is run; commands take time.
    pub(super) const fn has_commands(&self) -> bool {
        self.own.is_some() || self.programs.is_some()
    }

    /// Describes the cases that stay undecided.
    pub(super) fn unpermitted_note(&self) -> Option<String> {
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
