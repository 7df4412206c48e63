//! The requests that the programs of scenarios sent: stored in memory for the other side of a
//! comparison, and in a file for a job that must not run programs of a change.

use crate::base::fs;
use crate::base::hash::Hash;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::eval::answer_source::{ProgramCall, ProgramRequest};
use crate::record::redact::Redactor;
use crate::scenario::request_source::RequestSource;
use crate::store::trust::request_command;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The schema of the file.
const SCHEMA: &str = "ctxc.requests/1";
/// The maximum number of bytes that are read from a file.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A request of a program, or the reason why it is missing.
pub(super) type RequestOutcome = std::result::Result<ProgramRequest, String>;

/// The key of a scenario's request, which identifies it in another run of the same comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RequestKey {
    /// The scenario's file.
    scenario: String,
    /// The command line.
    program: String,
    conversation: usize,
    n: usize,
    /// The hash of the recording that answers the program.
    answers: Option<String>,
}

impl RequestKey {
    fn new(path: &str, source: &RequestSource, answers: Option<&str>) -> Self {
        let (conversation, n) = match source {
            RequestSource::Command(sent) => (sent.conversation, sent.n),
            RequestSource::File(_) | RequestSource::Python { .. } => (1, 1),
        };
        Self {
            scenario: path.to_owned(),
            program: request_command(source).unwrap_or_default(),
            conversation,
            n,
            answers: answers.map(|text| Hash::digest(text.as_bytes()).to_string()),
        }
    }
}

/// A request in a file. Its texts are masked.
#[derive(Serialize, Deserialize)]
struct StoredRequest {
    #[serde(flatten)]
    key: RequestKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The dialect of the body and the hash of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredRequests {
    schema: String,
    requests: Vec<StoredRequest>,
}

/// The requests of programs, each made once.
#[derive(Debug, Default)]
pub(super) struct SentRequests {
    outcomes: Mutex<BTreeMap<RequestKey, RequestOutcome>>,
    /// The file that contains them; if set, no program is run.
    file: Option<String>,
}

impl SentRequests {
    /// Reads the requests that an earlier run of the same comparison wrote.
    ///
    /// # Errors
    /// The file cannot be read, or has another schema.
    pub(super) fn read_file(path: &Path) -> Result<Self> {
        let fault = |why: String| {
            CliError::new(CliErrorKind::Infrastructure, format!("the requests of programs cannot be read from {}: {why}", path.display()))
                .with_hint("the job that runs the programs of the change writes them: `ctxc gate --save-requests FILE`")
        };
        let bytes = fs::read_head(path, MAX_FILE_BYTES)
            .map_err(|why| fault(why.to_string()))?
            .unwrap_or_default();
        let stored: StoredRequests =
            serde_json::from_slice(&bytes).map_err(|why| fault(why.to_string()))?;
        if stored.schema != SCHEMA {
            return Err(fault(format!("expected {SCHEMA}, found {}", stored.schema)));
        }
        let all = stored.requests.len();
        let outcomes: BTreeMap<_, _> = stored
            .requests
            .into_iter()
            .map(StoredRequest::into_outcome)
            .collect();
        if outcomes.len() < all {
            return Err(fault(
                "expected one request for each conversation of a scenario, found two for one"
                    .to_owned(),
            ));
        }
        Ok(Self {
            outcomes: Mutex::new(outcomes),
            file: Some(path.display().to_string()),
        })
    }

    /// Returns true if the requests come from a file, so that no code of the change may run.
    pub(super) const fn is_from_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the requests for a later run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write_file(&self, path: &Path, redactor: &Redactor) -> Result<()> {
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = outcomes
            .iter()
            .map(|(key, outcome)| StoredRequest::new(key.clone(), outcome, redactor))
            .collect();
        let stored = StoredRequests {
            schema: SCHEMA.to_owned(),
            requests,
        };
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default() + "\n";
        let fault = |why| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("{} cannot be written: {why}", path.display()),
            )
        };
        fs::write_atomic(path, text.as_bytes())
            .map(|_| ())
            .map_err(fault)
    }

    /// Returns the request of a scenario; calls `ask` only for the first one with its key.
    pub(in crate::cli::context) fn get_or_request(
        &self,
        path: &str,
        source: &RequestSource,
        answers: Option<&str>,
        ask: impl FnOnce() -> RequestOutcome,
    ) -> RequestOutcome {
        let key = RequestKey::new(path, source, answers);
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = outcomes.get(&key) {
            return outcome.clone();
        }
        let outcome = match &self.file {
            Some(file) => Err(format!(
                "{file} has no request of `{}`: the job that wrote it did not run it",
                key.program
            )),
            None => ask(),
        };
        outcomes.entry(key).or_insert(outcome).clone()
    }
}

impl StoredRequest {
    fn new(key: RequestKey, outcome: &RequestOutcome, redactor: &Redactor) -> Self {
        let json = |text: &str| redactor.mask_json(text, "", &mut Vec::new());
        match outcome {
            Ok(ProgramRequest {
                before,
                endpoint,
                body,
                call,
            }) => Self {
                key,
                before: before.as_deref().map(json),
                endpoint: endpoint.clone(),
                body: Some(json(body)),
                call: call
                    .as_ref()
                    .map(|call| (call.dialect.clone(), call.key.clone())),
                failed: None,
            },
            Err(why) => {
                let failed = Some(redactor.mask_text(why).0);
                Self {
                    key,
                    before: None,
                    endpoint: None,
                    body: None,
                    call: None,
                    failed,
                }
            }
        }
    }

    fn into_outcome(self) -> (RequestKey, RequestOutcome) {
        let Self {
            key,
            before,
            endpoint,
            body,
            call,
            failed,
        } = self;
        let Some(body) = body else {
            return (
                key,
                Err(failed.unwrap_or_else(|| "there is no request in the file".to_owned())),
            );
        };
        let call = call
            .zip(endpoint.clone())
            .map(|((dialect, hash), endpoint)| ProgramCall {
                endpoint,
                dialect,
                body: body.clone(),
                key: hash,
                redactor: None,
            });
        (
            key,
            Ok(ProgramRequest {
                before,
                endpoint,
                body,
                call,
            }),
        )
    }
}
