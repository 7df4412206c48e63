//! Stored requests: which cases compare theirs.

use crate::scenario::model::{Case, ContextExpectation};

/// Whether a case compares its request with a stored one.
pub fn wants_snapshot(case: &Case) -> bool {
    let mut open: Vec<&ContextExpectation> = case.expect_context.iter().map(|one| &one.value).collect();
    while let Some(expectation) = open.pop() {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation holds others")]
        match expectation {
            ContextExpectation::Snapshot => return true,
            ContextExpectation::Not(inner) => open.push(&inner.value),
            ContextExpectation::AnyOf(inner) | ContextExpectation::AllOf(inner) => {
                open.extend(inner.iter().map(|inner| &inner.value));
            }
            _ => {}
        }
    }
    false
}
