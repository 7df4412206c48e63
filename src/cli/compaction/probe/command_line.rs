//! The command lines of `ctxc compaction probe`.

use super::probe_method::ProbeMethod;
use crate::cli::context::eval::parse_usd;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::prelude::*;
use clap::Subcommand;

/// Test what survives a compaction: questions about what it truncated, answers, grades, a comparison of methods
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc compaction probe make session.jsonl\n  ctxc compaction probe compare session.jsonl --method recorded --method truncate=2000"
)]
pub(in crate::cli::compaction) struct ProbeArgs {
    #[command(subcommand)]
    pub(super) verb: ProbeVerb,
}

/// Steps of a probe.
#[derive(Debug, Subcommand)]
pub(super) enum ProbeVerb {
    Make(MakeArgs),
    Ask(AskArgs),
    Grade(GradeArgs),
    Compare(CompareArgs),
}

/// The sessions.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// Sessions: `@claude`, `@codex`, `@pi` or `@gemini` for the newest one of this folder that was compacted, a file, a folder; `#2` for its second compaction
    #[arg(value_name = "SESSION", required = true)]
    pub(super) sessions: Vec<String>,
}

/// The rubric.
#[derive(Debug, Args)]
pub(in crate::cli) struct RubricArgs {
    /// Criteria of your own for probes, such as a changed copy of templates/rubrics/compression.yaml [default: that rubric]
    #[arg(long, value_name = "FILE")]
    pub(super) rubric: Option<PathBuf>,
}

/// The options of every step.
#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    #[command(flatten)]
    pub(super) rubric: RubricArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<DataFormat>,
}

/// Asking a judge.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct VoteArgs {
    /// Ask the judge so many times about each answer, an odd number up to 9; the median of the scores counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_votes, requires = "judge")]
    pub(super) votes: usize,
    /// Ask the judge about each dimension of the rubric in a call of its own, not about all criteria at once
    #[arg(long, requires = "judge")]
    pub(super) by_dimension: bool,
}

fn parse_votes(text: &str) -> std::result::Result<usize, String> {
    let votes = text.parse().ok().filter(|votes| (1..=9).contains(votes));
    votes.filter(|votes| votes % 2 == 1).ok_or_else(|| {
        "expected 1, 3, 5, 7 or 9: of an even number, the median can be a score that no vote gave"
            .to_owned()
    })
}

/// Asking a role.
#[derive(Debug, Args)]
pub(super) struct RoleArgs {
    /// Show the calls that are not recorded, their price and who would receive text of the session; ask no model
    #[arg(long)]
    pub(super) plan: bool,
    /// Send text of the session without asking on the terminal; `ctxc trust` or --trust-hash has to allow it, too
    #[arg(long, conflicts_with = "plan")]
    pub(super) yes: bool,
    /// The seed of the order in which a role receives answers and criteria
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// The file that answers are recorded in and replayed from [default: one in your folder for data]
    #[arg(long, value_name = "FILE")]
    pub(super) recording: Option<PathBuf>,
    /// Stop asking once the calls have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = parse_usd)]
    pub(super) budget_usd: Option<f64>,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
}

/// Let a role of the project answer probes from the compacted context alone
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compaction probe ask session.jsonl --role clerk --plan\n\n\
    The role receives the compacted context and the question, by the prompt of this program, or by its own task if that has the parameters \
    `compacted_context` and `probe_question`. Answers are recorded, and replayed without a key. Before a call ctxc shows how many there are, what \
    they cost and which vendor receives text of the session; `ctxc trust` has to allow it, and a yes. An opaque compaction has no context to answer from."
)]
pub(super) struct AskArgs {
    /// Sessions as for `make`, or one document of it that ends in .json
    #[arg(value_name = "SESSION|FILE", required = true)]
    pub(super) what: Vec<String>,
    /// The role that answers
    #[arg(long, value_name = "ROLE")]
    pub(super) role: String,
    #[command(flatten)]
    pub(super) asking: RoleArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Make questions from the facts that each compaction truncated
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compaction probe make session.jsonl\n  ctxc compaction probe make session.jsonl#1 --json -o probes.json\n\n\
    The questions are of four types: recall, artifact, continuation, decision. Each has its expected facts, the messages that contained \
    them, and the criteria that apply; a question without an expected fact is not asked. Equal sessions give equal questions, and no \
    model is asked. The JSON document has the compacted context, and `model_response` for the answers of any agent."
)]
pub(super) struct MakeArgs {
    #[command(flatten)]
    pub(super) sessions: SessionArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Grade the answers of a document of probes
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compaction probe grade answers.json\n  ctxc compaction probe grade answers.json --json\n\n\
    Without a judge, each answer is compared with the expected facts. Scores are from 0 to 5. Means are taken over probes by criterion, \
    then over the criteria of a dimension by their weights, then over dimensions; a criterion that does not apply is left out. Answers \
    after an opaque compaction are graded apart.\n\n\
    A role that judges receives the question, the answer, the context, the expected facts and the criteria in seeded order, and no name of a \
    session or a method. Its prompt is that of this program, or its own task if that has the parameters `probe_question`, `model_response` \
    and `rubric_criteria`. A score that is missing, unknown or no whole number from 0 to 5 is asked for again, then reported, never \
    filled in. Each score has a quote; quotes that occur neither in the answer nor in its context are counted. `ctxc label answers.json` \
    asks people about the same answers: Spearman's ρ of both judges with their labels is given, and of the role with the grades by facts."
)]
pub(super) struct GradeArgs {
    /// A document of `ctxc compaction probe ask --json`, or of `make` with answers in `model_response`
    #[arg(value_name = "FILE")]
    pub(super) answers: PathBuf,
    /// The role that judges [default: no model, by the expected facts]
    #[arg(long, value_name = "ROLE")]
    pub(super) judge: Option<String>,
    #[command(flatten)]
    pub(super) votes: VoteArgs,
    #[command(flatten)]
    pub(super) asking: RoleArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Compare methods of compaction by the same probes
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compaction probe compare session.jsonl --method recorded --method truncate=2000\n  ctxc compaction probe compare session.jsonl --method recorded --method 'command=head -c 500' --json\n\n\
    Methods: `recorded` is the compaction of the session itself; `truncate=TOKENS` keeps the newest messages; `command=PROGRAM ARGUMENTS` \
    reads {summary, messages} as JSON and writes the summary; `anchored-iterative=ROLE` works each truncated part into one lasting summary, \
    `regenerative=ROLE` summarises the whole conversation anew each time. The first method is the base that the others are compared with: \
    differences have 95 % intervals by session, from five sessions on. Without a role that answers, the compacted context \
    stands for the answer; no answer from it can have more facts."
)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    pub(super) sessions: SessionArgs,
    /// A method of compaction (repeatable)
    #[arg(long = "method", value_name = "METHOD", required = true, value_parser = ProbeMethod::parse)]
    pub(super) methods: Vec<ProbeMethod>,
    /// The role that answers the probes from each context
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Option<String>,
    /// The role that judges the answers [default: no model, by the expected facts]
    #[arg(long, value_name = "ROLE", requires = "role")]
    pub(super) judge: Option<String>,
    #[command(flatten)]
    pub(super) votes: VoteArgs,
    #[command(flatten)]
    pub(super) asking: RoleArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}
