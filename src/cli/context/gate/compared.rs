//! A change and its base: the current project, and the project where the change branched off.

use super::check_files::FileNames;
use super::judge_evidence::JudgeEvidence;
use super::origin::{ChangeOrigin, NewProject};
use super::removed_members::{RemovedMember, add_removed_members, find_removed_members};
use super::renames::{Renames, all_cases};
use super::settings::compare_config;
use super::state::{FILE, SideReading, collect_safeguards};
use super::uncompared_files::{self, DecidingFiles, add_environment_files};
use crate::base::patterns::is_ignored;
use crate::base::{fs, parallel, suggest};
use crate::cli::context::eval::load::{BrokenFile, ParsedScenarios, Scenarios};
use crate::cli::context::eval::{
    CheckPermissions, CheckRuns, RunSubject, judge_all, read_scorecard,
};
use crate::cli::context::manifest::{AgentContexts, context_growth};
use crate::cli::context::project::{CompiledProject, path_in_project};
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::revision::{self, BaseNaming, ExternalPart, ProjectAtRevision};
use crate::context::TaskGraph;
use crate::context::request::Files;
use crate::eval::gate::{
    Accepters, AddedApproval, ApprovalEntry, Approvals, Baseline, ContextGrowth, GateLimits,
    LocatedRelaxation, Safeguard, SafeguardKind, Safeguards, StabilityLimits, excessive_growth,
};
use crate::eval::judge::CriterionScore;
use crate::eval::result_keys;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::project::config::Config;
use crate::project::eval::StalePolicy;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::{ScenarioCase, Suite, SuiteThresholds};
use crate::scenario::paths::{self, BASELINE_FOLDER};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The log of acceptances.
pub(super) const LOG_FILE: &str = "baselines/LOG.jsonl";
/// The entry of `accepters` that means the people in CODEOWNERS.
const CODEOWNERS: &str = "codeowners";
/// The maximum number of bytes of a baseline that are read.
const MAX_BASELINE_BYTES: u64 = 1 << 28;

/// A change and its base.
#[derive(Debug)]
pub(super) struct GateComparison {
    /// The current project.
    pub(super) project: CompiledProject,
    pub(super) scenarios: Scenarios,
    judge: JudgeEvidence,
    /// The base of the comparison.
    pub(super) base: GateBase,
    /// The current accepted results, by path.
    pub(super) baselines: BTreeMap<String, Baseline>,
    /// The relaxations of the change.
    pub(super) relaxations: Vec<LocatedRelaxation>,
    /// Notes on the comparison.
    pub(super) notes: Vec<String>,
    /// The acceptances since the base.
    pub(super) approvals: Approvals,
    /// The people who may accept, according to the base.
    pub(super) accepters: Accepters,
    /// True if the comparison is empty because `--base` is the id of the checked-out commit.
    pub(super) is_idle: bool,
}

/// The project of the base, with its scenarios.
#[derive(Debug)]
pub(super) struct BaseProject {
    pub(super) project: CompiledProject,
    pub(super) scenarios: Scenarios,
}

/// The commit of the base, compared with the checked-out one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BasePosition {
    /// They are the same: nothing was committed since.
    CheckedOut,
    /// The base is an earlier commit, or one of another branch.
    Earlier,
}

/// The project where the change left its base.
#[derive(Debug)]
pub(super) struct GateBase {
    /// The revision as given.
    pub(super) name: String,
    /// The commit.
    pub(super) commit: String,
    /// The project in it; `None` if the commit does not have the project.
    pub(super) loaded: Option<BaseProject>,
    removed_members: Vec<RemovedMember>,
    /// The evidence for its judge.
    pub(super) judge: JudgeEvidence,
    /// Names that changed since.
    pub(super) names: Renames,
    /// The accepted results at that commit, by path.
    pub(super) baselines: BTreeMap<String, Baseline>,
    /// The accepted results under the current names.
    pub(super) carried: BTreeMap<String, Baseline>,
    /// Reasons why the commit may have the project after all.
    pub(super) doubts: Vec<String>,
}

impl GateComparison {
    /// Compares the current files with those where they left `base`.
    pub(super) fn new(base: Option<&str>, new_project: NewProject, cx: &Cx) -> Result<Self> {
        let ChangeOrigin {
            project,
            base: change,
            base_project,
            newer,
            place,
            parts,
            relaxations: weakened,
            mut doubts,
            mut notes,
        } = ChangeOrigin::find(base, new_project, cx)?;
        project.broken.ensure_none("this project")?;
        let name = change.name.clone();
        let scenarios = Scenarios::read(&project, &[])?;
        let is_workspace = project.config.workspace.is_some();
        let project = if base_project.is_some() || scenarios.have_requests() || is_workspace {
            project
        } else {
            project.require_templates("this project")?
        };
        if let Some(BrokenFile { file, reason }) =
            scenarios.broken_files(&project).into_iter().next()
        {
            return Err(CliError::new(
                CliErrorKind::Findings,
                format!("{}: {reason}", file.path),
            ));
        }
        let baselines = current_baselines(&project)?;
        let broken = |path: &str| notes.push(unreadable_note(path, &name));
        let earlier_baselines = base_project
            .as_ref()
            .map_or_else(BTreeMap::new, |base_project| {
                base_baselines(base_project, broken)
            });
        let read = |project: &CompiledProject| project.files().text(LOG_FILE).unwrap_or_default();
        let approvals = Approvals::read_added(
            &base_project.as_ref().map_or_else(String::new, read),
            &read(&project),
        );
        let approvals = approvals.map_err(|why| {
            CliError::new(CliErrorKind::Infrastructure, format!("{LOG_FILE}: {why}"))
        })?;
        let commit = change.commit.clone().unwrap_or_default();
        let removed_members = match &base_project {
            Some(base_project) => find_removed_members(base_project, &project, &mut notes)?,
            None => Vec::new(),
        };
        let configs = base_project.iter().map(|base| &base.config);
        let configs: Vec<&Config> = configs
            .chain(removed_members.iter().map(|member| &member.project.config))
            .collect();
        let accepters = find_accepters(&project, &configs, &commit, &place)?;
        let approvals = verify_approvals(approvals, &project.root, &commit, &accepters)?;
        if base_project
            .as_ref()
            .and_then(CompiledProject::past)
            .is_some_and(ProjectAtRevision::has_unknown_settings)
        {
            doubts.push(format!(
                "{FILE} cannot be read in {name}, nor in an earlier commit, so nothing shows who may accept: mend it there first"
            ));
        }
        let past = base_project.as_ref().and_then(CompiledProject::past);
        if let Some(fault) = past.and_then(ProjectAtRevision::version_fault) {
            notes.push(format!(
                "{name} is for another version of ctxc, and is read as this version reads it: {fault}"
            ));
        }
        let mut names = Renames::default();
        let own = ParsedScenarios {
            project: &project,
            scenarios: &scenarios,
        };
        let base_project = base_project.map(|base_project| {
            let mut theirs = Scenarios::from_revision(&base_project, Some(own));
            for file in theirs.files.extract_if(.., |file| !file.is_sound()) {
                // A change may repair the contents of a file, but not its size.
                let notes = if file.read_error.is_some() {
                    &mut doubts
                } else {
                    &mut notes
                };
                notes.push(unreadable_note(&file.path, &name));
            }
            names = Renames::find(&base_project, &project);
            names.pair_scenarios(&base_project, &mut theirs, &project, &scenarios);
            BaseProject {
                project: base_project,
                scenarios: theirs,
            }
        });
        notes.extend(
            names
                .tasks
                .iter()
                .map(|(old, new)| format!("the task `{old}` is called `{new}` now")),
        );
        notes.extend(
            names
                .roles
                .iter()
                .map(|(old, new)| format!("the role `{old}` is called `{new}` now")),
        );
        let renamed = |(old, new)| {
            format!(
                "the scenario `{old}` is called `{new}` now, and is held to its accepted result"
            )
        };
        notes.extend(names.scenarios.iter().map(renamed));
        let carried = names.rename_baselines(&earlier_baselines, &scenarios);
        if let (Some(base), Some(newer)) = (&base_project, newer) {
            notes.extend(missing_scenarios_note(
                &name,
                &base.scenarios,
                &scenarios,
                &Scenarios::from_revision(&newer, Some(own)),
            ));
        }
        let judge = JudgeEvidence::read(&project, &scenarios)?;
        let their_judge = base_project.as_ref();
        let their_judge =
            their_judge.map(|base| JudgeEvidence::read(&base.project, &base.scenarios));
        let their_judge = their_judge.transpose()?.unwrap_or_default();
        doubts.extend(judge.fault_doubt());
        notes.extend(their_judge.fault_note(&name));
        let position = if commit == change.head {
            BasePosition::CheckedOut
        } else {
            BasePosition::Earlier
        };
        let base = GateBase {
            name: name.clone(),
            commit,
            loaded: base_project,
            removed_members,
            judge: their_judge,
            names,
            baselines: earlier_baselines,
            carried,
            doubts: Vec::new(),
        };
        let mut compared = Self {
            project,
            scenarios,
            judge,
            base,
            baselines,
            relaxations: weakened,
            notes,
            approvals,
            accepters,
            is_idle: false,
        };
        let is_same = compared.find_relaxations(&parts, position, &mut doubts, cx)?;
        if is_same && change.by != BaseNaming::Guess {
            compared.is_idle = change.by == BaseNaming::Id && doubts.is_empty();
            doubts.push(format!(
                "nothing is compared: there is no commit since {name}, and no file of the project differs from it"
            ));
        } else if position == BasePosition::CheckedOut && change.by != BaseNaming::Guess {
            compared.notes.push(format!(
                "there is no commit since {name}: only uncommitted changes are compared"
            ));
        }
        compared.base.doubts = doubts;
        Ok(compared)
    }

    /// Returns an error if results in a file count scores of the judge that do not count here.
    pub(super) fn check_counted_scores(&self, path: &Path, card: &Scorecard) -> Result<()> {
        let mut trust = self.judge.trust.clone();
        trust.restrict_to(&self.base.judge.trust);
        let scores = card
            .cases
            .iter()
            .flat_map(|row| &row.trials)
            .flat_map(|trial| &trial.scores);
        let is_refused =
            |one: &&CriterionScore| one.counts && !trust.find(&one.criterion, one.min).is_trusted;
        let Some(refused) = scores.into_iter().find(is_refused) else {
            return Ok(());
        };
        Err(CliError::usage(format!(
            "{} counts scores of the judge for `{}`, on which it is not trusted at {}",
            path.display(),
            refused.criterion,
            self.base.name
        ))
        .with_hint(
            "decide without --candidate: scores then inform, and count from the next change on",
        ))
    }

    /// Returns the safeguards of both sides, with the full texts of the scenarios in
    /// `reading.shown`.
    fn both_safeguards(
        &self,
        base: &BaseProject,
        reading: SideReading<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<(Safeguards, Safeguards)> {
        let (then, theirs) = (&base.project, &base.scenarios);
        let names = reading.names.identity();
        let (mut before, mut after) = parallel::join_work(
            threads,
            || collect_safeguards(then, &[theirs, &Scenarios::contracts_of(then)], reading),
            || {
                collect_safeguards(
                    &self.project,
                    &[&self.scenarios, &Scenarios::contracts_of(&self.project)],
                    SideReading {
                        names: &names,
                        ..reading
                    },
                )
            },
        );
        let trust = &self.base.judge.trust;
        self.base.judge.add_safeguards(trust, &mut before);
        self.judge.add_safeguards(trust, &mut after);
        add_baselines(self.reference_baselines(&self.baselines), &mut before);
        add_baselines(&self.baselines, &mut after);
        compare_config(&then.config, &self.project.config, &mut before, &mut after);
        then.past().map_or(Ok(()), |past| {
            add_environment_files(past, &self.project, &mut before, &mut after)
        })?;
        add_removed_members(&self.base.removed_members, &mut before);
        if self.project.config.workspace.is_some() {
            return Ok((before, after));
        }
        // `.gitignore` can hide a file like `exclude`.
        let now = loaded_files(&self.project, &self.scenarios);
        let there = loaded_files(then, theirs)
            .into_iter()
            .filter(|path| fs::exists(&self.project.root.join(path)));
        for path in there.filter(|path| !now.contains(path)) {
            let value = format!("there, and not read: {}", self.unread_reason(&path));
            before.add(
                SafeguardKind::Threshold,
                &path,
                "file",
                Safeguard::new(&path, "read", None),
            );
            after.add(
                SafeguardKind::Threshold,
                &path,
                "file",
                Safeguard::new(&path, value, None),
            );
        }
        Ok((before, after))
    }

    /// Returns the reason why a file is no longer read.
    fn unread_reason(&self, path: &str) -> &'static str {
        let CompiledProject { root, config, .. } = &self.project;
        if is_ignored(root, Path::new(path)) {
            "an ignore file names it"
        } else if config.eval.contains_scenario(path) {
            "it is no longer a scenario"
        } else {
            "ctxc.toml no longer names its place"
        }
    }

    /// Returns the files of both sides that checks may read; none without checks. Templates are not
    /// among them, since they are tested.
    fn check_file_names(&self, base: &BaseProject) -> Result<FileNames> {
        let (then, theirs) = (&base.project, &base.scenarios);
        let is_checked = |(.., case): (&str, &Suite, &ScenarioCase)| {
            all_tests(&case.expectations).any(|(test, _)| test.own_check().is_some())
        };
        let Some(past) = then.past().filter(|_| all_cases(theirs).any(is_checked)) else {
            return Ok(FileNames::default());
        };
        let (top, folder) = past.work_tree_place();
        let folders = [
            Some(folder.to_owned()),
            path_in_project(top, &self.project.root),
        ];
        let in_project = |path: &String| -> Vec<String> {
            let below = |folder: &String| {
                if folder.is_empty() {
                    Some(&**path)
                } else {
                    path.strip_prefix(folder)?.strip_prefix('/')
                }
            };
            folders
                .iter()
                .flatten()
                .filter_map(below)
                .map(str::to_owned)
                .collect()
        };
        let tried = &then.definition_paths() | &self.project.definition_paths();
        let changed = past
            .changed_files()?
            .iter()
            .flat_map(in_project)
            .filter(|path| !tried.contains(path))
            .collect();
        Ok(FileNames::new(
            past.file_names()
                .map(str::to_owned)
                .filter(|path| !tried.contains(path)),
            changed,
        ))
    }

    /// Returns the accepted results to compare with: those of the base, or `now` if only names
    /// differ.
    pub(super) fn reference_baselines<'b>(
        &'b self,
        now: &'b BTreeMap<String, Baseline>,
    ) -> &'b BTreeMap<String, Baseline> {
        let GateBase {
            names,
            baselines,
            carried,
            ..
        } = &self.base;
        if names.are_renamed(carried, now) {
            now
        } else {
            baselines
        }
    }

    /// Finds the relaxations of the change, and adds doubts about the unknown ones. Returns true if
    /// both sides are equal, which requires that nothing was committed since the base.
    fn find_relaxations(
        &mut self,
        parts: &[ExternalPart],
        position: BasePosition,
        doubts: &mut Vec<String>,
        cx: &Cx,
    ) -> Result<bool> {
        let Some(base) = &self.base.loaded else {
            return Ok(false);
        };
        let (files, none) = (self.check_file_names(base)?, BTreeSet::new());
        let reading = SideReading {
            names: &self.base.names,
            files: &files,
            shown: &none,
        };
        let threads = cx.options.threads;
        let (contexts, safeguards) = parallel::join_work(
            threads,
            || context_growth(&base.project, &self.project, threads),
            || self.both_safeguards(base, reading, threads),
        );
        let (mut before, mut after) = safeguards?;
        let deciding = self.deciding_files([&before, &after]);
        let before_files = base.project.files();
        let is_equal = |path: &String| before_files.text(path) == self.project.files().text(path);
        let is_same = position == BasePosition::CheckedOut
            && before == after
            && self.approvals.added_lines().is_empty()
            && deciding.files.iter().all(is_equal);
        doubts.extend(uncompared_files::find_doubts(
            parts,
            &deciding,
            &self.base.name,
        ));
        let is_read = |path: &&str| {
            [".yaml", ".yml"]
                .iter()
                .any(|ending| path.strip_suffix(ending).is_some())
                || is_baseline(path)
                || deciding.read.contains(*path)
        };
        // Other files that a scenario names are compared by the contents in the commit.
        let unfiltered = base
            .project
            .past()
            .into_iter()
            .flat_map(ProjectAtRevision::unfiltered_files)
            .filter(is_read);
        doubts.extend(
            unfiltered.map(|path| uncompared_files::describe_unfiltered(path, &self.base.name)),
        );
        let shown: BTreeSet<String> = before
            .find_relaxations(&after)
            .into_iter()
            .map(|one| one.weakened.of)
            .collect();
        // The texts of all scenarios of both sides would take too much memory.
        if !shown.is_empty() {
            (before, after) = self.both_safeguards(
                base,
                SideReading {
                    shown: &shown,
                    ..reading
                },
                threads,
            )?;
        }
        let contexts = contexts?;
        // The tokenizer of a model is already compared; but an agent may switch to a model with
        // another tokenizer.
        for agent in contexts
            .iter()
            .filter(|agent| agent.before.1 != agent.after.1)
        {
            for ((_, _, tokenizer), side) in
                [(&agent.before, &mut before), (&agent.after, &mut after)]
            {
                let safeguard = Safeguard::new(FILE, tokenizer, None);
                side.add(
                    SafeguardKind::Threshold,
                    &agent.agent,
                    "who counts its tokens",
                    safeguard,
                );
            }
        }
        let mut weakened = std::mem::take(&mut self.relaxations);
        weakened.extend(before.find_relaxations(&after));
        let grown_context = |AgentContexts {
                                 agent: of,
                                 before,
                                 after,
                                 path,
                             }: AgentContexts| ContextGrowth {
            of,
            from: before.0,
            to: after.0,
            path,
        };
        let tokens = contexts.into_iter().map(grown_context);
        weakened.extend(excessive_growth(tokens, self.gate_limits().manifest_tokens));
        let rewritten = self.approvals.log_relaxation();
        weakened.extend(rewritten.map(|weakened| LocatedRelaxation {
            weakened,
            path: LOG_FILE.to_owned(),
            diff: None,
        }));
        self.relaxations = weakened;
        Ok(is_same)
    }

    /// Returns the deciding files and folders of both sides.
    fn deciding_files(&self, safeguards: [&Safeguards; 2]) -> DecidingFiles {
        let mut deciding = DecidingFiles::default();
        deciding.files.extend(
            safeguards
                .into_iter()
                .flat_map(Safeguards::paths)
                .map(str::to_owned),
        );
        let then = self
            .base
            .loaded
            .iter()
            .map(|base| (&base.project, &base.scenarios));
        for (project, scenarios) in then.chain([(&self.project, &self.scenarios)]) {
            deciding.read.extend(loaded_files(project, scenarios));
            let named = all_cases(scenarios).flat_map(|(path, _, case)| {
                result_keys::referenced_files(case)
                    .into_iter()
                    .map(move |file| (path, file))
            });
            deciding
                .files
                .extend(named.filter_map(|(path, file)| paths::resolve_beside(path, file)));
            deciding.read.extend(
                project
                    .config
                    .files
                    .iter()
                    .map(|file| file.path.to_string()),
            );
            let texts = TaskGraph::load_all(&project.registry);
            deciding.files.extend(
                texts
                    .iter()
                    .flat_map(TaskGraph::source_files)
                    .flat_map(|(_, sources)| sources),
            );
            deciding.folders.extend(
                project
                    .config
                    .eval
                    .scenario_roots()
                    .into_iter()
                    .filter(|place| place != "."),
            );
            deciding.folders.extend(
                project
                    .config
                    .templates
                    .folders()
                    .into_iter()
                    .filter(|place| !place.is_empty()),
            );
        }
        deciding.files.extend(deciding.read.iter().cloned());
        deciding.folders.insert(BASELINE_FOLDER.to_owned());
        deciding
    }

    /// Returns the scenarios that are equal on both sides with everything that affects their
    /// verdict: a change that meets its own expectations also meets those of the base.
    pub(super) fn unchanged_scenarios(&self) -> BTreeSet<String> {
        let Some(base) = &self.base.loaded else {
            return BTreeSet::new();
        };
        let (before, after) = (base.project.files(), self.project.files());
        let written = |path: &str, suite: &Suite, case: &ScenarioCase| {
            serde_json::to_string(&(path, &suite.id.value, &suite.tools, case)).ok()
        };
        let own: BTreeMap<&str, Option<String>> = all_cases(&self.scenarios)
            .map(|(path, suite, case)| (case.name.value.as_str(), written(path, suite, case)))
            .collect();
        let is_equal = |path: &str| before.text(path) == after.text(path);
        let is_unchanged = |(path, suite, case): &(&str, &Suite, &ScenarioCase)| {
            let now = own.get(case.name.value.as_str()).and_then(Option::as_ref);
            let named = || {
                result_keys::referenced_files(case).into_iter().all(|file| {
                    paths::resolve_beside(path, file).is_some_and(|path| is_equal(&path))
                })
            };
            // The thresholds of a suite need all of its scenarios.
            suite.thresholds == SuiteThresholds::default()
                && now.is_some()
                && now == written(path, suite, case).as_ref()
                && named()
                && is_equal(&paths::snapshot_path(path, &case.name.value))
        };
        all_cases(&base.scenarios)
            .filter(is_unchanged)
            .map(|(.., case)| case.name.value.clone())
            .collect()
    }

    /// Returns the limits of the change: the stricter ones of both sides.
    pub(super) fn gate_limits(&self) -> GateLimits {
        let own = config_limits(&self.project.config);
        self.base.loaded.as_ref().map_or(own, |base| {
            own.stricter(config_limits(&base.project.config))
        })
    }

    /// Reads the results in a file, which must be those of all scenarios of the current project.
    pub(super) fn read_candidate(
        &self,
        path: &Path,
        suites: &[String],
        trust: &TrustHashArgs,
        cx: &Cx,
    ) -> Result<Scorecard> {
        let card = read_current_scorecard(path, &self.project)?.only_suites(suites);
        let own = judge_all(
            RunSubject::of_project(&self.project, &self.scenarios),
            CheckPermissions {
                trust,
                runs: &CheckRuns::default(),
            },
            cx,
        )?;
        let what = |row: &CaseRow| {
            let expected: Vec<&str> = row.context.iter().map(|one| one.what.as_str()).collect();
            (
                row.id.clone(),
                row.context_hash.clone(),
                expected.join("\n"),
            )
        };
        let (given, known): (BTreeSet<_>, BTreeSet<_>) = (
            card.cases.iter().map(what).collect(),
            own.cases.iter().map(what).collect(),
        );
        match known.symmetric_difference(&given).next() {
            None => Ok(card),
            Some((id, ..)) => {
                let message = format!(
                    "{} is from another state of this project: it lacks the current `{id}`",
                    path.display()
                );
                Err(CliError::usage(message)
                    .with_hint("run all scenarios again: `ctxc eval --out FILE`"))
            }
        }
    }

    /// Keeps the scenarios and accepted results of these suites only.
    pub(super) fn retain_suites(&mut self, suites: &[String]) -> Result<()> {
        let mut known = BTreeSet::new();
        for scenarios in self
            .base
            .loaded
            .iter_mut()
            .map(|base| &mut base.scenarios)
            .chain([&mut self.scenarios])
        {
            known.extend(
                scenarios
                    .files
                    .iter()
                    .filter_map(|file| Some(file.suite.as_ref()?.id.value.clone())),
            );
            scenarios.files.retain(|file| {
                file.suite
                    .as_ref()
                    .is_some_and(|suite| suites.contains(&suite.id.value))
            });
        }
        self.base
            .baselines
            .retain(|_, baseline| suites.contains(&baseline.suite));
        self.base
            .carried
            .retain(|_, baseline| suites.contains(&baseline.suite));
        self.baselines
            .retain(|_, baseline| suites.contains(&baseline.suite));
        let Some(unknown) = suites.iter().find(|suite| !known.contains(*suite)) else {
            return Ok(());
        };
        let near = suggest::nearest_candidate(unknown, known.iter().map(String::as_str));
        let valid = || {
            format!(
                "one of {}",
                known.iter().cloned().collect::<Vec<_>>().join(", ")
            )
        };
        Err(CliError::usage(format!("there is no suite `{unknown}`"))
            .with_suggestion_or(near, valid))
    }
}

/// Returns the approvals with the signatures of the lines that were added since a commit.
fn verify_approvals(
    approvals: Approvals,
    root: &Path,
    commit: &str,
    accepters: &Accepters,
) -> Result<Approvals> {
    let mut signed = BTreeMap::new();
    for AddedApproval { line, .. } in approvals.added_lines() {
        let text = line.to_line();
        let added = revision::AddedLine {
            base: commit,
            path: LOG_FILE,
            text: text.trim_end(),
        };
        let is_signed = revision::is_line_signed(root, &added, &line.by)?;
        signed.insert(text, is_signed);
    }
    let is_signed = |line: &ApprovalEntry| signed.get(&line.to_line()) == Some(&true);
    Ok(approvals.with_verification(accepters, is_signed))
}

/// Returns the people who may accept, according to the base and the members that it loses. `codeowners` is replaced by the owners
/// of the log there.
fn find_accepters(
    project: &CompiledProject,
    then: &[&Config],
    commit: &str,
    place: &str,
) -> Result<Accepters> {
    let (owners, names): (Vec<&str>, Vec<&str>) = then
        .iter()
        .flat_map(|config| config.eval.accepters())
        .partition(|name| *name == CODEOWNERS);
    let owners = (!owners.is_empty())
        .then(|| revision::file_owners(&project.root, commit, place, LOG_FILE))
        .transpose()?;
    Ok(Accepters::new(
        names.into_iter().map(str::to_owned).collect(),
        owners,
    ))
}

/// Returns the people who may accept, according to the project itself.
pub(in crate::cli) fn own_accepters(project: &CompiledProject) -> Result<Accepters> {
    let head = ProjectAtRevision::open(&project.root, "HEAD");
    let place = head.as_ref().map_or("", |head| head.work_tree_place().1);
    find_accepters(project, &[&project.config], "HEAD", place)
}

/// Returns a note on the scenarios that the base received after the change left it.
fn missing_scenarios_note(
    base: &str,
    theirs: &Scenarios,
    own: &Scenarios,
    newer: &Scenarios,
) -> Option<String> {
    let known: BTreeSet<&str> = all_cases(theirs)
        .chain(all_cases(own))
        .map(|(.., case)| case.name.value.as_str())
        .collect();
    let more: BTreeSet<&str> = all_cases(newer)
        .map(|(.., case)| case.name.value.as_str())
        .filter(|name| !known.contains(name))
        .collect();
    let first = more.first()?;
    let others = match more.len() - 1 {
        0 => String::new(),
        others => format!(
            " and {others} more {}",
            if others == 1 { "scenario" } else { "scenarios" }
        ),
    };
    Some(format!(
        "{base} has `{first}`{others} by now, which this branch lacks and is not judged by: merge {base} first"
    ))
}

/// Reads the accepted results in a file, or in the files of a folder.
pub(super) fn read_baselines(path: &Path) -> Result<Vec<Baseline>> {
    let names = fs::list_names(path)
        .into_iter()
        .filter(|name| is_baseline(name));
    let files: Vec<PathBuf> = if path.is_dir() {
        names.map(|name| path.join(name)).collect()
    } else {
        vec![path.to_owned()]
    };
    let refused = |file: &Path, why: String| {
        CliError::usage(format!("{} cannot be compared with: {why}", file.display()))
            .with_hint("`ctxc baseline accept` writes baselines")
    };
    let read = |file: &PathBuf| {
        let mut bytes = Vec::new();
        fs::read_into(file, MAX_BASELINE_BYTES, &mut bytes)
            .map_err(|why| refused(file, describe_io_error(&why)))?;
        let text = String::from_utf8(bytes).map_err(|why| refused(file, why.to_string()))?;
        Baseline::read(&text).map_err(|why| refused(file, why.to_string()))
    };
    match files.iter().map(read).collect::<Result<Vec<_>>>()? {
        none if none.is_empty() => Err(refused(path, "the folder holds no baseline".to_owned())),
        baselines => Ok(baselines),
    }
}

/// Returns the templates and scenarios that are read.
fn loaded_files(project: &CompiledProject, scenarios: &Scenarios) -> BTreeSet<String> {
    project
        .definition_paths()
        .into_iter()
        .chain(scenarios.files.iter().map(|file| file.path.to_string()))
        .collect()
}

/// Returns a note on a file of the base that cannot be read.
fn unreadable_note(path: &str, base: &str) -> String {
    format!("{path} cannot be read in {base}, so what it holds there is not compared")
}

fn config_limits(config: &Config) -> GateLimits {
    let gate = &config.eval.gate;
    GateLimits {
        manifest_tokens: gate.manifest_tokens,
        pass_rate: gate.pass_rate,
        tokens: gate.tokens,
        cost_usd: gate.cost_usd,
        refuses_stale: config.eval.stale == StalePolicy::Error,
        uncovered: gate.uncovered,
        stability: config
            .eval
            .stability
            .as_ref()
            .map(|policy| StabilityLimits {
                reruns: policy.reruns as usize,
                variance: policy.variance,
                cost_usd: policy.cost_usd,
            }),
    }
}

/// Adds accepted results to the safeguards.
pub(super) fn add_baselines(baselines: &BTreeMap<String, Baseline>, safeguards: &mut Safeguards) {
    for (path, baseline) in baselines {
        safeguards.add(
            SafeguardKind::Baseline,
            &baseline.suite,
            "accepted results",
            Safeguard::new(path, &baseline.hash, None),
        );
    }
}

/// Reads the accepted results in the current files of a project.
pub(super) fn current_baselines(project: &CompiledProject) -> Result<BTreeMap<String, Baseline>> {
    let names = fs::list_names(&project.root.join(BASELINE_FOLDER)).into_iter();
    let paths = names.map(|name| format!("{BASELINE_FOLDER}/{name}"));
    paths
        .filter(|path| is_baseline(path))
        .map(|path| Ok((path.clone(), read_baseline(project, &path)?)))
        .collect()
}

/// Reads the accepted results of the base. An unreadable one is only noted, since the change may
/// repair it.
fn base_baselines(
    base: &CompiledProject,
    mut broken: impl FnMut(&str),
) -> BTreeMap<String, Baseline> {
    let names = base.revision_files().unwrap_or_default().into_iter();
    let mut found = BTreeMap::new();
    for path in names.filter(|name| name.starts_with("baselines/") && is_baseline(name)) {
        match read_baseline(base, path) {
            Ok(baseline) => _ = found.insert(path.to_owned(), baseline),
            Err(_) => broken(path),
        }
    }
    found
}

fn is_baseline(path: &str) -> bool {
    path.strip_suffix(".json").is_some()
}

fn read_baseline(project: &CompiledProject, path: &str) -> Result<Baseline> {
    let refused = |why: String| {
        CliError::new(CliErrorKind::Infrastructure, format!("{path} cannot be compared with: {why}"))
            .with_hint("`git checkout` it again, or remove it and accept anew: `ctxc baseline accept --reason WHY`")
    };
    let baseline = Baseline::read(&project.files().text(path).map_err(refused)?)
        .map_err(|why| refused(why.to_string()))?;
    if paths::baseline_path(&baseline.suite) != path {
        return Err(refused(format!(
            "it is that of the suite `{}`",
            baseline.suite
        )));
    }
    Ok(baseline)
}

/// Reads the results in a file, which must belong to the current registry.
fn read_current_scorecard(path: &Path, project: &CompiledProject) -> Result<Scorecard> {
    let name = path.display();
    let card = read_scorecard(path)?;
    if card.registry_hash != project.registry.hash().to_string() {
        return Err(CliError::usage(format!(
            "{name} is from another state of this project: its registry is {}",
            card.registry_hash
        ))
        .with_hint("run `ctxc eval --out FILE` again"));
    }
    if card.mode == "real" && project.config.eval.stability.is_none() {
        return Err(CliError::usage(format!("{name} holds answers of a live model, which differ from run to run"))
            .with_hint("record them (`ctxc eval --record`), or say in `[eval.stability]` of ctxc.toml how much they may differ"));
    }
    Ok(card)
}
