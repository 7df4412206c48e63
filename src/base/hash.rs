//! Content hashes: BLAKE3, written `b3:` and 64 hex digits.

use std::fmt;

/// A BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of some bytes.
    pub fn digest(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Reads `b3:` and 64 hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("b3:")?;
        blake3::Hash::from_hex(hex)
            .ok()
            .map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b3:{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes that are buffered before they are hashed: BLAKE3 hashes many kilobytes at once ten times
/// as fast as small pieces.
const BUFFER_BYTES: usize = 64 << 10;

/// Hashes a sequence of fields so that no two sequences share an encoding: each field is preceded
/// by its length.
#[derive(Clone, Default)]
pub struct Hasher {
    hashed: blake3::Hasher,
    gathered: Vec<u8>,
}

impl Hasher {
    /// An empty hasher.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one field.
    pub fn add_field(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.add_number(bytes.len() as u64);
        self.add_bytes(bytes);
        self
    }

    /// Adds one field given in parts, so that a large one is never copied.
    pub fn add_field_parts<T: AsRef<[u8]>>(
        &mut self,
        parts: impl Iterator<Item = T> + Clone,
    ) -> &mut Self {
        self.add_number(parts.clone().map(|part| part.as_ref().len() as u64).sum());
        for part in parts {
            self.add_bytes(part.as_ref());
        }
        self
    }

    /// Adds a number.
    pub fn add_number(&mut self, number: u64) -> &mut Self {
        self.add_bytes(&number.to_le_bytes());
        self
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        if self.gathered.len() + bytes.len() > BUFFER_BYTES {
            self.hashed.update(&self.gathered);
            self.gathered.clear();
        }
        if bytes.len() >= BUFFER_BYTES {
            self.hashed.update(bytes);
        } else {
            self.gathered.extend_from_slice(bytes);
        }
    }

    /// The hash of all fields so far.
    pub fn finish(&self) -> Hash {
        Hash(
            *self
                .hashed
                .clone()
                .update(&self.gathered)
                .finalize()
                .as_bytes(),
        )
    }
}

#[cfg(test)]
#[path = "../../tests/unit/base/hash.rs"]
mod tests;
