//! A secret of the user, created on first use: the key of the masks in recordings.

use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use std::io;

const FILE: &str = "secret";
/// The maximum size of the file in bytes.
const LIMIT: u64 = 1 << 10;

/// Returns the secret if it exists.
pub fn known() -> Option<[u8; 32]> {
    let bytes = RealFs.read(&folders::states()?.join(FILE), LIMIT).ok()?;
    Hash::parse(std::str::from_utf8(&bytes).ok()?.trim()).map(|Hash(kept)| kept)
}

/// Returns the secret, and creates it if needed.
///
/// # Errors
/// There is no folder for it, or it cannot be written.
pub fn secret() -> io::Result<[u8; 32]> {
    let nowhere = || io::Error::other("no folder for your own data: set XDG_STATE_HOME to one");
    let folder = folders::states().ok_or_else(nowhere)?;
    if let Some(kept) = known() {
        return Ok(kept);
    }
    let path = folder.join(FILE);
    let made = fs::random();
    folders::make(&folder)?;
    fs::write_private(&path, format!("{}\n", Hash(made)).as_bytes())?;
    Ok(made)
}
