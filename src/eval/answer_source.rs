//! The sources of answers, and the traits behind which a host calls models, runs programs and
//! records trials.

use super::answer::{StoredAnswer, TrialAnswer};
use super::case_result::ResultKeys;
use super::judge::ProjectJudge;
use crate::base::words::words;
use crate::kernel::provider::Response;
use crate::project::config::Config;
use crate::project::models::{ModelConfig, ProviderConfig};
use crate::record::comparison::{LiveRequest, RequestComparison};
use crate::record::recording::{Recording, TrialNumber};
use crate::record::redact::Redactor;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::request_source::RequestSource;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

pub use crate::run::wire::OutgoingRequest;

words! {
    /// The source of answers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AnswersFrom {
        /// From the recording of the case, or from its script if it has no recording.
        #[default]
        Known = "known",
        /// From its recording only.
        Replay = "replay",
        /// From its script only.
        Scripted = "scripted",
        /// From a model; the answers are recorded.
        Record = "record",
        /// From its recording, or from a model if the recording lacks the request; the new answers
        /// are recorded.
        ReplayOrRecord = "replay-or-record",
        /// From a model.
        Live = "live",
        /// From an earlier run, whose answers are judged again.
        Kept = "kept",
    }
}

impl AnswersFrom {
    /// Returns true if the recorded answers are not read, because others replace them.
    pub const fn ignores_recordings(self) -> bool {
        matches!(
            self,
            Self::Record | Self::Live | Self::Scripted | Self::Kept
        )
    }

    /// Returns true if a model may be called.
    pub const fn calls_models(self) -> bool {
        matches!(self, Self::Record | Self::ReplayOrRecord | Self::Live)
    }
}

/// The recorded trials of a case that suffice, so that no model is called for more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SufficientTrials {
    /// As many as were planned when they were recorded.
    #[default]
    AsPlanned,
    /// As many as the rule of the case has now.
    AsRequired,
}

/// The sources of answers of all cases, and the host's services around them.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerOptions<'a> {
    /// The source of answers.
    pub from: AnswersFrom,
    /// The providers of the project; `None` if it has none.
    pub providers: Option<&'a BTreeMap<String, ProviderConfig>>,
    /// Calls models, if they may be called.
    pub ask: Option<&'a dyn ModelCaller>,
    /// Records trials as they are answered, if the run is recorded.
    pub trials: Option<&'a dyn TrialRecorder>,
    /// Runs the project's own checks, if they may run.
    pub check_runner: Option<&'a dyn RunCheck>,
    /// Runs programs of the project for their requests, if they may run.
    pub programs: Option<&'a dyn RunProgram>,
    /// The sessions in the user's folder for state; `None` reads those of the project alone.
    pub sessions: Option<&'a dyn SessionStore>,
    /// The project's rules and models, to detect requests that a vendor would reject; `None` skips
    /// that check.
    pub config: Option<&'a Config>,
    /// The rules for comparing requests with recorded ones; `None` if the project has none.
    pub comparison: Option<&'a RequestComparison>,
    /// The judge of the project; `None` if no case needs one.
    pub judge: Option<&'a ProjectJudge<'a>>,
    /// True if a failed case is tried in a second stage.
    pub confirms: bool,
    /// True if the messages of a case that does not pass are retained for display.
    pub retains_messages: bool,
    /// The recorded trials that suffice where a model may be called.
    pub sufficient: SufficientTrials,
    /// True if no model is called and the cost of calling is estimated instead.
    pub estimates_only: bool,
}

/// The answers available to one case.
#[derive(Clone, Copy, Debug)]
pub struct CaseAnswers<'a> {
    /// Its recorded calls, or the reason why they cannot be read.
    pub recorded: Result<&'a [Recording], &'a str>,
    /// The recorded calls of the judge, or the reason why they cannot be read.
    pub judged: Result<&'a [Recording], &'a str>,
    /// The answers of an earlier run.
    pub kept: &'a [StoredAnswer],
    /// The results of tools, by tool name.
    pub tools: &'a BTreeMap<String, Value>,
}

impl Default for CaseAnswers<'_> {
    fn default() -> Self {
        static NONE: BTreeMap<String, Value> = BTreeMap::new();
        Self {
            recorded: Ok(&[]),
            judged: Ok(&[]),
            kept: &[],
            tools: &NONE,
        }
    }
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPurpose {
    /// The answer of the case.
    Answer,
    /// The scores of an answer.
    Judge,
}

/// A call of a model for a case.
#[derive(Clone, Copy, Debug)]
pub struct ModelCall<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// The purpose.
    pub purpose: CallPurpose,
    /// The trial.
    pub trial: TrialNumber,
    /// The model.
    pub model: &'a ModelConfig,
    /// The request.
    pub sent: &'a OutgoingRequest,
    /// Its tokens, if they were counted.
    pub context: Option<u64>,
}

/// A trial in progress.
#[derive(Clone, Copy, Debug)]
pub struct TrialUnderWay<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// The keys that its result belongs to.
    pub keys: ResultKeys,
    /// The trial.
    pub trial: TrialNumber,
}

/// Records trials as they are answered, so that a killed run loses none of them.
pub trait TrialRecorder: Debug + Sync {
    /// The answer of a trial before the run was interrupted; `None` if there is none, or if it
    /// belongs to another request.
    fn earlier_answer(&self, trial: &TrialUnderWay<'_>) -> Option<TrialAnswer>;

    /// Records the answer of a trial, with its source.
    fn record_answer(&self, trial: &TrialUnderWay<'_>, answer: &TrialAnswer, by: &str);
}

/// Runs a project's own checks.
pub trait RunCheck: Debug + Sync {
    /// Runs a check with this JSON as input and returns its output; `None` if the user did not
    /// permit it.
    ///
    /// # Errors
    /// The check did not end by itself, or ended with an error; the reason is in the text.
    fn run(&self, check: &OwnCheck, trial: &str) -> Option<Result<String, String>>;

    /// Runs a method of compaction with this JSON as input and returns its output; `None` if the
    /// user did not permit it.
    ///
    /// # Errors
    /// As for a check.
    fn run_method(&self, method: &OwnCheck, input: &str) -> Option<Result<String, String>>;
}

/// The sessions in the user's folder for state.
pub trait SessionStore: Debug + Sync {
    /// Returns the text of a session by its hash; `None` if it is not there.
    fn session_text(&self, hash: &str) -> Option<String>;
}

/// Runs programs of the project for their requests.
pub trait RunProgram: Debug + Sync {
    /// Returns true if the user permitted the program of a request.
    fn permits(&self, source: &RequestSource) -> bool;

    /// The request that a scenario of this file is about, with the text of the recording that
    /// answers the program; `None` if the user did not permit the program.
    ///
    /// # Errors
    /// The program did not send the request; the reason is in the text.
    fn request(
        &self,
        path: &str,
        source: &RequestSource,
        answers: Option<&str>,
    ) -> Option<Result<ProgramRequest, String>>;
}

/// A request sent by a program.
#[derive(Clone, Debug)]
pub struct ProgramRequest {
    /// The body of the previous call of its conversation; `None` if it is the first.
    pub before: Option<String>,
    /// The path of the endpoint, without host; `None` if the program printed only the body.
    pub endpoint: Option<String>,
    /// The masked body.
    pub body: String,
    /// The call as it went over the wire; `None` if the program printed only the body.
    pub call: Option<ProgramCall>,
}

/// A call of a program as it went over the wire, for comparison with recorded calls.
#[derive(Clone)]
pub struct ProgramCall {
    /// The path of the endpoint, without host.
    pub endpoint: String,
    /// The dialect of the body.
    pub dialect: String,
    /// The body as sent.
    pub body: String,
    /// The key that identifies the call in a recording.
    pub key: String,
    /// The masks for it, including the secrets of its headers; `None` if the body is already
    /// masked.
    pub redactor: Option<Redactor>,
}

impl ProgramCall {
    /// Converts it for comparison with recorded calls.
    pub fn as_live_request(&self) -> LiveRequest<'_> {
        let Self {
            endpoint,
            dialect,
            body,
            key,
            redactor,
        } = self;
        LiveRequest {
            endpoint,
            dialect,
            body,
            key,
            redactor: redactor.as_ref(),
        }
    }
}

impl Debug for ProgramCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramCall")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Calls models.
pub trait ModelCaller: Debug + Sync {
    /// Answers a call of a case.
    ///
    /// # Errors
    /// There is no answer, or it cannot be recorded; the reason is in the text.
    fn call_model(&self, call: &ModelCall<'_>) -> Result<Response, String>;

    /// Copies a recorded call of the judge into the recording that is being written.
    ///
    /// # Errors
    /// The recording cannot be written; the reason is in the text.
    fn copy_recorded_call(&self, asked: &ModelCall<'_>, call: &Recording) -> Result<(), String>;

    /// Replaces the recordings of a case once every trial is answered.
    ///
    /// # Errors
    /// The recording cannot be written; the reason is in the text.
    fn finish_recording(&self, path: &str, case: &str) -> Result<(), String>;

    /// The failed calls of a case, counted by kind of `ProviderError`.
    fn failed_calls(&self, path: &str, case: &str) -> BTreeMap<String, u64>;

    /// Leaves the recording of a case unchanged, since a trial was not answered. Returns a
    /// description of the disposition of the other answers; `None` if there are none.
    fn abandon_recording(&self, path: &str, case: &str) -> Option<String>;
}
