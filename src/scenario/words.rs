//! The words and bounds that values of scenarios have.

use crate::kernel::context::Kind;

/// Words of `kind`.
pub const KINDS: &[&str] = &Kind::WORDS;

/// Numbers that JSON keeps exactly end here.
pub(super) const MOST: u64 = 1 << 53;
