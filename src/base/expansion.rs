//! How far references may lead from one definition. The compiler refuses what goes beyond; whoever reads a registry that
//! it did not write stops there.

/// How many definitions may stand behind one another.
pub const MAX_DEPTH: usize = 64;
/// How many names what is referred to may take, those included that it only hands on.
pub const MAX_NAMES: usize = 128;
/// How many agents a task may come to.
pub const MAX_AGENTS: usize = 10_000;
