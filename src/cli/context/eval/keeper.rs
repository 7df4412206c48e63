//! Records the answers of models: one call per line in a partial file beside the recording, which
//! replaces the recording once every trial of the case is answered. A run that ends earlier leaves
//! the recording unchanged and the paid answers in the partial file; the next run continues from
//! them.

use crate::base::fs;
use crate::cli::overwrite;
use crate::cli::render::summary::plural;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::eval::asked::Asked;
use crate::kernel::provider::Response;
use crate::provider::read;
use crate::record::comparison::Comparison;
use crate::record::file::{Recordings, append};
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::rules::input::read_fault::reason;
use crate::scenario::{date, paths};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The most bytes of a file that are read; more than any recording has.
const LIMIT: u64 = 1 << 28;

/// Writes the recordings of a run.
#[derive(Debug)]
pub(super) struct Keeper<'p> {
    root: &'p Path,
    redactor: Redactor,
    /// Compares requests with those of an interrupted run.
    comparison: Comparison,
    /// Checks each call for secrets before it is written.
    check: SecretCheck,
    /// The id of the run, if it is stored in the history.
    run: OnceLock<String>,
    /// The recordings that this run began and did not finish, by path.
    begun: Mutex<BTreeMap<String, Begun>>,
    taken_over: Mutex<usize>,
    /// The error of the first failed write: with a full disk, no further answer is paid for.
    fault: OnceLock<String>,
}

/// An answer taken from an interrupted run, without a call.
#[derive(Debug)]
pub(super) struct TakenOver {
    pub(super) response: Response,
    /// True if the answer belongs to an earlier part of this run.
    pub(super) is_of_run: bool,
}

/// A recording that is under way.
#[derive(Debug, Default)]
struct Begun {
    /// The number of its calls.
    count: usize,
    /// Its calls from an interrupted run, as lines.
    kept: String,
    /// The remaining calls of that run.
    left: VecDeque<Recording>,
}

impl<'p> Keeper<'p> {
    pub(super) fn new(root: &'p Path, redactor: Redactor, comparison: Comparison) -> Self {
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
    pub(super) fn checking(self, check: SecretCheck) -> Self {
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
    pub(super) fn taken_over(&self) -> usize {
        *self
            .taken_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn begun(&self) -> MutexGuard<'_, BTreeMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, path: &str) -> PathBuf {
        self.root.join(paths::unfinished(path))
    }

    /// Checks that an answer can be stored before it is paid for. Returns the answer of an
    /// interrupted run to the same request in the same trial, if it has one.
    pub(super) fn begin(&self, asked: &Asked<'_>) -> Result<Option<TakenOver>, String> {
        let path = paths::recording(asked.path, asked.case);
        if let Some(why) = self.fault.get() {
            return Err(format!(
                "no model was asked, since an earlier answer could not be kept: {why}"
            ));
        }
        self.checked(&path, &self.recording(asked, None, 0))
            .map_err(|why| format!("no model was asked, since its answer cannot be kept: {why}"))?;
        let mut all = self.begun();
        if !all.contains_key(&path) {
            let left = self.open(&path).map_err(|why| {
                format!("no model was asked, since its answer cannot be kept: {why}")
            })?;
            all.insert(
                path.clone(),
                Begun {
                    left,
                    ..Begun::default()
                },
            );
        }
        let Some(begun) = all.get_mut(&path) else {
            return Ok(None);
        };
        let Some(call) = begun.left.pop_front() else {
            return Ok(None);
        };
        let is_same = call.trial == Some(asked.trial)
            && call.is_answered()
            && self.comparison.is_same(&call, &asked.sent.live());
        if let Some(response) = response(&call).filter(|_| is_same) {
            begun.count += 1;
            begun.kept += &call.line();
            *self
                .taken_over
                .lock()
                .unwrap_or_else(PoisonError::into_inner) += 1;
            return Ok(Some(TakenOver {
                response,
                is_of_run: self.is_of_run(&call),
            }));
        }
        begun.left.clear();
        let written = fs::write_atomic(&self.part(&path), begun.kept.as_bytes());
        written.map(|_| None).map_err(|why| unkept(&path, &why))
    }

    /// Opens the partial file beside a recording and returns its calls. If the run was killed just
    /// after the file replaced the recording, returns this run's calls in the recording.
    fn open(&self, path: &str) -> Result<VecDeque<Recording>, String> {
        let (place, part) = (self.root.join(path), self.part(path));
        for name in [path, &paths::unfinished(path)] {
            overwrite::refuse_links(self.root, name).map_err(|error| error.message)?;
        }
        if fs::is_dir(&place) {
            return Err(format!("{path} is a folder"));
        }
        if fs::is_read_only(&place) {
            return Err(format!("{path} is read-only"));
        }
        let calls = |file: &Path| {
            let mut bytes = Vec::new();
            match fs::read_into(file, LIMIT, &mut bytes) {
                Err(why) if why.kind() != io::ErrorKind::NotFound => {
                    return Err(unkept(path, &why));
                }
                _ => {}
            }
            let text = String::from_utf8_lossy(&bytes);
            Ok(Recordings::read(&text)
                .map(|found| found.calls)
                .unwrap_or_default())
        };
        let mut left = calls(&part)?;
        if left.is_empty() && self.run.get().is_some() && fs::is_file(&place) {
            left = calls(&place)?;
            left.retain(|call| self.is_of_run(call));
        }
        fs::create_dir_all(place.parent().unwrap_or(self.root))
            .map_err(|why| unkept(path, &why))?;
        let whole: String = left.iter().map(Recording::line).collect();
        fs::write_atomic(&part, whole.as_bytes()).map_err(|why| unkept(path, &why))?;
        Ok(left.into())
    }

    /// Adds a call to the recording of its case.
    pub(super) fn keep(&self, asked: &Asked<'_>, response: &Response) -> Result<Recording, String> {
        let path = paths::recording(asked.path, asked.case);
        let count = {
            let mut begun = self.begun();
            let begun = begun.entry(path.clone()).or_default();
            begun.count += 1;
            begun.count
        };
        let recording = self.recording(asked, Some(response), count);
        self.checked(&path, &recording)?;
        append(&self.part(&path), &recording).map_err(|why| {
            let why = unkept(&path, &why);
            self.fault.get_or_init(|| why.clone());
            why
        })?;
        Ok(recording)
    }

    /// Replaces the recording of a case by its new calls.
    pub(super) fn finish(&self, path: &str, case: &str) -> Result<(), String> {
        let path = paths::recording(path, case);
        let Some(_) = self.begun().remove(&path) else {
            return Ok(());
        };
        let (part, mut bytes) = (self.part(&path), Vec::new());
        let moved = fs::read_into(&part, LIMIT, &mut bytes)
            .and_then(|_| fs::write_atomic(&self.root.join(&path), &bytes));
        moved
            .and_then(|_| fs::remove(&part))
            .map_err(|why| unkept(&path, &why))
    }

    /// Leaves the recording of a case unchanged; returns a note on the partial file if calls were
    /// answered.
    pub(super) fn abandon(&self, path: &str, case: &str) -> Option<String> {
        let path = paths::recording(path, case);
        let begun = self.begun().remove(&path)?;
        let count = begun.count + begun.left.len();
        if count > 0 {
            let answers = plural(count, "answer");
            return Some(format!(
                "{} keeps {answers}, and the next `--record` continues from there",
                paths::unfinished(&path)
            ));
        }
        let part = self.part(&path);
        if let (Some(folder), Some(name)) = (
            part.parent(),
            part.file_name().and_then(|name| name.to_str()),
        ) {
            fs::take_back(folder, &[name]);
        }
        None
    }

    /// Refuses a call with a secret that no mask replaces.
    fn checked(&self, path: &str, call: &Recording) -> Result<(), String> {
        self.check
            .files([NewFile {
                name: path,
                text: &call.line(),
            }])
            .map(drop)
            .map_err(|error| error.message)
    }

    fn recording(
        &self,
        asked: &Asked<'_>,
        response: Option<&Response>,
        number: usize,
    ) -> Recording {
        let at = Some(date::time((fs::now() / 1_000_000_000) as i64));
        let recording = asked.sent.recording(
            response,
            AnsweredBy::Upstream,
            (number.to_string(), at),
            &self.redactor,
        );
        Recording {
            conversation: Some(asked.case.to_owned()),
            run: self.run.get().cloned(),
            trial: Some(asked.trial),
            ..recording
        }
    }
}

fn unkept(path: &str, why: &io::Error) -> String {
    format!("{path} cannot be written: {}", reason(why))
}

/// Returns the response of a call; `None` if it cannot be read.
fn response(call: &Recording) -> Option<Response> {
    let body = call.response_text()?;
    let answer = read::answer(read::dialect(&call.dialect)?, &body).ok()?;
    let latency = Duration::from_millis(call.latency_ms.unwrap_or(0));
    Some(Response {
        answer,
        body,
        status: call.status.unwrap_or(200),
        latency,
    })
}
