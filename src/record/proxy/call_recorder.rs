//! Records calls: masks them, writes each as one line, and counts them.

use super::body;
use super::request::IncomingCall;
use crate::base::fs::{self, LineFile};
use crate::kernel::provider::{ProviderError, Usage};
use crate::project::config::RecordedContent;
use crate::provider::read;
use crate::record::json_text::{self, JsonEdit};
use crate::record::mask::{CallMask, StreamEnding};
use crate::record::places;
use crate::record::recording::{AnsweredBy, MaskedCount, Recording};
use crate::record::redact::{PatternFinder, Redactor};
use crate::scenario::date;
use crate::schema::json::names::REQUEST;
use hyper::body::Bytes;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The options of a recorder.
#[derive(Debug)]
pub struct RecorderOptions {
    /// The salt of placeholders.
    pub salt: [u8; 32],
    /// Values that are never recorded.
    pub secrets: Vec<String>,
    /// The extent to which texts are recorded.
    pub content: RecordedContent,
    /// The project's own patterns, masked besides secrets and personal data.
    pub patterns: Vec<Arc<dyn PatternFinder>>,
    /// The file; `None` to record nothing.
    pub file: Option<PathBuf>,
    /// Receives each call in its recorded form and its original form, if set.
    pub observer: Option<Sender<ObservedCall>>,
    /// The project of the recording.
    pub project: PathBuf,
    /// The command that sends the calls.
    pub command: Option<Vec<String>>,
}

/// A call in its recorded form, with its original request. Receivers must not write any of it.
#[derive(Clone)]
pub struct ObservedCall {
    /// The recorded call.
    pub call: Recording,
    /// The path of the request.
    pub endpoint: String,
    /// The body as it was sent.
    pub body: String,
    /// The redactor for this call.
    pub redactor: Redactor,
}

impl std::fmt::Debug for ObservedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeenCall")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// The counts and events of a run of the proxy.
#[derive(Clone, Debug, Default)]
pub struct ProxyTally {
    /// Accepted connections.
    pub connections: u64,
    /// Requests without the token of the run, or to no known path.
    pub unknown_requests: u64,
    /// Calls.
    pub calls: u64,
    /// Requests that are not calls, such as those for a list of models, and invalid JSON.
    pub other_requests: u64,
    /// The requested models.
    pub models: BTreeSet<String>,
    /// The number of masked values of each kind.
    pub masked: BTreeMap<String, u64>,
    /// The time that the proxy added to the calls.
    pub added: Duration,
    /// Failures between the proxy and the provider, and errors that the provider returned.
    pub failures: Vec<String>,
    /// The reasons why calls could not be answered.
    pub misses: Vec<String>,
    /// Requests that a strict double rejected, or would have.
    pub refusals: Vec<String>,
    /// Requests that were not recorded because of their content, with the reasons.
    pub lost: Vec<String>,
    /// Requests that are too large for a strict double to check.
    pub unchecked: Vec<String>,
    /// The reasons why something was not recorded.
    pub faults: Vec<String>,
}

/// Response headers that are recorded.
const RECORDED_HEADERS: [&str; 7] = [
    "content-type",
    "request-id",
    "x-request-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "openai-processing-ms",
];

/// Records calls.
#[derive(Debug)]
pub(super) struct CallRecorder {
    options: RecorderOptions,
    mask: Mutex<(BTreeSet<String>, Arc<CallMask>)>,
    file: Mutex<Option<Arc<LineFile>>>,
    tally: Mutex<ProxyTally>,
    /// The error of the first call that could not be recorded.
    recording_failure: OnceLock<String>,
}

/// A request in its masked form.
pub(super) struct MaskedRequest {
    mask: Arc<CallMask>,
    /// The edits of its body.
    edits: Vec<JsonEdit>,
    redacted: Vec<MaskedCount>,
}

/// The answer to a request.
#[derive(Debug, Default)]
pub(super) struct ReceivedAnswer {
    pub(super) by: AnsweredBy,
    pub(super) status: Option<u16>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) encoding: Option<String>,
    /// Each part with the milliseconds after which it arrived.
    pub(super) parts: Vec<(u64, Bytes)>,
    pub(super) is_stream: bool,
    pub(super) error: Option<String>,
    pub(super) is_cut: bool,
    /// True if the program closed the connection before it had its answer.
    pub(super) is_unwanted: bool,
    pub(super) latency: Duration,
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallRecorder {
    pub(super) fn new(options: RecorderOptions) -> Self {
        let mask = CallMask::new(
            options.salt,
            options.secrets.iter().cloned(),
            options.content,
        )
        .with_patterns(&options.patterns);
        Self {
            mask: Mutex::new((BTreeSet::new(), Arc::new(mask))),
            options,
            file: Mutex::default(),
            tally: Mutex::default(),
            recording_failure: OnceLock::new(),
        }
    }

    /// The error of a call that could not be recorded: no other one is made then.
    pub(super) fn recording_failure(&self) -> Option<&str> {
        self.recording_failure.get().map(String::as_str)
    }

    pub(super) fn lock_tally(&self) -> MutexGuard<'_, ProxyTally> {
        lock_mutex(&self.tally)
    }

    /// Returns the mask for all secrets known so far, with these added.
    pub(super) fn mask_with(&self, secrets: Vec<String>) -> Arc<CallMask> {
        let mut mask = lock_mutex(&self.mask);
        let (seen, current) = &mut *mask;
        let before = seen.len();
        seen.extend(secrets);
        if seen.len() > before {
            let all = self.options.secrets.iter().chain(&*seen).cloned();
            *current = Arc::new(
                CallMask::new(self.options.salt, all, self.options.content)
                    .with_patterns(&self.options.patterns),
            );
        }
        Arc::clone(current)
    }

    /// Masks a request.
    pub(super) fn mask_request(incoming: &IncomingCall, mask: Arc<CallMask>) -> MaskedRequest {
        let mut redacted = Vec::new();
        let edits = mask.request_edits(&incoming.body, &mut redacted);
        MaskedRequest {
            mask,
            edits,
            redacted,
        }
    }

    /// Records a call and counts it.
    pub(super) fn record_call(
        &self,
        incoming: &IncomingCall,
        masked: MaskedRequest,
        got: ReceivedAnswer,
    ) {
        let MaskedRequest {
            mask,
            edits,
            mut redacted,
        } = masked;
        let mut error = got.error;
        let read = body::decode_text(&got.parts, got.encoding.as_deref());
        let mut chunks = None;
        let mut response = None;
        let mut usage = Usage::default();
        let mut truncated = got.is_cut;
        match read {
            Err(why) => error = error.or_else(|| Some(format!("the answer is not kept: {why}"))),
            Ok((text, _)) if text.is_empty() && got.status.is_none() => {}
            Ok((text, ends)) => {
                let answer = read::find_dialect(incoming.dialect)
                    .map(|dialect| read::answer(dialect, &text));
                let is_success = got
                    .status
                    .is_some_and(|status| (200..300).contains(&status));
                match answer {
                    Some(Ok(answer)) => usage = answer.usage,
                    Some(Err(ProviderError::CutStream { .. })) if is_success => truncated = true,
                    _ => {}
                }
                let ending = StreamEnding::from_truncated(truncated, &text);
                if got.is_stream {
                    let parts = mask.mask_stream(&text, &ends, ending, &mut redacted);
                    response = Some(json_text::to_raw_json(&parts.concat()));
                    chunks = Some(got.parts.iter().map(|(at, _)| *at).zip(parts).collect());
                } else if serde_json::from_str::<&RawValue>(&text).is_ok() {
                    response = Some(json_text::to_raw_json(&mask.mask_body(
                        &text,
                        "/response",
                        &mut redacted,
                    )));
                } else {
                    response = Some(json_text::to_raw_json(
                        &mask
                            .mask_stream(&text, &[text.len()], ending, &mut redacted)
                            .concat(),
                    ));
                }
            }
        }
        let failure = match (&error, got.status) {
            _ if got.by != AnsweredBy::Upstream || got.is_unwanted => None,
            (Some(why), _) => Some(mask.mask_text(why)),
            (None, Some(status)) if status >= 400 => {
                Some(format!("the provider answered with status {status}"))
            }
            (None, _) => truncated.then(|| "the answer ended early".to_owned()),
        };
        let mut tally = self.lock_tally();
        tally.calls += 1;
        tally
            .failures
            .extend(failure.map(|why| format!("call {}: {why}", incoming.id)));
        if !incoming.model.is_empty() {
            tally.models.insert(mask.mask_text(&incoming.model));
        }
        for one in &redacted {
            *tally.masked.entry(one.kind.clone()).or_default() += one.count;
        }
        drop(tally);
        if self.options.file.is_none() && self.options.observer.is_none() {
            return;
        }
        let masked = |text: &Option<String>| text.as_deref().map(|text| mask.mask_text(text));
        let recording = Recording {
            schema: REQUEST.to_owned(),
            id: incoming.id.clone(),
            at: Some(date::format_time((fs::now_nanos() / 1_000_000_000) as i64)),
            agent: masked(&incoming.agent),
            conversation: masked(&incoming.conversation),
            command: self
                .options
                .command
                .as_ref()
                .map(|words| mask.mask_words(words)),
            caller: masked(&incoming.caller),
            answered_by: got.by,
            dialect: incoming.dialect.to_owned(),
            endpoint: mask.mask_text(&incoming.endpoint),
            model: mask.mask_text(&incoming.model),
            stream: incoming.is_stream,
            response,
            status: got.status,
            usage,
            latency_ms: u64::try_from(got.latency.as_millis()).ok(),
            key: incoming.key.clone(),
            headers: got
                .headers
                .into_iter()
                .filter(|(name, _)| RECORDED_HEADERS.contains(&name.as_str()))
                .map(|(name, value)| (name, mask.mask_text(&value)))
                .collect(),
            chunks,
            error: masked(&error),
            truncated,
            redacted,
            ..Recording::default()
        };
        if let Err(why) = self.write_call(&recording, &incoming.body, &edits) {
            let mut tally = self.lock_tally();
            let fault = format!("a call could not be kept: {why}");
            let _ = self.recording_failure.set(fault.clone());
            if !tally.faults.contains(&fault) {
                tally.faults.push(fault);
            }
        }
        if let Some(also) = &self.options.observer {
            let request =
                json_text::to_raw_json(&json_text::apply_json_edits(&incoming.body, edits));
            let call = Recording {
                request,
                ..recording
            };
            let (endpoint, body, redactor) = (
                incoming.endpoint.clone(),
                json_text::compact_json(&incoming.body),
                mask.redactor().clone(),
            );
            // A closed receiver has received all that it needs.
            let _ = also.send(ObservedCall {
                call,
                endpoint,
                body,
                redactor,
            });
        }
    }

    fn write_call(&self, recording: &Recording, body: &str, edits: &[JsonEdit]) -> io::Result<()> {
        let Some(path) = &self.options.file else {
            return Ok(());
        };
        let file = {
            let mut file = lock_mutex(&self.file);
            if let Some(open) = &*file {
                Arc::clone(open)
            } else {
                let open = Arc::new(LineFile::create(path)?);
                *file = Some(Arc::clone(&open));
                places::set_last(&self.options.project, path)?;
                open
            }
        };
        let request = |out: &mut dyn io::Write| {
            json_text::write_compact_edited(body, edits, |part| out.write_all(part.as_bytes()))
        };
        file.append_parts(|out| recording.write_line(out, request))
    }

    /// Waits until the recorded calls are on disk.
    pub(super) fn sync_file(&self) {
        let file = lock_mutex(&self.file).clone();
        if let Some(Err(why)) = file.map(|file| file.sync()) {
            self.lock_tally()
                .faults
                .push(format!("what was recorded may not be on the disk: {why}"));
        }
    }
}
