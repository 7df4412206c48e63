//! The results of the last run, in `.ctxc/cache/scorecard.json`: what `--affected` compares with. A hint and never an
//! authority: what cannot be read is no result, and what cannot be written costs the next run its head start.

use crate::base::fs;
use crate::eval::scorecard::{SCHEMA, Scorecard};
use crate::registry::store::cache_folder;
use std::path::{Path, PathBuf};

/// More than any scorecard.
const LIMIT: u64 = 1 << 28;

fn file(root: &Path) -> PathBuf {
    root.join(".ctxc/cache/scorecard.json")
}

/// A scorecard in a file; `None` where it holds none.
pub(super) fn read(path: &Path) -> Option<Scorecard> {
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes).ok()?;
    serde_json::from_slice::<Scorecard>(&bytes).ok().filter(|card| card.schema == SCHEMA)
}

/// What the last run left.
pub(super) fn last(root: &Path) -> Option<Scorecard> {
    read(&file(root))
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
    let write = || {
        cache_folder(root)?;
        fs::write_cache(&file(root), card.json().as_bytes())
    };
    let _: std::io::Result<()> = write();
}
