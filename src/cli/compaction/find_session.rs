//! The files of sessions: `@claude` is the newest session of this folder, or the newest one that was
//! compacted; `SESSION#2` is its second compaction, or its second call.

use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::cli::record::comparison::known_secrets;
use crate::eval::compile_masks;
use crate::project::config::RecordedContent;
use crate::record::fixed_mask::FixedMask;
use crate::rules::input::read_fault::describe_io_error;
use crate::session::analysis::MAX_NAME_CHARS;
use crate::session::read::session_reader::{detect_format, read_session};
use crate::session::sentences::one_line;
use crate::session::session_event::{SessionEvent, SessionFormat};
use std::io::{self, ErrorKind};

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
    /// The notes on newer files that were passed over, not masked.
    pub(in crate::cli) notes: Vec<String>,
}

/// The session that stands for an agent or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum SessionChoice {
    /// The newest one.
    Newest,
    /// The newest one that was compacted; if none was, the newest one.
    NewestCompacted,
}

/// The chosen file of an agent or a folder.
#[derive(Debug)]
pub(super) struct ChosenFile {
    /// The file.
    pub(super) path: PathBuf,
    /// The notes on newer files that were passed over.
    notes: Vec<String>,
}

impl ChosenFile {
    /// Chooses from files, the newest of them first; `None` if none is a session.
    pub(super) fn find(
        files: impl IntoIterator<Item = PathBuf>,
        choice: SessionChoice,
    ) -> Option<Self> {
        let (mut newest, mut chosen, mut foreign) = (None, None, Vec::new());
        for path in files {
            // A pipe would block.
            let is_file = fs::is_file(&path);
            let format = is_file.then(|| fs::open_lines(&path).and_then(detect_format));
            let Some(format) = format.and_then(io::Result::transpose) else {
                foreign.push(path);
                continue;
            };
            // A session that cannot be read is an error later.
            let is_chosen = format.is_err()
                || choice == SessionChoice::Newest
                || was_compacted(&path).unwrap_or(true);
            if is_chosen {
                chosen = Some(path);
                break;
            }
            newest.get_or_insert(path);
        }
        let mut notes = Vec::new();
        if let Some(first) = foreign.first() {
            let name = file_name(first);
            notes.push(match foreign.len() - 1 {
                0 => format!("{name} is no session, so it was passed over"),
                more => format!(
                    "{name} and {} are no sessions, so they were passed over",
                    pluralize(more, "other file")
                ),
            });
        }
        if let (Some(newest), Some(chosen)) = (&newest, &chosen) {
            notes.push(format!(
                "{} is newer and was not compacted, so {} is read",
                file_name(newest),
                file_name(chosen)
            ));
        }
        let path = chosen.or(newest)?;
        Some(Self { path, notes })
    }
}

/// Returns true if a session or one of its sub-agents was compacted.
fn was_compacted(path: &Path) -> Result<bool> {
    let files = session_with_sub_agents(String::new(), path.to_owned())?;
    for SessionFile { path, format, .. } in files {
        let mut is_compacted = false;
        let lines = fs::open_lines(&path).map_err(|err| unreadable(path.display(), &err))?;
        read_session(lines, format, |event| {
            is_compacted |= matches!(event, SessionEvent::Compaction(_));
        })
        .map_err(|err| unreadable(path.display(), &err))?;
        if is_compacted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The folder that sessions are found from, and the mask for their texts.
pub(in crate::cli) struct SessionPlace {
    /// The folder, canonical.
    pub(super) folder: PathBuf,
    pub(super) mask: FixedMask,
}

impl SessionPlace {
    /// Finds the sessions of a subject that were compacted, and prints notes on those passed over.
    pub(in crate::cli) fn find_compacted(
        &self,
        subject: &str,
        cx: &mut Cx,
    ) -> Result<SelectedSessions> {
        let found = find_sessions(subject, &self.folder, SessionChoice::NewestCompacted)?;
        for note in &found.notes {
            cx.print_note(&self.mask(note));
        }
        Ok(found)
    }

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
pub(in crate::cli) fn find_sessions(
    subject: &str,
    folder: &Path,
    choice: SessionChoice,
) -> Result<SelectedSessions> {
    let split = subject
        .rsplit_once('#')
        .and_then(|(rest, digits)| Some((rest, digits.parse().ok()?)))
        .filter(|_| !fs::exists(Path::new(subject)));
    let (place, number) = split.map_or((subject, None), |(rest, number)| (rest, Some(number)));
    if let Some((rest, other)) = place.rsplit_once('#')
        && !fs::exists(Path::new(place))
        && (rest.starts_with('@') || fs::exists(Path::new(rest)))
    {
        let message = format!("{place}: expected a number behind `#`, found `{other}`");
        return Err(CliError::usage(message).with_hint("`#2` is the second one"));
    }
    let ChosenFile { path, notes } = match place.strip_prefix('@') {
        Some(agent) => {
            let AgentSessions { files, listing } = agent_sessions(agent, folder)?;
            let chosen = ChosenFile::find(files, choice);
            if chosen.is_none() {
                listing?;
            }
            chosen.ok_or_else(|| {
                CliError::new(
                    CliErrorKind::NothingSelected,
                    format!(
                        "@{agent} has no session of this folder ({})",
                        folder.display()
                    ),
                )
                .with_hint(
                    "name the file of a session, or change to the folder in which the agent ran",
                )
            })?
        }
        None if fs::is_dir(Path::new(place)) => {
            check_listing(Path::new(place))?;
            let files = session_files(Path::new(place));
            let count = files.len();
            let mut chosen = ChosenFile::find(newest_first(files), choice);
            if let Some(chosen) = chosen.as_mut().filter(|_| count > 1) {
                chosen.notes.push(format!(
                    "{} of {count} files in {place} is read, as the newest {}; `{place}/*{SESSION_EXTENSION}` names all",
                    file_name(&chosen.path),
                    match choice {
                        SessionChoice::Newest => "session",
                        SessionChoice::NewestCompacted => "compacted session",
                    }
                ));
            }
            chosen.ok_or_else(|| {
                CliError::new(
                    CliErrorKind::NothingSelected,
                    format!(
                        "the folder {place} holds no session, which ends in {SESSION_EXTENSION}"
                    ),
                )
            })?
        }
        None => ChosenFile {
            path: PathBuf::from(place),
            notes: Vec::new(),
        },
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let home = home_folder().and_then(|home| path.strip_prefix(home).ok());
    let name = match (place.strip_prefix('@'), home) {
        (Some(_), _) => format!("{place} ({stem})"),
        (None, Some(below)) => Path::new("~").join(below).display().to_string(),
        (None, None) => path.display().to_string(),
    };
    Ok(SelectedSessions {
        files: session_with_sub_agents(name, path)?,
        number,
        notes,
    })
}

/// Returns a session, then its sub-agents.
fn session_with_sub_agents(name: String, path: PathBuf) -> Result<Vec<SessionFile>> {
    let format = session_format(&path)?;
    let first = SessionFile { name, path, format };
    let mut files = Vec::new();
    if format == SessionFormat::ClaudeCode {
        files = sub_agents(&first);
    }
    files.insert(0, first);
    Ok(files)
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
            CliError::usage(format!("{name} cannot be read: it does not exist"))
                .with_hint("`@claude`, `@codex`, `@pi` and `@gemini` are sessions of this folder"),
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
            if RealFs.stamp(path).is_ok_and(|stamp| stamp.len == 0) {
                let message = format!("{name} holds no session: it is empty");
                return CliError::new(CliErrorKind::NothingSelected, message);
            }
            CliError::new(
                CliErrorKind::Findings,
                format!(
                    "{name}: its first lines are those of no session (of Claude Code, Codex, pi or Gemini CLI) and of no recording of ctxc"
                ),
            )
        })
}

/// Returns the folder of the user.
fn home_folder() -> Option<PathBuf> {
    let named = fs::env_var("HOME").or_else(|| fs::env_var("USERPROFILE"))?;
    (!named.is_empty()).then(|| PathBuf::from(named))
}

/// The sessions of an agent.
struct AgentSessions {
    /// Its files, the newest first.
    files: Box<dyn Iterator<Item = PathBuf>>,
    /// The error of its folder, if that cannot be listed.
    listing: Result<()>,
}

/// Returns the sessions of an agent in a folder.
fn agent_sessions(agent: &str, folder: &Path) -> Result<AgentSessions> {
    let home = |variable: &str, below: &str| {
        let named = fs::env_var(variable).filter(|named| !named.is_empty());
        named.map_or_else(
            || Some(home_folder()?.join(below)),
            |named| Some(named.into()),
        )
    };
    let text = folder.to_string_lossy().into_owned();
    let own: Option<PathBuf> = match agent {
        "claude" => home("CLAUDE_CONFIG_DIR", ".claude").map(|own| {
            let name: String = text
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            own.join("projects").join(name)
        }),
        "pi" => home_folder().map(|own| {
            let name = text.trim_start_matches('/').replace(['/', '\\', ':'], "-");
            own.join(".pi/agent/sessions").join(format!("--{name}--"))
        }),
        "gemini" => home_folder().map(|own| own.join(".gemini/tmp")),
        "codex" => home("CODEX_HOME", ".codex").map(|own| own.join("sessions")),
        _ => {
            return Err(CliError::usage(format!(
                "there is no agent @{agent}; expected @claude, @codex, @pi or @gemini"
            ))
            .with_hint("a recording is named by its file here"));
        }
    };
    let Some(own) = own else {
        return Ok(AgentSessions {
            files: Box::new(std::iter::empty()),
            listing: Ok(()),
        });
    };
    let is_sub_agent = |path: &PathBuf| file_name(path).starts_with(AGENT_FILE);
    let files: Box<dyn Iterator<Item = PathBuf>> = match agent {
        "codex" => Box::new(codex_sessions(&own, text)),
        "gemini" => Box::new(newest_first(gemini_sessions(&own, &text))),
        "claude" => {
            Box::new(newest_first(session_files(&own)).filter(move |path| !is_sub_agent(path)))
        }
        _ => Box::new(newest_first(session_files(&own))),
    };
    Ok(AgentSessions {
        files,
        listing: check_listing(&own),
    })
}

/// Returns the newest session of a folder whose files can all be sessions.
pub(super) fn newest_session_in(folder: &Path) -> Option<PathBuf> {
    let is_other =
        |entry: &fs::FolderEntry| !entry.is_folder && !entry.name.ends_with(SESSION_EXTENSION);
    if fs::list_folder(folder).iter().any(is_other) {
        return None;
    }
    let files = newest_first(session_files(folder));
    Some(ChosenFile::find(files, SessionChoice::Newest)?.path)
}

/// Returns the files of a folder that can be sessions.
fn session_files(folder: &Path) -> Vec<PathBuf> {
    fs::list_folder(folder)
        .into_iter()
        .filter(|entry| !entry.is_folder && entry.name.ends_with(SESSION_EXTENSION))
        .map(|entry| entry.path)
        .collect()
}

/// Returns the files that exist, the newest first.
fn newest_first(files: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let time = |path: PathBuf| Some((RealFs.stamp(&path).ok()?.modified, path));
    let mut files: Vec<_> = files.into_iter().filter_map(time).collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path)
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

/// Returns the sessions of Codex that worked in a folder, the newest first.
fn codex_sessions(sessions: &Path, folder: String) -> impl Iterator<Item = PathBuf> + use<> {
    let latest_entries = |path: PathBuf| {
        let mut entries = fs::list_folder(&path);
        entries.retain(|entry| entry.is_folder);
        entries.into_iter().rev().map(|entry| entry.path)
    };
    let is_own = move |path: &PathBuf| {
        let head = fs::read_head(path, HEAD_BYTES).ok().flatten();
        let mut rows = serde_json::Deserializer::from_slice(head.as_deref().unwrap_or_default())
            .into_iter::<serde_json::Value>();
        let meta = rows.next().and_then(std::result::Result::ok);
        meta.is_some_and(|meta| {
            let own = meta.pointer("/payload/cwd");
            own.and_then(serde_json::Value::as_str) == Some(&folder)
        })
    };
    latest_entries(sessions.to_owned())
        .flat_map(latest_entries)
        .flat_map(latest_entries)
        .flat_map(|day| newest_first(session_files(&day)))
        .filter(is_own)
}
