//! The sources of answers of a run: a script, a recording, models.

use super::args::RunArgs;
use super::traces;
use crate::cli::context::eval::AnswerSource;
use crate::cli::context::model_calls::ModelCalls;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::record::script;
use crate::eval::scripted::AnswerScript;
use crate::provider::spending::SpendLimit;
use crate::record::file::RecordingFile;
use crate::record::places::RecordingSelector;
use crate::record::recording::Recording;
use crate::registry::scenarios;
use crate::rules::scenario::cx::Tasks;
use crate::rules::scenario::unknown_receiver::{request_subtasks, unused_answer_reason};
use crate::run::answers::{AnswerBackend, ChainedAnswers, ReplayedAnswers};
use crate::scenario::paths;
use std::collections::BTreeSet;
use std::path::Path;

/// The possible sources of answers.
#[derive(Debug)]
pub(super) struct AnswerSources<'p> {
    /// The source of the command line, or the default.
    pub(super) from: AnswerSource,
    replay: ReplayedAnswers,
    script: AnswerScript,
    models: Option<ModelCalls<'p>>,
}

impl<'p> AnswerSources<'p> {
    /// Opens the sources. Models are called in a trusted project only.
    pub(super) fn new(
        args: &RunArgs,
        from: AnswerSource,
        project: &'p CompiledProject,
        task: &str,
    ) -> Result<Self> {
        let script = match (&args.script, from) {
            (Some(path), AnswerSource::Scripted) => {
                let script = script::read_script_file(path)?;
                // Tasks of a task source have different agents.
                if args.source.is_none() {
                    check_recipients(&script, path, project, task)?;
                }
                script
            }
            (None, AnswerSource::Scripted) => {
                return Err(CliError::usage(
                    "--answers scripted takes its answers from a file: `--script FILE`",
                ));
            }
            (Some(_), _) => return Err(CliError::usage("--script is for `--answers scripted`")),
            (None, _) => AnswerScript::default(),
        };
        let replay = match from {
            AnswerSource::Replay | AnswerSource::ReplayOrRecord => {
                ReplayedAnswers::new(recorded_calls(args, project)?, project.comparison())
            }
            AnswerSource::Scripted | AnswerSource::Record | AnswerSource::Live => {
                ReplayedAnswers::default()
            }
        };
        let max = SpendLimit {
            tokens: args.budget_tokens,
            usd: args.budget_usd,
        };
        let models = from
            .calls_models()
            .then(|| ModelCalls::new(&project.config, max, args.jobs));
        Ok(Self {
            from,
            replay,
            script,
            models,
        })
    }

    /// The answers for agents and scripts.
    pub(super) const fn script(&self) -> &AnswerScript {
        &self.script
    }

    /// Calls a function with the selected source.
    pub(super) fn with_backend<T>(&self, then: impl FnOnce(&dyn AnswerBackend) -> T) -> T {
        match (self.from, &self.models) {
            (AnswerSource::Scripted, _) => then(&self.script),
            (AnswerSource::ReplayOrRecord, Some(models)) => then(&ChainedAnswers {
                first: &self.replay,
                then: models,
            }),
            (AnswerSource::Record | AnswerSource::Live, Some(models)) => then(models),
            _ => then(&self.replay),
        }
    }
}

/// Refuses answers that no agent of the task can receive.
fn check_recipients(
    script: &AnswerScript,
    path: &Path,
    project: &CompiledProject,
    task: &str,
) -> Result<()> {
    let Some(signature) = project.registry.signature(task) else {
        return Ok(());
    };
    let has_subtasks = request_subtasks(script.answers());
    match script
        .answers()
        .find_map(|answer| unused_answer_reason(answer, task, &signature, has_subtasks))
    {
        None => Ok(()),
        Some((why, near)) => {
            let error = CliError::usage(format!("{}: {why}", path.display()));
            Err(error.with_suggestion_or(near, || format!("`ctxc graph {task}` shows what it has")))
        }
    }
}

/// Returns the recorded calls: of the named recording, or those beside the scenarios of the
/// project.
fn recorded_calls(args: &RunArgs, project: &CompiledProject) -> Result<Vec<Recording>> {
    let Some(named) = &args.recording else {
        return Ok(scenario_calls(project));
    };
    if let Some(name) = named.strip_prefix("run:") {
        return Ok(traces::read_run(&project.root, name)?
            .1
            .calls
            .into_values()
            .collect());
    }
    // A call with an incomplete line is skipped; its request then has no answer.
    let calls = RecordingSelector::parse(named)
        .load_calls(&project.root, &mut |_| {})
        .map_err(|fault| CliError::usage(fault.to_string()))?;
    Ok(calls.into_iter().map(|call| call.call).collect())
}

fn scenario_calls(project: &CompiledProject) -> Vec<Recording> {
    let files = scenarios::load_files(
        &project.root,
        &project.config,
        &scenarios::list_files(&project.root, &project.config),
    );
    let cases = files.iter().flat_map(|file| {
        file.suite
            .iter()
            .flat_map(|suite| suite.cases.iter().map(|case| (&*file.path, case)))
    });
    let paths: BTreeSet<String> = cases
        .map(|(path, case)| paths::recording_path(path, &case.name.value))
        .collect();
    let read = |path: String| {
        let text = crate::context::request::Files::text(&project.files(), &path).ok()?;
        RecordingFile::parse(&text).ok()
    };
    paths
        .into_iter()
        .filter_map(read)
        .flat_map(|found| found.calls)
        .collect()
}

/// Returns the error for a run that must be recorded in a project without recordings.
pub(super) fn not_recorded_error() -> CliError {
    CliError::new(
        CliErrorKind::Usage,
        "answers are not recorded in this project: `[record] content` in ctxc.toml is \"shape\"",
    )
    .with_hint("`--answers live` asks and keeps no words")
}
