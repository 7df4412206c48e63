//! Loads the calls of subjects: `@NAME`, `@NAME#3`, `DIR#3`, a file of recorded calls, a file with
//! the body of a request.

use super::missing_tokens::EarlierBills;
use super::session_rows::SessionRows;
use crate::base::fs;
use crate::cli::compaction::names_session;
use crate::cli::prelude::*;
use crate::record::file::{RecordingFile, RecordingLine};
use crate::record::foreign::RecordingFormat;
use crate::record::mask::CallMask;
use crate::record::places::{
    LocatedCall, RecordingPlace, RecordingPlaceFault, RecordingSelector, detect_file_format,
};
use crate::record::recording::{LineFault, MaskedCount, Recording};
use crate::request::dialect::Dialect;
use crate::request::model::ModelRequest;
use crate::request::segments::{RequestSegment, build_segments};
use crate::request::threads::{Attribution, SentRequest, attribute_requests};
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names::REQUEST;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Bytes at the head of a file that are searched for its schema.
const HEAD_BYTES: u64 = 4096;
/// The extension of files of requests that are no recordings.
const BODY_EXTENSION: &str = ".json";
/// The extension of recordings.
const RECORDING_EXTENSION: &str = ".jsonl";

/// A loaded request.
#[derive(Debug)]
pub(super) struct LoadedRequest {
    /// Its name: `@last#3`, `request.json`.
    pub(super) name: String,
    /// The request as sent.
    pub(super) request: ModelRequest,
    pub(super) segments: Vec<RequestSegment>,
    /// The recorded call; `None` for a body alone.
    pub(super) call: Option<Recording>,
    /// The parts of the request that its session does not hold.
    pub(super) missing_parts: Vec<&'static str>,
    /// The bills of the earlier calls of its session.
    pub(super) bills: EarlierBills,
}

/// Returns true if the path names a request, a recording or a session: by its `@`, its number, the
/// extension of its file, or as a folder of recordings or sessions.
pub(crate) fn is_request(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let holds_recordings = |folder: &Path| {
        fs::is_dir(folder)
            && fs::list_names(folder).iter().any(|name| {
                name.ends_with(RECORDING_EXTENSION) && begins_as_recording(&folder.join(name))
            })
    };
    match RecordingSelector::parse(&text) {
        RecordingSelector {
            place: RecordingPlace::Named(_),
            ..
        }
        | RecordingSelector {
            number: Some(_), ..
        } => true,
        RecordingSelector {
            place: RecordingPlace::Path(path),
            ..
        } => {
            text.ends_with(RECORDING_EXTENSION)
                || text.ends_with(BODY_EXTENSION)
                || is_foreign(&path)
                || holds_recordings(&path)
                || names_session(&text)
        }
    }
}

/// Returns true if another tool recorded the file: a VCR cassette, a trace.
fn is_foreign(path: &Path) -> bool {
    fs::is_file(path)
        && detect_file_format(path).is_some_and(|format| format != RecordingFormat::Ctxc)
}

/// Returns true if the file contains a body alone, or one recorded call.
fn is_body(subject: &str, path: &Path) -> bool {
    subject.ends_with(BODY_EXTENSION) && !is_foreign(path)
}

/// Returns true if a file begins like a recording. Tables of cases, conversations and exported
/// histories have the same extension.
fn begins_as_recording(path: &Path) -> bool {
    fs::read_head(path, HEAD_BYTES).is_ok_and(|head| {
        head.is_some_and(|bytes| {
            String::from_utf8_lossy(&bytes).contains(REQUEST.trim_end_matches(char::is_numeric))
        })
    })
}

/// Returns true if a text may be in a format of ctxc. A quick test, because most texts are not and
/// need not be parsed.
fn names_own_format(text: &str) -> bool {
    ["\"ctxc/", "\"ctxc\\/"]
        .iter()
        .any(|begin| text.contains(begin))
}

/// Returns true if the path names a request or a recording. A JSON file is parsed to be sure.
pub(crate) fn holds_request(path: &Path) -> bool {
    is_request(path)
        && (!path.to_string_lossy().ends_with(BODY_EXTENSION)
            || is_foreign(path)
            || (fs::is_file(path) && load_body(path).is_ok()))
}

/// Loads the calls of some subjects, in order. A subject without a readable request is an error;
/// single unreadable calls are skipped with a note.
pub(super) fn load_calls(
    subjects: &[String],
    project: &Path,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<LoadedRequest>> {
    let mut all = Vec::new();
    for text in subjects {
        let subject = RecordingSelector::parse(text);
        if let RecordingPlace::Path(path) = &subject.place
            && is_body(text, path)
        {
            all.push(load_body(path)?);
            continue;
        }
        let calls = subject
            .load_calls(project, note)
            .map_err(|fault| unusable_error(&fault))?;
        if calls.is_empty() {
            return Err(CliError::new(
                CliErrorKind::NothingSelected,
                format!("{text} holds no recorded call"),
            )
            .with_hint("`ctxc record -- COMMAND` records what a program sends"));
        }
        let (read, unread): (Vec<_>, Vec<_>) = calls
            .into_iter()
            .filter(is_chat_call)
            .map(|LocatedCall { name, call, .. }| load_recorded(name, call))
            .partition(Result::is_ok);
        let (is_empty, count) = (read.is_empty(), unread.len());
        all.extend(read.into_iter().flatten());
        if let Some(Err(why)) = unread.into_iter().next() {
            if is_empty {
                return Err(why);
            }
            note(&format!(
                "{} of {text} skipped, as unreadable: `ctxc check` says why",
                pluralize(count, "call")
            ));
        } else if is_empty {
            return Err(CliError::new(
                CliErrorKind::NothingSelected,
                format!("{text} holds no call to a chat model"),
            )
            .with_hint("a call of another kind, such as for embeddings, has no messages to show"));
        }
    }
    Ok(all)
}

/// Loads the calls of a text, under one name.
pub(super) fn calls_of_text(name: &str, text: &str) -> Result<Vec<LoadedRequest>> {
    let read = RecordingFile::parse(text)
        .map_err(|fault| CliError::new(CliErrorKind::Findings, format!("{name}: {fault}")))?;
    read.calls
        .into_iter()
        .enumerate()
        .map(|(at, call)| load_recorded(format!("{name}#{}", at + 1), call))
        .collect()
}

/// Returns true if a recorded call is a request to a chat model. Others, such as for embeddings,
/// have no segments.
fn is_chat_call(call: &LocatedCall) -> bool {
    Dialect::find(&call.call.dialect).is_some()
}

/// Loads the only call of a subject.
pub(super) fn load_single(subject: &str, project: &Path) -> Result<LoadedRequest> {
    let mut all = load_calls(
        std::slice::from_ref(&subject.to_owned()),
        project,
        &mut |_| {},
    )?;
    let count = all.len();
    match all.pop() {
        Some(only) if count == 1 => Ok(only),
        _ => Err(CliError::usage(format!(
            "{subject} has {}, and one is shown at a time",
            pluralize(count, "call")
        ))
        .with_hint(format!("name one: `{subject}#1` to `{subject}#{count}`"))),
    }
}

/// Returns the calls of a subject up to the named one, or all of them. Includes calls such as those
/// for embeddings, because a program that is run again makes all of them.
pub(super) fn calls_until(
    subject: &str,
    name: Option<&str>,
    project: &Path,
) -> Result<Vec<Recording>> {
    let parsed = RecordingSelector::parse(subject);
    if let RecordingPlace::Path(path) = &parsed.place
        && is_body(subject, path)
    {
        return Ok(load_body(path)?.call.into_iter().collect());
    }
    let calls = parsed
        .load_calls(project, &mut |_| {})
        .map_err(|fault| unusable_error(&fault))?;
    let of_name = |name: &str| {
        calls
            .iter()
            .position(|call| call.name == name)
            .map_or(0, |at| at + 1)
    };
    let own = name.map_or(calls.len(), of_name);
    Ok(calls.into_iter().take(own).map(|call| call.call).collect())
}

/// Loads a recorded call.
pub(super) fn load_recorded(name: String, call: Recording) -> Result<LoadedRequest> {
    let request = ModelRequest::parse(call.request.get(), Some(&call.endpoint))
        .map_err(|fault| CliError::new(CliErrorKind::Findings, format!("{name}: {fault}")))?;
    Ok(LoadedRequest {
        name,
        segments: build_segments(&request),
        request,
        call: Some(call),
        missing_parts: Vec::new(),
        bills: EarlierBills::default(),
    })
}

/// Masks a loaded request, and returns the masked values' kinds.
pub(super) fn mask_request(
    loaded: LoadedRequest,
    mask: &CallMask,
) -> Result<(LoadedRequest, Vec<MaskedCount>)> {
    let mut redacted = Vec::new();
    let LoadedRequest {
        name,
        request,
        call,
        ..
    } = loaded;
    let Some(call) = call else {
        let body = mask.mask_body(&request.body.to_string(), "/request", &mut redacted);
        let request = ModelRequest::parse(&body, Some(request.dialect.path_suffix()))
            .map_err(|fault| CliError::new(CliErrorKind::Findings, format!("{name}: {fault}")))?;
        return Ok((
            LoadedRequest {
                name,
                segments: build_segments(&request),
                request,
                call: None,
                missing_parts: Vec::new(),
                bills: EarlierBills::default(),
            },
            redacted,
        ));
    };
    let call = mask.mask_call(call);
    redacted.clone_from(&call.redacted);
    Ok((load_recorded(name, call)?, redacted))
}

/// Loads a file with one body or one recorded call.
fn load_body(path: &Path) -> Result<LoadedRequest> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    if names_own_format(&text)
        && let Ok(call) = Recording::parse_line(&text)
    {
        return load_recorded(name, call);
    }
    let request = ModelRequest::parse(&text, None)
        .map_err(|fault| CliError::new(CliErrorKind::Findings, format!("{name}: {fault}")))?;
    Ok(LoadedRequest {
        name,
        segments: build_segments(&request),
        request,
        call: None,
        missing_parts: Vec::new(),
        bills: EarlierBills::default(),
    })
}

/// Returns the text of a file.
fn read_text(path: &Path) -> Result<String> {
    let name = path.display();
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_FILE_BYTES, &mut bytes).map_err(|err| {
        let kind = if err.kind() == std::io::ErrorKind::NotFound {
            CliErrorKind::Usage
        } else {
            CliErrorKind::Findings
        };
        CliError::new(
            kind,
            format!("{name} cannot be read: {}", describe_io_error(&err)),
        )
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| CliError::new(CliErrorKind::Findings, format!("{name} is not UTF-8")))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The text of a request, which may be invalid.
#[derive(Debug)]
pub(super) struct CallBody {
    pub(super) name: String,
    pub(super) kind: CallBodyKind,
    /// The source of the text.
    pub(super) source: BodySource,
    /// The place from which it can be read again, if any.
    pub(super) place: Option<(Arc<Path>, RecordingLine)>,
    /// The rows of its session, if it is of one.
    pub(super) rows: Option<SessionRows>,
}

/// The source of a body's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodySource {
    /// It is what was sent.
    Sent,
    /// It was rebuilt from a trace, and so differs from the sent bytes.
    Trace,
    /// It was rebuilt from a session, which has its answer.
    Session,
}

/// The kind of a body.
#[derive(Debug)]
pub(super) enum CallBodyKind {
    /// The body of a recorded call.
    Call(Box<Recording>),
    /// The text of a body alone.
    Alone(String),
}

impl CallBody {
    /// Returns its text.
    pub(super) fn text(&self) -> &str {
        match &self.kind {
            CallBodyKind::Call(call) => call.request.get(),
            CallBodyKind::Alone(text) => text,
        }
    }

    /// Returns the recorded call; `None` for a body alone.
    pub(super) fn call(&self) -> Option<&Recording> {
        match &self.kind {
            CallBodyKind::Call(call) => Some(call),
            CallBodyKind::Alone(_) => None,
        }
    }
}

/// Calls without a body to check.
#[derive(Debug, Default)]
pub(super) struct SkippedCalls {
    /// The calls to other models, by their addresses without the query.
    pub(super) others: BTreeMap<String, usize>,
    /// The notes of what could not be read.
    pub(super) notes: Vec<String>,
    /// The parts of the checked requests that their sessions do not hold.
    pub(super) missing_parts: Vec<&'static str>,
}

/// Passes on the bodies of a subject, one by one and in order. Returns the skipped calls.
pub(super) fn each_body(
    subject: &str,
    project: &Path,
    mut take: impl FnMut(CallBody),
) -> Result<SkippedCalls> {
    let parsed = RecordingSelector::parse(subject);
    if let RecordingPlace::Path(path) = &parsed.place
        && is_body(subject, path)
    {
        let (name, text) = (path.display().to_string(), read_text(path)?);
        let call = Some(text.as_str())
            .filter(|text| names_own_format(text))
            .and_then(|text| Recording::parse_line(text).ok());
        let kind = call.map_or_else(
            || CallBodyKind::Alone(text),
            |call| CallBodyKind::Call(Box::new(call)),
        );
        take(CallBody {
            name,
            kind,
            source: BodySource::Sent,
            place: None,
            rows: None,
        });
        return Ok(SkippedCalls::default());
    }
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let mut file: Option<Arc<Path>> = None;
    let notes = parsed
        .each_call(project, |call| {
            if !is_chat_call(&call) {
                let endpoint = call.call.endpoint.split('?').next().unwrap_or_default();
                *others.entry(endpoint.to_owned()).or_default() += 1;
                return;
            }
            let path = file
                .take()
                .filter(|file| **file == *call.file)
                .unwrap_or_else(|| Arc::from(call.file.as_path()));
            file = Some(Arc::clone(&path));
            // A pipe cannot be read a second time.
            let place = (call.format == RecordingFormat::Ctxc && fs::is_file(&path))
                .then_some((path, call.at));
            let kind = CallBodyKind::Call(Box::new(call.call));
            take(CallBody {
                name: call.name,
                kind,
                source: if call.format == RecordingFormat::Otlp {
                    BodySource::Trace
                } else {
                    BodySource::Sent
                },
                place,
                rows: None,
            });
        })
        .map_err(|fault| unusable_error(&fault))?;
    Ok(SkippedCalls {
        others,
        notes,
        missing_parts: Vec::new(),
    })
}

/// Returns true if the path may name a request or a recording, even an unreadable one. A JSON file
/// counts unless it declares the schema of a scenario.
pub(crate) fn looks_like_request(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let names_schema = |text: &str| {
        ["\"ctxc/scenario/", "\"ctxc/suite/"]
            .iter()
            .any(|schema| text.contains(schema))
            && Recording::parse_line(text).is_err()
    };
    let is_scenario = || read_text(path).is_ok_and(|text| names_schema(&text));
    is_request(path)
        && (!name.ends_with(BODY_EXTENSION)
            || is_foreign(path)
            || fs::is_file(path) && !is_scenario())
}

fn unusable_error(fault: &RecordingPlaceFault) -> CliError {
    let kind = match fault {
        RecordingPlaceFault::NoName { .. }
        | RecordingPlaceFault::NoCall { .. }
        | RecordingPlaceFault::NoDataFolder => CliErrorKind::Usage,
        RecordingPlaceFault::NoFiles(_) => CliErrorKind::NothingSelected,
        RecordingPlaceFault::Line { fault, .. } if matches!(fault.fault, LineFault::Newer(_)) => {
            CliErrorKind::Infrastructure
        }
        RecordingPlaceFault::Unreadable { fault, .. }
            if fault.kind() == std::io::ErrorKind::NotFound =>
        {
            CliErrorKind::Usage
        }
        RecordingPlaceFault::Line { .. }
        | RecordingPlaceFault::Foreign { .. }
        | RecordingPlaceFault::Unreadable { .. } => CliErrorKind::Findings,
    };
    let error = CliError::new(kind, fault.to_string());
    if matches!(fault, RecordingPlaceFault::NoName { .. }) {
        return error
            .with_hint("`@claude`, `@codex`, `@pi` and `@gemini` are sessions of this folder");
    }
    if let RecordingPlaceFault::Line { fault, .. } = fault
        && matches!(fault.fault, LineFault::Other(_))
    {
        return error.with_hint(
            "a session of Claude Code, Codex, pi or Gemini CLI is named by its own file, and a folder of recordings holds nothing else",
        );
    }
    error
}

/// Returns the conversation and agent of each call.
pub(super) fn call_threads(calls: &[LoadedRequest]) -> Vec<Attribution> {
    let sent = calls.iter().map(|loaded| SentRequest {
        segments: &loaded.segments,
        dialect: loaded.request.dialect,
        agent: loaded.call.as_ref().and_then(|call| call.agent.as_deref()),
        conversation: loaded
            .call
            .as_ref()
            .and_then(|call| call.conversation.as_deref()),
    });
    attribute_requests(&sent.collect::<Vec<_>>())
}
