//! The gate: decides whether a change may be taken, from its regressions against accepted results
//! and its relaxations of the project's own checks.

pub(in crate::eval) mod accepted;
mod approvals;
mod baseline;
mod decision;
mod safeguards;

pub use accepted::{BaselineCase, BaselineComparison};
pub use approvals::{Acceptance, Accepters, AddedApproval, ApprovalEntry, Approvals};
pub use baseline::{Baseline, BaselineFault, ComparedModels};
pub use decision::{
    ContextGrowth, FailingCase, GateDecision, GateHeader, GateInput, GateLimits, GateVerdict,
    JudgedRelaxation, StabilityLimits, UncoveredText, Violation, decide_gate, excessive_growth,
};
pub use safeguards::{
    ANSWER_PREFIX, CHECK_PREFIX, JUDGEMENT_PREFIX, LocatedRelaxation, NEW_ANSWERS_LABEL,
    PART_SEPARATOR, REQUEST_PREFIX, Relaxation, SCENARIO_LABEL, SHARE_LABEL, SITUATION_LABEL,
    Safeguard, SafeguardKind, Safeguards,
};
