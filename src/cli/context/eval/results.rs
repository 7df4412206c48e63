//! The results of the last run, in `.ctxc/cache/scorecard`: what `--affected` compares with. Sealed, so that nobody else's
//! verdicts are believed: what cannot be read is no result, and what cannot be written costs the next run its head start.

use crate::base::fs;
use crate::cli::seal;
use crate::eval::scorecard::{SCHEMA, Scorecard};
use crate::registry::store::cache_folder;
use std::path::{Path, PathBuf};

/// Its name in the cache.
const NAME: &str = "scorecard";
/// More than any scorecard.
const LIMIT: u64 = 1 << 28;

fn file(root: &Path) -> PathBuf {
    root.join(".ctxc/cache").join(NAME)
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes).ok()?;
    Some(bytes)
}

fn parsed(bytes: &[u8]) -> Option<Scorecard> {
    serde_json::from_slice::<Scorecard>(bytes).ok().filter(|card| card.schema == SCHEMA)
}

/// A scorecard in a file that somebody named; `None` where it holds none.
pub(super) fn read(path: &Path) -> Option<Scorecard> {
    parsed(&bytes(path)?)
}

/// What the last run left.
pub(super) fn last(root: &Path) -> Option<Scorecard> {
    let file = Some(file(root)).filter(|file| fs::is_file(file))?;
    parsed(seal::open(NAME, &bytes(&file)?)?)
}

/// Keeps the results for the next run, over those of cases that were not part of this one and are still there.
pub(super) fn keep(root: &Path, card: &Scorecard, is_there: impl Fn(&str) -> bool) {
    let earlier = last(root).map(|mut earlier| {
        earlier.cases.retain(|row| is_there(&row.id));
        earlier
    });
    let card = match earlier {
        Some(earlier) => card.clone().over(earlier),
        None => card.clone(),
    };
    let Some(sealed) = seal::seal(NAME, card.json().into_bytes()) else { return };
    let write = || {
        cache_folder(root)?;
        fs::write_cache(&file(root), &sealed)
    };
    let _: std::io::Result<()> = write();
}
