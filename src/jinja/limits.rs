//! Limits on the size and depth of a Jinja text.

/// Maximum size of a text in bytes.
pub const MAX_TEXT_BYTES: usize = 1_000_000;
/// Maximum column that a tag may reach, in characters: minijinja counts columns in 16 bits, and
/// adds to the last of them.
pub const MAX_COLUMNS: usize = u16::MAX as usize - 1;
/// Maximum nesting of blocks; each `elif` is a level until its `endif`.
pub const MAX_BLOCK_DEPTH: u32 = 48;
/// Maximum number of nested operators, dots and filters in one expression; a pair of brackets
/// counts as four.
pub const MAX_CHAIN_LENGTH: u32 = 96;
/// Maximum size in bytes of repeated constants (`"=" * 40`) in one text.
pub const MAX_REPEATED_BYTES: u32 = 1_000_000;
