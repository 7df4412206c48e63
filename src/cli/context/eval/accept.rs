//! `--accept`: prints the changes of requests and then stores these. Cases with accepted requests
//! are judged again with the new requests, so that nothing else is accepted with them. `--diff`
//! prints the same and stores nothing.

use super::choose::{EvalRun, RunOptions, StoredCase};
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::overwrite;
use crate::cli::render::screen::Screen;
use crate::cli::render::summary::pluralize;
use crate::cli::render::unified;
use crate::cli::rewrite::{self, FileChange, RewriteMode};
use crate::cli::secret_check::{NewFile, SecretCheck, SecretsChecked};
use crate::eval::locate::Locator;
use crate::scenario::paths;
use std::path::Path;
use std::sync::Mutex;

/// Requests to be stored that passed the check for secrets.
#[derive(Debug, Default)]
pub(super) struct AcceptedRequests(Option<(Vec<ChangedRequest>, SecretsChecked)>);

/// A request that differs from the stored one.
#[derive(Debug)]
struct ChangedRequest {
    /// Its file, relative to the project.
    path: String,
    /// The stored request; `None` if there was none.
    before: Option<String>,
    /// The current request, in its stored form.
    now: String,
}

/// The use of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StdoutUse {
    /// The changes of each request.
    Differences,
    /// One document, and nothing else.
    Document,
}

/// An acceptance of changed requests, or only the differences that it would accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestAcceptance {
    pub(super) stdout: StdoutUse,
    pub(super) mode: RewriteMode,
}

impl RequestAcceptance {
    /// Prints the requests that changed. If they are to be stored, judges their cases again with the
    /// new requests, and returns the requests to be written.
    pub(super) fn accept_requests(
        self,
        eval_run: &mut EvalRun<'_>,
        locator: &Mutex<Locator<'_>>,
        finished: &mut [Option<StoredCase>],
        cx: &mut Cx,
    ) -> Result<AcceptedRequests> {
        let Self { stdout, mode } = self;
        let root = &eval_run.project().root;
        let mut accepted = AcceptedRequests::default();
        let mask = fixed_mask(eval_run.project());
        let mut moved = Vec::new();
        let mut news = Vec::new();
        for (at, ((chosen, before), finished)) in eval_run
            .chosen
            .iter()
            .zip(&eval_run.snapshots)
            .zip(&*finished)
            .enumerate()
        {
            let Some(now) = finished
                .as_ref()
                .and_then(|finished| finished.snapshot.as_deref())
            else {
                continue;
            };
            if !before
                .as_deref()
                .is_some_and(|before| mask.is_same_request(before, now))
            {
                let path = paths::snapshot_path(chosen.path, &chosen.case.name.value);
                let now = mask.mask_stored_request(now);
                news.push((at, now.clone()));
                moved.push(ChangedRequest {
                    path,
                    before: before.clone(),
                    now,
                });
            }
        }
        if moved.is_empty() {
            cx.print_note("every stored request is as it was");
            return Ok(accepted);
        }
        let diffs: Vec<String> = moved.iter().map(ChangedRequest::unified_diff).collect();
        // Standard output is not free for the differences if it is a document.
        for one in moved.iter().filter(|_| stdout == StdoutUse::Differences) {
            rewrite::print_diff(&one.text_change(&root.join(&one.path)), cx)?;
        }
        if mode == RewriteMode::Write {
            let files = moved.iter().map(|one| NewFile {
                name: &one.path,
                text: &one.now,
            });
            let checked = SecretCheck::new(&cx.options, root).check_files(files)?;
            moved
                .iter()
                .try_for_each(|one| overwrite::reject_links(root, &one.path))?;
            accepted = AcceptedRequests(Some((moved, checked)));
        } else {
            let what = pluralize(moved.len(), "stored request");
            cx.print_note(&format!("would write {what}; `ctxc eval --accept` does"));
        }
        let places: Vec<usize> = news.iter().map(|(at, _)| *at).collect();
        let mut again = vec![false; finished.len()];
        for (at, now) in news.into_iter().filter(|_| mode == RewriteMode::Write) {
            if let (Some(stored), Some(again)) = (eval_run.snapshots.get_mut(at), again.get_mut(at))
            {
                *stored = Some(now);
                *again = true;
            }
        }
        let options = RunOptions::with_threads(cx.options.threads);
        let judged = eval_run.run_cases(&again, locator, options);
        for (slot, judged) in finished.iter_mut().zip(judged) {
            if judged.is_some() {
                *slot = judged;
            }
        }
        for (at, diff) in places.into_iter().zip(diffs) {
            if let Some(Some(done)) = finished.get_mut(at) {
                done.row.diff = Some(diff);
            }
        }
        Ok(accepted)
    }
}

impl ChangedRequest {
    fn text_change<'c>(&'c self, path: &'c Path) -> FileChange<'c> {
        FileChange {
            name: &self.path,
            path,
            before: self.before.as_deref().unwrap_or("").as_bytes(),
            after: self.now.as_bytes(),
        }
    }

    fn unified_diff(&self) -> String {
        let mut out = Vec::new();
        // A write to memory cannot fail.
        let _ = unified::write_diff(
            &mut out,
            &self.path,
            self.before.as_deref().unwrap_or(""),
            &self.now,
            Screen::PLAIN,
        );
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl AcceptedRequests {
    /// Writes each change. The report is written before, since its write may be refused.
    pub(super) fn store_requests(&self, root: &Path, cx: &mut Cx) -> Result<()> {
        for (one, checked) in self
            .0
            .iter()
            .flat_map(|(moved, checked)| moved.iter().map(|one| (one, *checked)))
        {
            let path = root.join(&one.path);
            if one.before.is_none() {
                rewrite::create_file(&path, &one.now, checked)?;
            } else if rewrite::write_checked(&one.text_change(&path), checked)?
                == rewrite::RewriteOutcome::Overtaken
            {
                return Err(CliError::usage(format!(
                    "{} was changed meanwhile, so it was left alone",
                    one.path
                )));
            }
            let what = if one.before.is_some() {
                "stored anew"
            } else {
                "stored"
            };
            cx.print_note(&format!("{what}: {}", one.path));
        }
        Ok(())
    }
}
