//! The files of sessions: `@claude` is the newest session of this folder; `SESSION#2` is its second
//! compaction.

use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::rules::input::read_fault::describe_io_error;
use crate::session::read::session_reader::detect_format;
use crate::session::session_event::SessionFormat;

/// Bytes at the head of a file that show its format.
const HEAD_BYTES: u64 = 1 << 20;
/// The extension of sessions.
const SESSION_EXTENSION: &str = ".jsonl";
/// The folder of the sessions of sub-agents, beside a session of Claude Code.
const SUB_AGENTS: &str = "subagents";
/// The beginning of the name of a sub-agent that only writes a summary.
const SUMMARY_AGENT: &str = "agent-acompact-";

/// A session of the command line.
#[derive(Debug)]
pub(super) struct SessionFile {
    /// Its name in reports.
    pub(super) name: String,
    /// Its file.
    pub(super) path: PathBuf,
    /// Its format.
    pub(super) format: SessionFormat,
}

/// Sessions with the number of the selected compaction.
#[derive(Debug)]
pub(super) struct SelectedSessions {
    /// The session, then its sub-agents.
    pub(super) files: Vec<SessionFile>,
    /// The number of the compaction, from 1; `None` for all.
    pub(super) number: Option<usize>,
}

/// Finds the sessions of a subject.
pub(super) fn find_sessions(subject: &str, folder: &Path) -> Result<SelectedSessions> {
    let split = subject
        .rsplit_once('#')
        .and_then(|(rest, digits)| Some((rest, digits.parse().ok()?)))
        .filter(|_| !fs::exists(Path::new(subject)));
    let (place, number) = split.map_or((subject, None), |(rest, number)| (rest, Some(number)));
    let path = match place.strip_prefix('@') {
        Some(agent) => newest_session(agent, folder)?,
        None if fs::is_dir(Path::new(place)) => newest_file(session_files(Path::new(place)))
            .ok_or_else(|| {
                CliError::new(
                    CliErrorKind::NothingSelected,
                    format!(
                        "the folder {place} holds no session, which ends in {SESSION_EXTENSION}"
                    ),
                )
            })?,
        None => PathBuf::from(place),
    };
    let name = if place.starts_with('@') {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("{place} ({file})")
    } else {
        path.display().to_string()
    };
    let format = session_format(&path)?;
    let mut files = vec![SessionFile { name, path, format }];
    if format == SessionFormat::ClaudeCode {
        files.extend(sub_agents(&files));
    }
    Ok(SelectedSessions { files, number })
}

/// Returns the sessions of sub-agents beside a session.
fn sub_agents(files: &[SessionFile]) -> Vec<SessionFile> {
    let folder = files
        .first()
        .map(|file| file.path.with_extension("").join(SUB_AGENTS));
    let found = folder
        .map(|folder| session_files(&folder))
        .unwrap_or_default();
    let is_agent = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with(SUMMARY_AGENT)
    };
    found
        .into_iter()
        .filter(is_agent)
        .map(|path| SessionFile {
            name: path.display().to_string(),
            path,
            format: SessionFormat::ClaudeCode,
        })
        .collect()
}

/// Returns the format of a file.
fn session_format(path: &Path) -> Result<SessionFormat> {
    let name = path.display();
    let head = match fs::read_head(path, HEAD_BYTES) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            return Err(CliError::new(
                CliErrorKind::Findings,
                format!("{name} cannot be read: {}", describe_io_error(&err)),
            ));
        }
        head => head.ok().flatten(),
    };
    let Some(head) = head else {
        return Err(
            CliError::usage(format!("{name}: there is no such session")).with_hint(
                "`@claude`, `@codex`, `@pi` and `@gemini` are the newest session of this folder",
            ),
        );
    };
    detect_format(&String::from_utf8_lossy(&head)).ok_or_else(|| {
        CliError::new(
            CliErrorKind::Findings,
            format!("{name} is no session: its first lines are not those of Claude Code, Codex, pi, Gemini CLI or a recording of ctxc"),
        )
    })
}

/// Returns the newest session of an agent in a folder.
fn newest_session(agent: &str, folder: &Path) -> Result<PathBuf> {
    let home = fs::env_var("HOME").or_else(|| fs::env_var("USERPROFILE"));
    let home = |variable: &str, below: &str| {
        let named = fs::env_var(variable).filter(|_| !variable.is_empty());
        named.map_or_else(
            || Some(Path::new(home.as_deref()?).join(below)),
            |named| Some(named.into()),
        )
    };
    let here = RealFs
        .canonicalize(folder)
        .unwrap_or_else(|_| folder.to_owned());
    let text = here.to_string_lossy().into_owned();
    let found = match agent {
        "claude" => home("CLAUDE_CONFIG_DIR", ".claude").map(|own| {
            let name: String = text
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            session_files(&own.join("projects").join(name))
        }),
        "pi" => home("", ".pi").map(|own| {
            let name = text.trim_start_matches('/').replace(['/', '\\', ':'], "-");
            session_files(&own.join("agent/sessions").join(format!("--{name}--")))
        }),
        "gemini" => home("", ".gemini").map(|own| gemini_sessions(&own.join("tmp"), &text)),
        "codex" => {
            home("CODEX_HOME", ".codex").map(|own| codex_sessions(&own.join("sessions"), &text))
        }
        _ => {
            return Err(CliError::usage(format!(
                "@{agent} is no agent: expected @claude, @codex, @pi or @gemini"
            ))
            .with_hint("a recording is named by its file, or by `@NAME` in `ctxc check`"));
        }
    };
    newest_file(found.unwrap_or_default()).ok_or_else(|| {
        CliError::new(
            CliErrorKind::NothingSelected,
            format!("@{agent} has no session of this folder ({text})"),
        )
        .with_hint("name the file of a session, or change to the folder in which the agent ran")
    })
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
    let newest_first = |path: &Path| {
        let mut entries = fs::list_folder(path);
        entries.sort_by(|a, b| b.name.cmp(&a.name));
        entries
            .into_iter()
            .filter(|entry| entry.is_folder)
            .map(|entry| entry.path)
    };
    let is_own = |path: &PathBuf| {
        let head = fs::read_head(path, HEAD_BYTES)
            .ok()
            .flatten()
            .unwrap_or_default();
        let head = String::from_utf8_lossy(&head);
        let meta: Option<serde_json::Value> = head
            .lines()
            .next()
            .and_then(|line| serde_json::from_str(line).ok());
        meta.is_some_and(|meta| {
            meta.pointer("/payload/cwd")
                .and_then(serde_json::Value::as_str)
                == Some(folder)
        })
    };
    newest_first(sessions)
        .flat_map(|year| newest_first(&year).collect::<Vec<_>>())
        .flat_map(|month| newest_first(&month).collect::<Vec<_>>())
        .map(|day| {
            session_files(&day)
                .into_iter()
                .filter(is_own)
                .collect::<Vec<_>>()
        })
        .find(|own| !own.is_empty())
        .unwrap_or_default()
}
