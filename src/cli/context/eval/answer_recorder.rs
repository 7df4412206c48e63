//! Records the answers of models: one call per line in a partial file beside the recording, which
//! replaces the recording once every trial of the case is answered. A run that ends earlier leaves
//! the recording unchanged and the paid answers in the partial file; the next run continues from
//! them.

use crate::base::fs;
use crate::cli::overwrite;
use crate::cli::render::summary::pluralize;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::eval::answer_source::{CallPurpose, ModelCall};
use crate::kernel::provider::Response;
use crate::provider::read;
use crate::record::comparison::RequestComparison;
use crate::record::file::{RecordingFile, append_call};
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::{date, paths};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The maximum number of bytes of a file that are read; more than any recording has.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// Writes the recordings of a run.
#[derive(Debug)]
pub(super) struct AnswerRecorder<'p> {
    root: &'p Path,
    redactor: Redactor,
    /// Compares requests with those of an interrupted run.
    comparison: RequestComparison,
    /// Checks each call for secrets before it is written.
    check: SecretCheck,
    /// The id of the run, if it is stored in the history.
    run: OnceLock<String>,
    /// The recordings that this run began and did not finish, by path.
    begun: Mutex<BTreeMap<String, PartialRecording>>,
    taken_over: Mutex<usize>,
    /// The error of the first failed write: with a full disk, no further answer is paid for.
    fault: OnceLock<String>,
}

/// An answer taken from an interrupted run, without a call.
#[derive(Debug)]
pub(super) struct ResumedAnswer {
    pub(super) response: Response,
    /// True if the answer belongs to an earlier part of this run.
    pub(super) is_of_run: bool,
}

/// A recording that is under way.
#[derive(Debug, Default)]
struct PartialRecording {
    /// The number of its calls.
    count: usize,
    /// Its calls from an interrupted run, as lines.
    resumed_lines: String,
    /// The remaining calls of that run.
    remaining_calls: VecDeque<Recording>,
}

impl<'p> AnswerRecorder<'p> {
    pub(super) fn new(root: &'p Path, redactor: Redactor, comparison: RequestComparison) -> Self {
        Self {
            root,
            redactor,
            comparison,
            check: SecretCheck::default(),
            run: OnceLock::new(),
            begun: Mutex::default(),
            taken_over: Mutex::default(),
            fault: OnceLock::new(),
        }
    }

    /// Adds a check that refuses to write secrets.
    pub(super) fn with_secret_check(self, check: SecretCheck) -> Self {
        Self { check, ..self }
    }

    /// Sets the id of the run; only the first call has an effect.
    pub(super) fn name_run(&self, run: &str) {
        self.run.get_or_init(|| run.to_owned());
    }

    fn is_of_run(&self, call: &Recording) -> bool {
        self.run
            .get()
            .is_some_and(|run| call.run.as_ref() == Some(run))
    }

    /// Returns the number of answers that were taken from interrupted runs.
    pub(super) fn resumed_count(&self) -> usize {
        *self
            .taken_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_recordings(&self) -> MutexGuard<'_, BTreeMap<String, PartialRecording>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part_path(&self, path: &str) -> PathBuf {
        self.root.join(paths::partial_recording_path(path))
    }

    /// Checks that an answer can be stored before it is paid for. Returns the answer of an
    /// interrupted run to the same request in the same trial, if it has one.
    pub(super) fn begin_trial(
        &self,
        call: &ModelCall<'_>,
    ) -> Result<Option<ResumedAnswer>, String> {
        let path = recording_path(call);
        if let Some(why) = self.fault.get() {
            return Err(format!(
                "no model was asked, since an earlier answer could not be kept: {why}"
            ));
        }
        self.check_secrets(&path, &self.build_recording(call, None, 0))
            .map_err(|why| format!("no model was asked, since its answer cannot be kept: {why}"))?;
        let mut all = self.lock_recordings();
        if !all.contains_key(&path) {
            let left = self.open_part(&path, call.purpose).map_err(|why| {
                format!("no model was asked, since its answer cannot be kept: {why}")
            })?;
            all.insert(
                path.clone(),
                PartialRecording {
                    remaining_calls: left,
                    ..PartialRecording::default()
                },
            );
        }
        let Some(begun) = all.get_mut(&path) else {
            return Ok(None);
        };
        let Some(recorded) = begun.remaining_calls.pop_front() else {
            return Ok(None);
        };
        let is_same = recorded.trial == Some(call.trial)
            && recorded.is_answered()
            && self.comparison.is_same(&recorded, &call.sent.to_live());
        if let Some(response) = recorded_response(&recorded).filter(|_| is_same) {
            begun.count += 1;
            begun.resumed_lines += &recorded.to_line();
            *self
                .taken_over
                .lock()
                .unwrap_or_else(PoisonError::into_inner) += 1;
            return Ok(Some(ResumedAnswer {
                response,
                is_of_run: self.is_of_run(&recorded),
            }));
        }
        begun.remaining_calls.clear();
        let written = fs::write_atomic(&self.part_path(&path), begun.resumed_lines.as_bytes());
        written
            .map(|_| None)
            .map_err(|why| write_error(&path, &why))
    }

    /// Opens the partial file beside a recording and returns its calls. If the run was killed just
    /// after the file replaced the recording, returns this run's calls in the recording.
    fn open_part(&self, path: &str, purpose: CallPurpose) -> Result<VecDeque<Recording>, String> {
        let (place, part) = (self.root.join(path), self.part_path(path));
        for name in [path, &paths::partial_recording_path(path)] {
            overwrite::reject_links(self.root, name).map_err(|error| error.message)?;
        }
        if fs::is_dir(&place) {
            return Err(format!("{path} is a folder"));
        }
        if fs::is_read_only(&place) {
            return Err(format!("{path} is read-only"));
        }
        let calls = |file: &Path| {
            let mut bytes = Vec::new();
            match fs::read_into(file, MAX_FILE_BYTES, &mut bytes) {
                Err(why) if why.kind() != io::ErrorKind::NotFound => {
                    return Err(write_error(path, &why));
                }
                _ => {}
            }
            let text = String::from_utf8_lossy(&bytes);
            Ok(RecordingFile::parse(&text)
                .map(|found| found.calls)
                .unwrap_or_default())
        };
        let mut left = calls(&part)?;
        if left.is_empty() && self.run.get().is_some() && fs::is_file(&place) {
            left = calls(&place)?;
            left.retain(|call| self.is_of_run(call));
        }
        if purpose == CallPurpose::Judge {
            // The judge is asked the same again only after an answer that was refused.
            let mut later = BTreeSet::new();
            left.reverse();
            left.retain(|call| later.insert(call.key.clone()));
            left.reverse();
        }
        fs::create_dir_all(place.parent().unwrap_or(self.root))
            .map_err(|why| write_error(path, &why))?;
        let whole: String = left.iter().map(Recording::to_line).collect();
        fs::write_atomic(&part, whole.as_bytes()).map_err(|why| write_error(path, &why))?;
        Ok(left.into())
    }

    /// Adds a call to the recording of its case.
    pub(super) fn record_call(
        &self,
        call: &ModelCall<'_>,
        response: &Response,
    ) -> Result<Recording, String> {
        let path = recording_path(call);
        let count = {
            let mut begun = self.lock_recordings();
            let begun = begun.entry(path.clone()).or_default();
            begun.count += 1;
            begun.count
        };
        let recording = self.build_recording(call, Some(response), count);
        self.check_secrets(&path, &recording)?;
        append_call(&self.part_path(&path), &recording).map_err(|why| {
            let why = write_error(&path, &why);
            self.fault.get_or_init(|| why.clone());
            why
        })?;
        Ok(recording)
    }

    /// Adds a call of an earlier recording, as it is, to the recording of its case.
    pub(super) fn copy_recorded_call(
        &self,
        asked: &ModelCall<'_>,
        call: &Recording,
    ) -> Result<(), String> {
        let path = recording_path(asked);
        let mut all = self.lock_recordings();
        if !all.contains_key(&path) {
            self.open_part(&path, asked.purpose)?;
        }
        let begun = all.entry(path.clone()).or_default();
        begun.count += 1;
        append_call(&self.part_path(&path), call).map_err(|why| write_error(&path, &why))
    }

    /// Replaces the recordings of a case by its new calls.
    pub(super) fn finish_recording(&self, path: &str, case: &str) -> Result<(), String> {
        for path in recording_paths(path, case) {
            self.finish_file(&path)?;
        }
        Ok(())
    }

    fn finish_file(&self, path: &str) -> Result<(), String> {
        let Some(_) = self.lock_recordings().remove(path) else {
            return Ok(());
        };
        let (part, mut bytes) = (self.part_path(path), Vec::new());
        let written = fs::read_into(&part, MAX_FILE_BYTES, &mut bytes)
            .and_then(|_| fs::write_atomic(&self.root.join(path), &bytes));
        written
            .and_then(|_| fs::remove_file(&part))
            .map_err(|why| write_error(path, &why))
    }

    /// Leaves the recording of a case unchanged; returns a note on the partial file if calls were
    /// answered.
    pub(super) fn abandon_recording(&self, path: &str, case: &str) -> Option<String> {
        let notes = recording_paths(path, case).map(|path| self.abandon_file(&path));
        notes.into_iter().flatten().reduce(|first, _| first)
    }

    fn abandon_file(&self, path: &str) -> Option<String> {
        let begun = self.lock_recordings().remove(path)?;
        let count = begun.count + begun.remaining_calls.len();
        if count > 0 {
            let answers = pluralize(count, "answer");
            return Some(format!(
                "{} keeps {answers}, and the next `--record` continues from there",
                paths::partial_recording_path(path)
            ));
        }
        let part = self.part_path(path);
        if let (Some(folder), Some(name)) = (
            part.parent(),
            part.file_name().and_then(|name| name.to_str()),
        ) {
            fs::remove_unused_folder(folder, &[name]);
        }
        None
    }

    /// Refuses a call with a secret that no mask replaces.
    fn check_secrets(&self, path: &str, call: &Recording) -> Result<(), String> {
        self.check
            .check_files([NewFile {
                name: path,
                text: &call.to_line(),
            }])
            .map(drop)
            .map_err(|error| error.message)
    }

    fn build_recording(
        &self,
        call: &ModelCall<'_>,
        response: Option<&Response>,
        number: usize,
    ) -> Recording {
        let recording = call
            .sent
            .to_recording(response, AnsweredBy::Upstream, &self.redactor);
        Recording {
            id: number.to_string(),
            at: Some(date::format_time((fs::now_nanos() / 1_000_000_000) as i64)),
            conversation: Some(call.case.to_owned()),
            run: self.run.get().cloned(),
            trial: Some(call.trial),
            ..recording
        }
    }
}

/// The file that a call is recorded in.
fn recording_path(asked: &ModelCall<'_>) -> String {
    match asked.purpose {
        CallPurpose::Answer => paths::recording_path(asked.path, asked.case),
        CallPurpose::Judge => paths::judgement_path(asked.path, asked.case),
    }
}

/// The files that the calls of a case are recorded in.
fn recording_paths(path: &str, case: &str) -> [String; 2] {
    [
        paths::recording_path(path, case),
        paths::judgement_path(path, case),
    ]
}

fn write_error(path: &str, why: &io::Error) -> String {
    format!("{path} cannot be written: {}", describe_io_error(why))
}

/// Returns the response of a call; `None` if it cannot be read.
fn recorded_response(call: &Recording) -> Option<Response> {
    let body = call.response_text()?;
    let answer = read::answer(read::find_dialect(&call.dialect)?, &body).ok()?;
    let latency = Duration::from_millis(call.latency_ms.unwrap_or(0));
    Some(Response {
        answer,
        body,
        status: call.status.unwrap_or(200),
        latency,
    })
}
