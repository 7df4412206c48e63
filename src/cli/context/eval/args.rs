//! The command line of `ctxc eval`.

use crate::cli::args::{OutputArgs, OutputFormat, Report, Sign};
use crate::cli::context::lookup::CacheArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Run scenarios: what agents must receive and answer, each failure with what was expected, found and where
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  ctxc eval\n  ctxc eval triage-t1 --json --junit eval.xml\n  \
    ctxc eval --out scorecard.json && ctxc eval --since scorecard.json\n  ctxc eval triage-t1 --accept\n\n\
    No model is asked and no key is read. Expectations on the context are always looked at; those on the answer where the \
    scenario holds scripted answers. An answer that nobody gave is reported as not recorded, and never passes in silence.\n\n\
    Exit codes: 0 everything holds, 1 something does not, or a scenario is about something that is not there, 2 wrong usage or \
    project file, 3 nothing decides a scenario, or no scripted answer is for its request, 5 nothing selected (0 with \
    --allow-empty).")]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct EvalArgs {
    /// Scenario files, folders of them, names of scenarios or suites [default: those of the project]
    #[arg(value_name = "PATH|NAME")]
    pub(super) what: Vec<String>,
    /// Those with this tag; several times: with any of them
    #[arg(long, value_name = "TAG")]
    pub(super) tag: Vec<String>,
    /// Those of this agent role; several times: of any of them
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Vec<String>,
    /// Those whose name holds this pattern
    #[arg(long, value_name = "PATTERN")]
    pub(super) filter: Option<String>,
    /// Run those alone whose context or text changed since the last commit, or since what `--since` names
    #[arg(long)]
    pub(super) affected: bool,
    /// Run those alone that changed since a git revision; or since a scorecard that `--out` wrote, where those that did not
    /// pass are run again and all others are listed as carried
    #[arg(long, value_name = "REV|FILE")]
    pub(super) since: Option<String>,
    /// List the changes that none of these scenarios would notice: each segment dropped or its text halved, each setting moved
    #[arg(long, conflicts_with_all = ["affected", "since", "accept", "junit", "out"])]
    pub(super) mutate: bool,
    /// List every agent with its scenarios, and what they hold of its context and its answer
    #[arg(long, conflicts_with_all = ["affected", "since", "accept", "junit", "out", "mutate"])]
    pub(super) coverage: bool,
    /// Store the requests of scenarios that expect a snapshot, after showing what changed, and judge these scenarios again
    #[arg(long)]
    pub(super) accept: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs<EvalFormat>,
    /// The same as `--report junit=FILE`
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// The same as `--report json=FILE`: the scorecard
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Nothing to run is no error
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Make all trials, also where the verdict is certain before
    #[arg(long)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) cache: CacheArgs,
}

impl EvalArgs {
    /// Where the scorecard goes: as the flags say, those that are short for a report among them.
    pub(super) fn results(&self) -> OutputArgs<EvalFormat> {
        let short = [(EvalFormat::Json, &self.out), (EvalFormat::Junit, &self.junit)];
        let reports = short.into_iter().filter_map(|(format, path)| Some(Report { format, path: path.clone()? }));
        self.output.clone().and(reports)
    }
}

/// Formats of a scorecard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalFormat {
    /// For people
    #[default]
    Text,
    /// The scorecard, one document; with --mutate the changes, with --coverage the agents
    Json,
    /// A test case a scenario, in the XML of `JUnit`
    Junit,
}

impl OutputFormat for EvalFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "text";

    fn sign(self) -> Option<Sign> {
        match self {
            Self::Text => None,
            Self::Json => Some(Sign { artifact: "scorecard", text: "\"ctxc/" }),
            Self::Junit => Some(Sign { artifact: "report of JUnit", text: "<testsuites" }),
        }
    }
}
