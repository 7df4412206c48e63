//! An operations team on the kernel of ctxc: it answers alerts, and never sees a repository.
//!
//! An alert may be rolled back at once or investigated; an investigation goes on until it knows enough, five rounds at most. The budget
//! counts alerts, and what agents are told has kinds of segments of its own.

pub mod context;
pub mod org;
pub mod script;
pub mod stages;
pub mod tools;

/// What woke the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The service.
    pub service: String,
    /// What its monitor says.
    pub says: String,
}
