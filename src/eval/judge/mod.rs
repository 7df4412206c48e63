//! The judge: a role of the project that scores answers by criteria in words.
//!
//! Its requests are built, recorded, replayed and priced like those of any agent. A score that is
//! missing, unknown or out of range is asked for again and then reported, never filled in. A score
//! counts only on a criterion on which the judge is trusted; else it informs.

mod agent;
mod calibration;
mod criteria;
mod estimate;
mod expectation;
mod judged_answer;
pub mod labels;
mod response;
mod scoring;
mod trust;

pub use agent::{JudgeAgent, ProjectJudge, describe_criteria};
pub use calibration::{assess_trust, criterion_hash};
pub use criteria::{JudgedCriterion, JudgedScale};
pub(super) use estimate::ExpectedAnswers;
pub(super) use expectation::{judge_rubric, judge_words};
pub use judged_answer::{JudgedAnswer, stability_forms};
pub use response::{CriterionScore, RawScore, is_quoted, read_scores};
pub use scoring::MAX_ATTEMPTS;
pub(super) use scoring::{CaseJudge, judge_settings};
pub use trust::{CriterionTrust, JudgeTrust, TrustedCriterion};
