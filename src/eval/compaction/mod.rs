//! Scenarios about the compaction of a session: the session at that point, the methods without a
//! model, the facts that survive, and the facts whose loss no scenario notices.

mod case;
mod mutate;
pub mod session_point;
pub(super) mod survival;

pub(super) use case::{compaction_keys, run_compaction_case};
pub(super) use mutate::mutate_summary;
pub use survival::SurvivalDraft;
