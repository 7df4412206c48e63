//! Limits on how far references may lead from one definition. The compiler rejects templates beyond
//! them; a reader of a foreign registry stops at them.

/// Maximum length of a chain of definitions that refer to one another.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of names that a referenced definition may read, including those that it only
/// passes on.
pub const MAX_NAMES: usize = 128;
/// Maximum number of agents that a task may expand to.
pub const MAX_AGENTS: usize = 10_000;
