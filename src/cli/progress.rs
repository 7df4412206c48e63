//! A count of files on standard error: only on a terminal, and only past half a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a run may take before it says that it is alive.
const PATIENCE: Duration = Duration::from_millis(500);
/// Files between two looks at the clock.
const STRIDE: u64 = 64;

/// Counts files from any thread.
#[derive(Debug)]
pub(super) struct Progress {
    started: Option<Instant>,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// A count that shows itself when somebody is there to see it.
    pub(super) fn new(chatty: bool) -> Self {
        let started = (chatty && std::io::stderr().is_terminal()).then(Instant::now);
        Self { started, done: AtomicU64::new(0), bar: OnceLock::new() }
    }

    /// One more file is done.
    pub(super) fn tick(&self) {
        let Some(started) = self.started else { return };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(STRIDE) && started.elapsed() >= PATIENCE {
            self.bar.get_or_init(bar).set_position(done);
        }
    }

    /// Takes the count off the screen again.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} files") {
        bar.set_style(style);
    }
    bar
}
