//! Selects the cases to run, and the scorecard or revision to compare them with.

use super::args::EvalArgs;
use super::journal::EvalJournal;
use super::label_files::read_labels;
use super::load::{CachedFiles, ChosenCase, FilesBeside, Scenarios, plan_path, run_context};
use super::rescore::EarlierRun;
use crate::base::contained_path::{self, PathRefusal};
use crate::base::fs;
use crate::cli::compaction::UserSessions;
use crate::cli::context::lookup::{CacheArgs, ProjectLookup};
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::history::HistoryPlace;
use crate::cli::render::summary::pluralize;
use crate::cli::revision::ChangeBase;
use crate::context::context_source::ContextSource;
use crate::context::options::ModelSettings;
use crate::context::request::Files;
use crate::eval::affected::{ComparisonBase, RunChoice};
use crate::eval::answer_source::{AnswerOptions, AnswersFrom, CaseAnswers, TrialRecorder};
use crate::eval::case_result::{CaseResult, CaseVerdict, CostEstimate, ResultKeys};
use crate::eval::compiled_patterns::CompiledPatterns;
use crate::eval::judge::{ProjectJudge, assess_trust};
use crate::eval::locate::Locator;
use crate::eval::mutate::{self, MutationScores};
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::receiver::{Roles, resolve_receiver};
use crate::eval::run;
use crate::eval::scorecard::{CaseRow, RowSubject, SCHEMA, Scorecard};
use crate::eval::trials::TrialPolicy;
use crate::record::comparison::RequestComparison;
use crate::record::file::RecordingFile;
use crate::record::recording::Recording;
use crate::registry::scenarios::Refusals;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::ScenarioCase;
use crate::scenario::paths;
use crate::store::history::EvalHistory;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The commit with which a bare `--affected` compares on the default branch, or without a default
/// branch.
const HEAD: &str = "HEAD";
/// Digits of a commit in a note.
const SHOWN: usize = 12;
/// More than any scorecard.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 28;

/// The kept results of a case that was run: its row of the scorecard, and the data for reports.
#[derive(Debug)]
pub(super) struct StoredCase {
    pub(super) row: Box<CaseRow>,
    /// The estimated cost of new answers, if the recorded ones are stale or the cost was requested.
    pub(super) new_answer_cost: Option<CostEstimate>,
    /// The current request, if it is compared with a stored one.
    pub(super) snapshot: Option<String>,
    /// The whole result, if the case did not pass and a report shows the reason.
    pub(super) full_result: Option<Box<CaseResult>>,
}

/// Everything that cases are run with.
#[derive(Debug)]
pub(super) struct EvalRun<'w> {
    project: &'w CompiledProject,
    pub(super) chosen: &'w [ChosenCase<'w>],
    pub(super) files: &'w CachedFiles<'w>,
    besides: Vec<FilesBeside<'w>>,
    /// The stored request of each case that expects one.
    pub(super) snapshots: Vec<Option<String>>,
    /// The recorded calls of each case, or the reason why they cannot be read.
    recorded: Vec<std::result::Result<Vec<Recording>, String>>,
    /// The recorded judgements on each case, or the reason why they cannot be read.
    judged: Vec<std::result::Result<Vec<Recording>, String>>,
    /// The judge; `None` if no case needs one.
    pub(super) judge: Option<ProjectJudge<'w>>,
    from: AnswersFrom,
    /// The options of answers, with the models if these may be called.
    asking: AnswerOptions<'w>,
    patterns: CompiledPatterns,
    pub(super) comparison: RequestComparison,
    counters: &'w ProjectCounters,
    rows: TrialPolicy,
    /// The cases that are not run, because of errors that `check` reports.
    pub(super) refusals: Refusals,
    /// The files of the project for lookups.
    pub(super) index: Option<&'w ProjectLookup<'w>>,
    pub(super) session: &'w str,
    /// The model of tasks without a role, instead of those that they name.
    pub(super) task_model: Option<&'w str>,
    /// The history of the run.
    journal: Option<&'w EvalJournal<'w>>,
    /// The run whose answers are judged again.
    pub(super) earlier: Option<&'w EarlierRun>,
    /// The number of finished cases.
    pub(super) done: AtomicUsize,
}

/// The project and the cases of a run, and the files that they read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSetup<'w> {
    pub(super) project: &'w CompiledProject,
    pub(super) chosen: &'w [ChosenCase<'w>],
    /// The current files of the project.
    pub(super) files: &'w CachedFiles<'w>,
    /// The frozen files and stored requests of the version of the project that the scenarios belong
    /// to.
    pub(super) frozen: &'w CachedFiles<'w>,
    pub(super) counters: &'w ProjectCounters,
    pub(super) trials: TrialPolicy,
    pub(super) from: AnswersFrom,
}

/// The threads of a run, and the effect of a failure on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunOptions {
    /// The number of threads; `None` for one per core.
    pub(super) threads: Option<NonZeroUsize>,
    /// True if no case after the first that does not pass is run.
    pub(super) fails_fast: bool,
}

impl RunOptions {
    /// Creates the options of a run of all cases.
    pub(super) const fn with_threads(threads: Option<NonZeroUsize>) -> Self {
        Self {
            threads,
            fails_fast: false,
        }
    }
}

impl<'w> EvalRun<'w> {
    /// Reads the stored requests and the recordings of the cases.
    pub(super) fn new(setup: RunSetup<'w>) -> Self {
        let RunSetup {
            project,
            chosen,
            files,
            frozen,
            counters,
            trials,
            from,
        } = setup;
        Self {
            project,
            chosen,
            files,
            besides: chosen
                .iter()
                .map(|chosen| FilesBeside {
                    scenario: chosen.path,
                    files: frozen,
                })
                .collect(),
            snapshots: chosen
                .iter()
                .map(|chosen| stored_request(chosen, frozen))
                .collect(),
            recorded: chosen
                .iter()
                .map(|chosen| case_recordings(project, chosen, from))
                .collect(),
            judged: chosen
                .iter()
                .map(|chosen| case_judgements(project, chosen, from))
                .collect(),
            judge: chosen
                .iter()
                .any(|chosen| needs_judge(chosen.case))
                .then(|| ProjectJudge::load(&project.registry, &project.config.roles)),
            from,
            asking: AnswerOptions::default(),
            comparison: project.comparison(),
            patterns: CompiledPatterns::compile_for(
                chosen.iter().map(|chosen| chosen.case),
                plan_path(project),
            ),
            counters,
            rows: trials,
            refusals: Refusals::default(),
            index: None,
            session: "",
            task_model: None,
            journal: None,
            done: AtomicUsize::new(0),
            earlier: None,
        }
    }

    /// Sets the options of answers.
    pub(super) fn with_answers(self, asking: AnswerOptions<'w>) -> Self {
        let mut eval_run = Self { asking, ..self };
        eval_run.set_judge_trust();
        if !asking.estimates_only {
            return eval_run;
        }
        // The recorded calls show the cost of new ones.
        let known = |chosen: &ChosenCase<'_>| {
            case_recordings(eval_run.project, chosen, AnswersFrom::ReplayOrRecord)
        };
        eval_run.recorded = eval_run.chosen.iter().map(known).collect();
        eval_run
    }

    /// Decides on which criteria the judge is trusted, by the labels of the project.
    fn set_judge_trust(&mut self) {
        let Some(mut judge) = self.judge.take() else {
            return;
        };
        let labels = read_labels(self.project);
        judge.trust = assess_trust(
            &judge,
            &self.run_context(),
            &self.case_inputs(),
            labels.as_ref().map_err(String::as_str),
        );
        self.judge = Some(judge);
    }

    /// Adds the answers that were recorded in `current`, for the scenarios themselves and for the
    /// sides of a comparison; those of the last side are preferred. A file of another side that cannot
    /// be read is left out: it is reported for that side.
    pub(super) fn with_side_answers(mut self, current: &CompiledProject, sides: &[&str]) -> Self {
        let cases = self.chosen.iter().zip(&mut self.recorded);
        for ((chosen, recorded), judged) in cases.zip(&mut self.judged) {
            let (last, others) = sides
                .split_last()
                .map_or((None, sides), |(last, others)| (Some(last), others));
            let beside = |side: &&str| paths::comparison_path(chosen.path, side);
            for path in others.iter().map(beside) {
                let side = ChosenCase {
                    path: &path,
                    ..*chosen
                };
                let read = case_recordings(current, &side, self.from);
                prepend_calls(Ok(read.unwrap_or_default()), recorded);
                let read = case_judgements(current, &side, self.from);
                prepend_calls(Ok(read.unwrap_or_default()), judged);
            }
            let own = std::iter::once(chosen.path.to_owned());
            for path in own.chain(last.map(beside)) {
                let own = ChosenCase {
                    path: &path,
                    ..*chosen
                };
                prepend_calls(case_recordings(current, &own, self.from), recorded);
                prepend_calls(case_judgements(current, &own, self.from), judged);
            }
        }
        self
    }

    /// Sets the history that keeps the result of each case.
    pub(super) fn with_journal(mut self, journal: Option<&'w EvalJournal<'w>>) -> Self {
        // Calls that this run recorded before its interruption are not an earlier recording.
        for recorded in self.recorded.iter_mut().flatten() {
            recorded.retain(|call| !journal.is_some_and(|journal| journal.is_resumed_call(call)));
        }
        Self { journal, ..self }
    }

    /// The project of the scenarios.
    pub(super) const fn project(&self) -> &'w CompiledProject {
        self.project
    }

    /// The name of the tokenizer that counts the tokens of contexts.
    pub(super) fn tokenizer(&self) -> &str {
        self.counters.default_counter().name()
    }

    /// The agent roles of the project.
    pub(super) const fn roles(&self) -> &Roles {
        &self.project.config.roles
    }

    fn run_context(&self) -> RunContext<'_> {
        let index = self
            .index
            .map(|index| -> &(dyn ContextSource + Sync) { index });
        let trials = self
            .journal
            .map(|journal| -> &dyn TrialRecorder { journal });
        let answers = AnswerOptions {
            from: self.from,
            providers: Some(&self.project.config.providers),
            sessions: Some(&UserSessions),
            ..self.asking
        };
        let answers = AnswerOptions {
            trials,
            judge: self.judge.as_ref(),
            comparison: Some(&self.comparison),
            ..answers
        };
        let shared = run_context(self.project, self.files, self.counters, &self.patterns);
        RunContext {
            rows: self.rows,
            index,
            answers,
            session: self.session,
            models: shared.models.map(|models| ModelSettings {
                task_model: self.task_model,
                ..models
            }),
            ..shared
        }
    }

    fn case_inputs(&self) -> Vec<CaseInput<'_>> {
        let parts = self
            .chosen
            .iter()
            .zip(&self.besides)
            .zip(&self.snapshots)
            .zip(&self.recorded)
            .zip(&self.judged);
        parts
            .map(
                |((((chosen, beside), snapshot), recorded), judged)| CaseInput {
                    path: chosen.path,
                    case: chosen.case,
                    beside,
                    snapshot: snapshot.as_deref(),
                    rejection: self
                        .refusals
                        .reason_for(chosen.path, &chosen.case.name.value),
                    answers: CaseAnswers {
                        recorded: recorded.as_deref().map_err(String::as_str),
                        judged: judged.as_deref().map_err(String::as_str),
                        kept: self.earlier.map_or(&[], |earlier| {
                            earlier.scenario_answers(&chosen.case.name.value)
                        }),
                        tools: &chosen.suite.tools,
                    },
                },
            )
            .collect()
    }

    /// Returns the keys of every case, with its name.
    pub(super) fn result_keys(
        &self,
        threads: Option<NonZeroUsize>,
    ) -> Vec<(String, Option<ResultKeys>)> {
        let keys = run::result_keys(&self.run_context(), &self.case_inputs(), threads);
        self.chosen
            .iter()
            .map(|chosen| chosen.case.name.value.clone())
            .zip(keys)
            .collect()
    }

    /// Calls a function with all cases and their shared context.
    pub(super) fn with_cases<T>(
        &self,
        work: impl FnOnce(&RunContext<'_>, &[CaseInput<'_>]) -> T,
    ) -> T {
        work(&self.run_context(), &self.case_inputs())
    }

    /// Returns the changes that no scenario notices.
    pub(super) fn mutation_scores(&self, threads: Option<NonZeroUsize>) -> MutationScores {
        mutate::score_mutations(&self.run_context(), &self.case_inputs(), threads)
    }

    /// Runs the cases selected by `which`.
    pub(super) fn run_cases(
        &self,
        which: &[bool],
        locator: &Mutex<Locator<'_>>,
        options: RunOptions,
    ) -> Vec<Option<StoredCase>> {
        let last = AtomicUsize::new(usize::MAX);
        let mask = fixed_mask(self.project);
        let chosen = self
            .case_inputs()
            .into_iter()
            .zip(self.chosen)
            .zip(which)
            .filter(|(_, is_run)| **is_run);
        let (inputs, chosen): (Vec<CaseInput<'_>>, Vec<&ChosenCase<'_>>) =
            chosen.map(|(both, _)| both).unzip();
        let keep = |at: usize, input: &CaseInput<'_>, mut done: CaseResult| {
            if options.fails_fast && done.verdict != CaseVerdict::Pass {
                last.fetch_min(at, Ordering::Relaxed);
            }
            self.done.fetch_add(1, Ordering::Relaxed);
            let receiver = resolve_receiver(input.case, self.roles()).ok();
            let suite = chosen
                .get(at)
                .map_or("", |chosen| chosen.suite.id.value.as_str());
            let of = RowSubject {
                path: input.path,
                suite,
                case: input.case,
                receiver,
            };
            let row = CaseRow::from_result(
                of,
                &done,
                &locator.lock().unwrap_or_else(PoisonError::into_inner),
            );
            // The row of a passed case contains only the author's own text.
            let row = if done.verdict == CaseVerdict::Pass {
                row
            } else {
                row.with_masks(&mask)
            };
            if let Some(journal) = self.journal {
                journal.add_case(&row, &done, &mask);
            }
            let snapshot = done.snapshot.take();
            let is_shown = self.asking.retains_messages && done.verdict != CaseVerdict::Pass;
            StoredCase {
                row: Box::new(row),
                new_answer_cost: done.new_answer_cost,
                snapshot,
                full_result: is_shown.then(|| Box::new(done)),
            }
        };
        let begins = |at| at < last.load(Ordering::Relaxed);
        let mut done = run::run_cases_with(
            &self.run_context(),
            &inputs,
            options.threads,
            &begins,
            &keep,
        );
        // Cases after the last one do not count, even if other threads ran them: the result is the
        // same with any number of threads.
        done.iter_mut()
            .skip(last.load(Ordering::Relaxed).saturating_add(1))
            .for_each(|behind| *behind = None);
        let mut done = done.into_iter();
        which
            .iter()
            .map(|is_run| if *is_run { done.next().flatten() } else { None })
            .collect()
    }
}

/// Recorded calls, or the reason why they cannot be read.
type ReadCalls = std::result::Result<Vec<Recording>, String>;

/// Adds calls before others, which replace those to the same requests in the same trials.
fn prepend_calls(first: ReadCalls, calls: &mut ReadCalls) {
    let identity = |call: &Recording| {
        let trial = call.trial.map(|trial| (trial.stage, trial.number));
        (call.key.clone(), trial)
    };
    *calls = first.and_then(|mut first| {
        let known: BTreeSet<_> = first.iter().map(identity).collect();
        let more = calls.as_mut().map_err(|why| why.clone())?;
        more.retain(|call| !known.contains(&identity(call)));
        first.append(more);
        Ok(first)
    });
}

/// Returns the stored request of a case that expects one.
fn stored_request(chosen: &ChosenCase<'_>, files: &CachedFiles<'_>) -> Option<String> {
    let path = paths::snapshot_path(chosen.path, &chosen.case.name.value);
    chosen
        .case
        .uses_snapshot()
        .then(|| files.text(&path).ok())
        .flatten()
}

/// Returns the recorded calls of a case; none if nothing was recorded, or if the run ignores
/// recordings.
fn case_recordings(
    project: &CompiledProject,
    chosen: &ChosenCase<'_>,
    from: AnswersFrom,
) -> std::result::Result<Vec<Recording>, String> {
    if from.ignores_recordings() {
        return Ok(Vec::new());
    }
    let path = paths::recording_path(chosen.path, &chosen.case.name.value);
    let Some(found) = read_recordings(&project.files(), &path)? else {
        return Ok(Vec::new());
    };
    if found.is_cut && !from.calls_models() {
        let why = "its last line is incomplete, as after a killed run; record it anew, or remove that line";
        return Err(format!(
            "the recorded answers in {path} cannot be read: {why}"
        ));
    }
    // A script or the context alone must not replace recorded answers that are lost.
    let is_replayed = matches!(from, AnswersFrom::Known | AnswersFrom::Replay);
    if is_replayed && !found.calls.iter().any(Recording::is_answered) {
        return Err(format!(
            "the recorded answers in {path} cannot be read: no call in it was answered; record it anew, or remove the file"
        ));
    }
    Ok(found.calls)
}

/// Returns the recorded judgements on the answers of a case; none if nothing was recorded, or if
/// the run ignores recordings.
fn case_judgements(
    project: &CompiledProject,
    chosen: &ChosenCase<'_>,
    from: AnswersFrom,
) -> std::result::Result<Vec<Recording>, String> {
    // Answers of an earlier run may be judged by its recorded judgements.
    let is_new = from.ignores_recordings() && from != AnswersFrom::Kept;
    if is_new || !needs_judge(chosen.case) {
        return Ok(Vec::new());
    }
    let path = paths::judgement_path(chosen.path, &chosen.case.name.value);
    let found = read_recordings(&project.files(), &path)?;
    Ok(found.map_or_else(Vec::new, |found| found.calls))
}

/// True if the judge scores answers of a case.
pub(super) fn needs_judge(case: &ScenarioCase) -> bool {
    all_tests(&case.expectations).any(|(test, _)| test.needs_judge())
}

/// Returns the recorded calls in a file of a project; `None` if the file does not exist.
///
/// # Errors
/// The reason why they cannot be read.
pub(in crate::cli::context) fn read_recordings(
    inside: &ProjectFiles<'_>,
    path: &str,
) -> std::result::Result<Option<RecordingFile>, String> {
    let unreadable = |why: String| format!("the recorded answers in {path} cannot be read: {why}");
    let bytes =
        match contained_path::read_file(inside.files, inside.root, Path::new(path), MAX_FILE_BYTES)
        {
            Ok(bytes) => bytes,
            Err(PathRefusal::Io(why))
                if why.kind() == io::ErrorKind::NotFound && !is_link(inside.root, path) =>
            {
                return Ok(None);
            }
            Err(why) => return Err(unreadable(why.to_string())),
        };
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    RecordingFile::parse(&text)
        .map(Some)
        .map_err(|why| unreadable(why.to_string()))
}

/// Returns true if a file of the project, or its folder, is a link.
fn is_link(root: &Path, path: &str) -> bool {
    let path = root.join(path);
    fs::is_link(&path) || path.parent().is_some_and(fs::is_link)
}

/// Returns the decision to run, carry or leave out each case.
pub(super) fn run_choices(
    args: &EvalArgs,
    project: &CompiledProject,
    eval_run: &EvalRun<'_>,
    cx: &mut Cx,
) -> Result<Vec<RunChoice>> {
    if args.retry_errors {
        let now = eval_run.result_keys(cx.options.threads);
        // A case without keys could not be tried.
        let choice =
            |keys: &Option<ResultKeys>| keys.map_or(RunChoice::Run, |_| RunChoice::LeaveOut);
        let mut choices: Vec<RunChoice> = now.iter().map(|(_, keys)| choice(keys)).collect();
        carry_verdicts(project, &now, &mut choices, |verdict| {
            verdict != CaseVerdict::Error
        })?;
        // Without a result of today's context and text, it could be an error.
        for choice in choices
            .iter_mut()
            .filter(|one| **one == RunChoice::LeaveOut)
        {
            *choice = RunChoice::Run;
        }
        return Ok(choices);
    }
    let (named, shown) = match &args.since {
        Some(named) => (named.clone(), named.clone()),
        None if args.affected => affected_base(project),
        None => return Ok(eval_run.chosen.iter().map(|_| RunChoice::Run).collect()),
    };
    // A revision first: anybody can commit a file of its name.
    let since = match revision_keys(&named, project, eval_run.from, cx) {
        Ok(keys) => ComparisonBase::from_revision(keys),
        Err(error) => ComparisonBase::from_results(
            &read_scorecard(Path::new(&named)).map_err(|_| no_base_error(&named, error))?,
        ),
    };
    let now = eval_run.result_keys(cx.options.threads);
    let mut choices: Vec<RunChoice> = now
        .iter()
        .map(|(name, keys)| since.choose_for(name, keys.as_ref()))
        .collect();
    let is_passed = |verdict| verdict == CaseVerdict::Pass;
    if let Err(error) = carry_verdicts(project, &now, &mut choices, is_passed) {
        if project.config.history.is_some() {
            return Err(error);
        }
        cx.print_note(&format!(
            "running every scenario, as no earlier verdicts are known: {}",
            error.message
        ));
        choices.fill(RunChoice::Run);
    }
    let is_left_out = |choice: &&RunChoice| **choice == RunChoice::LeaveOut;
    let left_out = choices.iter().filter(is_left_out).count();
    if left_out > 0 {
        let count = pluralize(left_out, "scenario");
        cx.print_note(&format!("{count} did not change since {shown}: not run"));
    }
    Ok(choices)
}

/// The commit that `--affected` alone compares with, and its name for people: as for the gate,
/// where the work left the default branch.
fn affected_base(project: &CompiledProject) -> (String, String) {
    let base = ChangeBase::find(&project.root, None).ok();
    match base.and_then(|base| {
        Some((
            base.commit.filter(|commit| *commit != base.head)?,
            base.name,
        ))
    }) {
        Some((commit, name)) => {
            let shown = format!("{} of {name}", commit.get(..SHOWN).unwrap_or(&commit));
            (commit, shown)
        }
        None => (HEAD.to_owned(), HEAD.to_owned()),
    }
}

/// Takes the last results of cases that did not change from the history, if their verdict
/// `is_final`; the others are run again.
fn carry_verdicts(
    project: &CompiledProject,
    now: &[(String, Option<ResultKeys>)],
    choices: &mut [RunChoice],
    is_final: impl Fn(CaseVerdict) -> bool,
) -> Result<()> {
    if !choices.contains(&RunChoice::LeaveOut) {
        return Ok(());
    }
    let place = HistoryPlace::for_project(&project.root, &project.config)?;
    let Some(history) = place.open()? else {
        return Ok(());
    };
    history
        .check_integrity()
        .map_err(|error| place.unusable_error(&error))?;
    for (choice, (name, keys)) in choices
        .iter_mut()
        .zip(now)
        .filter(|(choice, _)| **choice == RunChoice::LeaveOut)
    {
        let Some(keys) = keys else { continue };
        let last = history.last_result(name, &keys.case.to_string(), &keys.context.to_string());
        let Some(last) = last.map_err(|error| place.unusable_error(&error))? else {
            continue;
        };
        let row = last
            .result
            .and_then(|row| serde_json::from_str::<CaseRow>(row.get()).ok());
        *choice = match row.filter(|row| is_final(row.verdict())) {
            Some(row) => RunChoice::Carry(Box::new(CaseRow {
                carried_from: Some(last.registry_hash),
                ..row
            })),
            None => RunChoice::Run,
        };
    }
    Ok(())
}

/// Reads the scorecard in a file.
pub(in crate::cli::context) fn read_scorecard(path: &Path) -> Result<Scorecard> {
    let name = path.display();
    let mut bytes = Vec::new();
    let read = fs::read_into(path, MAX_FILE_BYTES, &mut bytes);
    read.map_err(|why| {
        CliError::usage(format!(
            "{name} cannot be read: {}",
            describe_io_error(&why)
        ))
    })?;
    let card = serde_json::from_slice::<Scorecard>(&bytes)
        .ok()
        .filter(|card| card.schema == SCHEMA);
    card.ok_or_else(|| {
        CliError::usage(format!(
            "{name} is not a scorecard: expected a file with the schema `{SCHEMA}`"
        ))
    })
}

/// Returns the error for a name that is neither a revision nor a scorecard.
fn no_base_error(named: &str, error: CliError) -> CliError {
    let whence = "`ctxc eval --out FILE` writes a scorecard that can be compared with";
    if fs::is_file(Path::new(named)) {
        return CliError::usage(format!(
            "{named} is neither a revision nor a scorecard: expected the schema `{SCHEMA}`"
        ))
        .with_hint(whence);
    }
    // An existing revision with errors reports its own.
    if matches!(error.kind, CliErrorKind::Findings | CliErrorKind::Project) {
        return error;
    }
    error.with_hint(format!("there is no file {named} either; {whence}"))
}

/// Returns the keys of all cases of a revision.
fn revision_keys(
    name: &str,
    project: &CompiledProject,
    from: AnswersFrom,
    cx: &Cx,
) -> Result<Vec<(String, ResultKeys)>> {
    let then = project.load_beside(name)?;
    let scenarios = Scenarios::from_revision(&then, None);
    let keys = project_keys(&then, &scenarios, from, cx.options.threads)?;
    Ok(keys
        .into_iter()
        .filter_map(|(name, keys)| Some((name, keys?)))
        .collect())
}

/// Returns the scenarios whose contexts, or the scenarios themselves, differ between two states of
/// the project.
pub(in crate::cli) fn affected_scenarios(
    before: &CompiledProject,
    after: &CompiledProject,
    threads: Option<NonZeroUsize>,
) -> Result<Vec<String>> {
    let keys = |project| {
        let scenarios = Scenarios::read(project, &[])?;
        project_keys(project, &scenarios, AnswersFrom::Known, threads)
    };
    let then = keys(before)?.into_iter();
    let then = then.filter_map(|(name, keys)| Some((name, keys?)));
    let then = ComparisonBase::from_revision(then);
    let now = keys(after)?.into_iter();
    let is_run = |(name, keys): &(String, Option<ResultKeys>)| {
        then.choose_for(name, keys.as_ref()) == RunChoice::Run
    };
    Ok(now.filter(is_run).map(|(name, _)| name).collect())
}

/// Returns the keys of all cases of a project, with their names.
fn project_keys(
    project: &CompiledProject,
    scenarios: &Scenarios,
    from: AnswersFrom,
    threads: Option<NonZeroUsize>,
) -> Result<Vec<(String, Option<ResultKeys>)>> {
    let chosen = scenarios.choose_cases(&EvalArgs::default(), &project.config)?;
    let files = CachedFiles::new(project.files());
    // A revision may have other models.
    let counters = ProjectCounters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = ProjectLookup::new(project, &cache);
    let eval_run = EvalRun::new(RunSetup {
        project,
        chosen: &chosen,
        files: &files,
        frozen: &files,
        counters: &counters,
        trials: TrialPolicy::StopWhenDecided,
        from,
    });
    let eval_run = EvalRun {
        index: Some(&index),
        ..eval_run
    };
    let eval_run = eval_run.with_answers(AnswerOptions::default());
    Ok(eval_run.result_keys(threads))
}
