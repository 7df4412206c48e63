//! `ctxc compaction SESSION…`: reads sessions, judges their compactions, and writes the report.

use super::find_session::{SelectedSessions, SessionFile, SessionPlace, unreadable};
use super::page::{render_markdown, render_page};
use super::probe::{ProbeArgs, run_probe};
use super::report::{CompactionReport, ReadSession};
use super::report_text::print_report;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::prelude::*;
use crate::cli::shared_args::FileMark;
use crate::schema::json::names::COMPACTION;
use crate::session::analysis::{AnalysisInput, JudgedFact, ListedFacts, SessionAnalysis};
use crate::session::read::session_reader::read_session;
use crate::session::refetch::Refetch;
use crate::session::session_event::{RowCounts, SessionEvent};
use clap::{Subcommand, ValueEnum};
use std::collections::BTreeMap;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc compaction session.jsonl\n  ctxc compaction session.jsonl#1 --all\n  ctxc compaction session.jsonl --fail-on mutated\n\n\
    `ctxc compaction @claude` reads the newest session of Claude Code in this folder that was compacted. Reads sessions of Claude Code, Codex, pi and Gemini CLI, and recordings in which the history shrank. Nothing is sent and no model is asked. A fact that is in the summary need not be used by the model; \
    one that is not there cannot be. Secrets and personal data are masked. Exits with 5 if nothing was compacted, with 1 if a file is no session, with 2 if there is no such file, with 3 if a session cannot be read; with --fail-on, with 1 if facts of this kind were dropped, and with 7 if a summary cannot be read.\n\n\
    A fact is kept if the summary, a message that stays or the system text has it (of a file the path, not the content), reloaded if the agent's program loads it again by itself (the agent may read it once more all the same), recoverable if its file is still there or the summary names the session, mutated if the summary has another value, else lost. \
    `file.seen` is a file that a call named, `value` a version, commit, address or port. New tokens are those by which the requests grew."
)]
pub(crate) struct CompactionArgs {
    #[command(subcommand)]
    verb: Option<CompactionVerb>,
    /// Sessions: `@claude`, `@codex`, `@pi` or `@gemini` for the newest one of this folder that was compacted, a file, a folder; `#2` for its second compaction (for its second call in `check`, `manifest`, `prompt-cache`, `diff`)
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// List every fact, not only those that were needed again
    #[arg(long)]
    all: bool,
    /// Exit with 1 if facts of this kind were dropped, with 7 if a summary cannot be read (repeatable)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    fail_on: Vec<FailingFacts>,
    #[command(flatten)]
    output: OutputArgs<CompactionFormat>,
}

/// Further operations on compactions.
#[derive(Debug, Subcommand)]
enum CompactionVerb {
    Probe(ProbeArgs),
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum CompactionFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// For a comment on a pull request
    Markdown,
    /// A page with a picture
    Html,
}

impl OutputFormat for CompactionFormat {
    fn file_mark(self) -> Option<FileMark> {
        (self != Self::Text).then_some(FileMark {
            artifact: "report of compactions",
            text: COMPACTION,
        })
    }
}

/// The maximum bytes of a file with rules that is read.
const MAX_RULE_BYTES: u64 = 1 << 20;

/// The facts whose loss fails a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailingFacts {
    /// Files, results and facts that were dropped and fetched again or used later, unless the summary
    /// has them
    NeededAgain,
    /// Instructions that are not found in the summary
    Instruction,
    /// Facts that have another value in the summary
    Mutated,
}

/// Prints the report of some sessions.
pub(crate) fn run_compaction(args: &CompactionArgs, cx: &mut Cx) -> Result<Exit> {
    if let Some(CompactionVerb::Probe(args)) = &args.verb {
        return run_probe(args, cx);
    }
    let listed = if args.all {
        ListedFacts::All
    } else {
        ListedFacts::Dropped
    };
    Cx::check_output_paths(&args.output.format, args.output.output.as_deref())?;
    let place = SessionPlace::load(cx)?;
    let reader = FileReader {
        place: &place,
        listed,
    };
    let mut sessions = Vec::new();
    for subject in &args.sessions {
        let SelectedSessions { files, number, .. } = place.find_compacted(subject, cx)?;
        let mut files = files.into_iter();
        let mut own = Vec::new();
        if let Some(file) = files.next() {
            own = reader
                .read(&file)
                .map_err(|err| unreadable(&file.name, &err))?;
        }
        select_compactions(&mut own, number)?;
        for file in files.take_while(|_| number.is_none()) {
            match reader.read(&file) {
                Ok(more) => own.extend(more),
                Err(err) => cx.print_note(&unreadable(&file.name, &err).message),
            }
        }
        // Sub-agents and conversations are listed if they were compacted themselves.
        let is_whole = |session: &ReadSession| session.judged.compactions.is_empty();
        if own.iter().all(is_whole) {
            own.truncate(1);
        } else {
            own.retain(|session| !is_whole(session));
        }
        sessions.extend(own);
    }
    check_compactions(&sessions)?;
    let report = CompactionReport::new(sessions);
    cx.emit_result(&args.output, |format, cx| match format {
        CompactionFormat::Json => cx.print_json(&report),
        CompactionFormat::Text => print_report(&report, listed, cx),
        CompactionFormat::Markdown => {
            cx.print(|out| out.write_all(render_markdown(&report, listed).as_bytes()))
        }
        CompactionFormat::Html => {
            cx.print(|out| out.write_all(render_page(&report, listed).as_bytes()))
        }
    })?;
    let fails = args.fail_on.iter().any(|kind| {
        let is_failing: fn(&JudgedFact) -> bool = match kind {
            FailingFacts::NeededAgain if report.refetches().any(Refetch::is_avoidable) => {
                return true;
            }
            FailingFacts::NeededAgain => JudgedFact::is_needed_again,
            FailingFacts::Instruction => JudgedFact::is_dropped_instruction,
            FailingFacts::Mutated => |fact| fact.other_value.is_some(),
        };
        report.count(is_failing) > 0
    });
    Ok(if fails {
        Exit::Findings
    } else if !args.fail_on.is_empty() && report.opaque() > 0 {
        Exit::Inconclusive
    } else {
        Exit::Success
    })
}

/// Leaves the compaction with a number in each conversation of a file. Returns an error if none was
/// compacted as often.
fn select_compactions(sessions: &mut [ReadSession], number: Option<usize>) -> Result<()> {
    let Some(number) = number else {
        return Ok(());
    };
    let counts = sessions
        .iter()
        .map(|session| session.judged.compactions.len());
    let count = counts.max().unwrap_or(0);
    if number == 0 || number > count {
        let name = sessions.first().map_or("", |session| session.name.as_str());
        return Err(CliError::usage(format!(
            "{name} has {}, so there is no #{number}",
            pluralize(count, "compaction")
        ))
        .with_hint("behind `#`, `compaction` and `new scenario` number the compactions of a session; `check`, `manifest`, `prompt-cache` and `diff` its calls"));
    }
    for session in sessions {
        let compactions = &mut session.judged.compactions;
        compactions.retain(|compaction| compaction.number == number);
    }
    Ok(())
}

/// Returns an error if nothing was compacted.
fn check_compactions(sessions: &[ReadSession]) -> Result<()> {
    let is_whole = |session: &ReadSession| session.judged.compactions.is_empty();
    let Some(first) = sessions.first().filter(|_| sessions.iter().all(is_whole)) else {
        return Ok(());
    };
    Err(CliError::new(
        CliErrorKind::NothingSelected,
        format!(
            "{} was never compacted: all of its {} are still in the conversation",
            first.name,
            pluralize(first.judged.messages, "message")
        ),
    )
    .with_hint("a folder, and an agent such as `@claude`, stand for their newest session that was compacted: here there is none"))
}

/// The things that every file is read with.
struct FileReader<'r> {
    place: &'r SessionPlace,
    listed: ListedFacts,
}

impl FileReader<'_> {
    /// Reads a file: one session, or the conversations of a recording.
    fn read(&self, file: &SessionFile) -> std::io::Result<Vec<ReadSession>> {
        let transcript = file.path.file_name().unwrap_or_default().to_string_lossy();
        let folder = self.place.folder.to_string_lossy();
        let is_file_there = |path: &str| fs::is_file(&self.place.folder.join(path));
        let mask = |text: &str| self.place.mask(text);
        let file_text = |path: &str| {
            let path = self.place.folder.join(path);
            String::from_utf8(RealFs.read(&path, MAX_RULE_BYTES).ok()?).ok()
        };
        let input = AnalysisInput {
            transcript: &transcript,
            folder: &folder,
            is_file_there: &is_file_there,
            file_text: &file_text,
            listed: self.listed,
            ..AnalysisInput::new(&mask, file.format)
        };
        let mut conversations = BTreeMap::new();
        let mut name = String::new();
        let lines = fs::open_lines(&file.path)?;
        let mut rows = read_session(lines, file.format, |event| {
            if let SessionEvent::Conversation(own) = event {
                name = own;
            } else {
                conversations
                    .entry(name.clone())
                    .or_insert_with(|| SessionAnalysis::new(input))
                    .add_event(event);
            }
        })?;
        for unknown in &mut rows.unknown_rows {
            unknown.kind = self.place.mask_name(&unknown.kind);
        }
        if conversations.is_empty() {
            conversations.insert(name, SessionAnalysis::new(input));
        }
        let session = |(conversation, analysis): (String, SessionAnalysis<'_>)| ReadSession {
            name: self.place.conversation_name(file, &conversation),
            format: file.format,
            rows: RowCounts::default(),
            judged: analysis.finish(),
        };
        let mut sessions: Vec<ReadSession> = conversations.into_iter().map(session).collect();
        let is_compacted = |session: &ReadSession| !session.judged.compactions.is_empty();
        let first = sessions.iter().position(is_compacted).unwrap_or(0);
        if let Some(first) = sessions.get_mut(first) {
            first.rows = rows;
        }
        Ok(sessions)
    }
}
