//! Sessions that scenarios name by their hash: masked, in the user's folder for state, so that no
//! text of a session comes into the project unless the user embeds it.

use super::find_session::{SessionFile, SessionPlace, newest_session_in};
use crate::base::folders;
use crate::base::fs;
use crate::base::hash::Hash;
use crate::base::span::{Span, Spanned};
use crate::cli::prelude::*;
use crate::eval::answer_source::SessionStore;
use crate::eval::compaction::SurvivalDraft;
use crate::eval::compaction::session_point::{SessionPoint, session_path};
use crate::record::fixed_mask::FixedMask;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::model::{CompactionMethod, CompactionSubject};
use crate::session::read::session_reader::detect_format;
use crate::session::session_event::SessionFormat;
use serde::de::IgnoredAny;
use std::io::{self, IsTerminal};

/// The maximum size of a session in bytes.
const MAX_SESSION_BYTES: u64 = 1 << 30;
/// The method of a new scenario, with the way to another one.
const METHOD_LINES: &str = "  # `recorded` is the summary in the session. To test a compaction prompt, such as the line of `ctxc compaction`,
  # give it to a role or a program (docs/COMPACTION.md, \"With a model\"), name that here, and run `ctxc trust`, then
  # `ctxc eval` (of a role: `ctxc eval --answers live`):
  #   method: {role: NAME}
  #   method: {command: [sh, compact.sh, prompt.md]}
  #   method: {truncate: 2000}
  method: recorded
";
/// The agents whose sessions are found by their names.
const AGENTS: [&str; 4] = ["@claude", "@codex", "@pi", "@gemini"];

/// The sessions in the user's folder for state.
#[derive(Debug)]
pub(crate) struct UserSessions;

impl SessionStore for UserSessions {
    fn session_text(&self, hash: &str) -> Option<String> {
        // The hash of the content is compared, so that its place needs no trust.
        Hash::parse(hash)?;
        read_text(&folders::state_root()?.join(session_path(hash))).ok()
    }
}

/// A session with a scenario about one of its compactions.
#[derive(Debug)]
pub(crate) struct SessionDraft {
    /// The masked session.
    pub(crate) text: String,
    /// Its path beside the scenario.
    pub(crate) path: String,
    /// The number of masked values in it.
    pub(crate) masked: usize,
    /// The scenario without its name.
    pub(crate) scenario: String,
    /// The name of the scenario, unless the user gives one.
    pub(crate) scenario_name: String,
    /// The facts whose loss fails, for people.
    pub(crate) failing: Vec<String>,
}

/// Returns true if a subject of the command line names a session of a coding agent, or a folder of
/// sessions alone.
pub(crate) fn names_session(subject: &str) -> bool {
    let place = subject.rsplit_once('#').map_or(subject, |(place, _)| place);
    if place.starts_with('@') {
        return AGENTS.contains(&place);
    }
    let path = Path::new(place);
    let file = if fs::is_dir(path) {
        newest_session_in(path)
    } else {
        Some(path.to_owned()).filter(|path| fs::is_file(path))
    };
    let lines = file.and_then(|path| fs::open_lines(&path).ok());
    let format = lines.and_then(|lines| detect_format(lines).ok().flatten());
    format.is_some_and(|format| format != SessionFormat::Recording)
}

impl SessionDraft {
    /// Reads a session, masks it, and drafts a scenario that holds for its own compaction.
    pub(in crate::cli) fn read(subject: &str, cx: &mut Cx) -> Result<Self> {
        let place = SessionPlace::load(cx)?;
        let selected = place.find_compacted(subject, cx)?;
        let number = selected.number.unwrap_or(1);
        let Some(SessionFile { name, path, format }) = selected.files.into_iter().next() else {
            return Err(CliError::usage(format!("{subject} names no session")));
        };
        let unreadable =
            |why: String| CliError::new(CliErrorKind::Findings, format!("{name}: {why}"));
        let text = read_text(&path).map_err(|error| unreadable(describe_io_error(&error)))?;
        let text: String = text
            .split_inclusive('\n')
            .map(|line| mask_line(line, &place.mask))
            .collect();
        let hash = Hash::digest(text.as_bytes()).to_string();
        let subject = CompactionSubject {
            session: Spanned::new(hash, Span::default()),
            number,
            method: CompactionMethod::Recorded,
        };
        let point = SessionPoint::find(text.clone(), &subject).map_err(unreadable)?;
        let summary = &point.conversation_at.point.summary;
        let SurvivalDraft { items, failing } = SurvivalDraft::new(&point.facts_after(summary));
        let hash = subject.session.value;
        let file = place.mask_name(&path.file_name().unwrap_or_default().to_string_lossy());
        Ok(Self {
            masked: text.matches('⟦').count(),
            path: session_path(&hash),
            scenario: format!(
                "# Compaction {number} of {file} ({}).\ncompaction:\n  session: {hash}\n  number: {number}\n{METHOD_LINES}expectations:\n{items}",
                format.word()
            ),
            scenario_name: format!("compaction-{number}-{}", short_hash(&hash)),
            failing,
            text,
        })
    }

    /// Stores the session in the user's folder for state.
    pub(crate) fn store(&self, project: &Path) -> Result<()> {
        let stored = folders::project_state(project)
            .and_then(|state| Some(state.parent()?.join(&self.path)))
            .ok_or_else(|| {
                io::Error::other(
                    "there is no folder outside the project: set XDG_STATE_HOME to one",
                )
            })
            .and_then(|path| {
                folders::create_private(path.parent().unwrap_or(&path))?;
                fs::write_private(&path, self.text.as_bytes())
            });
        stored.map_err(|error| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("the session cannot be kept: {}", describe_io_error(&error)),
            )
        })
    }

    /// Shows the size and the masks of the session.
    pub(crate) fn note_content(&self, cx: &mut Cx) {
        cx.print_note(&format!(
            "the session has {} bytes; masked in it: {}; names of people and other words stay",
            format_thousands(self.text.len()),
            pluralize(self.masked, "value")
        ));
    }

    /// Shows the size and the masks of the session, and asks if it comes into the project.
    pub(crate) fn confirm_embedding(&self, cx: &mut Cx) -> Result<bool> {
        self.note_content(cx);
        if !io::stdin().is_terminal() {
            return Err(
                CliError::usage("there is nobody to ask here, so nothing was embedded")
                    .with_hint("`--yes` embeds it"),
            );
        }
        cx.confirm("put it into the project?")
    }
}

/// Returns the first digits of a hash.
fn short_hash(hash: &str) -> String {
    hash.trim_start_matches("b3:").chars().take(8).collect()
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_SESSION_BYTES, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Masks a line of a session: its strings if it is JSON, else its text.
fn mask_line(line: &str, mask: &FixedMask) -> String {
    if serde_json::from_str::<IgnoredAny>(line).is_ok() {
        mask.mask_json(line, |_| true)
    } else {
        mask.mask_text(line).unwrap_or_else(|| line.to_owned())
    }
}
