//! The words and bounds that values of scenarios have.

use crate::kernel::context::Kind;

/// Words of `state`.
pub const STATES: &[&str] = &["kept", "cut", "dropped", "absent"];
/// Words of `risk_level` and `max_risk`, least first.
pub const RISKS: &[&str] = &["low", "medium", "high", "critical"];
/// Words of `kind`.
pub const KINDS: &[&str] = &Kind::WORDS;
/// Words of `of` in `tokens`.
pub const COUNTED: &[&str] = &["total", "prefix"];

/// Numbers that JSON keeps exactly end here.
pub(super) const MOST: u64 = 1 << 53;
