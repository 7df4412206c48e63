//! The command lines of `ctxc gate` and `ctxc baseline`.

use crate::cli::args::{DataFormat, OutputArgs, OutputFormat, Sign};
use crate::cli::context::trust::TrustHashArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc gate\n  ctxc gate --base main --format markdown > comment.md\n\n\
    The change is everything between the merge base and the files as they are. Its scenarios are run by its own expectations and by \
    those of the base, from recordings and scripts; no model is asked. It fails where a scenario fails, where accepted results are \
    gone or worse, where an agent's context grew by more than `[eval.gate] manifest_tokens`, and where it loosens something \
    that nobody accepted: an expectation that is gone or other, a stored request or recorded answer that was replaced, a finding that no longer counts, \
    a rule or limit that was lowered, accepted results that moved. `ctxc baseline accept --reason` accepts these, in baselines/LOG.jsonl.\n\n\
    Exit codes: 0 it may be taken, 1 a scenario cannot be read, 2 wrong usage or project file, 3 a scenario could not be tried or a baseline was edited by hand, \
    4 it may not, 7 too little is known.")]
pub(crate) struct GateArgs {
    /// The branch that the change is to go into [default: origin/HEAD, else main, else master]
    #[arg(long, value_name = "REV")]
    pub(super) base: Option<String>,
    /// Decide by these results, that `ctxc eval --out FILE` wrote [default: those of recordings and scripts]
    #[arg(long, value_name = "FILE")]
    pub(super) candidate: Option<PathBuf>,
    /// Exit with 7 (inconclusive) in place of 0 where a smaller share of the scenarios has answers: 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) min_answered: Option<f64>,
    /// Compare verdicts also with results of another provider or model
    #[arg(long)]
    pub(super) allow_key_change: bool,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<GateFormat>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "expected a share from 0 to 1, such as 0.8".to_owned())
}

/// Formats of a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// For a comment on a pull request
    Markdown,
}

impl OutputFormat for GateFormat {
    const JSON: Self = Self::Json;
    const DEFAULT: &'static str = "text";

    fn sign(self) -> Option<Sign> {
        match self {
            Self::Text => None,
            Self::Json => Some(Sign { artifact: "decision of the gate", text: "\"ctxc/gate/" }),
            Self::Markdown => Some(Sign { artifact: "decision of the gate", text: "<!-- ctxc/gate/" }),
        }
    }
}

#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc baseline accept --reason \"first results\" --by me@example.org\n  ctxc baseline show\n  ctxc baseline log\n\n\
    Accepted results lie in baselines/, a file a suite; each acceptance is a line of baselines/LOG.jsonl with who, when, why and \
    what. Commit both: `ctxc gate` reads them where the change left the branch that it goes into."
)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) verb: BaselineVerb,
}

/// What there is to do with accepted results.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineVerb {
    /// Accept the results of all scenarios as they are, and everything that the change loosens
    Accept(AcceptArgs),
    /// Show the accepted results
    Show(OutputArgs<DataFormat>),
    /// Show who accepted what, and why
    Log(OutputArgs<DataFormat>),
    /// Accept the results of another provider or model, where no scenario that passed fails with it
    Migrate(AcceptArgs),
}

/// How results are accepted.
#[derive(Debug, Args)]
pub(super) struct AcceptArgs {
    /// Why
    #[arg(long, value_name = "WHY")]
    pub(super) reason: String,
    /// Who accepts [default: the address that git has of you]
    #[arg(long, value_name = "WHO")]
    pub(super) by: Option<String>,
    /// The branch that the change is to go into [default: origin/HEAD, else main, else master]
    #[arg(long, value_name = "REV")]
    pub(super) base: Option<String>,
    /// Accept these results, that `ctxc eval --out FILE` wrote [default: those of recordings and scripts]
    #[arg(long, value_name = "FILE")]
    pub(super) candidate: Option<PathBuf>,
}
