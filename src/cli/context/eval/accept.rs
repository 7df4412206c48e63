//! `--accept`: requests are stored, or stored anew, after what changed was shown. What is accepted is judged again with what is
//! stored then, so that nothing else passes along with it.

use super::choose::EvalRun;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::overwrite;
use crate::cli::rewrite::{self, Change};
use crate::eval::finished::Finished;
use crate::scenario::paths;
use std::path::Path;

/// A request that is not the stored one.
#[derive(Debug)]
struct Moved<'m> {
    /// Where it belongs, relative to the project.
    path: String,
    /// What is stored; `None` for nothing.
    before: Option<&'m str>,
    /// The request as it is now.
    now: &'m str,
}

/// What standard output is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// What changed in each request.
    Differences,
    /// One document, and nothing else.
    Document,
}

/// Stores the requests that moved, and judges their cases again.
pub(super) fn accept(
    root: &Path,
    eval_run: &mut EvalRun<'_>,
    finished: &mut [Option<Finished>],
    shown: Shown,
    cx: &mut Cx,
) -> Result<()> {
    let mut moved = Vec::new();
    let mut news = Vec::new();
    for (at, ((chosen, before), finished)) in eval_run.chosen.iter().zip(&eval_run.snapshots).zip(&*finished).enumerate() {
        let Some(now) = finished.as_ref().and_then(|finished| finished.snapshot.as_deref()) else { continue };
        if before.as_deref() != Some(now) {
            let path = paths::snapshot(chosen.path, &chosen.case.name.value);
            moved.push(Moved { path, before: before.as_deref(), now });
            news.push((at, now.to_owned()));
        }
    }
    if moved.is_empty() {
        cx.note("every stored request is as it was");
        return Ok(());
    }
    store(root, &moved, shown, cx)?;
    let mut again = vec![false; finished.len()];
    for (at, now) in news {
        if let (Some(stored), Some(again)) = (eval_run.snapshots.get_mut(at), again.get_mut(at)) {
            *stored = Some(now);
            *again = true;
        }
    }
    for (slot, judged) in finished.iter_mut().zip(eval_run.run(&again, cx.options.threads)) {
        if judged.is_some() {
            *slot = judged;
        }
    }
    Ok(())
}

/// Shows each change, where the screen is free for it, and writes it.
fn store(root: &Path, moved: &[Moved<'_>], shown: Shown, cx: &mut Cx) -> Result<()> {
    for one in moved {
        let path = root.join(&one.path);
        overwrite::refuse_links(root, &one.path)?;
        let before = one.before.unwrap_or("");
        let change = Change { name: &one.path, path: &path, before: before.as_bytes(), after: one.now.as_bytes() };
        if shown == Shown::Differences {
            rewrite::diff(&change, cx)?;
        }
        if one.before.is_none() {
            rewrite::create(&path, one.now)?;
        } else if rewrite::write(&change)? == rewrite::Written::Overtaken {
            return Err(CliError::usage(format!("{} was changed meanwhile, so it was left alone", one.path)));
        }
        let what = if one.before.is_some() { "stored anew" } else { "stored" };
        cx.note(&format!("{what}: {}", one.path));
    }
    Ok(())
}
