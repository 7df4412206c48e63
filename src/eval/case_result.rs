//! The result of a case: its verdict, its expectations, its trials. Plain data.

use super::answer::{AnswerCost, TrialAnswer};
use super::judge::CriterionScore;
use super::trials::TrialOutcome;
use super::verdict::{ExpectationOutcome, ExpectationVerdict};
use crate::base::hash::Hash;
use crate::base::words::words;
use crate::context::fault::Fault;
use crate::kernel::conversation::Speaker;
use crate::record::recording::TrialStage;
use crate::scenario::model::TrialRule;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The keys of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultKeys {
    /// The hash of the agent's input and of everything else that expectations examine.
    pub context: Hash,
    /// The hash of the case and of the version of this program.
    pub case: Hash,
}

words! {
    /// The verdict of a case.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum CaseVerdict {
        /// Every judged expectation holds.
        Pass = "pass",
        /// An expectation does not hold.
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
    /// The source of the answer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AnswerOrigin {
        /// There is no answer: the verdict covers only the context.
        #[default]
        NotRecorded = "not_recorded",
        /// A model was called.
        Asked = "asked",
        /// It was replayed.
        Replayed = "replayed",
        /// It is stale: the verdict covers only the context.
        Stale = "stale",
        /// The scenario contains it.
        Scripted = "scripted",
        /// A method without a model returned it.
        Computed = "computed",
        /// There is an answer, but no expectation on it that can be judged.
        NotJudged = "not_judged",
    }
}

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTrial {
    /// The outcome.
    pub outcome: TrialOutcome,
    /// The stage that it belongs to.
    pub stage: TrialStage,
    /// One verdict for each expectation on the answer; a single one for all that require a complete
    /// answer, if it is incomplete.
    pub verdicts: Vec<ExpectationVerdict>,
    /// The source of the answer: `script`, `recording`, or the provider that was called.
    pub answered_by: String,
    /// Tokens sent and received.
    pub tokens: (u64, u64),
    /// The costs other than tokens.
    pub cost: AnswerCost,
    /// The scores of the judge.
    pub scores: Vec<CriterionScore>,
    /// Its score, if the case is scored.
    pub score: Option<f64>,
    /// True if the answer splits its work; `None` if that cannot be determined.
    pub decomposes: Option<bool>,
    /// The answer.
    pub answer: Arc<TrialAnswer>,
}

impl JudgedTrial {
    /// True if no expectation was judged.
    pub(super) fn is_skipped(&self) -> bool {
        self.verdicts
            .iter()
            .all(|verdict| verdict.outcome == ExpectationOutcome::Skipped)
    }

    /// Returns true if it passed although a gating expectation was not judged.
    pub(super) fn is_undecided(&self) -> bool {
        self.outcome == TrialOutcome::Passed
            && self
                .verdicts
                .iter()
                .any(|verdict| verdict.gate && verdict.reason.is_undecided)
    }
}

/// The number of recorded trials, if it differs from the number that a case requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTrials {
    /// The recorded trials.
    pub trials: u32,
    /// The required trials.
    pub of: u32,
    /// True if there were more once, as marked in the recording.
    pub is_cut: bool,
}

/// The assumed length of an answer in tokens, without a limit or a recording.
pub(super) const DEFAULT_ANSWER_TOKENS: u64 = 4_096;

/// Returns the smallest and the greatest of some numbers.
pub(super) fn bounds(numbers: impl Iterator<Item = u64> + Clone) -> Option<(u64, u64)> {
    Some((numbers.clone().min()?, numbers.max()?))
}

/// The cost of calling models, as lower and upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostEstimate {
    /// Calls.
    pub calls: (u64, u64),
    /// US$; `None` if the project has no prices.
    pub usd: Option<(f64, f64)>,
    /// Milliseconds, with sequential calls; `None` if nothing is recorded.
    pub ms: Option<(u64, u64)>,
}

impl CostEstimate {
    /// The cost of both.
    pub(super) fn add(self, other: Self) -> Self {
        let sum = |one: (u64, u64), other: (u64, u64)| (one.0 + other.0, one.1 + other.1);
        Self {
            calls: sum(self.calls, other.calls),
            usd: self
                .usd
                .zip(other.usd)
                .map(|(one, other)| (one.0 + other.0, one.1 + other.1)),
            ms: self.ms.zip(other.ms).map(|(one, other)| sum(one, other)),
        }
    }
}

/// The result of a case.
#[derive(Clone, Debug, Default)]
pub struct CaseResult {
    /// The verdict.
    pub verdict: CaseVerdict,
    /// The agent inside the task.
    pub node: String,
    /// The provider of the model, if the project has it.
    pub provider: Option<String>,
    /// The model that would be called.
    pub model: Option<String>,
    /// The name of the token counter.
    pub tokenizer: String,
    /// One verdict for each expectation on the context; empty if there is no context.
    pub context: Vec<ExpectationVerdict>,
    /// The reasons why there is no context, each with its place.
    pub faults: Vec<Fault>,
    /// The reason why it could not be tried.
    pub trouble: Option<String>,
    /// The source of the answer.
    pub answered: AnswerOrigin,
    /// The changes since its answers were recorded, one per line; empty if the answers fit the
    /// request.
    pub changes: Vec<String>,
    /// The number of trials and the passing condition, if they differ from those of the case.
    pub rule: Option<TrialRule>,
    /// The stage that decided the verdict.
    pub stage: TrialStage,
    /// The cost of new answers, if they are stale or an estimate was requested.
    pub new_answer_cost: Option<CostEstimate>,
    /// The number of recorded trials, if the case requires another number.
    pub recorded: Option<RecordedTrials>,
    /// Its trials, in order.
    pub trials: Vec<JudgedTrial>,
    /// True if more trials were allowed than were needed.
    pub stopped_early: bool,
    /// True if the first stage made every trial, whatever the earlier ones decided, so that rates
    /// over them are unbiased.
    pub has_full_row: bool,
    /// Failed calls, counted by kind.
    pub failed_calls: BTreeMap<String, u64>,
    /// Tokens of the context, and of its reusable prefix.
    pub tokens: Option<(u64, u64)>,
    /// The keys that the result belongs to.
    pub keys: Option<ResultKeys>,
    /// The current request, if it is compared with a stored one.
    pub snapshot: Option<String>,
    /// The messages of its request, if it does not pass and they are to be displayed.
    pub messages: Vec<(Speaker, String)>,
    /// The diff from the stored request to the current one, if it was, or would be, stored.
    pub diff: Option<String>,
}

impl CaseResult {
    /// Removes the trials: they belong to another request, or are incomplete.
    pub(super) fn clear_trials(&mut self) {
        (self.rule, self.recorded, self.stage, self.answered) =
            (None, None, TrialStage::First, AnswerOrigin::NotRecorded);
        self.has_full_row = false;
        self.trials.clear();
    }

    /// The result of a case that `check` rejects.
    pub(super) fn rejected_case(why: &str) -> Self {
        Self {
            verdict: CaseVerdict::Error,
            ..Self::failed_case("/", why)
        }
    }

    /// The result of a case whose subject is missing or different; it fails, since a case is
    /// written to notice that.
    pub(super) fn failed_case(node: &str, why: impl Into<String>) -> Self {
        Self {
            node: node.to_owned(),
            trouble: Some(why.into()),
            ..Self::default()
        }
    }
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::eval) enum NoAnswerReason {
    /// It was recorded for another request; the changes since then, one per line.
    Stale(Vec<String>),
    /// Any other reason, as text.
    Trouble(String),
}

impl NoAnswerReason {
    /// Describes the reason on one line.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Stale(changes) => format!(
                "an answer to another request; since then: {}",
                changes.join(", ")
            ),
            Self::Trouble(why) => why.clone(),
        }
    }
}

impl From<String> for NoAnswerReason {
    fn from(why: String) -> Self {
        Self::Trouble(why)
    }
}
