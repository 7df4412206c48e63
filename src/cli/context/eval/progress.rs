//! Says on standard error how far a run is that asks models: it may take hours, and is silent while a provider makes it wait.

use crate::base::number;
use crate::cli::render::summary::plural;
use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// From one line to the next.
const EVERY: Duration = Duration::from_secs(10);

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Scenarios that are finished.
    pub(super) done: usize,
    /// Scenarios that are run.
    pub(super) planned: usize,
    /// Calls that were made.
    pub(super) calls: u64,
    /// What they cost.
    pub(super) usd: f64,
}

/// Does the work, and says every ten seconds how far it is.
pub(super) fn told<T>(now: impl Fn() -> Progress + Sync, work: impl FnOnce() -> T) -> T {
    let (end, ended) = channel::<()>();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let now = &now;
        scope.spawn(move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // Nobody who reads it is no reason to stop.
                let _ = writeln!(std::io::stderr(), "{}", line(now(), begun.elapsed()));
            }
        });
        let made = work();
        drop(end);
        made
    })
}

/// “12 of 40 scenarios, 38 calls (1.9 a second), US$ 0.02, about 3 min left”.
fn line(now: Progress, since: Duration) -> String {
    let Progress { done, planned, calls, usd } = now;
    #[allow(clippy::cast_precision_loss, reason = "an estimate for people")]
    let rate = calls as f64 / since.as_secs_f64().max(1.0);
    let left = match u32::try_from(done).ok().filter(|done| *done > 0) {
        None => "no scenario is finished yet".to_owned(),
        Some(finished) => {
            let rest = u32::try_from(planned.saturating_sub(done)).unwrap_or(u32::MAX);
            let left = since.as_secs_f64() / f64::from(finished) * f64::from(rest);
            if left < 90.0 { format!("about {left:.0} s left") } else { format!("about {:.0} min left", left / 60.0) }
        }
    };
    format!(
        "{done} of {}, {} ({rate:.1} a second), US$ {}, {left}",
        plural(planned, "scenario"),
        plural(calls as usize, "call"),
        number::usd(usd)
    )
}

#[cfg(test)]
#[path = "../../../../tests/unit/cli/context/eval/progress.rs"]
mod tests;
