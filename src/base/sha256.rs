//! SHA-256 of files of packages: lock files and archives are compared by other programs, too.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the SHA-256 of some bytes as 64 hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Returns the hash of a folder of files: of its lines `HASH  PATH`, sorted by path.
pub fn tree_digest<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> String {
    let mut sorted: Vec<_> = files.into_iter().collect();
    sorted.sort_unstable();
    let lines = sorted
        .into_iter()
        .map(|(path, hash)| format!("{hash}  {path}\n"));
    sha256_hex(lines.collect::<String>().as_bytes())
}

#[cfg(test)]
#[path = "../../tests/unit/base/sha256.rs"]
mod tests;
