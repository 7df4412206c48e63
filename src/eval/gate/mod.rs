//! The gate: decides whether a change may be taken, from its regressions against accepted results
//! and its relaxations of the project's own checks.

pub(in crate::eval) mod accepted;
mod approvals;
mod baseline;
mod comparison;
mod decision;
mod safeguards;

pub use accepted::{BaselineCase, Comparison};
pub use approvals::{Accepted, Accepters, AddedLine, Approvals, LogLine};
pub use baseline::{Baseline, BaselineFault};
pub use decision::{
    Candidate, Decision, FailingCase, Grown, Limits, Sides, StabilityLimits, Verdict, Violation,
    Weakening, decide, grown,
};
pub use safeguards::{
    ANSWER, BROUGHT, CHECK, Kind, Loosened, PART, REQUEST, SCENARIO, SITUATION, Safeguard,
    Safeguards, Weakened,
};
