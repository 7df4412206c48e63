//! Subjects that are sessions of coding agents, as calls: `@claude` and the like, a file, a folder;
//! `@claude#3` is the third call. Everything that leaves is masked as in recordings.

use super::load::{self, BodySource, CallBody, CallBodyKind, LoadedRequest, SkippedCalls};
use super::missing_tokens::EarlierBills;
use super::new_scenario::copy_mask;
use super::session_rows::SessionRows;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::compaction::{
    SelectedSessions, SessionChoice, SessionFile, find_sessions, names_session,
};
use crate::cli::prelude::*;
use crate::kernel::provider::Usage;
use crate::record::json_text::to_raw_json;
use crate::record::mask::CallMask;
use crate::record::recording::Recording;
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names::REQUEST;
use crate::session::calls::{CallSummary, SessionCall, SessionCalls};
use crate::session::read::session_reader::read_session;
use std::collections::BTreeMap;

/// Reads subjects that may be sessions.
pub(super) struct SubjectReader<'p> {
    project: &'p Project,
    /// The folder in which agents were started.
    folder: PathBuf,
}

/// The sessions of a subject: that of an agent, then those of its sub-agents.
#[derive(Debug)]
pub(super) struct FoundSessions {
    sessions: Vec<NamedSession>,
    /// The number of the named call.
    number: Option<usize>,
    /// The notes on newer files that were passed over.
    pub(super) notes: Vec<String>,
    mask: CallMask,
}

/// A session of the command line.
#[derive(Debug)]
pub(super) struct NamedSession {
    /// Its place among those of its subject.
    pub(super) order: usize,
    file: SessionFile,
    /// The beginning of the names of its calls.
    place: String,
    /// Its agent: the program that wrote it, or the name of a sub-agent.
    pub(super) agent: String,
    /// The name of the session.
    pub(super) conversation: String,
}

impl<'p> SubjectReader<'p> {
    /// Creates the reader for a project.
    pub(super) fn new(project: &'p Project, cx: &Cx) -> Self {
        let folder = cx.options.project.clone();
        let folder = folder.unwrap_or_else(|| fs::current_dir().unwrap_or_default());
        Self {
            project,
            folder: RealFs.canonicalize(&folder).unwrap_or(folder),
        }
    }

    /// Loads the calls of some subjects, in order; of a session, the named call, or the last one of
    /// each conversation, which has all messages of its context.
    pub(super) fn load_calls(
        &self,
        subjects: &[String],
        note: &mut dyn FnMut(&str),
    ) -> Result<Vec<LoadedRequest>> {
        let mut all = Vec::new();
        for subject in subjects {
            if names_session(subject) {
                all.extend(self.load_session(subject, note)?);
            } else {
                let subject = std::slice::from_ref(subject);
                all.extend(load::load_calls(subject, &self.project.root, note)?);
            }
        }
        Ok(all)
    }

    /// Passes on the bodies of a subject, one by one and in order; of a session, the named one, or
    /// the last one before each compaction: together, they have all messages. Returns the skipped
    /// calls.
    pub(super) fn each_body(
        &self,
        subject: &str,
        mut take: impl FnMut(CallBody),
    ) -> Result<SkippedCalls> {
        if !names_session(subject) {
            return load::each_body(subject, &self.project.root, take);
        }
        let sessions = self.find_sessions(subject)?;
        let mut fault = None;
        let missing_parts = sessions.each_call(|session, call| {
            if !sessions.is_selected(call) {
                return;
            }
            match session.recorded_call(call) {
                Ok((name, recorded)) => take(CallBody {
                    name,
                    kind: CallBodyKind::Call(Box::new(sessions.mask.mask_call(recorded))),
                    source: BodySource::Session,
                    place: None,
                    rows: Some(SessionRows::new(session.masked_path(&sessions.mask), call)),
                }),
                Err(error) => fault = Some(error),
            }
        })?;
        fault.map_or_else(
            || {
                Ok(SkippedCalls {
                    notes: sessions.notes.clone(),
                    missing_parts,
                    ..SkippedCalls::default()
                })
            },
            Err,
        )
    }

    fn load_session(
        &self,
        subject: &str,
        note: &mut dyn FnMut(&str),
    ) -> Result<Vec<LoadedRequest>> {
        let sessions = self.find_sessions(subject)?;
        sessions.notes.iter().for_each(|line| note(line));
        let mut latest = BTreeMap::new();
        let mut bills: BTreeMap<usize, EarlierBills> = BTreeMap::new();
        let missing_parts = sessions.each_call(|session, call| {
            let bills = bills.entry(session.order).or_default();
            bills.note_call(call, &self.project.config);
            if sessions.is_selected(call) {
                let latest_call = LatestCall {
                    recorded: session.recorded_call(call),
                    bills: *bills,
                };
                latest.insert(session.order, latest_call);
            }
        })?;
        let load = |latest: LatestCall| {
            let (name, call) = latest.recorded?;
            Ok(LoadedRequest {
                missing_parts: missing_parts.clone(),
                bills: latest.bills,
                ..load::load_recorded(name, sessions.mask.mask_call(call))?
            })
        };
        latest.into_values().map(load).collect()
    }

    /// Finds the sessions of a subject.
    pub(super) fn find_sessions(&self, subject: &str) -> Result<FoundSessions> {
        let SelectedSessions {
            mut files,
            number,
            notes,
        } = find_sessions(subject, &self.folder, SessionChoice::Newest)?;
        if number.is_some() {
            // Numbers are those of the session itself.
            files.truncate(1);
        }
        let mask = copy_mask(&[], self.project)?;
        let stems = files.iter().map(|file| {
            let stem = file.path.file_stem().unwrap_or_default();
            mask.mask_text(&stem.to_string_lossy())
        });
        let stems: Vec<String> = stems.collect();
        let conversation = stems.first().cloned().unwrap_or_default();
        let named = files.into_iter().zip(stems).enumerate();
        let sessions = named.map(|(order, (file, stem))| {
            let place = match subject.split('#').next() {
                _ if order > 0 => stem.clone(),
                Some(place) if place.starts_with('@') => place.to_owned(),
                _ => mask.mask_text(&file.name),
            };
            NamedSession {
                order,
                place,
                agent: if order > 0 {
                    stem.replacen("agent-", "sub-agent ", 1)
                } else {
                    file.format.word().to_owned()
                },
                conversation: conversation.clone(),
                file,
            }
        });
        Ok(FoundSessions {
            sessions: sessions.collect(),
            number,
            notes: notes.iter().map(|note| mask.mask_text(note)).collect(),
            mask,
        })
    }
}

/// The latest selected call of a session.
struct LatestCall {
    /// Its name and its recording, not masked yet.
    recorded: Result<(String, Recording)>,
    /// The bills up to it.
    bills: EarlierBills,
}

impl FoundSessions {
    /// Returns true for the named call; without a number, for all.
    pub(super) fn is_named(&self, call: &SessionCall<'_>) -> bool {
        self.number.is_none_or(|number| number == call.number)
    }

    /// Returns true for the named call; without a number, for calls that together have all messages.
    fn is_selected(&self, call: &SessionCall<'_>) -> bool {
        self.is_named(call) && (self.number.is_some() || call.is_longest)
    }

    /// Passes on all calls, one by one and in order. Returns the parts of requests that the sessions
    /// do not hold.
    pub(super) fn each_call<'s>(
        &'s self,
        mut take: impl FnMut(&'s NamedSession, &SessionCall<'_>),
    ) -> Result<Vec<&'static str>> {
        let (mut missing_parts, mut count) = (Vec::new(), 0);
        for session in &self.sessions {
            let summary = session.each_call(|call| take(session, call))?;
            count += summary.count;
            add_missing(&mut missing_parts, summary.missing_parts);
        }
        let name = self
            .sessions
            .first()
            .map_or("", |session| session.place.as_str());
        match self.number {
            Some(number) if number == 0 || number > count => Err(CliError::usage(format!(
                "{name} has {}, so there is no call {number}",
                pluralize(count, "call")
            ))
            .with_hint("behind `#`, `compaction` and `new scenario` number the compactions of a session; `check`, `manifest`, `prompt-cache` and `diff` its calls")),
            None if count == 0 => Err(CliError::new(
                CliErrorKind::NothingSelected,
                format!("{name} holds no answer of a model"),
            )),
            _ => Ok(missing_parts),
        }
    }
}

/// Adds the parts that a list does not have yet.
pub(super) fn add_missing(all: &mut Vec<&'static str>, parts: Vec<&'static str>) {
    let is_known = |part: &&str| all.contains(part);
    let new: Vec<&str> = parts.into_iter().filter(|part| !is_known(part)).collect();
    all.extend(new);
}

/// Returns the line that names the parts of requests that a session does not hold; `None` if it
/// holds all, and for recordings.
pub(super) fn missing_parts_line(missing_parts: &[&str]) -> Option<String> {
    let parts = missing_parts.join(", ");
    (!parts.is_empty())
        .then(|| format!("not in the session, so neither counted nor checked: {parts}"))
}

impl NamedSession {
    /// Returns the name of a call.
    pub(super) fn call_name(&self, call: &SessionCall<'_>) -> String {
        format!("{}#{}", self.place, call.number)
    }

    /// Returns the path of its file, masked.
    fn masked_path(&self, mask: &CallMask) -> String {
        mask.mask_text(&self.file.path.display().to_string())
    }

    /// Passes on the calls, one by one and in order.
    fn each_call(&self, take: impl FnMut(&SessionCall<'_>)) -> Result<CallSummary> {
        let file = &self.file;
        let mut calls = SessionCalls::new(file.format, take);
        fs::open_lines(&file.path)
            .and_then(|lines| read_session(lines, file.format, |event| calls.add_event(event)))
            .map_err(|err| {
                let message = format!("{} cannot be read: {}", file.name, describe_io_error(&err));
                CliError::new(CliErrorKind::Infrastructure, message)
            })?;
        Ok(calls.finish())
    }

    /// Returns a call as a recording would hold it, not masked yet, with its name.
    fn recorded_call(&self, call: &SessionCall<'_>) -> Result<(String, Recording)> {
        let name = self.call_name(call);
        let body = call
            .body()
            .map_err(|why| CliError::new(CliErrorKind::Findings, format!("{name}: {why}")))?;
        let tokens = call.facts.tokens;
        let recording = Recording {
            schema: REQUEST.to_owned(),
            id: call.number.to_string(),
            at: call.facts.at.clone(),
            agent: Some(self.agent.clone()),
            conversation: Some(self.conversation.clone()),
            dialect: call.dialect().word().to_owned(),
            endpoint: call.endpoint(),
            model: call.facts.model.clone().unwrap_or_default(),
            request: to_raw_json(&body.to_string()),
            usage: Usage {
                input: tokens.input,
                cached: tokens.cached,
                ..Usage::default()
            },
            ..Recording::default()
        };
        Ok((name, recording))
    }
}
