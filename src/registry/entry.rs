//! One definition as one line of the registry.

use crate::base::hash::Hash;

/// A compiled definition: its line of the registry with the hash still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index of the definition in its file's facts.
    pub definition: u32,
    /// Hash of its own content: what it means, not where or how it is written.
    pub own: Hash,
    /// The line, without a line break.
    pub bytes: Vec<u8>,
    /// Where in `bytes` the 67 bytes of the hash belong, once everything it refers to is known.
    pub hash_at: u32,
}
