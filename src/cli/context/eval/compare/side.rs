//! One side of a comparison: a version of the project with its scenarios, its recorded answers, and
//! the models that are asked for it.

use super::super::args::EvalArgs;
use super::super::choose::{EvalRun, RunOptions, RunSetup, StoredCase};
use super::super::live_calls::LiveModels;
use super::super::load::{CachedFiles, ChosenCase};
use super::super::runnable::RunnableCommands;
use crate::base::span::{Span, Spanned};
use crate::cli::context::lookup::{CacheArgs, ProjectLookup};
use crate::cli::context::models::{ProjectCounters, find_model, find_role};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::answer_source::{AnswerOptions, ModelCall, ModelCaller, SufficientTrials};
use crate::eval::comparison::VariedPart;
use crate::eval::judge::JudgeAgent;
use crate::eval::locate::Locator;
use crate::eval::trials::TrialPolicy;
use crate::kernel::provider::Response;
use crate::project::roles::ModelChoice;
use crate::provider::limiter::MAX_CALLS;
use crate::record::recording::Recording;
use crate::scenario::expect::context::{ContextExpectation, all_expectations};
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use crate::scenario::paths;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// The name of the current files among revisions.
const CURRENT_FILES: &str = ".";

/// One side of a comparison.
#[derive(Debug)]
pub(super) struct Side<'r> {
    /// The name of the folder of its recorded answers.
    folder: String,
    project: CompiledProject,
    /// The model of tasks without a role.
    task_model: Option<String>,
    /// The scenarios as the side runs them.
    cases: Vec<(&'r ChosenCase<'r>, ScenarioCase)>,
}

/// The parts of a run that all sides share.
#[derive(Debug)]
pub(super) struct SideRun<'r> {
    pub(super) args: &'r EvalArgs,
    /// The current project, whose scenarios are run.
    pub(super) current: &'r CompiledProject,
    pub(super) chosen: &'r [ChosenCase<'r>],
    pub(super) commands: &'r RunnableCommands<'r>,
    /// The models, if any may be called.
    pub(super) asking: Option<&'r LiveModels<'r>>,
}

impl<'r> Side<'r> {
    /// Loads a side by its name.
    ///
    /// # Errors
    /// There is no such model, role or revision, or its project has errors.
    pub(super) fn load(across: VariedPart, name: &str, run: &SideRun<'r>, cx: &Cx) -> Result<Self> {
        let config = &run.current.config;
        match across {
            VariedPart::Model => find_model(config, name).map(|_| ()),
            VariedPart::Role => find_role(config, name).map(|_| ()),
            VariedPart::Revision => Ok(()),
        }?;
        let mut project = if across == VariedPart::Revision && name != CURRENT_FILES {
            run.current.load_beside(name)?
        } else {
            CompiledProject::load_or_empty(cx)?
        };
        let roles = project.config.roles.iter_mut();
        let is_asked = |role: &str| across == VariedPart::Model && role != JUDGE_ROLE;
        for (_, role) in roles.filter(|(role, _)| is_asked(role)) {
            let model = Spanned::new(name.to_owned(), Span::default());
            role.model = ModelChoice::Named(vec![model]);
        }
        let edit = |chosen: &'r ChosenCase<'r>| {
            let mut case = chosen.case.clone();
            case.expect_context.retain(|one| {
                let mut all = all_expectations(std::slice::from_ref(one));
                !all.any(|one| one.value == ContextExpectation::Snapshot)
            });
            if across == VariedPart::Role {
                case.subject.value = CaseSubject::Role(name.to_owned());
            }
            (chosen, case)
        };
        let folder = if name == CURRENT_FILES {
            "current"
        } else {
            name
        };
        Ok(Self {
            folder: format!("{}-{folder}", across.word()),
            project,
            task_model: (across == VariedPart::Model).then(|| name.to_owned()),
            cases: run.chosen.iter().map(edit).collect(),
        })
    }

    /// Runs the scenarios, with the answers that were recorded for any of the sides.
    pub(super) fn run(
        &self,
        run: &SideRun<'_>,
        sides: &[Self],
        threads: Option<NonZeroUsize>,
    ) -> Result<Vec<Option<StoredCase>>> {
        let (project, current) = (&self.project, run.current);
        let chosen = self
            .cases
            .iter()
            .map(|(chosen, case)| ChosenCase { case, ..**chosen });
        let chosen: Vec<ChosenCase<'_>> = chosen.collect();
        let live = CachedFiles::new(project.files());
        let frozen = CachedFiles::new(current.files());
        let counters = ProjectCounters::new(&project.config, None)?;
        let cache = CacheArgs::default();
        let index = ProjectLookup::new(project, &cache);
        let folder = self.folder.as_str();
        let models = run.asking.map(|models| SideModels { models, folder });
        let answers = AnswerOptions {
            ask: models.as_ref().map(|models| -> &dyn ModelCaller { models }),
            config: Some(&project.config),
            estimates_only: run.args.plan,
            sufficient: SufficientTrials::AsRequired,
            ..run.commands.answer_options()
        };
        let eval_run = EvalRun::new(RunSetup {
            project,
            chosen: &chosen,
            files: &live,
            frozen: &frozen,
            counters: &counters,
            trials: TrialPolicy::RunAll,
            from: run.args.answers_from(),
        });
        // Models and roles never send equal requests.
        let is_revision = folder.starts_with(VariedPart::Revision.word());
        let others = sides.iter().map(|side| side.folder.as_str());
        let others = others.filter(|other| is_revision && *other != folder);
        let folders: Vec<&str> = others.chain([folder]).collect();
        let mut eval_run = eval_run
            .with_answers(answers)
            .with_side_answers(current, &folders);
        (eval_run.index, eval_run.task_model) = (Some(&index), self.task_model.as_deref());
        // All sides have the same judge.
        if let Some(judge) = &mut eval_run.judge {
            judge.agent = JudgeAgent::load(&current.registry, &current.config.roles);
        }
        let lines = || project.text_lines(&project.definition_paths());
        let locator = Mutex::new(Locator::new(&frozen, &lines));
        let callers = NonZeroUsize::new(MAX_CALLS).filter(|_| run.asking.is_some());
        let which = vec![true; chosen.len()];
        let options = RunOptions::with_threads(callers.or(threads));
        Ok(eval_run.run_cases(&which, &locator, options))
    }
}

/// Calls models for one side, and records their answers in its folder.
#[derive(Debug)]
struct SideModels<'m> {
    models: &'m LiveModels<'m>,
    folder: &'m str,
}

impl SideModels<'_> {
    fn path(&self, scenario: &str) -> String {
        paths::comparison_path(scenario, self.folder)
    }
}

impl ModelCaller for SideModels<'_> {
    fn call_model(&self, call: &ModelCall<'_>) -> std::result::Result<Response, String> {
        let path = &self.path(call.path);
        self.models.call_model(&ModelCall { path, ..*call })
    }

    fn copy_recorded_call(
        &self,
        asked: &ModelCall<'_>,
        call: &Recording,
    ) -> std::result::Result<(), String> {
        let path = &self.path(asked.path);
        let asked = ModelCall { path, ..*asked };
        self.models.copy_recorded_call(&asked, call)
    }

    fn finish_recording(&self, path: &str, case: &str) -> std::result::Result<(), String> {
        self.models.finish_recording(&self.path(path), case)
    }

    fn failed_calls(&self, path: &str, case: &str) -> BTreeMap<String, u64> {
        self.models.failed_calls(&self.path(path), case)
    }

    fn abandon_recording(&self, path: &str, case: &str) -> Option<String> {
        self.models.abandon_recording(&self.path(path), case)
    }
}
