//! Words and bounds of values in scenarios.

use crate::kernel::context::Kind;

/// The words of `kind`.
pub const SEGMENT_KINDS: &[&str] = &Kind::WORDS;

/// The greatest whole number that JSON readers keep exact.
pub(super) const MAX_EXACT_NUMBER: u64 = 1 << 53;
