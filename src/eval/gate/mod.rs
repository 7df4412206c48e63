//! Whether a change may be taken: what it breaks against what was accepted, and what it loosens of what the project holds itself to.

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
    Candidate, Decision, FailingCase, Grown, Limits, Sides, StabilityLimits, Verdict, Violation, Weakening, decide, grown,
};
pub use safeguards::{
    ANSWER, BROUGHT, CHECK, Kind, Loosened, PART, REQUEST, SCENARIO, SITUATION, Safeguard, Safeguards, Weakened,
};
