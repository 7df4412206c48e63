//! The files of sessions: `@claude` is the newest session of this folder; `SESSION#2` is its second
//! compaction, or its second call.

use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::cli::record::comparison::known_secrets;
use crate::eval::compile_masks;
use crate::project::config::RecordedContent;
use crate::record::fixed_mask::FixedMask;
use crate::rules::input::read_fault::describe_io_error;
use crate::session::analysis::MAX_NAME_CHARS;
use crate::session::read::session_reader::detect_format;
use crate::session::sentences::one_line;
use crate::session::session_event::SessionFormat;
use std::io::ErrorKind;

/// The note on a file that is written with words of a session.
pub(in crate::cli) const SESSION_TEXT_NOTE: &str =
    "the file has text of a session: secrets are masked, names of people and other words are not";
/// Bytes at the head of a file that show its folder.
const HEAD_BYTES: u64 = 1 << 20;
/// The extension of sessions.
const SESSION_EXTENSION: &str = ".jsonl";
/// The folder of the sessions of sub-agents, beside a session of Claude Code.
const SUB_AGENTS: &str = "subagents";
/// The beginning of the names of their sessions, which old versions wrote beside the others.
const AGENT_FILE: &str = "agent-";
/// The beginning of the name of a sub-agent that only writes a summary.
const SUMMARY_AGENT: &str = "agent-acompact-";

/// A session of the command line.
#[derive(Debug)]
pub(in crate::cli) struct SessionFile {
    /// Its name in reports.
    pub(in crate::cli) name: String,
    /// Its file.
    pub(in crate::cli) path: PathBuf,
    /// Its format.
    pub(in crate::cli) format: SessionFormat,
}

/// Sessions with the number of the selected compaction or call.
#[derive(Debug)]
pub(in crate::cli) struct SelectedSessions {
    /// The session, then its sub-agents.
    pub(in crate::cli) files: Vec<SessionFile>,
    /// The number of the compaction or call, from 1; `None` for all.
    pub(in crate::cli) number: Option<usize>,
}

/// The folder that sessions are found from, and the mask for their texts.
pub(in crate::cli) struct SessionPlace {
    /// The folder, canonical.
    pub(super) folder: PathBuf,
    pub(super) mask: FixedMask,
}

impl SessionPlace {
    /// Loads the folder and the masks of its project.
    ///
    /// # Errors
    /// The project cannot be read.
    pub(in crate::cli) fn load(cx: &Cx) -> Result<Self> {
        let project = Project::load(&cx.options)?;
        let folder = cx.options.project.clone();
        let folder = folder.unwrap_or_else(|| fs::current_dir().unwrap_or_default());
        Ok(Self {
            folder: RealFs.canonicalize(&folder).unwrap_or(folder),
            mask: FixedMask::new(
                RecordedContent::Redacted,
                compile_masks(&project.config.record.mask),
                known_secrets(&project.root, &project.config),
            ),
        })
    }

    /// Replaces secrets and personal data.
    pub(in crate::cli) fn mask(&self, text: &str) -> String {
        let masked = self.mask.mask_text(text);
        masked.unwrap_or_else(|| text.to_owned())
    }

    /// Returns a name that a session gives, masked and cut.
    pub(super) fn mask_name(&self, name: &str) -> String {
        one_line(&self.mask(name), MAX_NAME_CHARS)
    }

    /// Returns the name of a conversation of a file; that of a single one is empty.
    pub(super) fn conversation_name(&self, file: &SessionFile, conversation: &str) -> String {
        let mut name = self.mask(&file.name);
        if !conversation.is_empty() {
            name = format!("{name}, {}", self.mask_name(conversation));
        }
        name
    }
}

/// Finds the sessions of a subject; `folder` is canonical.
pub(in crate::cli) fn find_sessions(subject: &str, folder: &Path) -> Result<SelectedSessions> {
    let split = subject
        .rsplit_once('#')
        .and_then(|(rest, digits)| Some((rest, digits.parse().ok()?)))
        .filter(|_| !fs::exists(Path::new(subject)));
    let (place, number) = split.map_or((subject, None), |(rest, number)| (rest, Some(number)));
    let path = match place.strip_prefix('@') {
        Some(agent) => newest_session(agent, folder)?,
        None if fs::is_dir(Path::new(place)) => {
            check_listing(Path::new(place))?;
            newest_file(session_files(Path::new(place))).ok_or_else(|| {
                CliError::new(
                    CliErrorKind::NothingSelected,
                    format!(
                        "the folder {place} holds no session, which ends in {SESSION_EXTENSION}"
                    ),
                )
            })?
        }
        None => PathBuf::from(place),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let home = home_folder().and_then(|home| path.strip_prefix(home).ok());
    let name = match (place.strip_prefix('@'), home) {
        (Some(_), _) => format!("{place} ({stem})"),
        (None, Some(below)) => Path::new("~").join(below).display().to_string(),
        (None, None) => path.display().to_string(),
    };
    let format = session_format(&path)?;
    let first = SessionFile { name, path, format };
    let mut files = Vec::new();
    if format == SessionFormat::ClaudeCode {
        files = sub_agents(&first);
    }
    files.insert(0, first);
    Ok(SelectedSessions { files, number })
}

/// Returns the sessions of sub-agents beside a session.
fn sub_agents(session: &SessionFile) -> Vec<SessionFile> {
    let folder = session.path.with_extension("").join(SUB_AGENTS);
    let file = |path: PathBuf| {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        // A pipe would block, and a link could lead anywhere.
        let is_own = !stem.starts_with(SUMMARY_AGENT) && fs::is_file(&path) && !fs::is_link(&path);
        is_own.then(|| SessionFile {
            name: format!("{}, {stem}", session.name),
            path,
            format: session.format,
        })
    };
    session_files(&folder)
        .into_iter()
        .filter_map(file)
        .collect()
}

/// Returns the error of a session that cannot be read.
pub(super) fn unreadable(name: impl std::fmt::Display, err: &std::io::Error) -> CliError {
    let message = format!("{name} cannot be read: {}", describe_io_error(err));
    CliError::new(CliErrorKind::Infrastructure, message)
}

/// Returns an error for a folder of another user.
fn check_listing(folder: &Path) -> Result<()> {
    match fs::listing_error(folder) {
        Some(err) if err.kind() == ErrorKind::PermissionDenied => {
            Err(unreadable(format!("the folder {}", folder.display()), &err))
        }
        _ => Ok(()),
    }
}

/// Returns the format of a file.
fn session_format(path: &Path) -> Result<SessionFormat> {
    let name = path.display();
    if let Err(err) = RealFs.stamp(path)
        && err.kind() == ErrorKind::PermissionDenied
    {
        return Err(unreadable(&name, &err));
    }
    if !fs::exists(path) {
        return Err(
            CliError::usage(format!("{name}: there is no such session")).with_hint(
                "`@claude`, `@codex`, `@pi` and `@gemini` are the newest session of this folder",
            ),
        );
    }
    if !fs::is_file(path) {
        return Err(CliError::usage(format!(
            "{name} is no regular file: a session is read twice, so write it to a file"
        )));
    }
    fs::open_lines(path)
        .and_then(detect_format)
        .map_err(|err| unreadable(&name, &err))?
        .ok_or_else(|| {
            CliError::usage(format!(
                "{name} is no session: its first lines are not those of Claude Code, Codex, pi, Gemini CLI or a recording of ctxc"
            ))
        })
}

/// Returns the folder of the user.
fn home_folder() -> Option<PathBuf> {
    let named = fs::env_var("HOME").or_else(|| fs::env_var("USERPROFILE"))?;
    (!named.is_empty()).then(|| PathBuf::from(named))
}

/// Returns the newest session of an agent in a folder.
fn newest_session(agent: &str, folder: &Path) -> Result<PathBuf> {
    let home = |variable: &str, below: &str| {
        let named = fs::env_var(variable).filter(|named| !named.is_empty());
        named.map_or_else(
            || Some(home_folder()?.join(below)),
            |named| Some(named.into()),
        )
    };
    let text = folder.to_string_lossy().into_owned();
    let mut listing = Ok(());
    let found = match agent {
        "claude" => home("CLAUDE_CONFIG_DIR", ".claude").map(|own| {
            let name: String = text
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            let own = own.join("projects").join(name);
            listing = check_listing(&own);
            let mut files = session_files(&own);
            files.retain(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                !name.starts_with(AGENT_FILE)
            });
            files
        }),
        "pi" => home_folder().map(|own| {
            let name = text.trim_start_matches('/').replace(['/', '\\', ':'], "-");
            let own = own.join(".pi/agent/sessions").join(format!("--{name}--"));
            listing = check_listing(&own);
            session_files(&own)
        }),
        "gemini" => home_folder().map(|own| {
            let own = own.join(".gemini/tmp");
            listing = check_listing(&own);
            gemini_sessions(&own, &text)
        }),
        "codex" => home("CODEX_HOME", ".codex").map(|own| {
            let own = own.join("sessions");
            listing = check_listing(&own);
            codex_sessions(&own, &text)
        }),
        _ => {
            return Err(CliError::usage(format!(
                "@{agent} is no agent: expected @claude, @codex, @pi or @gemini"
            ))
            .with_hint("a recording is named by its file, or by `@NAME` in `ctxc check`"));
        }
    };
    let newest = newest_file(found.unwrap_or_default());
    if newest.is_none() {
        listing?;
    }
    newest.ok_or_else(|| {
        CliError::new(
            CliErrorKind::NothingSelected,
            format!("@{agent} has no session of this folder ({text})"),
        )
        .with_hint("name the file of a session, or change to the folder in which the agent ran")
    })
}

/// Returns the newest file of a folder whose files can all be sessions.
pub(super) fn newest_session_in(folder: &Path) -> Option<PathBuf> {
    let is_other =
        |entry: &fs::FolderEntry| !entry.is_folder && !entry.name.ends_with(SESSION_EXTENSION);
    if fs::list_folder(folder).iter().any(is_other) {
        return None;
    }
    newest_file(session_files(folder))
}

/// Returns the files of a folder that can be sessions.
fn session_files(folder: &Path) -> Vec<PathBuf> {
    fs::list_folder(folder)
        .into_iter()
        .filter(|entry| !entry.is_folder && entry.name.ends_with(SESSION_EXTENSION))
        .map(|entry| entry.path)
        .collect()
}

/// Returns the newest file.
fn newest_file(files: Vec<PathBuf>) -> Option<PathBuf> {
    files
        .into_iter()
        .filter_map(|path| Some((RealFs.stamp(&path).ok()?.modified, path)))
        .max()
        .map(|(_, path)| path)
}

/// Returns the sessions of Gemini CLI for a folder: below the hash of its path, or below a name
/// whose folder contains the path in `.project_root` (looked up 2026-11-28).
fn gemini_sessions(tmp: &Path, folder: &str) -> Vec<PathBuf> {
    let hash = Hash::digest(folder.as_bytes()).to_string();
    let hash = hash.rsplit(':').next().unwrap_or_default().to_owned();
    let is_own = |entry: &fs::FolderEntry| {
        entry.name == hash
            || fs::read_head(&entry.path.join(".project_root"), HEAD_BYTES).is_ok_and(|text| {
                text.is_some_and(|text| String::from_utf8_lossy(&text).trim() == folder)
            })
    };
    fs::list_folder(tmp)
        .into_iter()
        .filter(|entry| entry.is_folder && is_own(entry))
        .flat_map(|entry| session_files(&entry.path.join("chats")))
        .collect()
}

/// Returns the sessions of Codex of the newest day on which it worked in a folder.
fn codex_sessions(sessions: &Path, folder: &str) -> Vec<PathBuf> {
    let newest_first = |path: PathBuf| {
        let mut entries = fs::list_folder(&path);
        entries.retain(|entry| entry.is_folder);
        entries.into_iter().rev().map(|entry| entry.path)
    };
    let is_own = |path: &PathBuf| {
        let head = fs::read_head(path, HEAD_BYTES).ok().flatten();
        let mut rows = serde_json::Deserializer::from_slice(head.as_deref().unwrap_or_default())
            .into_iter::<serde_json::Value>();
        let meta = rows.next().and_then(std::result::Result::ok);
        meta.is_some_and(|meta| {
            let own = meta.pointer("/payload/cwd");
            own.and_then(serde_json::Value::as_str) == Some(folder)
        })
    };
    newest_first(sessions.to_owned())
        .flat_map(newest_first)
        .flat_map(newest_first)
        .map(|day| {
            let mut own = session_files(&day);
            own.retain(is_own);
            own
        })
        .find(|own| !own.is_empty())
        .unwrap_or_default()
}
