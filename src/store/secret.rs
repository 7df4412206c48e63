//! A secret of the user, created on first use: the key of the masks in recordings.

use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use std::io;

const SECRET_FILE: &str = "secret";
/// The maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 10;

/// Returns the secret if it exists.
pub fn stored_secret() -> Option<[u8; 32]> {
    let bytes = RealFs
        .read(&folders::state_root()?.join(SECRET_FILE), MAX_FILE_BYTES)
        .ok()?;
    Hash::parse(std::str::from_utf8(&bytes).ok()?.trim()).map(|Hash(kept)| kept)
}

/// Returns the secret, and creates it if needed.
///
/// # Errors
/// There is no folder for it, or it cannot be written.
pub fn load_or_create() -> io::Result<[u8; 32]> {
    let nowhere = || io::Error::other("no folder for your own data: set XDG_STATE_HOME to one");
    let folder = folders::state_root().ok_or_else(nowhere)?;
    if let Some(kept) = stored_secret() {
        return Ok(kept);
    }
    let path = folder.join(SECRET_FILE);
    let secret = fs::random_bytes();
    folders::create_private(&folder)?;
    fs::write_private(&path, format!("{}\n", Hash(secret)).as_bytes())?;
    Ok(secret)
}
