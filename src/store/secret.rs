//! A secret of the user's, made when it is first asked for: what the placeholders in recordings depend on.

use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::hash::Hash;
use std::io;

const FILE: &str = "secret";
/// More bytes than it has.
const LIMIT: u64 = 1 << 10;

/// The secret, where it was made before.
pub fn known() -> Option<[u8; 32]> {
    let bytes = RealFs.read(&folders::states()?.join(FILE), LIMIT).ok()?;
    Hash::parse(std::str::from_utf8(&bytes).ok()?.trim()).map(|Hash(kept)| kept)
}

/// The secret.
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
