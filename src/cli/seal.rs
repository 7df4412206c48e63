//! Caches that decide verdicts are sealed with a secret of the user: whatever a repository, an archive or a shared cache brings
//! along in `.ctxc`, it was not this user who wrote it, and it is not believed.
//!
//! The secret stands outside every project, in the user's own folder of state. Where there is no such folder nothing is
//! sealed and nothing is believed: a run then costs its full time, and its verdicts are the same.

use crate::base::fs;
use crate::base::hash::Hash;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes of the secret, and of a seal.
const SIZE: usize = 32;

/// The body with its seal behind it; `None` where nothing can be sealed. `what` says what the body is: the seal of one thing is
/// none for another.
pub(super) fn seal(what: &str, mut body: Vec<u8>) -> Option<Vec<u8>> {
    let tag = tag(what, &body)?;
    body.extend_from_slice(&tag.0);
    Some(body)
}

/// The body of what this user sealed.
pub(super) fn open<'b>(what: &str, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (body, found) = bytes.split_last_chunk::<SIZE>()?;
    (tag(what, body)?.0 == *found).then_some(body)
}

fn tag(what: &str, body: &[u8]) -> Option<Hash> {
    let secret = secret()?;
    // A key for each kind, so that no two bodies of different kinds are ever hashed alike.
    Some(Hash::keyed(&Hash::keyed(secret, what.as_bytes()).0, body))
}

/// The user's secret, made when it is first asked for.
fn secret() -> Option<&'static [u8; SIZE]> {
    static SECRET: OnceLock<Option<[u8; SIZE]>> = OnceLock::new();
    SECRET.get_or_init(|| made(&folder()?)).as_ref()
}

/// Where the user's programs keep what is theirs. A folder named from where one stands could be a repository's.
fn folder() -> Option<PathBuf> {
    let given = |name: &str| fs::env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || given("HOME").map(|home| home.join(".local/state"));
    let state = if cfg!(windows) { given("LOCALAPPDATA") } else { given("XDG_STATE_HOME").or_else(home) };
    state.map(|state| state.join("ctxc"))
}

fn made(folder: &Path) -> Option<[u8; SIZE]> {
    let path = folder.join("seal");
    let read = || {
        let mut bytes = Vec::new();
        fs::read_own(&path, SIZE as u64, &mut bytes).ok()?;
        bytes.try_into().ok()
    };
    read().or_else(|| {
        fs::create_dir_all(folder).ok()?;
        fs::create_private(&path, &fresh()).ok()?;
        // Another program may have been first.
        read()
    })
}

/// Bytes that nobody can guess: a state is keyed by 128 bits of the system's own source of randomness, and what it makes of a
/// number says nothing of them. The standard library has no other way to that source.
fn fresh() -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    for chunk in bytes.chunks_mut(size_of::<u64>()) {
        chunk.copy_from_slice(&RandomState::new().hash_one(chunk.len()).to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{fresh, fs, made};

    #[test]
    fn a_secret_is_made_once_and_is_never_the_same_twice() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("state/ctxc");
        let secret = made(&here).unwrap();
        assert_eq!(made(&here), Some(secret));
        std::fs::remove_file(here.join("seal")).unwrap();
        assert_ne!(made(&here), Some(secret));
        assert_ne!(fresh(), fresh());
        // What is no secret of ours is none at all.
        fs::write_cache(&here.join("seal"), b"short").unwrap();
        assert_eq!(made(&here), None);
    }
}
