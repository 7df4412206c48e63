//! Loads the calls of subjects: `@NAME`, `@NAME#3`, `DIR#3`, a file of recorded calls, a file with
//! the body of a request.

use crate::base::fs;
use crate::cli::prelude::*;
use crate::record::file::{LinePlace, Recordings};
use crate::record::foreign::Format;
use crate::record::mask::Mask;
use crate::record::places::{Call, Place, PlaceFault, Subject, format_of_file};
use crate::record::recording::{LineFault, Recording, Redacted};
use crate::request::dialect::Dialect;
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use crate::request::threads::{Sent, Thread, threads};
use crate::rules::input::read_fault::reason;
use crate::schema::json::names::REQUEST;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum size of a file in bytes.
const LIMIT: u64 = 1 << 30;
/// Bytes at the head of a file that are searched for its schema.
const HEAD: u64 = 4096;
/// The extension of files of requests that are no recordings.
const BODIES: &str = ".json";
/// The extension of recordings.
const RECORDINGS: &str = ".jsonl";

/// A loaded request.
#[derive(Debug)]
pub(super) struct Loaded {
    /// Its name: `@last#3`, `request.json`.
    pub(super) name: String,
    /// The request as sent.
    pub(super) request: Request,
    pub(super) segments: Vec<Segment>,
    /// The recorded call; `None` for a body alone.
    pub(super) call: Option<Recording>,
}

/// Returns true if the path names a request or a recording: by its `@`, its number, the extension
/// of its file, or as a folder of recordings.
pub(crate) fn is_request(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let holds_recordings = |folder: &Path| {
        fs::is_dir(folder)
            && fs::names_in(folder)
                .iter()
                .any(|name| name.ends_with(RECORDINGS) && begins_as_recording(&folder.join(name)))
    };
    match Subject::parse(&text) {
        Subject {
            place: Place::Named(_),
            ..
        }
        | Subject {
            number: Some(_), ..
        } => true,
        Subject {
            place: Place::Path(path),
            ..
        } => {
            text.ends_with(RECORDINGS)
                || text.ends_with(BODIES)
                || is_foreign(&path)
                || holds_recordings(&path)
        }
    }
}

/// Returns true if another tool recorded the file: a VCR cassette, a trace.
fn is_foreign(path: &Path) -> bool {
    fs::is_file(path) && format_of_file(path).is_some_and(|format| format != Format::Ctxc)
}

/// Returns true if the file contains a body alone, or one recorded call.
fn is_body(subject: &str, path: &Path) -> bool {
    subject.ends_with(BODIES) && !is_foreign(path)
}

/// Returns true if a file begins like a recording. Tables of cases, conversations and exported
/// histories have the same extension.
fn begins_as_recording(path: &Path) -> bool {
    fs::head(path, HEAD).is_ok_and(|head| {
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
        && (!path.to_string_lossy().ends_with(BODIES)
            || is_foreign(path)
            || (fs::is_file(path) && body(path).is_ok()))
}

/// Loads the calls of some subjects, in order. A subject without a readable request is an error;
/// single unreadable calls are skipped with a note.
pub(super) fn load(
    subjects: &[String],
    project: &Path,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<Loaded>> {
    let mut all = Vec::new();
    for text in subjects {
        let subject = Subject::parse(text);
        if let Place::Path(path) = &subject.place
            && is_body(text, path)
        {
            all.push(body(path)?);
            continue;
        }
        let calls = subject
            .load(project, note)
            .map_err(|fault| unusable(&fault))?;
        if calls.is_empty() {
            return Err(
                CliError::new(Kind::Nothing, format!("{text} holds no recorded call"))
                    .hint("`ctxc record -- COMMAND` records what a program sends"),
            );
        }
        let (read, unread): (Vec<_>, Vec<_>) = calls
            .into_iter()
            .filter(is_of_model)
            .map(|Call { name, call, .. }| recorded(name, call))
            .partition(Result::is_ok);
        let (is_empty, count) = (read.is_empty(), unread.len());
        all.extend(read.into_iter().flatten());
        if let Some(Err(why)) = unread.into_iter().next() {
            if is_empty {
                return Err(why);
            }
            note(&format!(
                "{} of {text} skipped, as unreadable: `ctxc check` says why",
                plural(count, "call")
            ));
        } else if is_empty {
            return Err(CliError::new(
                Kind::Nothing,
                format!("{text} holds no call to a chat model"),
            )
            .hint("a call of another kind, such as for embeddings, has no messages to show"));
        }
    }
    Ok(all)
}

/// Loads the calls of a text, under one name.
pub(super) fn of_text(name: &str, text: &str) -> Result<Vec<Loaded>> {
    let read = Recordings::read(text)
        .map_err(|fault| CliError::new(Kind::Findings, format!("{name}: {fault}")))?;
    read.calls
        .into_iter()
        .enumerate()
        .map(|(at, call)| recorded(format!("{name}#{}", at + 1), call))
        .collect()
}

/// Returns true if a recorded call is a request to a chat model. Others, such as for embeddings,
/// have no segments.
fn is_of_model(call: &Call) -> bool {
    Dialect::named(&call.call.dialect).is_some()
}

/// Loads the only call of a subject.
pub(super) fn one(subject: &str, project: &Path) -> Result<Loaded> {
    let mut all = load(
        std::slice::from_ref(&subject.to_owned()),
        project,
        &mut |_| {},
    )?;
    let count = all.len();
    match all.pop() {
        Some(only) if count == 1 => Ok(only),
        _ => Err(CliError::usage(format!(
            "{subject} has {}, and one is shown at a time",
            plural(count, "call")
        ))
        .hint(format!("name one: `{subject}#1` to `{subject}#{count}`"))),
    }
}

/// The calls of a subject up to the one of a name, or all, those for embeddings and the like too: a
/// program that is run again makes all of them.
pub(super) fn until(subject: &str, name: Option<&str>, project: &Path) -> Result<Vec<Recording>> {
    let parsed = Subject::parse(subject);
    if let Place::Path(path) = &parsed.place
        && is_body(subject, path)
    {
        return Ok(body(path)?.call.into_iter().collect());
    }
    let calls = parsed
        .load(project, &mut |_| {})
        .map_err(|fault| unusable(&fault))?;
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
fn recorded(name: String, call: Recording) -> Result<Loaded> {
    let request = Request::read(call.request.get(), Some(&call.endpoint))
        .map_err(|fault| CliError::new(Kind::Findings, format!("{name}: {fault}")))?;
    Ok(Loaded {
        name,
        segments: segments(&request),
        request,
        call: Some(call),
    })
}

/// Masks a loaded request, and returns the masked values' kinds.
pub(super) fn masked(loaded: Loaded, mask: &Mask) -> Result<(Loaded, Vec<Redacted>)> {
    let mut redacted = Vec::new();
    let Loaded {
        name,
        request,
        call,
        ..
    } = loaded;
    let Some(call) = call else {
        let body = mask.json(&request.body.to_string(), "/request", &mut redacted);
        let request = Request::read(&body, Some(request.dialect.path()))
            .map_err(|fault| CliError::new(Kind::Findings, format!("{name}: {fault}")))?;
        return Ok((
            Loaded {
                name,
                segments: segments(&request),
                request,
                call: None,
            },
            redacted,
        ));
    };
    let call = mask.call(call);
    redacted.clone_from(&call.redacted);
    Ok((recorded(name, call)?, redacted))
}

/// Loads a file with one body or one recorded call.
fn body(path: &Path) -> Result<Loaded> {
    let name = path.display().to_string();
    let text = text_of(path)?;
    if names_own_format(&text)
        && let Ok(call) = Recording::read(&text)
    {
        return recorded(name, call);
    }
    let request = Request::read(&text, None)
        .map_err(|fault| CliError::new(Kind::Findings, format!("{name}: {fault}")))?;
    Ok(Loaded {
        name,
        segments: segments(&request),
        request,
        call: None,
    })
}

/// Returns the text of a file.
fn text_of(path: &Path) -> Result<String> {
    let name = path.display();
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes).map_err(|err| {
        let kind = if err.kind() == std::io::ErrorKind::NotFound {
            Kind::Usage
        } else {
            Kind::Findings
        };
        CliError::new(kind, format!("{name} cannot be read: {}", reason(&err)))
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| CliError::new(Kind::Findings, format!("{name} is not UTF-8")))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// The text of a request, which may be invalid.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) name: String,
    pub(super) kind: BodyKind,
    /// True if it was rebuilt from a trace, and so differs from the sent bytes.
    pub(super) is_rebuilt: bool,
    /// The place from which it can be read again, if any.
    pub(super) place: Option<(Arc<Path>, LinePlace)>,
}

/// The kind of a body.
#[derive(Debug)]
pub(super) enum BodyKind {
    /// The body of a recorded call.
    Call(Box<Recording>),
    /// The text of a body alone.
    Alone(String),
}

impl Body {
    /// Returns its text.
    pub(super) fn text(&self) -> &str {
        match &self.kind {
            BodyKind::Call(call) => call.request.get(),
            BodyKind::Alone(text) => text,
        }
    }

    /// Returns the recorded call; `None` for a body alone.
    pub(super) fn call(&self) -> Option<&Recording> {
        match &self.kind {
            BodyKind::Call(call) => Some(call),
            BodyKind::Alone(_) => None,
        }
    }
}

/// Calls without a body to check.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// The calls to other models, by their addresses without the query.
    pub(super) others: BTreeMap<String, usize>,
    /// The notes of what could not be read.
    pub(super) notes: Vec<String>,
}

/// Passes on the bodies of a subject, one by one and in order. Returns the skipped calls.
pub(super) fn bodies(subject: &str, project: &Path, mut take: impl FnMut(Body)) -> Result<Skipped> {
    let parsed = Subject::parse(subject);
    if let Place::Path(path) = &parsed.place
        && is_body(subject, path)
    {
        let (name, text) = (path.display().to_string(), text_of(path)?);
        let call = Some(text.as_str())
            .filter(|text| names_own_format(text))
            .and_then(|text| Recording::read(text).ok());
        let kind = call.map_or_else(
            || BodyKind::Alone(text),
            |call| BodyKind::Call(Box::new(call)),
        );
        take(Body {
            name,
            kind,
            is_rebuilt: false,
            place: None,
        });
        return Ok(Skipped::default());
    }
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let mut file: Option<Arc<Path>> = None;
    let notes = parsed
        .each(project, |call| {
            if !is_of_model(&call) {
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
            let place =
                (call.format == Format::Ctxc && fs::is_file(&path)).then_some((path, call.at));
            let kind = BodyKind::Call(Box::new(call.call));
            take(Body {
                name: call.name,
                kind,
                is_rebuilt: call.format == Format::Otlp,
                place,
            });
        })
        .map_err(|fault| unusable(&fault))?;
    Ok(Skipped { others, notes })
}

/// Returns true if the path may name a request or a recording, even an unreadable one. A JSON file
/// counts unless it declares the schema of a scenario.
pub(crate) fn looks_like_request(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let says = |text: &str| {
        ["\"ctxc/scenario/", "\"ctxc/suite/"]
            .iter()
            .any(|schema| text.contains(schema))
            && Recording::read(text).is_err()
    };
    let is_scenario = || text_of(path).is_ok_and(|text| says(&text));
    is_request(path)
        && (!name.ends_with(BODIES) || is_foreign(path) || fs::is_file(path) && !is_scenario())
}

fn unusable(fault: &PlaceFault) -> CliError {
    let kind = match fault {
        PlaceFault::NoName { .. } | PlaceFault::NoCall { .. } | PlaceFault::Nowhere => Kind::Usage,
        PlaceFault::NoFiles(_) => Kind::Nothing,
        PlaceFault::Line { fault, .. } if matches!(fault.fault, LineFault::Newer(_)) => {
            Kind::Infrastructure
        }
        PlaceFault::Unreadable { fault, .. } if fault.kind() == std::io::ErrorKind::NotFound => {
            Kind::Usage
        }
        PlaceFault::Line { .. } | PlaceFault::Foreign { .. } | PlaceFault::Unreadable { .. } => {
            Kind::Findings
        }
    };
    CliError::new(kind, fault.to_string())
}

/// Returns the conversation and agent of each call.
pub(super) fn threads_of(calls: &[Loaded]) -> Vec<Thread> {
    let sent = calls.iter().map(|loaded| Sent {
        segments: &loaded.segments,
        dialect: loaded.request.dialect,
        agent: loaded.call.as_ref().and_then(|call| call.agent.as_deref()),
        conversation: loaded
            .call
            .as_ref()
            .and_then(|call| call.conversation.as_deref()),
    });
    threads(&sent.collect::<Vec<_>>())
}
