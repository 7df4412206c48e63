//! `ctxc compaction SESSION…`: reads sessions, judges their compactions, and writes the report.

use super::find_session::{SelectedSessions, SessionFile, find_sessions};
use super::page::{render_markdown, render_page};
use super::report::{CompactionReport, ListedFacts, ReadSession};
use super::report_text::print_report;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::record::comparison::known_secrets;
use crate::cli::shared_args::FileMark;
use crate::eval::compile_masks;
use crate::project::config::RecordedContent;
use crate::record::fixed_mask::FixedMask;
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names::COMPACTION;
use crate::session::analysis::{AnalysisInput, SessionAnalysis};
use crate::session::read::session_reader::read_session;
use crate::session::session_event::{SessionEvent, SessionFormat};
use clap::ValueEnum;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc compaction session.jsonl\n  ctxc compaction session.jsonl#1 --all\n  ctxc compaction session.jsonl --fail-on mutated\n\n\
    `ctxc compaction @claude` reads the newest session of Claude Code in this folder. Reads sessions of Claude Code, Codex, pi and Gemini CLI, and recordings in which the history shrank. Nothing is sent and no model is asked. A fact that is in the summary need not be used by the model; \
    one that is not there cannot be. Secrets and personal data are masked."
)]
pub(crate) struct CompactionArgs {
    /// Sessions: `@claude`, `@codex`, `@pi` or `@gemini` for the newest of this folder, a file, a folder; `#2` for its second compaction
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// List every fact, not only those that were needed again
    #[arg(long)]
    all: bool,
    /// Exit with 1 if facts of this kind were dropped (repeatable)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    fail_on: Vec<FailingFacts>,
    #[command(flatten)]
    output: OutputArgs<CompactionFormat>,
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

/// The facts whose loss fails a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailingFacts {
    /// Facts that were dropped and used later
    NeededAgain,
    /// Instructions that are not found in the summary
    Instruction,
    /// Facts that have another value in the summary
    Mutated,
}

/// Prints the report of some sessions.
pub(crate) fn run_compaction(args: &CompactionArgs, cx: &mut Cx) -> Result<Exit> {
    let listed = if args.all {
        ListedFacts::All
    } else {
        ListedFacts::Dropped
    };
    Cx::check_output_paths(&args.output.format, args.output.output.as_deref())?;
    let project = Project::load(&cx.options)?;
    let mask = FixedMask::new(
        RecordedContent::Redacted,
        compile_masks(&project.config.record.mask),
        known_secrets(&project.root, &project.config),
    );
    let folder = match &cx.options.project {
        Some(folder) => folder.clone(),
        None => fs::current_dir().unwrap_or_default(),
    };
    let mut sessions = Vec::new();
    for subject in &args.sessions {
        let SelectedSessions { files, number } = find_sessions(subject, &folder)?;
        for (at, file) in files.into_iter().enumerate() {
            // Sub-agents are listed if they were compacted themselves.
            let is_listed = |session: &ReadSession| {
                at == 0 || number.is_none() && !session.compactions.is_empty()
            };
            sessions.extend(
                read_file(&file, number, &mask)?
                    .into_iter()
                    .filter(is_listed),
            );
        }
    }
    check_number(&sessions)?;
    let report = CompactionReport::new(sessions, listed);
    cx.emit_result(&args.output, |format, cx| match format {
        CompactionFormat::Json => cx.print_json(&report),
        CompactionFormat::Text => print_report(&report, listed, cx),
        CompactionFormat::Markdown => {
            cx.print(|out| out.write_all(render_markdown(&report).as_bytes()))
        }
        CompactionFormat::Html => cx.print(|out| out.write_all(render_page(&report).as_bytes())),
    })?;
    let fails = args.fail_on.iter().any(|kind| {
        report.facts().any(|fact| match kind {
            FailingFacts::NeededAgain => fact.needed_again.is_some(),
            FailingFacts::Instruction => fact.is_dropped_instruction(),
            FailingFacts::Mutated => fact.summary_value.is_some(),
        })
    });
    Ok(if fails { Exit::Findings } else { Exit::Success })
}

/// Returns an error if nothing was compacted, or not as often as a number requires.
fn check_number(sessions: &[ReadSession]) -> Result<()> {
    for session in sessions {
        let count = session.compactions.len();
        if let Some(number) = session.number
            && (number == 0 || number > count)
        {
            return Err(CliError::usage(format!(
                "{} has {}, so there is no #{number}",
                session.name,
                pluralize(count, "compaction")
            )));
        }
    }
    if let Some(first) = sessions.first()
        && sessions
            .iter()
            .all(|session| session.compactions.is_empty())
    {
        return Err(CliError::new(
            CliErrorKind::NothingSelected,
            format!(
                "{} was never compacted: all of its {} are still in the conversation",
                first.name,
                pluralize(first.messages, "message")
            ),
        ));
    }
    Ok(())
}

/// Reads a file: one session, or the conversations of a recording.
fn read_file(
    file: &SessionFile,
    number: Option<usize>,
    mask: &FixedMask,
) -> Result<Vec<ReadSession>> {
    let unreadable = |err: std::io::Error| {
        CliError::new(
            CliErrorKind::Findings,
            format!("{} cannot be read: {}", file.name, describe_io_error(&err)),
        )
    };
    let mask = |text: &str| mask.mask_text(text).unwrap_or_else(|| text.to_owned());
    let new_analysis = || {
        SessionAnalysis::new(AnalysisInput {
            mask: &mask,
            is_file_there: &fs::is_file,
            reloads_latest_files: file.format == SessionFormat::ClaudeCode,
        })
    };
    let mut conversations = BTreeMap::new();
    let mut name = String::new();
    let lines = fs::open_lines(&file.path).map_err(unreadable)?;
    let rows = read_session(lines, file.format, |event| {
        if let SessionEvent::Conversation(own) = event {
            name = own;
        } else {
            conversations
                .entry(name.clone())
                .or_insert_with(new_analysis)
                .add_event(event);
        }
    });
    let rows = rows.map_err(unreadable)?;
    if conversations.is_empty() {
        conversations.insert(name, new_analysis());
    }
    let session = |(conversation, analysis): (String, SessionAnalysis<'_>)| {
        let (compactions, messages) = analysis.finish();
        ReadSession {
            name: if conversation.is_empty() {
                file.name.clone()
            } else {
                format!("{}, {conversation}", file.name)
            },
            format: file.format,
            messages,
            rows: rows.clone(),
            compactions,
            number,
        }
    };
    Ok(conversations.into_iter().map(session).collect())
}
