//! A count of files on standard error: only on a terminal, and only past half a second. Whoever ends the run takes it off
//! the screen, an interrupt too.
//!
//! The line is drawn without colours and codes, and the cursor stays behind its last character: what the terminal writes
//! there, such as `^C`, is taken away with it. Installs no handler: a run of [`STRIDE`] files and more has one before it counts.

use super::render::summary::thousands;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a run may take before it says that it is alive.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a count stays before the next is drawn.
const PAUSE: Duration = Duration::from_millis(100);
/// Files between two looks at the clock.
pub(super) const STRIDE: u64 = 64;

/// What stands on the screen; a process has one standard error.
static SCREEN: Mutex<Line> = Mutex::new(Line { width: 0, drawn: None });

/// A line that is drawn over and over.
#[derive(Debug)]
pub(super) struct Line {
    /// Characters on the screen.
    width: usize,
    drawn: Option<Instant>,
}

impl Line {
    /// Replaces what stands there.
    fn draw(&mut self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        let width = text.chars().count();
        let rest = self.width.saturating_sub(width);
        write!(out, "\r{text}{:rest$}{}", "", "\u{8}".repeat(rest))?;
        self.width = width;
        out.flush()
    }

    /// Takes it away, with a `^C` behind it.
    fn clear(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.width > 0 {
            write!(out, "\r{:width$}\r", "", width = self.width + "^C".len())?;
            self.width = 0;
        }
        out.flush()
    }
}

/// Counts files from any thread.
#[derive(Debug)]
pub(super) struct Progress {
    started: Option<Instant>,
    done: AtomicU64,
}

impl Progress {
    /// A count that shows itself when somebody is there to see it.
    pub(super) fn new(chatty: bool) -> Self {
        let started = (chatty && io::stderr().is_terminal()).then(Instant::now);
        Self { started, done: AtomicU64::new(0) }
    }

    /// One more file is done.
    pub(super) fn tick(&self) {
        let Some(started) = self.started else { return };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !done.is_multiple_of(STRIDE) || started.elapsed() < PATIENCE {
            return;
        }
        // Whoever finds another thread drawing has better things to do than wait.
        let Ok(mut line) = SCREEN.try_lock() else { return };
        if line.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE) {
            line.drawn = Some(Instant::now());
            // A terminal that has gone away misses nothing.
            let _ = line.draw(&mut io::stderr(), &format!("{} files …", thousands(done as usize)));
        }
    }

    /// Takes the count off the screen again.
    pub(super) fn finish(&self) {
        if self.started.is_some() {
            drop(clear());
        }
    }
}

/// Takes the count off the screen; none is drawn while the guard lives.
pub(super) fn clear() -> MutexGuard<'static, Line> {
    let mut line = SCREEN.lock().unwrap_or_else(PoisonError::into_inner);
    // As above.
    let _ = line.clear(&mut io::stderr());
    line
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn a_line_is_drawn_over_and_taken_away() {
        let mut line = Line { width: 0, drawn: None };
        let mut out = Vec::new();
        line.clear(&mut out).unwrap();
        assert_eq!(out, b"", "where nothing stands nothing is done");
        line.draw(&mut out, "1,000 files").unwrap();
        line.draw(&mut out, "9 files").unwrap();
        line.clear(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\r1,000 files\r9 files    \u{8}\u{8}\u{8}\u{8}\r         \r");
    }
}
