//! What became of a case: its verdict, what was looked at, its trials. Plain data.

use super::answer::{Answer, Took};
use super::trials::TrialOutcome;
use super::verdict::Verdict;
use crate::base::hash::Hash;
use crate::base::words::words;
use crate::context::fault::Fault;
use crate::kernel::conversation::Speaker;
use crate::record::recording::Stage;
use crate::scenario::model::Rule;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The keys of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What the agent receives, and all else that expectations on it look at.
    pub context: Hash,
    /// What the case says, and which version of this program judges it.
    pub case: Hash,
}

words! {
    /// What became of a case.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum CaseVerdict {
        /// Everything that was looked at holds.
        Pass = "pass",
        /// Something does not.
        #[default]
        Fail = "fail",
        /// Its answers were recorded for another request.
        Stale = "stale",
        /// The trials decide nothing.
        Inconclusive = "inconclusive",
        /// It could not be tried.
        Error = "error",
    }
}

words! {
    /// Where the answer came from.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Answered {
        /// Nobody gave one: the verdict is about the context alone.
        #[default]
        NotRecorded = "not_recorded",
        /// A model was asked.
        Asked = "asked",
        /// It was recorded.
        Replayed = "replayed",
        /// One was recorded for another request: the verdict is about the context alone.
        Stale = "stale",
        /// The scenario holds it.
        Scripted = "scripted",
        /// There is one, and nothing that could be looked at is expected of it.
        NotJudged = "not_judged",
    }
}

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What became of it.
    pub tried: TrialOutcome,
    /// The stage that it is of.
    pub stage: Stage,
    /// One verdict for each expectation on the answer; one in place of all that need a whole one, where it is none.
    pub verdicts: Vec<Verdict>,
    /// Who answered: `script`, `recording`, or the provider that was asked.
    pub by: String,
    /// Tokens in and out.
    pub tokens: (u64, u64),
    /// What it took beside them.
    pub took: Took,
    /// Whether the answer splits its work; `None` where it cannot be told.
    pub decomposes: Option<bool>,
    /// The answer.
    pub answer: Arc<Answer>,
}

impl Trial {
    /// Whether it passed as far as anybody looked, and what gates was not looked at.
    pub(super) fn is_open(&self) -> bool {
        self.tried == TrialOutcome::Passed && self.verdicts.iter().any(|verdict| verdict.gate && verdict.reason.is_open)
    }
}

/// Another number of recorded trials than a case asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Those that are recorded.
    pub trials: u32,
    /// Those that it asks for.
    pub of: u32,
    /// Whether there were more: the recording itself says so.
    pub is_cut: bool,
}

/// What it takes to ask, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Calls.
    pub calls: (u64, u64),
    /// US$; `None` where the project names no price.
    pub usd: Option<(f64, f64)>,
    /// Milliseconds, one call after the other; `None` where nothing was recorded.
    pub ms: Option<(u64, u64)>,
}

/// A case that is done.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// What became of it.
    pub verdict: CaseVerdict,
    /// The agent inside the task.
    pub node: String,
    /// The provider of the model, where the project has that.
    pub provider: Option<String>,
    /// The model that would be called.
    pub model: Option<String>,
    /// Who counted the tokens.
    pub tokenizer: String,
    /// One verdict for each expectation on the context; none where there is no context.
    pub context: Vec<Verdict>,
    /// Why there is no context: something of the project or of the situation, each with its place.
    pub faults: Vec<Fault>,
    /// Why it could not be tried.
    pub trouble: Option<String>,
    /// Where the answer came from.
    pub answered: Answered,
    /// What moved since its answers were recorded, a line each; none where they are for this request.
    pub moved: Vec<String>,
    /// How often it was tried at most, and what passes, where that is not what the case says.
    pub rule: Option<Rule>,
    /// The stage that decided it.
    pub stage: Stage,
    /// What it takes to ask for its answers, where they are stale or that is to be known.
    pub anew: Option<Estimate>,
    /// The number of recorded trials, if the case asks for another number.
    pub recorded: Option<Recorded>,
    /// Its trials, in order.
    pub trials: Vec<Trial>,
    /// Whether more trials were allowed than were needed.
    pub stopped_early: bool,
    /// Calls that were not answered, by their kind.
    pub failed_calls: BTreeMap<String, u64>,
    /// Tokens of the context, and of its reusable prefix.
    pub tokens: Option<(u64, u64)>,
    /// What the result belongs to.
    pub keys: Option<Keys>,
    /// The request as it is now, where it is compared with a stored one.
    pub snapshot: Option<String>,
    /// The messages of its request, where it does not pass and somebody shows them.
    pub said: Vec<(Speaker, String)>,
    /// What leads from the stored request to that one, where it was, or would be, stored.
    pub diff: Option<String>,
}

impl Finished {
    /// Without what was tried: it was for another request, or is not all that was recorded.
    pub(super) fn forget_trials(&mut self) {
        (self.rule, self.recorded, self.stage, self.answered) = (None, None, Stage::First, Answered::NotRecorded);
        self.trials.clear();
    }

    /// A case that is not run as it is written.
    pub(super) fn refused(why: &str) -> Self {
        Self { verdict: CaseVerdict::Error, ..Self::trouble("/", why) }
    }

    /// A case about something that is not there, or not as the case has it: that is a change which it was written to notice.
    pub(super) fn trouble(node: &str, why: impl Into<String>) -> Self {
        Self { node: node.to_owned(), trouble: Some(why.into()), ..Self::default() }
    }
}
