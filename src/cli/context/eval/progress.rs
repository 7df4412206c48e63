//! Prints the progress of a run that calls models on standard error: it may take hours, and is
//! silent while a provider makes it wait.

use crate::base::number;
use crate::cli::render::summary::pluralize;
use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The time between two lines.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvalProgress {
    /// Finished scenarios.
    pub(super) done: usize,
    /// Planned scenarios.
    pub(super) planned: usize,
    /// Calls so far.
    pub(super) calls: u64,
    /// Cost of the calls.
    pub(super) usd: f64,
}

/// Does the work, and prints the progress every ten seconds.
pub(super) fn with_progress<T>(
    now: impl Fn() -> EvalProgress + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let (end, ended) = channel::<()>();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let now = &now;
        scope.spawn(move || {
            while ended.recv_timeout(REPORT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // A closed standard error does not stop the run.
                let _ = writeln!(
                    std::io::stderr(),
                    "{}",
                    progress_line(now(), begun.elapsed())
                );
            }
        });
        let result = work();
        drop(end);
        result
    })
}

/// Returns a line such as “12 of 40 scenarios, 38 calls (1.9 a second), US$ 0.02, about 3 min
/// left”.
fn progress_line(now: EvalProgress, since: Duration) -> String {
    let EvalProgress {
        done,
        planned,
        calls,
        usd,
    } = now;
    #[allow(clippy::cast_precision_loss, reason = "an estimate for people")]
    let rate = calls as f64 / since.as_secs_f64().max(1.0);
    let left = match u32::try_from(done).ok().filter(|done| *done > 0) {
        None => "no scenario is finished yet".to_owned(),
        Some(finished) => {
            let rest = u32::try_from(planned.saturating_sub(done)).unwrap_or(u32::MAX);
            let left = since.as_secs_f64() / f64::from(finished) * f64::from(rest);
            if left < 90.0 {
                format!("about {left:.0} s left")
            } else {
                format!("about {:.0} min left", left / 60.0)
            }
        }
    };
    format!(
        "{done} of {}, {} ({rate:.1} a second), US$ {}, {left}",
        pluralize(planned, "scenario"),
        pluralize(calls as usize, "call"),
        number::format_usd(usd)
    )
}

#[cfg(test)]
#[path = "../../../../tests/unit/cli/context/eval/progress.rs"]
mod tests;
