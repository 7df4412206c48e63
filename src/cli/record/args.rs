//! The arguments of the verbs that record and replay.

use crate::cli::context::trust::TrustHashArgs;
use crate::record::proxy::replay::ReplayMatching;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// The location of recordings.
#[derive(Clone, Debug, Args)]
pub(super) struct RecordingArgs {
    /// The name of the recording; an existing one is replaced [default: the time]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Days to keep recordings of this project in your user folder: older ones are removed after this run
    #[arg(long, value_name = "DAYS", default_value_t = super::gc::DEFAULT_TTL_DAYS)]
    pub(super) ttl: u32,
    /// Keep it in this folder, with a .gitignore that leaves it out of the repository, instead of your user folder for data
    #[arg(long, value_name = "DIR")]
    pub(super) into: Option<PathBuf>,
}

/// The source of answers, and its time limit.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct AnswerArgs {
    /// Answer from a script: a YAML or JSON file with a list `answers:`, as in scenarios
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// Target of calls; VENDOR is openai, anthropic, gemini or ollama [default: `[record] upstream`
    /// in ctxc.toml, else the vendor's environment variable, else the vendor's own address]
    #[arg(long, value_name = "[VENDOR=]URL", conflicts_with = "script")]
    pub(super) upstream: Vec<String>,
    /// Answer requests that their provider would refuse, with only a note
    #[arg(long)]
    pub(super) lenient: bool,
    /// Timeout: a call fails after this many seconds without a byte of the answer
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) timeout: u64,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
}

/// Criteria by which a request equals a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum MatchArg {
    /// The complete request
    #[default]
    Request,
    /// The last message of its conversation
    Conversation,
    /// The complete request, or else the same position in the same conversation
    Turn,
}

impl From<MatchArg> for ReplayMatching {
    fn from(found: MatchArg) -> Self {
        match found {
            MatchArg::Request => Self::Key,
            MatchArg::Conversation => Self::Conversation,
            MatchArg::Turn => Self::Turn,
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc record -- ctxc --version\n  ctxc record --name nightly -- ctxc list\n\n\
    The command runs as it would without ctxc, except for the environment variables from which the libraries of OpenAI, Anthropic, \
    Gemini and Ollama read their vendor's address: these point to a proxy on this machine, which forwards each call and records it \
    with its answer. Streams are forwarded byte for byte, as they come. Keys, tokens and personal data are replaced before anything \
    is written. The recording is then called `@last`: `ctxc replay @last -- COMMAND` answers from it without a network. It is in \
    your user folder for data, and `ctxc gc` removes it after 14 days. docs/RECORD.md describes the stored content.\n\n\
    Exit codes: that of the command, or 128 plus the signal that ended it; 6 if `--script` had no answer to a call; 2 and 3 for \
    failures of ctxc itself, whatever the command's own code is."
)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(super) destination: RecordingArgs,
    #[command(flatten)]
    pub(super) answer: AnswerArgs,
    /// The program and its arguments, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc replay calls.jsonl -- ctxc --version\n  ctxc replay --match conversation calls.jsonl -- ctxc list\n\n\
    The recording is `@last`, `@NAME`, or a file or folder of JSON lines. Equal requests get the recorded answers in order, and after \
    the last one the last again. A call without an answer fails with status 422, which libraries do not retry; standard error shows \
    the nearest recorded call, and what differs. Streams are replayed as streams. If a vendor's key is not set, it is set to a \
    placeholder.\n\n\
    Exit codes: that of the command, or 128 plus the signal that ended it; 6 if a call had no recorded answer; 2 and 3 for failures \
    of ctxc itself."
)]
pub(crate) struct ReplayArgs {
    /// The recording: `@last`, `@NAME`, a file or a folder
    #[arg(value_name = "RECORDING")]
    pub(super) recording: String,
    /// Criterion by which a request equals a recorded one
    #[arg(long = "match", value_name = "WHAT", value_enum, default_value_t)]
    pub(super) by: MatchArg,
    /// Answer requests that their provider would refuse, with only a note
    #[arg(long)]
    pub(super) lenient: bool,
    #[command(flatten)]
    pub(super) destination: RecordingArgs,
    /// The program and its arguments, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  timeout --preserve-status -s INT 1 ctxc proxy\n  timeout --preserve-status -s INT 1 ctxc proxy --replay calls.jsonl > proxy.env\n\n\
    Prints the environment variables that point programs to it, as shell commands, and runs until it is interrupted. `docs/RECORD.md` \
    describes the stored content.\n\n\
    Exit codes: 0 when it was interrupted, 6 if a call had no answer in the recording or script, 3 if the port is taken."
)]
pub(crate) struct ProxyArgs {
    /// The port on this machine [default: any free port]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(super) port: u16,
    /// Answer from an earlier recording: `@last`, `@NAME`, a file or a folder
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["script", "upstream"])]
    pub(super) replay: Option<String>,
    /// Criterion by which a request equals a recorded one
    #[arg(
        long = "match",
        value_name = "WHAT",
        value_enum,
        default_value_t,
        requires = "replay"
    )]
    pub(super) by: MatchArg,
    #[command(flatten)]
    pub(super) destination: RecordingArgs,
    #[command(flatten)]
    pub(super) answer: AnswerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc gc\n  ctxc gc --ttl 0\n\n\
    Removes old recordings of every project in your user folder for data; those that `--into` put elsewhere stay. `ctxc record` removes \
    those of its project that are older than 14 days. Workspaces are removed once the program that made them no longer runs.\n\n\
    Exit codes: 0 done, 3 a file could not be removed.")]
pub(crate) struct GcArgs {
    /// Days to keep a recording
    #[arg(long, value_name = "DAYS", default_value_t = super::gc::DEFAULT_TTL_DAYS)]
    pub(super) ttl: u32,
}
