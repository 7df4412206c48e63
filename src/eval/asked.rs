//! Where answers come from; and asking a model on behalf of a case: the request as it is sent, and the seam to whoever sends and keeps it.

use super::answer::{Answer, KeptAnswer};
use super::finished::Keys;
use crate::base::words::words;
use crate::kernel::provider::Response;
use crate::project::config::Config;
use crate::project::models::{Model, Provider};
use crate::record::comparison::{Comparison, LiveRequest};
use crate::record::recording::{Recording, TrialOf};
use crate::record::redact::Redactor;
pub use crate::run::wire::Sent;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::request_source::RequestSource;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

words! {
    /// Where answers come from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AnswersFrom {
        /// From the recording of the case; from its script where it has none.
        #[default]
        Known = "known",
        /// From its recording.
        Replay = "replay",
        /// From its script.
        Scripted = "scripted",
        /// From a model that is asked, and kept.
        Record = "record",
        /// From its recording; where that has none for its request, from a model that is asked, and kept.
        ReplayOrRecord = "replay-or-record",
        /// From a model that is asked.
        Live = "live",
        /// From an earlier run: what it was answered is judged again.
        Kept = "kept",
    }
}

impl AnswersFrom {
    /// Whether a model may be asked.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Record | Self::ReplayOrRecord | Self::Live)
    }
}

/// Where the answers of all cases come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunAnswers<'a> {
    /// Who gives them.
    pub from: AnswersFrom,
    /// The providers of the project; `None` where it has none.
    pub providers: Option<&'a BTreeMap<String, Provider>>,
    /// Who asks models, where one may be asked.
    pub ask: Option<&'a dyn Ask>,
    /// Who keeps trials as they are answered, where a run is kept.
    pub trials: Option<&'a dyn KeepTrials>,
    /// Who runs checks of the project's own, where they may be run.
    pub own: Option<&'a dyn RunCheck>,
    /// Who has programs of the project send their requests, where they may be run.
    pub programs: Option<&'a dyn RunProgram>,
    /// What the project says of rules and models, for what a vendor would refuse; `None` where nobody looks for that.
    pub config: Option<&'a Config>,
    /// What requests are compared with recorded ones by; `None` for nothing that a project says.
    pub comparison: Option<&'a Comparison>,
    /// Whether a case that fails is tried in a second stage.
    pub confirms: bool,
    /// Whether what a case that does not pass was about is kept, for whoever shows it.
    pub shows: bool,
    /// Whether nobody is asked, and what asking takes is found out.
    pub plans: bool,
}

/// What answers a case.
#[derive(Clone, Copy, Debug)]
pub struct CaseAnswers<'a> {
    /// Its recorded calls, or why they cannot be read.
    pub recorded: Result<&'a [Recording], &'a str>,
    /// What an earlier run was answered.
    pub kept: &'a [KeptAnswer],
    /// What tools give back, by their names.
    pub tools: &'a BTreeMap<String, Value>,
}

impl Default for CaseAnswers<'_> {
    fn default() -> Self {
        static NONE: BTreeMap<String, Value> = BTreeMap::new();
        Self { recorded: Ok(&[]), kept: &[], tools: &NONE }
    }
}

/// A request of a case.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// The trial.
    pub trial: TrialOf,
    /// The model.
    pub model: &'a Model,
    /// The request.
    pub sent: &'a Sent,
    /// Its tokens, where they were counted.
    pub context: Option<u64>,
}

/// A trial of a case that is under way.
#[derive(Clone, Copy, Debug)]
pub struct TrialUnderWay<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The name of the case.
    pub case: &'a str,
    /// What its result belongs to.
    pub keys: Keys,
    /// The trial.
    pub trial: TrialOf,
}

/// Who keeps trials as they are answered, so that a run that is killed loses none of them.
pub trait KeepTrials: Debug + Sync {
    /// What was answered in a trial before the run was interrupted; `None` where that is not known, or was to another request.
    fn earlier(&self, trial: &TrialUnderWay<'_>) -> Option<Answer>;

    /// Keeps what was answered in a trial, and by whom.
    fn tried(&self, trial: &TrialUnderWay<'_>, answer: &Answer, by: &str);
}

/// Who runs a project's own checks.
pub trait RunCheck: Debug + Sync {
    /// Hands a check this JSON, and gives back what it writes; `None` where nobody permitted it.
    ///
    /// # Errors
    /// It came to no end of its own, or to a bad one: why, in words.
    fn run(&self, check: &OwnCheck, trial: &str) -> Option<Result<String, String>>;
}

/// Who has programs of the project send their requests.
pub trait RunProgram: Debug + Sync {
    /// Returns whether the user permitted to run the program of a request.
    fn permits(&self, source: &RequestSource) -> bool;

    /// The request that a scenario of this file is about, with the text of the recording that answers the program; `None` where nobody
    /// permitted to run it.
    ///
    /// # Errors
    /// The program did not send it: why, in words.
    fn request(&self, path: &str, source: &RequestSource, answers: Option<&str>) -> Option<Result<ProgramRequest, String>>;
}

/// A request of a program.
#[derive(Clone, Debug)]
pub struct ProgramRequest {
    /// The body of the call before it in its conversation; `None` where it is the first.
    pub before: Option<String>,
    /// The path that it went to, without its host; `None` where the program gave the body alone.
    pub endpoint: Option<String>,
    /// The body, without what must not be kept.
    pub body: String,
    /// The call as it went over the wire; `None` where the program gave the body alone.
    pub call: Option<ProgramCall>,
}

/// A call of a program as it went over the wire, to be compared with recorded ones.
#[derive(Clone)]
pub struct ProgramCall {
    /// The path that it went to, without its host.
    pub endpoint: String,
    /// The form of the body.
    pub dialect: String,
    /// The body as it was sent.
    pub body: String,
    /// What finds the call again.
    pub key: String,
    /// The masks that hold for it, with the secrets of its headers; `None` where the body has passed them.
    pub redactor: Option<Redactor>,
}

impl ProgramCall {
    /// Returns it in the form in which it is compared with recorded calls.
    pub fn live(&self) -> LiveRequest<'_> {
        let Self { endpoint, dialect, body, key, redactor } = self;
        LiveRequest { endpoint, dialect, body, key, redactor: redactor.as_ref() }
    }
}

impl Debug for ProgramCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramCall").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Who asks models.
pub trait Ask: Debug + Sync {
    /// Answers a request of a case.
    ///
    /// # Errors
    /// There is no answer, or it cannot be kept: why, in words.
    fn ask(&self, asked: &Asked<'_>) -> Result<Response, String>;

    /// Puts what was kept of a case in the place of its recording: every trial was answered.
    ///
    /// # Errors
    /// It cannot be put there: why, in words.
    fn finish(&self, path: &str, case: &str) -> Result<(), String>;

    /// The calls for a case that were not answered, by the words of `ProviderError`.
    fn failed(&self, path: &str, case: &str) -> BTreeMap<String, u64>;

    /// Leaves the recording of a case as it was, since a trial was not answered. What becomes of the answers to the others, in words; `None` where there are none.
    fn abandon(&self, path: &str, case: &str) -> Option<String>;
}
