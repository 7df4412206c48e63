//! How large and how deep a Jinja text may be.

/// The largest text, in bytes.
pub const MAX_BYTES: usize = 1_000_000;
/// How far into a line a tag may reach, in characters: minijinja counts columns in 16 bits, and adds to the last of them.
pub const MAX_COLUMNS: usize = u16::MAX as usize - 1;
/// How deep blocks may nest; each `elif` is a level until its `endif`.
pub const MAX_BLOCKS: u32 = 48;
/// How many operators, dots and filters may stand on one another in one expression; a pair of brackets counts as four.
pub const MAX_CHAIN: u32 = 96;
/// How many bytes the repetition of constants (`"=" * 40`) may make in one text.
pub const MAX_REPEATED: u32 = 1_000_000;
