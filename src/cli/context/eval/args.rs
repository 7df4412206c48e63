//! The command line of `ctxc eval`.

use crate::base::fs;
use crate::base::hash::Hash;
use crate::cli::context::lookup::CacheArgs;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::error::CliError;
use crate::cli::shared_args::{FileMark, OutputArgs, OutputFormat, ReportFile, parse_threads};
use crate::cli::workspace_reach::{PrintedForm, WorkspaceReach};
use crate::eval::answer_source::AnswersFrom;
use crate::eval::trials::TrialPolicy;
use crate::provider::spending::SpendLimit;
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  ctxc eval\n  ctxc eval triage-t1 --json --junit eval.xml\n  \
    ctxc eval --out scorecard.json && ctxc eval --since scorecard.json\n  ctxc eval --out accepted.json && ctxc eval --baseline accepted.json\n  ctxc eval --diff\n  ctxc eval --plan\n  ctxc eval --resume\n  ctxc eval triage-t1 --accept\n  ctxc eval --answers replay\n\n\
    No model is asked and no key is read, unless `--record`, `--answers` or `--mode real` requests it and `ctxc trust` has allowed \
    it for the project. Recorded answers are in recordings/ beside the scenario, without keys and personal data. Expectations on the context are always checked; those on the answer only if one was \
    recorded or the scenario has scripted answers. A missing answer is reported as not recorded, and one that was recorded \
    for another request as stale, with what changed; neither passes silently.\n\n\
    Each run is added to the history (`ctxc history`); `--resume` continues an interrupted one, `--rescore` judges the answers of one again.\n\n\
    Exit codes: 0 all passed, 1 something failed, or a scenario is about something that does not exist, 2 wrong usage or \
    project file, 3 a scenario could not be run, or no scripted answer matches its request, 5 nothing selected (0 with \
    --allow-empty), 6 recorded answers are stale, 7 a scenario is undecided."
)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct EvalArgs {
    /// Scenario files, folders, or names of scenarios or suites [default: all of the project]
    #[arg(value_name = "PATH|NAME")]
    pub(super) what: Vec<String>,
    /// Only scenarios with this tag (repeatable; any match)
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,
    /// Only scenarios of this agent role (repeatable; any match)
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Vec<String>,
    /// Run one of N parts of the scenarios, split by the hash of their names, so new ones move no others; a part may be empty.
    /// `ctxc scorecard merge` merges the scorecards of all parts
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["mutate", "coverage"])]
    pub(super) shard: Option<Shard>,
    /// Only scenarios whose name contains a match of this pattern
    #[arg(long, value_name = "PATTERN")]
    pub(super) filter: Option<String>,
    /// Run only scenarios whose context or text changed since the work left the default branch (on that branch: since the last commit), or since `--since`
    #[arg(long)]
    pub(super) affected: bool,
    /// Run only scenarios that changed since a git revision or since a scorecard of `--out`; with a scorecard, those that
    /// did not pass are also run, and all others are listed as carried
    #[arg(long, value_name = "REV|FILE")]
    pub(super) since: Option<String>,
    /// Run only scenarios whose last result in the history was an error, such as a call without an answer, or that
    /// have none of their current context and text; the others are listed as carried
    #[arg(long, conflicts_with_all = ["affected", "since", "resume", "rescore", "plan", "accept", "diff", "mutate", "coverage"])]
    pub(super) retry_errors: bool,
    /// Compare the results with accepted ones and show differences: a file or folder written by `ctxc baseline accept`, or a scorecard of
    /// `--out`. If models are asked, it implies --confirm. It only reports; `ctxc gate` decides
    #[arg(long, value_name = "PATH", conflicts_with_all = ["mutate", "coverage", "plan", "shard"])]
    pub(super) baseline: Option<PathBuf>,
    /// Stop after the first scenario, in list order, that does not pass
    #[arg(long, conflicts_with_all = ["mutate", "coverage", "accept", "diff", "plan", "resume"])]
    pub(super) fail_fast: bool,
    /// The conversation or run that the requests belong to: the fences around untrusted text are
    /// derived from it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) session: String,
    /// List changes that none of these scenarios would notice: each segment dropped or its text halved, each setting changed
    #[arg(long, conflicts_with_all = ["affected", "since", "accept", "junit", "out"])]
    pub(super) mutate: bool,
    /// List every agent with its scenarios, and what they check of its context and its answer
    #[arg(long, conflicts_with_all = ["affected", "since", "accept", "junit", "out", "mutate"])]
    pub(super) coverage: bool,
    /// Store the requests of scenarios that expect a snapshot, after showing what changed, and judge these scenarios again
    #[arg(long)]
    pub(super) accept: bool,
    /// Show what --accept would store, and store nothing; with --json, as `diff` of each scenario
    #[arg(long, conflicts_with_all = ["accept", "mutate", "coverage"])]
    pub(super) diff: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs<EvalFormat>,
    /// The same as `--report junit=FILE`
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// The same as `--report json=FILE`: the scorecard
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Do not fail if there is nothing to run
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Source of the answers [default: the scenario's recording, else its script]
    #[arg(long, value_name = "SOURCE")]
    pub(super) answers: Option<AnswerSource>,
    /// The same as `--answers record`: ask models and keep their answers
    #[arg(long, conflicts_with = "answers")]
    pub(super) record: bool,
    /// With --record: only if today's request has no recording or lacks some of its trials; the same as `--answers replay-or-record`
    #[arg(long, requires = "record")]
    pub(super) stale: bool,
    /// Run every scenario this many times, whatever its own `runs`; --pass sets how many trials
    /// must pass
    #[arg(long, value_name = "N", requires = "pass", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: Option<u32>,
    /// With --runs: number of trials that must pass
    #[arg(long, value_name = "K", requires = "runs", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) pass: Option<u32>,
    /// Try a failed scenario again in a second stage, unless it is `strict`: 7 of 10, or as the
    /// scenario defines
    #[arg(long)]
    pub(super) confirm: bool,
    /// Maximum concurrent model calls [default: as many as providers accept]; without effect where no model is asked. --threads limits CPU threads
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Show what a run would ask, its cost, and how its rules judge a scenario that passes at a given rate; no model is asked. Without
    /// --record or --answers, it plans for --record
    #[arg(long, conflicts_with_all = ["affected", "since", "accept", "diff", "mutate", "coverage", "junit", "out"])]
    pub(super) plan: bool,
    /// `real` is the same as `--answers live`, `deterministic` the default
    #[arg(long, value_name = "MODE", conflicts_with_all = ["answers", "record"])]
    pub(super) mode: Option<EvalMode>,
    /// Stop asking models once the calls have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = parse_usd)]
    pub(super) budget_usd: Option<f64>,
    /// Stop asking models once this many tokens were sent and received
    #[arg(long, value_name = "N")]
    pub(super) budget_tokens: Option<u64>,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
    /// Run all trials even when the verdict is already certain
    #[arg(long)]
    pub(super) full: bool,
    /// Use Clopper-Pearson intervals for rates instead of Wilson intervals: these are never too narrow
    #[arg(long, conflicts_with_all = ["mutate", "coverage"])]
    pub(super) exact: bool,
    /// Resume the last unfinished run of the same scenarios, or the named run: finished scenarios are not run again
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["mutate", "coverage", "accept", "diff", "no_history"])]
    pub(super) resume: Option<String>,
    /// Judge the answers of the last run, or of the named run, again by today's expectations.
    /// No model is asked, and nothing is added to the history
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "last",
        conflicts_with_all = ["answers", "record", "mode", "plan", "mutate", "coverage", "accept", "diff", "affected", "since", "resume"])]
    pub(super) rescore: Option<String>,
    /// Do not add this run to the history
    #[arg(long)]
    pub(super) no_history: bool,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
}

/// The trials of `--runs` and `--pass`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassRule {
    /// The number of trials of each case.
    pub(super) runs: u32,
    /// The number of trials that have to pass.
    pub(super) pass: u32,
}

impl EvalArgs {
    /// Returns the part of a workspace that the command line is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        let paths: Vec<PathBuf> = self.what.iter().map(PathBuf::from).collect();
        if paths.iter().any(|path| fs::exists(path)) {
            return WorkspaceReach::Paths(paths);
        }
        if !self.what.is_empty() {
            return WorkspaceReach::Member("names of scenarios are those of one member");
        }
        if self.budget_usd.is_some() {
            return WorkspaceReach::Member("a budget is that of one member");
        }
        let output = self.result_outputs();
        let form = PrintedForm::new(output.format.result_format(), output.output.as_deref());
        let reports = output.format.reports().iter().map(|report| &*report.path);
        WorkspaceReach::members(
            form,
            reports.chain(output.output.as_deref().filter(|path| path.is_absolute())),
        )
    }

    /// The arguments of a run that records all of its scenarios again.
    pub(super) fn for_recording(trust: &TrustHashArgs) -> Self {
        Self {
            record: true,
            trust: trust.clone(),
            ..Self::default()
        }
    }

    /// The arguments of a run that asks models and records nothing.
    pub(super) fn for_asking(trust: &TrustHashArgs) -> Self {
        Self {
            answers: Some(AnswerSource::Live),
            trust: trust.clone(),
            ..Self::default()
        }
    }

    /// Returns the number of trials to run.
    pub(super) const fn trial_policy(&self) -> TrialPolicy {
        if self.full {
            TrialPolicy::RunAll
        } else {
            TrialPolicy::StopWhenDecided
        }
    }

    /// Returns the origin of answers.
    pub(super) fn answers_from(&self) -> AnswersFrom {
        if self.rescore.is_some() {
            return AnswersFrom::Kept;
        }
        let named = match (self.record, self.stale) {
            (true, true) => Some(AnswerSource::ReplayOrRecord),
            (true, false) => Some(AnswerSource::Record),
            (false, _) => self.answers,
        };
        let named =
            named.or_else(|| (self.plan && self.mode.is_none()).then_some(AnswerSource::Record));
        match named.or_else(|| (self.mode == Some(EvalMode::Real)).then_some(AnswerSource::Live)) {
            None => AnswersFrom::Known,
            Some(AnswerSource::Replay) => AnswersFrom::Replay,
            Some(AnswerSource::Scripted) => AnswersFrom::Scripted,
            Some(AnswerSource::Record) => AnswersFrom::Record,
            Some(AnswerSource::ReplayOrRecord) => AnswersFrom::ReplayOrRecord,
            Some(AnswerSource::Live) => AnswersFrom::Live,
        }
    }

    /// Returns the limit of the model calls.
    ///
    /// # Errors
    /// The flags contradict each other.
    pub(super) fn spend_limit(&self) -> Result<SpendLimit, CliError> {
        let limit = SpendLimit {
            tokens: self.budget_tokens,
            usd: self.budget_usd,
        };
        if !self.answers_from().calls_models() {
            return match limit.tokens.is_some() || limit.usd.is_some() {
                false if self.confirm => Err(CliError::usage(
                    "--confirm tries again, and no model is asked here",
                )),
                false => Ok(limit),
                true => Err(CliError::usage(
                    "a budget is for calls of models, and none is asked here",
                )),
            }
            .map_err(|error| error.with_hint("`--record` or `--answers live` asks them"));
        }
        if self.accept || self.mutate || self.coverage {
            return Err(
                CliError::usage("--accept, --mutate and --coverage ask no model")
                    .with_hint("leave out --record, --answers or --mode, or run them apart"),
            );
        }
        Ok(limit)
    }

    /// Returns the number of trials of every scenario, and the number that must pass, if the flags
    /// set these.
    ///
    /// # Errors
    /// More trials must pass than are run.
    pub(super) fn trial_rule(&self) -> Result<Option<PassRule>, CliError> {
        match self.runs.zip(self.pass) {
            Some((runs, pass)) if pass > runs => Err(CliError::usage(format!(
                "--pass {pass} of --runs {runs} can never pass"
            ))
            .with_hint("ask for as many trials as have to pass, or more")),
            rule => Ok(rule.map(|(runs, pass)| PassRule { runs, pass })),
        }
    }

    /// Returns the outputs of the scorecard, with the short forms of `--report`.
    pub(super) fn result_outputs(&self) -> OutputArgs<EvalFormat> {
        let short = [
            (EvalFormat::Json, &self.out),
            (EvalFormat::Junit, &self.junit),
        ];
        let reports = short.into_iter().filter_map(|(format, path)| {
            Some(ReportFile {
                format,
                path: path.clone()?,
            })
        });
        self.output.clone().with_reports(reports)
    }
}

/// One of several parts of the scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// The part, from 0.
    index: u64,
    count: u64,
}

impl Shard {
    /// The number of the part, from 1, and the number of parts.
    pub(super) const fn number_and_count(self) -> [u64; 2] {
        [self.index + 1, self.count]
    }

    /// Returns true if the part contains a scenario.
    pub(super) fn contains(self, name: &str) -> bool {
        let hash = Hash::digest(name.as_bytes()).0;
        let number = hash
            .iter()
            .take(8)
            .rev()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        number % self.count == self.index
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.parse::<u64>().ok()?, count.parse::<u64>().ok()?)));
    let (index, count) = parts
        .filter(|(index, count)| (1..=*count).contains(index))
        .ok_or("expected I/N, such as 1/4 for the first of four")?;
    Ok(Shard {
        index: index - 1,
        count,
    })
}

/// Sources of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerSource {
    /// From recordings
    Replay,
    /// From the scripts in scenarios
    Scripted,
    /// From the models of the project, stored beside the scenarios
    Record,
    /// From recordings; for requests without one, as `record`
    ReplayOrRecord,
    /// From the models of the project
    Live,
}

impl AnswerSource {
    /// Returns true if a model may be called.
    pub(crate) const fn calls_models(self) -> bool {
        matches!(self, Self::Record | Self::ReplayOrRecord | Self::Live)
    }

    /// The name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Scripted => "scripted",
            Self::Record => "record",
            Self::ReplayOrRecord => "replay-or-record",
            Self::Live => "live",
        }
    }

    /// Returns the source with a name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::value_variants()
            .iter()
            .copied()
            .find(|one| one.as_str() == word)
    }
}

/// Modes of a run: with or without calls of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EvalMode {
    /// No model is asked
    Deterministic,
    /// Models are asked
    Real,
}

pub(crate) fn parse_usd(text: &str) -> Result<f64, String> {
    let usd: Option<f64> = text.parse().ok();
    usd.filter(|usd| usd.is_finite() && *usd >= 0.0)
        .ok_or_else(|| "expected an amount of US dollars, such as 0.50".to_owned())
}

/// Formats of a scorecard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalFormat {
    /// For people
    #[default]
    Text,
    /// The scorecard, one document; with --mutate the changes, with --coverage the agents, with --plan the planned calls
    Json,
    /// One test case per scenario, in the XML format of `JUnit`
    Junit,
    /// A table, for a comment on a pull request
    Markdown,
    /// One self-contained page
    Html,
}

impl OutputFormat for EvalFormat {
    fn file_mark(self) -> Option<FileMark> {
        match self {
            Self::Text => None,
            Self::Json => Some(FileMark {
                artifact: "scorecard",
                text: "\"ctxc/",
            }),
            Self::Junit => Some(FileMark {
                artifact: "report of JUnit",
                text: "<testsuites",
            }),
            Self::Markdown | Self::Html => Some(FileMark {
                artifact: "report of scenarios",
                text: "ctxc/scorecard/",
            }),
        }
    }
}
